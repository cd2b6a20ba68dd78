// Copies of whole buffers between the host and the devices.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/memory/buffer.h"
#include "runtime/memory/staging.h"

namespace anabranch {

/// A copy of host bytes, which may change as soon as this returns.
Buffer copy_to_device(const Device& device, std::span<const std::byte> bytes);

/// A buffer on `device`, which has an engine, with a copy of host bytes: they may change as soon as
/// this returns, and the copy itself goes on. It waits, as `put` does, where more than the ring
/// holds (128 MiB) is on its way there; a copy comes after what the device does already, so that
/// bounds what runs ahead in bytes, as the limits of Flights do for programs.
Buffer copy_to_engine(const Device& device, std::span<const std::byte> bytes);
Buffer copy_to_engine(const Device& device, std::span<const std::byte> bytes,
                      const StagingRing& ring);

/// Copies a buffer of such a device to the host, once its bytes are there: as `fetch`.
void copy_from_engine(const Buffer& buffer, PieceReader read, Copied then);
void copy_from_engine(const Buffer& buffer, PieceReader read, Copied then, const StagingRing& ring);

}  // namespace anabranch
