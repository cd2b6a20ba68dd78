// The programs of bench/peers, run by bench/peers/run beside the same programs of others.
//
//   bench_peers NAME INPUTS.npz OUTPUTS.npz   runs once and writes the outputs; then for every
//   number
//                                             n that it reads runs n times and prints the times
//   bench_peers --check EXPECTED.npz          every program on inputs and outputs of NumPy's
//   bench_peers --graph NAME INPUTS.npz GRAPH.abir PARAMETERS.npz
//                                             writes what `anabranch run` takes
//   bench_peers --machine BYTES               what this machine does at most
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <set>

#include "bench/peers/benchmark.h"
#include "bench/peers/machine.h"
#include "bench/peers/suite.h"
#include "bench/rounds.h"

namespace peers {
namespace {

Outputs run(const Program& program) {
  Outputs outputs = program.run();
  for (const ab::Array& output : outputs) output.wait();
  return outputs;
}

int serve(const Benchmark& benchmark, const char* inputs, const char* outputs) {
  const auto program = benchmark(ab::load_npz(inputs));
  const auto begin = bench::Clock::now();
  const Outputs first = run(program);
  std::printf("{\"ms\": [%g]}\n", 1e3 * bench::seconds_since(begin));
  ab::save_npz(outputs, first);
  std::fflush(stdout);
  for (int times = 0; std::cin >> times;) {
    std::printf("{\"ms\": [");
    for (int i = 0; i < times; ++i) {
      const double seconds = bench::time_of([&] { run(program); });
      std::printf("%s%g", i == 0 ? "" : ", ", 1e3 * seconds);
    }
    std::printf("]}\n");
    std::fflush(stdout);
  }
  return 0;
}

// The greatest difference as a part of the greatest number that was expected.
double difference(const ab::Array& got, const ab::Array& expected) {
  if (got.shape() != expected.shape()) return 1;
  if (got.size() == 0) return 0;
  const bool is_complex = expected.dtype() == ab::c64 || expected.dtype() == ab::c128;
  const ab::Dtype wide = is_complex ? ab::c128 : ab::f64;
  const ab::Array a = got.astype(wide), b = expected.astype(wide);
  const double most = ab::max(ab::abs(b)).item<double>();
  const double off = ab::max(ab::abs(a - b)).item<double>();
  return off == 0 ? 0 : off / std::max(most, 1e-300);
}

double tolerance(ab::Dtype dtype) { return dtype == ab::f32 || dtype == ab::c64 ? 1e-4 : 1e-9; }

// The file's names are PROGRAM/in/NAME and PROGRAM/out/NUMBER.
bool is_as_expected(const std::string& name, const Benchmark& benchmark, const Inputs& all) {
  Inputs inputs;
  const std::string in = name + "/in/";
  for (const auto& [key, array] : all) {
    if (key.starts_with(in)) inputs[key.substr(in.size())] = array;
  }
  const auto program = benchmark(inputs);
  const Outputs outputs = run(program);
  bool good = true;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto expected = all.find(name + "/out/" + std::to_string(i));
    if (expected == all.end())
      throw ab::Error("no output " + std::to_string(i) + " of NumPy's is in the file");
    const double off = difference(outputs[i], expected->second);
    if (!(off <= tolerance(outputs[i].dtype()))) {
      std::fprintf(stderr, "%s: output %zu is off by %g of its greatest number\n", name.c_str(), i,
                   off);
      good = false;
    }
  }
  return good;
}

int check(const char* file) {
  const Inputs all = ab::load_npz(file);
  int failed = 0;
  for (const auto& [name, benchmark] : suite()) {
    try {
      failed += !is_as_expected(name, benchmark, all);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
      ++failed;
    }
  }
  std::printf("%zu programs, %d failed\n", suite().size(), failed);
  return failed == 0 ? 0 : 1;
}

int write_graph(const Benchmark& benchmark, const char* inputs, const char* graph,
                const char* parameters) {
  const auto program = benchmark(ab::load_npz(inputs));
  if (!program.graph) throw ab::Error("this program is not traced");
  const auto [text, arrays] = program.graph();
  std::ofstream(graph) << text;
  ab::save_npz(parameters, arrays);
  return 0;
}

int machine(const char* bytes) {
  const Machine measured = measure_machine(std::stoull(bytes));
  std::printf("{\"copy\": %g, \"f32\": %g, \"f64\": %g}\n", measured.copy, measured.f32,
              measured.f64);
  return 0;
}

int main(const std::vector<std::string>& arguments) {
  if (arguments.size() == 2 && arguments[0] == "--check") return check(arguments[1].c_str());
  if (arguments.size() == 2 && arguments[0] == "--machine") return machine(arguments[1].c_str());
  const auto named = [&](std::size_t at) { return suite().find(arguments[at]); };
  if (arguments.size() == 3 && named(0) != suite().end()) {
    return serve(named(0)->second, arguments[1].c_str(), arguments[2].c_str());
  }
  if (arguments.size() == 5 && arguments[0] == "--graph" && named(1) != suite().end()) {
    return write_graph(named(1)->second, arguments[2].c_str(), arguments[3].c_str(),
                       arguments[4].c_str());
  }
  std::fprintf(stderr,
               "bench_peers NAME INPUTS.npz OUTPUTS.npz, --graph NAME INPUTS.npz GRAPH.abir "
               "PARAMETERS.npz, --check FILE or --machine BYTES\n");
  for (const auto& [name, benchmark] : suite()) std::fprintf(stderr, "  %s\n", name.c_str());
  return 2;
}

}  // namespace
}  // namespace peers

int main(int argc, char** argv) {
  try {
    return peers::main({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_peers: %s\n", error.what());
    return 1;
  }
}
