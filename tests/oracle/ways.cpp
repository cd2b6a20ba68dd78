#include "ways.h"

#include "codegen/compile.h"
#include "ir/error.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "passes/pipeline.h"
#include "runtime/run.h"

namespace anabranch {
namespace {

std::vector<Literal> read_back(const Graph& graph, std::span<const Literal> inputs) {
  const Graph again = parse(to_string(graph));
  if (again != graph)
    throw InternalError("parse", "not the graph that was printed", to_string(again));
  return interpret(again, inputs);
}

std::vector<Literal> optimized(const Graph& graph, std::span<const Literal> inputs) {
  PassContext context;
  PassRun options;
  options.verify = true;
  return interpret(run_passes(default_pipeline(), graph, context, options), inputs);
}

std::vector<Literal> compiled(const Graph& graph, std::span<const Literal> inputs,
                              const Options& options) {
  const Compilation compilation = compile(graph, options);
  verify(*compilation.executable);
  std::vector<Buffer> buffers;
  for (const Literal& input : inputs) {
    buffers.push_back(Buffer::copy_of(options.device, input.bytes()));
  }
  std::vector<Literal> outputs;
  const std::vector<Buffer> results = run(compilation.executable, std::move(buffers));
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].ready().wait();
    const Type& type = graph.type(graph.outputs()[i]);
    const auto* bytes = static_cast<const std::byte*>(results[i].data());
    outputs.push_back(Literal(type, std::vector<std::byte>(bytes, bytes + type.bytes())));
  }
  return outputs;
}

template <int streams>
std::vector<Literal> fused(const Graph& graph, std::span<const Literal> inputs) {
  Options options;
  options.streams = streams;
  options.use_all_streams = streams > 1;
  options.verify = true;
  return compiled(graph, inputs, options);
}

template <int streams>
std::vector<Literal> unfused(const Graph& graph, std::span<const Literal> inputs) {
  Options options;
  options.streams = streams;
  options.use_all_streams = streams > 1;
  options.disabled = {"fuse"};
  return compiled(graph, inputs, options);
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
