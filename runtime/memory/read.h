// Reading a buffer, now or once it is ready: a copy to the host on the timeline.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "ir/literal.h"
#include "runtime/memory/buffer.h"

namespace anabranch {

/// Gets a buffer's bytes in consecutive pieces, in their order: all at once where they are the
/// host's. Where an error follows, what it got is worth nothing.
using ReadPiece = std::function<void(std::span<const std::byte> piece)>;

/// Calls `read` with the bytes, which are there. Throws the buffer's error if it failed, and what
/// `read` throws.
void read_in_pieces(const Buffer& buffer, const ReadPiece& read);
/// The same, with all of them in one place.
void read_now(const Buffer& buffer, const std::function<void(const void* data)>& read);

/// Waits for the bytes, and copies them to the host. Throws the buffer's error if it failed.
Literal read_literal(const Buffer& buffer, const Type& type);

/// Once the bytes are there, calls `read` with them on a thread of the library, and then `done`:
/// with nothing, or with what failed where the buffer failed or `read` threw. `read` may take long
/// but must not wait; `done` must do neither, and must not throw.
void read_when_ready(const Buffer& buffer, ReadPiece read,
                     std::function<void(Failure failure)> done);

}  // namespace anabranch
