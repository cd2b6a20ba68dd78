// Tasks: what the threads of the host, or a device by itself, can run.
#pragma once

#include <cstdint>
#include <memory>

namespace anabranch {

class DeviceStream;

/// Work on the host that can be cut: iterations [begin, end) of [0, extent), on any thread, in any
/// order. `grain` is the fewest iterations worth a thread of their own; where it is `extent` or
/// more the task is never cut. Ranges begin at multiples of `cut`. May throw.
struct HostTask {
  using Function = void (*)(const void* context, void* const* buffers, std::int64_t begin,
                            std::int64_t end);
  Function function = nullptr;
  std::shared_ptr<const void> context;  ///< keeps code and library primitives alive
  std::int64_t extent = 1;
  std::int64_t grain = 1, cut = 1;
  /// For ranges that work together: what those of one run share, which `function` gets in place of
  /// `context`. Called once where threads share the task, and not where one thread does all of it;
  /// no range begins before it returns. May throw. Null for a task whose ranges are independent.
  std::shared_ptr<const void> (*share)(const void* context, void* const* buffers) = nullptr;
  /// Whether the first thread runs alone until `function` invites others (cpu::ThreadPool::invite),
  /// as one does that does not know how long it will take.
  bool invites = false;
};

/// Work that a device does by itself: `enqueue` enqueues it on a stream of the device and returns.
/// Throws Error where the device refuses it.
struct DeviceTask {
  using Function = void (*)(const void* context, void* const* buffers, DeviceStream& stream);
  Function enqueue = nullptr;
  std::shared_ptr<const void> context;  ///< keeps code and library handles alive
};

}  // namespace anabranch
