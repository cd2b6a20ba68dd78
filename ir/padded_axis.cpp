#include "ir/padded_axis.h"

#include <algorithm>

#include "ir/checked.h"

namespace anabranch {

std::optional<std::int64_t> padded_size(std::int64_t size, std::int64_t low, std::int64_t high,
                                        std::int64_t interior) {
  auto padded = checked_multiply(std::max<std::int64_t>(size - 1, 0), interior);
  for (std::int64_t more : {size, low, high}) {
    if (padded) padded = checked_add(*padded, more);
  }
  return padded;
}

std::int64_t window_count(std::int64_t axis, std::int64_t size, std::int64_t stride,
                          std::int64_t dilation) {
  // A window that spans more than 64 bits can count is longer than any axis.
  const auto last = checked_multiply(size - 1, dilation);
  return last && *last < axis ? (axis - 1 - *last) / stride + 1 : 0;
}

PaddedAxis padded_axis(std::int64_t size, std::int64_t padded, std::int64_t low,
                       std::int64_t interior) {
  if (size == 0 || padded == 0 || low >= padded) return {};
  if (size == 1) return low < 0 ? PaddedAxis{} : PaddedAxis{0, 1, low, 1};
  // `infer` has found that size + (size - 1) * interior fits in 64 bits, so `last` does, and
  // `interior`, which is part of it, has room for 1.
  const std::int64_t step = interior + 1;
  const std::int64_t last = (size - 1) * step;  // from the first element to the last
  if (low < -last) return {};
  PaddedAxis kept{0, 0, low, step};
  if (low < 0) {
    const std::int64_t before = -low;  // at most `last`
    kept.first = before / step + (before % step != 0);
    kept.low = low + kept.first * step;
  }
  if (kept.low >= padded) return {};
  kept.count = std::min(size - kept.first, (padded - 1 - kept.low) / step + 1);
  if (kept.count == 1) kept.step = 1;
  return kept;
}

}  // namespace anabranch
