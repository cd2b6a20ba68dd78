// A benchmark as ours: a function over arrays, and the names of its parameters in the script's
// files.
#pragma once

#include <anabranch/anabranch.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace peers {

namespace ab = anabranch;

/// What bench/peers/run writes for every peer: arrays by name, numbers as arrays of rank 0.
using Inputs = std::map<std::string, ab::Array>;
using Outputs = std::vector<ab::Array>;

/// A benchmark with its inputs.
struct Program {
  std::function<Outputs()> run;
  /// Of one that is traced: its graph as text, and the arrays that are its parameters.
  std::function<std::pair<std::string, std::vector<ab::Array>>()> graph = {};
};

/// Reads the numbers of `inputs` and gives the compiled function of its arrays.
using Benchmark = std::function<Program(const Inputs& inputs)>;

/// The number of rank 0 in a file, of whatever dtype.
inline double number(const ab::Array& array) { return array.astype(ab::f64).item<double>(); }

/// What `function` gives for inputs of these names: an Array parameter is an input, a number is
/// read before the function is traced and is part of what is compiled.
template <class Result, class... Parameters>
Benchmark benchmark(Result (*function)(Parameters...),
                    std::array<const char*, sizeof...(Parameters)> names) {
  return [=](const Inputs& inputs) {
    std::vector<ab::Array> arrays;
    std::vector<double> numbers;
    for (const char* name : names) {
      const auto found = inputs.find(name);
      if (found == inputs.end())
        throw ab::Error("benchmark: the file has no input " + std::string(name));
      arrays.push_back(found->second);
      numbers.push_back(arrays.back().rank() == 0 ? number(arrays.back()) : 0);
    }
    const auto parameters = [numbers]<std::size_t... At>(const std::vector<ab::Array>& traced,
                                                         std::index_sequence<At...>) {
      const auto parameter = [&]<class T>(std::type_identity<T>, std::size_t at) {
        if constexpr (std::is_same_v<T, ab::Array>)
          return traced[at];
        else
          return static_cast<T>(numbers[at]);
      };
      return std::tuple{parameter(std::type_identity<std::decay_t<Parameters>>(), At)...};
    };
    auto compiled = ab::jit([=](const std::vector<ab::Array>& traced) {
      auto result = std::apply(
          function, parameters(traced, std::make_index_sequence<sizeof...(Parameters)>()));
      Outputs outputs;
      ab::tree::for_each_array(result, [&](ab::Array& array) { outputs.push_back(array); });
      return outputs;
    });
    return Program{[=] { return compiled(arrays); },
                   [=] {
                     return std::pair{compiled.dump(ab::Stage::trace, arrays), arrays};
                   }};
  };
}

}  // namespace peers
