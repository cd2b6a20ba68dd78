// A benchmark as plain loops in C++: what a program written by hand would do, on memory of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/peers/benchmark.h"

namespace peers {

/// The elements of an input; `T` stores its dtype.
template <class T>
std::vector<T> values(const Inputs& inputs, const std::string& name) {
  return inputs.at(name).to_vector<T>();
}

inline std::int64_t whole_number(const Inputs& inputs, const std::string& name) {
  return static_cast<std::int64_t>(number(inputs.at(name)));
}

/// `result` as an output, in its own memory; valid until it is overwritten.
template <class T>
ab::Array borrowed(const std::vector<T>& result, const ab::Sizes& sizes) {
  return ab::borrow(result.data(), sizes, [] {});
}

/// A program of loops: `run(State&)` gives the outputs and is what is timed.
template <class State, class Run>
Program loops(State state, Run run) {
  auto kept = std::make_shared<State>(std::move(state));
  return {[kept, run] { return run(*kept); }};
}

}  // namespace peers
