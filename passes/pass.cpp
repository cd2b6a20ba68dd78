#include "passes/pass.h"

#include <algorithm>
#include <new>

#include "ir/error.h"
#include "ir/graph/verify.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

#ifdef NDEBUG
constexpr bool always_verify = false;
#else
constexpr bool always_verify = true;
#endif

// A name that no pass has is a mistake of the user's, not a pass to leave out.
void check_names(Pipeline pipeline, std::span<const std::string> disabled) {
  for (const std::string& name : disabled) {
    bool listed = std::any_of(pipeline.begin(), pipeline.end(),
                              [&](const Pass& pass) { return pass.name == name; });
    if (!listed) find_pass(name);
  }
}

Graph run_pass(const Pass& pass, const Graph& before, PassContext& context, bool verified) {
  Graph after;
  try {
    after = pass.run(before, context);
  } catch (const std::bad_alloc&) {
    throw;  // no fault of the pass
  } catch (const std::exception& failure) {
    if (pass.refuses && dynamic_cast<const Error*>(&failure)) throw;
    throw InternalError("pass " + std::string(pass.name), failure.what(), to_string(before));
  }
  if (!verified) return after;
  try {
    verify(after);
  } catch (const InternalError& broken) {
    throw InternalError("pass " + std::string(pass.name),
                        std::string("broke the graph: ") + broken.what(), to_string(before));
  }
  return after;
}

}  // namespace

const Pass& find_pass(std::string_view name) {
  std::string known;
  for (const Pass& pass : all_passes()) {
    if (pass.name == name) return pass;
    known += (known.empty() ? "" : ", ") + std::string(pass.name);
  }
  throw Error("there is no pass " + std::string(name) + "; there are " + known);
}

Graph run_passes(Pipeline pipeline, Graph graph, PassContext& context, const PassRun& options) {
  using Clock = std::chrono::steady_clock;
  check_names(pipeline, options.disabled);
  for (const Pass& pass : pipeline) {
    if (std::find(options.disabled.begin(), options.disabled.end(), pass.name) !=
        options.disabled.end()) {
      continue;
    }
    const Clock::time_point start = Clock::now();
    graph = run_pass(pass, graph, context, always_verify || options.verify);
    if (options.after) options.after(pass, graph, Clock::now() - start);
  }
  return graph;
}

}  // namespace anabranch
