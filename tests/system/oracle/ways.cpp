#include "ways.h"

#include <algorithm>

#include "anabranch/code_cache.h"
#include "anabranch/devices.h"
#include "anabranch/error.h"
#include "codegen/compile.h"
#include "ir/interpret/interpret.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/pipeline.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/read.h"
#include "tests/support/random_graph.h"

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

std::shared_ptr<CodeCache>& code_cache() {
  static std::shared_ptr<CodeCache> cache;
  return cache;
}

// Devices share the cores: one has them all where the graph needs no more.
Compilation compiled(const GraphCase& tested, Options options) {
  const auto is_elsewhere = [](const auto& device) { return device && *device != Device(); };
  const bool spans = std::ranges::any_of(devices_of(tested), is_elsewhere);
  set_cpu_devices(spans ? random_graph_devices : 1);
  options.parameters = tested.parameters;
  options.cache = code_cache();
  Compilation compilation = compile(tested.graph, options);
  verify(compilation.program());
  return compilation;
}

// Inputs that are equal share one buffer where `sharing`.
std::vector<Buffer> buffers_of(const GraphCase& tested, const Program& program, bool sharing) {
  std::vector<Buffer> buffers;
  for (std::uint32_t i = 0; i < tested.inputs.size(); ++i) {
    const Device& device = input_device(program, i);
    std::uint32_t same = 0;
    while (same < i &&
           !(tested.inputs[same] == tested.inputs[i] && input_device(program, same) == device)) {
      ++same;
    }
    buffers.push_back(sharing && same < i ? buffers[same]
                                          : copy_to_device(device, tested.inputs[i].bytes()));
  }
  return buffers;
}

std::vector<Literal> read(const std::vector<Buffer>& results, const Graph& graph) {
  std::vector<Literal> outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    outputs.push_back(read_literal(results[i], graph.type(graph.outputs()[i])));
  }
  return outputs;
}

// Nobody else holds the inputs, so that outputs may lie where they were.
std::vector<Literal> run_once(const GraphCase& tested, const Compilation& compilation) {
  std::vector<Buffer> inputs = buffers_of(tested, compilation.program(), false);
  return read(run(compilation, std::move(inputs)), tested.graph);
}

// Two runs in flight at once, on inputs that stay as they are.
std::vector<Literal> run_twice(const GraphCase& tested, const Compilation& compilation) {
  const std::vector<Buffer> inputs = buffers_of(tested, compilation.program(), true);
  const std::vector<Buffer> first = run(compilation, inputs);
  const std::vector<Buffer> second = run(compilation, inputs);
  std::vector<Literal> outputs = read(first, tested.graph);
  if (read(second, tested.graph) != outputs) {
    throw InternalError("run", "two runs at once give different bits");
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (read_literal(inputs[i], tested.inputs[i].type()) == tested.inputs[i]) continue;
    throw InternalError("run", "input " + std::to_string(i) + " has been written to");
  }
  return outputs;
}

Options on_streams(int streams) {
  Options options;
  options.streams = streams;
  options.use_all_streams = streams > 1;
  return options;
}

template <int streams>
std::vector<Literal> fused(const GraphCase& tested) {
  Options options = on_streams(streams);
  options.verify = true;
  options.prefer_libraries = streams > 1;  // dots of random graphs are small
  const Compilation compilation = compiled(tested, options);
  return streams > 1 ? run_twice(tested, compilation) : run_once(tested, compilation);
}

template <int streams>
std::vector<Literal> unfused(const GraphCase& tested) {
  Options options = on_streams(streams);
  options.disabled = {"fuse"};
  const Compilation compilation = compiled(tested, options);
  return streams > 1 ? run_twice(tested, compilation) : run_once(tested, compilation);
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

void keep_code_in(const std::filesystem::path& folder) {
  constexpr std::int64_t most_bytes = std::int64_t{16} << 20;
  code_cache() = folder.empty() ? nullptr : std::make_shared<CodeCache>(folder, most_bytes);
}

}  // namespace anabranch
