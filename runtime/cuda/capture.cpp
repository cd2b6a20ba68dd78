#include "runtime/cuda/capture.h"

#include <exception>
#include <utility>

#include "anabranch/error.h"
#include "runtime/cuda/driver.h"

namespace anabranch::cuda {
namespace {

// What other threads do meanwhile is not captured.
constexpr CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;

/// Destroys it.
class OwnGraph {
 public:
  explicit OwnGraph(CUgraph graph) : graph_(graph) {}
  ~OwnGraph() {
    if (graph_) driver().cuGraphDestroy(graph_);
  }
  OwnGraph(OwnGraph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  OwnGraph& operator=(OwnGraph&&) = delete;
  CUgraph get() const { return graph_; }

 private:
  CUgraph graph_;
};

class LaunchableGraph final : public CapturedGraph {
 public:
  LaunchableGraph(CUcontext context, OwnGraph graph) : context_(context), graph_(std::move(graph)) {
    check(driver().cuGraphInstantiate(&launchable_, graph_.get(), 0),
          "making a graph of what was captured");
  }
  ~LaunchableGraph() override {
    try {
      enter(context_);
      driver().cuGraphExecDestroy(launchable_);
    } catch (const Error&) {
      // The GPU is lost, and the graph with it.
    }
  }

  void launch(DeviceStream& stream) const override {
    enter(context_);
    check(driver().cuGraphLaunch(launchable_, static_cast<CUstream>(stream.native())),
          "launch of a graph");
  }

 private:
  const CUcontext context_;
  const OwnGraph graph_;  // its conditions belong to it, so it lives as long as what uses them
  CUgraphExec launchable_ = nullptr;
};

/// What is being captured on a stream, and what the next work there would come after.
struct CaptureInfo {
  CUgraph graph = nullptr;
  const CUgraphNode* last = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;

  explicit CaptureInfo(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    check(driver().cuStreamGetCaptureInfo(stream, &status, nullptr, &graph, &last, &edges, &count),
          "capture");
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) throw Error("capture: it has been invalidated");
  }
};

// A capture ends also where `enqueue` fails. Null then; `error` says why.
CUgraph ended(CUstream stream, const std::function<void()>& enqueue, std::exception_ptr& error) {
  try {
    enqueue();
  } catch (...) {
    error = std::current_exception();
  }
  CUgraph graph = nullptr;
  const CUresult result = driver().cuStreamEndCapture(stream, &graph);
  try {
    if (!error) check(result, "capture");
  } catch (...) {
    error = std::current_exception();
  }
  return graph;
}

}  // namespace

std::shared_ptr<const CapturedGraph> captured(CUcontext context, CUstream stream,
                                              const std::function<void()>& enqueue) {
  enter(context);
  check(driver().cuStreamBeginCapture(stream, mode), "capture");
  std::exception_ptr error;
  OwnGraph graph(ended(stream, enqueue, error));
  if (error) std::rethrow_exception(error);
  return std::make_shared<const LaunchableGraph>(context, std::move(graph));
}

void capture_to(CUgraph graph, CUstream stream, const std::function<void()>& enqueue) {
  check(driver().cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, mode), "capture");
  std::exception_ptr error;
  ended(stream, enqueue, error);
  if (error) std::rethrow_exception(error);
}

Conditional::Conditional(CUcontext context, CUstream stream) : context_(context), stream_(stream) {
  const CaptureInfo info(stream);
  check(driver().cuGraphConditionalHandleCreate(&handle_, info.graph, context, 0, 0),
        "making a condition");
}

std::span<const CUgraph> Conditional::add(CUgraphConditionalNodeType type, unsigned count) const {
  const CaptureInfo info(stream_);
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  parameters.conditional.handle = handle_;
  parameters.conditional.type = type;
  parameters.conditional.size = count;
  parameters.conditional.ctx = context_;
  CUgraphNode node = nullptr;
  check(driver().cuGraphAddNode(&node, info.graph, info.last, info.edges, info.count, &parameters),
        "making a conditional node");
  check(driver().cuStreamUpdateCaptureDependencies(stream_, &node, nullptr, 1,
                                                   CU_STREAM_SET_CAPTURE_DEPENDENCIES),
        "capture");
  return {parameters.conditional.phGraph_out, count};
}

}  // namespace anabranch::cuda
