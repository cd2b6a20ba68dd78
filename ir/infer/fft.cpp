#include "ir/infer/rules.h"

namespace anabranch {
namespace {

// How many complex numbers stand for n reals.
std::int64_t half_of(std::int64_t n) { return n == 0 ? 0 : n / 2 + 1; }

}  // namespace

namespace type_rules {

ResultTypes fft(const Application& call) {
  const auto& [kind, lengths] = call.as<FftAttributes>();
  const Type& x = call.operands[0];
  if (kind == FftKind::rfft ? x.dtype != Dtype::f32 && x.dtype != Dtype::f64
                            : !is_complex(x.dtype)) {
    call.refuse(
        kind == FftKind::rfft
            ? "rfft takes f32 or f64"
            : std::string(words<FftKind>[static_cast<std::size_t>(kind)]) + " takes c64 or c128",
        "convert it first");
  }
  const auto count = static_cast<int>(lengths.size());
  if (count < 1 || count > 3) {
    call.refuse("transforms 1 to 3 axes", std::to_string(count) + " lengths");
  }
  if (count > x.rank()) {
    call.refuse("more lengths than axes",
                std::to_string(count) + " against " + std::to_string(x.rank()));
  }
  std::vector<std::int64_t> sizes(x.shape.begin(), x.shape.end());
  for (int i = 0; i < count; ++i) {
    const auto axis = static_cast<std::size_t>(x.rank() - count + i);
    const std::int64_t length = lengths[static_cast<std::size_t>(i)];
    if (length < 0) call.refuse("a length is negative", list_text(lengths));
    const bool is_half = kind == FftKind::irfft && i + 1 == count;
    const std::int64_t wanted = is_half ? half_of(length) : length;
    if (sizes[axis] != wanted) {
      call.refuse("the length of axis " + std::to_string(axis) + " does not fit",
                  std::to_string(sizes[axis]) + " elements, and a transform of " +
                      std::to_string(length) + " takes " + std::to_string(wanted));
    }
  }
  Dtype dtype = x.dtype;
  if (kind == FftKind::rfft) {
    sizes.back() = half_of(lengths.back());
    dtype = complex_dtype(x.dtype);
  } else if (kind == FftKind::irfft) {
    sizes.back() = lengths.back();
    dtype = part_dtype(x.dtype);
  }
  return call.result(dtype, std::move(sizes));
}

}  // namespace type_rules
}  // namespace anabranch
