// Captures: what is enqueued on streams becomes a CUDA graph, with conditional nodes for loops and
// branches. WHILE nodes came with CUDA 12.4, SWITCH nodes with 12.8, so that every driver that is
// new enough for the library has both.
#pragma once

#include <cuda.h>

#include <functional>
#include <memory>
#include <span>

#include "runtime/device/stream_executor.h"

namespace anabranch::cuda {

/// What `enqueue` enqueues on `stream` of that context, and on other streams by events, ready to be
/// launched. Throws what `enqueue` throws, and Error where the driver refuses it.
std::shared_ptr<const CapturedGraph> captured(CUcontext context, CUstream stream,
                                              const std::function<void()>& enqueue);

/// The same into a graph that there is: the body of a conditional node. Nothing may be captured on
/// `stream` before.
void capture_to(CUgraph graph, CUstream stream, const std::function<void()>& enqueue);

/// A conditional node of what is being captured on a stream.
class Conditional {
 public:
  /// Makes its condition. Throws Error where the driver refuses it.
  Conditional(CUcontext context, CUstream stream);

  /// What kernels before the node, and inside it, set.
  Condition condition() const { return handle_; }
  /// Adds the node behind what the stream has captured so far: its bodies, `count` of them, empty.
  std::span<const CUgraph> add(CUgraphConditionalNodeType type, unsigned count) const;

 private:
  const CUcontext context_;
  const CUstream stream_;
  CUgraphConditionalHandle handle_ = 0;
};

}  // namespace anabranch::cuda
