// What passes weigh work in: bytes of memory traffic.
#pragma once

namespace anabranch {

/// At 40 GB/s a core moves about 0.6 bytes in the time that one vectorised f32 operation takes.
constexpr double bytes_per_operation = 0.6;

}  // namespace anabranch
