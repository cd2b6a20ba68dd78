// The core that a thread runs on.
#pragma once

namespace anabranch::cpu {

inline constexpr int no_core = -1;

/// That of the calling thread at the moment; `no_core` where the system does not say.
int current_core();

/// Has the calling thread go on on another core than this, if it may run on another: once, without
/// binding it there, and at most once in a millisecond. Schedulers wake a thread where the waker
/// runs, or where it ran last, and let two that both wait for each other now and then share a core
/// for milliseconds while another is idle.
void leave_core();

}  // namespace anabranch::cpu
