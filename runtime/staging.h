// Copies between the host and a device that works by itself.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "runtime/buffer.h"
#include "runtime/failure.h"

namespace anabranch {

/// A buffer on `device`, which has an engine, with a copy of host bytes: they may change as soon as
/// this returns, and the copy itself goes on.
Buffer copy_to_engine(const Device& device, std::span<const std::byte> bytes);

/// Copies a buffer of such a device to the host, once its bytes are there; then calls `then`, on a
/// thread that must not be kept waiting: with the bytes, which are there until it has returned, or
/// with the error.
void copy_from_engine(const Buffer& buffer,
                      std::function<void(std::shared_ptr<const void> data, const Failure&)> then);

}  // namespace anabranch
