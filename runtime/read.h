// Reading a buffer, now or once it is ready: a copy to the host on the timeline.
#pragma once

#include <exception>
#include <functional>

#include "runtime/buffer.h"

namespace anabranch {

/// Calls `read` with the bytes, which are there. Throws the buffer's error if it failed.
void read_now(const Buffer& buffer, const std::function<void(const void* data)>& read);

/// Once the bytes are there, calls `read` with them on a core of the buffer's device, and then
/// `done`: with null, or with the error where the buffer failed or `read` threw. `read` may take
/// long but must not wait; `done` must not throw.
void read_when_ready(const Buffer& buffer, std::function<void(const void* data)> read,
                     std::function<void(std::exception_ptr error)> done);

}  // namespace anabranch
