// Copies between the host and a device that works by itself: through page-locked memory, piece by
// piece, so that the host copies one while the device copies another.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "anabranch/failure.h"
#include "runtime/device/device_state.h"
#include "runtime/memory/staging_ring.h"

namespace anabranch {

/// The rings of a device: one for each direction, so that copies to the host, which continue as the
/// host's threads do, hold up none from it, for which a thread of the host may wait.
StagingRing from_host_ring(StreamExecutor& stream_executor);
StagingRing to_host_ring(StreamExecutor& stream_executor);

/// Gets the bytes of a copy in consecutive pieces, in their order, one at a time, on threads of the
/// library. It must not wait; what it throws ends the copy.
using PieceReader = std::function<void(std::span<const std::byte> piece)>;
/// Hears that a copy is at its end, or what it failed of. It must neither wait nor throw.
using Copied = std::function<void(const Failure&)>;

/// Enqueues copies of device memory to the host on `stream`, which is one of `device`'s: the first
/// ones here and now, more as room in `ring` and readers allow. Never waits. The memory must not
/// change until `then` is called; `read` will not be called from then on. The timeline shows each
/// piece as `drawn_as`, if that is not null.
void enqueue_to_host(DeviceState& device, DeviceStream& stream, const StagingRing& ring,
                     const void* from, std::size_t bytes, PieceReader read, Copied then,
                     const char* drawn_as = nullptr);

/// Enqueues copies of host bytes to device memory on `stream`, which is one of `device`'s, all of
/// it before it returns; the host's bytes may change from then on. It waits only for room in
/// `ring`, while as many bytes as that holds are on their way to the device. `each` is called for
/// every piece that has come; what it holds lives until then. Throws Error where the device
/// refuses; pieces that it has taken before come nevertheless.
void enqueue_from_host(DeviceState& device, DeviceStream& stream, const StagingRing& ring, void* to,
                       std::span<const std::byte> from, const Copied& each);

}  // namespace anabranch
