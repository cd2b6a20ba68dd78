// Convolution through oneDNN: forward, and the gradients of data and of filters, with an
// elementwise epilogue of our own run on each part of the result while it is still in the cache.
#pragma once

#include <cstddef>

#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch::cpu {

/// Whether oneDNN has fast code for it. Others are written as dots of windows.
bool has_library_convolution(const ConvolutionStep& step);

/// What the filters take in the library's layout; 0 where it reads them as they are.
std::size_t packed_filter_bytes(const ConvolutionStep& step);
/// Lays the filters out. Buffers: the filters, room of `packed_filter_bytes`.
HostTask pack_filters(const ConvolutionStep& step);

/// Over parts of the result, with the buffers of the step. Primitives are created here, not per
/// call. `epilogue` runs the kernel of `step.epilogue`, if there is one: its parallel loop runs
/// over the result in row-major order.
HostTask make_convolution(const ConvolutionStep& step, const HostTask& epilogue = {});

}  // namespace anabranch::cpu
