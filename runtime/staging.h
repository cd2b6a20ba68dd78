// Copies between the host and a device that works by itself.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "runtime/buffer.h"
#include "runtime/device_state.h"
#include "runtime/failure.h"

namespace anabranch {

/// Page-locked memory of the host, which copies to and from a device need. It is kept for reuse,
/// and comes back with the last handle. Throws Error where there is none left.
std::shared_ptr<void> stage(Engine& engine, std::size_t bytes);

/// Who gets bytes that were copied to the host, or the error that came instead. They are there
/// until it has returned, unless it keeps the handle. It must not wait.
using Fetched = std::function<void(std::shared_ptr<const void> data, const Failure&)>;

/// Puts a copy of device memory to the host on `queue`, which is one of `device`'s, and calls
/// `then` once it is there.
void fetch(DeviceState& device, DeviceQueue& queue, const void* from, std::size_t bytes,
           Fetched then);

/// A buffer on `device`, which has an engine, with a copy of host bytes: they may change as soon as
/// this returns, and the copy itself goes on.
Buffer copy_to_engine(const Device& device, std::span<const std::byte> bytes);

/// Copies a buffer of such a device to the host, once its bytes are there; then calls `then`.
void copy_from_engine(const Buffer& buffer, Fetched then);

}  // namespace anabranch
