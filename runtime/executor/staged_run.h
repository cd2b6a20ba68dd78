// A host's task on memory of devices that work by themselves: a custom call, or a copy between such
// a device and the host.
#pragma once

#include <memory>
#include <span>

#include "runtime/executor/executable.h"
#include "runtime/executor/stream_run.h"

namespace anabranch::executor {

/// Copies what `task` reads there to the host, runs it on a worker, and copies back what it writes;
/// where the launch is itself a copy, that is all there is to it. `launch` and `buffers` outlive
/// it. Nothing waits meanwhile but the worker, for room in the ring, where it copies much to a
/// device; `strand` is advanced at the end. Throws Error where there is no memory.
std::unique_ptr<InnerRun> make_staged_run(const Launch& launch, const HostTask& task,
                                          std::span<void* const> buffers, Strand& strand);

}  // namespace anabranch::executor
