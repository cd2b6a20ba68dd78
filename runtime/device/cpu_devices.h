// How many CPU devices there are.
#pragma once

namespace anabranch {

/// How many CPU devices there are (1 at first), each with cores, memory and streams of its own.
/// Threads move between devices that have begun to work; what is in flight goes on. Throws Error
/// unless `count` is 1 to 64, and inside a custom call.
void set_cpu_devices(int count);

}  // namespace anabranch
