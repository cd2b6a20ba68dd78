// The functions that bench_gpu and its peers (gpu_peers.py) measure.
#pragma once

#include <anabranch/anabranch.h>

#include <cstdint>

namespace kernels {

namespace ab = anabranch;

/// Eight cheap operations, one after the other.
inline ab::Array chain(ab::Array x) {
  const ab::Array y = (x * 1.5f + 0.25f) * x - 2.0f;
  return ab::maximum(y * y + x, 0.5f) * 0.125f;
}

inline ab::Array softmax(ab::Array x) { return ab::softmax(x); }

inline ab::Array layer_norm(ab::Array x, ab::Array scale, ab::Array shift) {
  return ab::layer_norm(x, scale, shift);
}

/// x over its root mean square, times `scale` (Zhang and Sennrich, arXiv:1910.07467).
inline ab::Array rms_norm(ab::Array x, ab::Array scale) {
  return x * ab::rsqrt(ab::mean(x * x, -1, ab::keepdims) + 1e-5f) * scale;
}

inline ab::Array row_sum(ab::Array x) { return ab::sum(x, 1); }
inline ab::Array column_sum(ab::Array x) { return ab::sum(x, 0); }
inline ab::Array full_sum(ab::Array x) { return ab::sum(x); }

/// `count` operations that cannot become fewer: compiled without fusion, a kernel each.
inline ab::Array many_tanh(ab::Array x, int count) {
  for (int i = 0; i < count; ++i) x = ab::tanh(x);
  return x;
}

/// 32 operations that become one kernel. Another `number`, another program.
inline ab::Array chain_of_32(ab::Array x, float number) {
  for (int i = 0; i < 8; ++i) {
    const float other = number + static_cast<float>(i);
    x = ab::tanh(x * other + 0.5f) - ab::maximum(x, number);
  }
  return x;
}

}  // namespace kernels
