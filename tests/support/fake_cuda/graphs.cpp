// The pretend driver's captures and graphs, with the checks that NVIDIA documents for them.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "guarded.h"

using namespace fake_cuda;

struct CUgraphExec_st {
  std::shared_ptr<fake_cuda::Graph> graph;
};

namespace {

// A CUgraph is the address of a graph, a CUgraphNode that of a node. The driver holds the graphs
// that it has given out, and they hold their bodies.
std::map<Graph*, std::shared_ptr<Graph>>& graphs() {
  static auto* graphs = new std::map<Graph*, std::shared_ptr<Graph>>;
  return *graphs;
}
Graph* graph_of(CUgraph graph) { return reinterpret_cast<Graph*>(graph); }
CUgraph handle_of(Graph* graph) { return reinterpret_cast<CUgraph>(graph); }

std::shared_ptr<Graph> shared(const std::shared_ptr<Graph>& in, const Graph* wanted) {
  if (in.get() == wanted) return in;
  for (const auto& node : in->nodes) {
    if (!node->conditional) continue;
    for (const auto& body : node->conditional->bodies) {
      if (auto found = shared(body, wanted)) return found;
    }
  }
  return nullptr;
}
// Null where there is no such graph, among those given out, those being captured, and their bodies.
std::shared_ptr<Graph> shared(CUgraph graph) {
  for (const auto& [handle, one] : graphs()) {
    if (auto found = shared(one, graph_of(graph))) return found;
  }
  for (const Stream* stream : gpu().streams) {
    if (!stream->graph) continue;
    if (auto found = shared(stream->graph, graph_of(graph))) return found;
  }
  return nullptr;
}

bool has_conditionals(const Graph& graph) {
  for (const auto& node : graph.nodes) {
    if (node->conditional) return true;
  }
  return false;
}

void forget_conditions(const Graph& graph) {
  std::erase_if(gpu().conditions,
                [&](const auto& condition) { return condition.second.graph->is_inside(graph); });
}

}  // namespace

extern "C" {

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode) {
  return GUARDED({
    if (stream->graph) return CUDA_ERROR_ILLEGAL_STATE;
    stream->graph = std::make_shared<Graph>();
    stream->graph->is_captured = stream->began_capture = true;
    stream->before.clear();
  });
}
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode*,
                                     const CUgraphEdgeData*, std::size_t count,
                                     CUstreamCaptureMode) {
  return GUARDED({
    if (stream->graph) return CUDA_ERROR_ILLEGAL_STATE;
    const std::shared_ptr<Graph> known = shared(graph);
    if (!known || known->is_captured || count != 0) return CUDA_ERROR_INVALID_VALUE;
    stream->graph = known;
    known->is_captured = stream->began_capture = true;
    stream->before.clear();
  });
}
// All that was captured must come before the end of the stream that it began on. It has ended also
// where this call is refused.
CUresult cuStreamEndCapture(CUstream stream, CUgraph* made) {
  std::shared_ptr<Graph> graph;
  std::set<const Node*> joined;
  {
    std::lock_guard lock(gpu().mutex);
    *made = nullptr;
    graph = stream->graph;
    if (!graph || !stream->began_capture) return CUDA_ERROR_ILLEGAL_STATE;
    joined = stream->before;
    stream->began_capture = graph->is_captured = false;
    for (Stream* other : gpu().streams) {
      if (other->graph == graph) other->graph = nullptr;
    }
  }
  const CUresult result = GUARDED({
    if (graph->is_given_up) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    for (auto node = graph->nodes.rbegin(); node != graph->nodes.rend(); ++node) {
      const auto& before = (*node)->before;
      if (joined.count(node->get())) joined.insert(before.begin(), before.end());
    }
    if (joined.size() < graph->nodes.size()) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *made = handle_of(graph.get());
    if (graph->parent) return CUDA_SUCCESS;
    graphs().emplace(graph.get(), graph);
    ++calls().alive["graphs"];
  });
  std::lock_guard lock(gpu().mutex);
  if (result != CUDA_SUCCESS && !graph->parent) forget_conditions(*graph);
  return result;
}
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*,
                                CUgraph* graph, const CUgraphNode** last,
                                const CUgraphEdgeData** edges, std::size_t* count) {
  return GUARDED({
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!stream->graph) return CUDA_SUCCESS;
    *status = stream->graph->is_given_up ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                         : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    stream->last.assign(stream->before.begin(), stream->before.end());
    *graph = handle_of(stream->graph.get());
    *last = reinterpret_cast<CUgraphNode*>(const_cast<Node**>(stream->last.data()));
    *edges = nullptr;
    *count = stream->last.size();
  });
}
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes,
                                           const CUgraphEdgeData*, std::size_t count,
                                           unsigned flags) {
  return GUARDED({
    if (!stream->graph) return CUDA_ERROR_ILLEGAL_STATE;
    if (flags & CU_STREAM_SET_CAPTURE_DEPENDENCIES) stream->before.clear();
    for (std::size_t i = 0; i < count; ++i) {
      stream->before.insert(reinterpret_cast<const Node*>(nodes[i]));
    }
  });
}
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph,
                                        CUcontext given, unsigned, unsigned flags) {
  return GUARDED({
    static std::uint64_t latest = 0;
    if (!shared(graph) || given != &context() || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *handle = ++latest;
    gpu().conditions[latest].graph = graph_of(graph);
  });
}
// Conditional nodes alone.
CUresult cuGraphAddNode(CUgraphNode* made, CUgraph handle, const CUgraphNode* before,
                        const CUgraphEdgeData*, std::size_t count, CUgraphNodeParams* parameters) {
  return GUARDED({
    const std::shared_ptr<Graph> graph = shared(handle);
    CUDA_CONDITIONAL_NODE_PARAMS& wanted = parameters->conditional;
    const auto condition = gpu().conditions.find(wanted.handle);
    const bool is_loop = wanted.type == CU_GRAPH_COND_TYPE_WHILE;
    if (!graph || parameters->type != CU_GRAPH_NODE_TYPE_CONDITIONAL || wanted.ctx != &context() ||
        condition == gpu().conditions.end() || condition->second.has_node ||
        !graph->is_inside(*condition->second.graph) || wanted.size == 0 ||
        (is_loop ? wanted.size != 1 : wanted.type != CU_GRAPH_COND_TYPE_SWITCH)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto node = std::make_unique<Node>();
    for (std::size_t i = 0; i < count; ++i) {
      const auto* one = reinterpret_cast<const Node*>(before[i]);
      const auto is_it = [one](const auto& known) { return known.get() == one; };
      if (std::none_of(graph->nodes.begin(), graph->nodes.end(), is_it)) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      node->before.insert(one);
    }
    using Kind = Conditional::Kind;
    node->conditional = std::make_unique<Conditional>();
    node->conditional->kind = is_loop ? Kind::loop : Kind::branches;
    node->conditional->condition = wanted.handle;
    for (unsigned i = 0; i < wanted.size; ++i) {
      const auto body = std::make_shared<Graph>();
      body->parent = graph.get();
      node->conditional->bodies.push_back(body);
      node->conditional->handles.push_back(body.get());
    }
    wanted.phGraph_out = reinterpret_cast<CUgraph*>(node->conditional->handles.data());
    condition->second.has_node = true;
    *made = reinterpret_cast<CUgraphNode>(node.get());
    graph->nodes.push_back(std::move(node));
  });
}
// Every condition needs its node, and one graph with conditional nodes makes one to launch.
CUresult cuGraphInstantiate(CUgraphExec* made, CUgraph handle, unsigned long long) {
  return GUARDED({
    const auto graph = graphs().find(graph_of(handle));
    if (graph == graphs().end()) return CUDA_ERROR_INVALID_VALUE;
    for (const auto& [number, condition] : gpu().conditions) {
      const bool is_here = condition.graph->is_inside(*graph->first);
      if (is_here && !condition.has_node) return CUDA_ERROR_INVALID_VALUE;
    }
    if (graph->first->launchable > 0 && has_conditionals(*graph->first)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    ++graph->first->launchable;
    *made = new CUgraphExec_st{graph->second};
    ++calls().alive["launchable graphs"];
  });
}
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  return GUARDED({
    if (stream->graph) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    gpu().launch(*stream, graph->graph);
  });
}
CUresult cuGraphExecDestroy(CUgraphExec graph) {
  return GUARDED({
    --graph->graph->launchable;
    delete graph;
    --calls().alive["launchable graphs"];
  });
}
// Its conditions end with it: a graph that is launched later sets none.
CUresult cuGraphDestroy(CUgraph handle) {
  return GUARDED({
    const auto graph = graphs().find(graph_of(handle));
    if (graph == graphs().end()) return CUDA_ERROR_INVALID_VALUE;
    forget_conditions(*graph->first);
    graphs().erase(graph);
    --calls().alive["graphs"];
  });
}

}  // extern "C"
