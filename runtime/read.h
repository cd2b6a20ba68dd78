// Reading a buffer, now or once it is ready: a copy to the host on the timeline.
#pragma once

#include <exception>
#include <functional>

#include "runtime/buffer.h"

namespace anabranch {

/// Calls `read` with the bytes, which are there. Throws the buffer's error if it failed.
void read_now(const Buffer& buffer, const std::function<void(const void* data)>& read);

/// Calls `read` with the bytes on a core of the buffer's device, once they are there; with null and
/// the error where the buffer failed. `read` may take long but must not wait; what it throws is
/// dropped.
void read_when_ready(const Buffer& buffer,
                     std::function<void(const void* data, const std::exception_ptr& error)> read);

}  // namespace anabranch
