// Copies of whole buffers between the host and the devices.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/memory/buffer.h"
#include "runtime/memory/staging.h"

namespace anabranch {

/// A buffer on `device` with a copy of host bytes, which may change as soon as this returns.
Buffer copy_to_device(const Device& device, std::span<const std::byte> bytes);

/// The same by way of `ring`, on a device that works by itself: the copy continues when this
/// returns. It waits, as `enqueue_from_host` does, where more
/// than the ring holds (128 MiB) is on its way there; a copy comes after what the device does
/// already, so that bounds what runs ahead in bytes, as the limits of Admission do for programs.
Buffer copy_to_device(const Device& device, std::span<const std::byte> bytes,
                      const StagingRing& ring);

/// Copies a buffer of such a device to the host, once its bytes are there: as `enqueue_to_host`.
void copy_to_host(const Buffer& buffer, PieceReader read, Copied then);
void copy_to_host(const Buffer& buffer, PieceReader read, Copied then, const StagingRing& ring);

}  // namespace anabranch
