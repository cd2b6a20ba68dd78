#include "ways.h"

#include <algorithm>

#include "codegen/compile.h"
#include "ir/error.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "passes/pipeline.h"
#include "runtime/run.h"
#include "tests/support/random_graph.h"
#include "tests/support/read_literal.h"

namespace anabranch {
namespace {

std::vector<Literal> read_back(const GraphCase& tested) {
  const Graph again = parse(to_string(tested.graph));
  if (again != tested.graph)
    throw InternalError("parse", "not the graph that was printed", to_string(again));
  return interpret(again, tested.inputs);
}

std::vector<Literal> optimized(const GraphCase& tested) {
  PassContext context;
  PassRun options;
  options.verify = true;
  return interpret(run_passes(default_pipeline(), tested.graph, context, options), tested.inputs);
}

// Devices share the cores: one has them all where the graph needs no more.
std::vector<Literal> compiled(const GraphCase& tested, Options options) {
  const Graph& graph = tested.graph;
  const auto is_elsewhere = [](const auto& device) { return device && *device != Device(); };
  const bool spans = std::ranges::any_of(devices_of(tested), is_elsewhere);
  set_cpu_devices(spans ? random_graph_devices : 1);
  options.parameters = tested.parameters;
  const Compilation compilation = compile(graph, options);
  verify(*compilation.executable);
  std::vector<Buffer> buffers;
  for (std::uint32_t i = 0; i < tested.inputs.size(); ++i) {
    const Device& device = input_device(*compilation.executable, i);
    buffers.push_back(Buffer::copy_of(device, tested.inputs[i].bytes()));
  }
  std::vector<Literal> outputs;
  const std::vector<Buffer> results = run(compilation.executable, std::move(buffers));
  for (std::size_t i = 0; i < results.size(); ++i) {
    outputs.push_back(testing::read_literal(results[i], graph.type(graph.outputs()[i])));
  }
  return outputs;
}

template <int streams>
std::vector<Literal> fused(const GraphCase& tested) {
  Options options;
  options.streams = streams;
  options.use_all_streams = streams > 1;
  options.verify = true;
  return compiled(tested, options);
}

template <int streams>
std::vector<Literal> unfused(const GraphCase& tested) {
  Options options;
  options.streams = streams;
  options.use_all_streams = streams > 1;
  options.disabled = {"fuse"};
  return compiled(tested, options);
}

constexpr Way table[] = {
    {"printed and read back", read_back},
    {"optimized", optimized},
    {"compiled for 1 stream", fused<1>},
    {"compiled for 4 streams", fused<4>},
    {"compiled without fusion for 1 stream", unfused<1>},
    {"compiled without fusion for 4 streams", unfused<4>},
};

}  // namespace

std::span<const Way> ways() { return table; }

}  // namespace anabranch
