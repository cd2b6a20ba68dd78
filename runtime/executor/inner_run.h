// InnerRun: a step that is more than one task, and the three kinds of it.
#pragma once

#include <memory>
#include <span>

#include "runtime/executor/executable.h"

namespace anabranch::executor {

class Strand;

/// What a step runs that takes several goes: a loop, a branch, or a host's task on a device's
/// memory.
class InnerRun {
 public:
  virtual ~InnerRun() = default;
  /// Goes on for as long as nothing has to be waited for. Whether it is done; if not, the strand
  /// that it belongs to continues once it is, and this may no longer be touched.
  virtual bool advance() = 0;
};

/// A run of `step`, a loop or a branch, on `buffers`; these and its code outlive it. Where it does
/// not end at once, it advances `strand` when it does. The first error inside it fails all that the
/// step writes.
std::unique_ptr<InnerRun> make_inner_run(const Step& step, const LinkedStep& code,
                                         std::span<void* const> buffers, Strand& strand);

/// Copies what `task` reads there to the host, runs it on a worker, and copies back what it writes;
/// where the step is itself a transfer, that is all there is to it. `step` and `buffers` outlive
/// it. Nothing waits meanwhile but the worker, for room in the ring, where it copies much to a
/// device; `strand` is advanced at the end. Throws Error where there is no memory.
std::unique_ptr<InnerRun> make_staged_run(const Step& step, const HostTask& task,
                                          std::span<void* const> buffers, Strand& strand);

/// Enqueues all of `step`, a loop or a branch whose code can set its condition, on the stream of
/// `strand`, which captures. Throws Error where the device refuses anything of it.
void capture_flow(const Step& step, const LinkedStep& code, std::span<void* const> buffers,
                  Strand& strand);

}  // namespace anabranch::executor
