#include "tests/support/fft_bounds.h"

#include <cmath>
#include <complex>

#include "anabranch/dtype.h"

namespace anabranch {
namespace {

using Numbers = std::vector<double>;

Numbers magnitudes_of(const Literal& literal) {
  return visit_any_dtype(literal.type().dtype, [&]<class T>() -> Numbers {
    Numbers magnitudes;
    for (T number : literal.values<T>()) {
      if constexpr (is_complex_storage<T>) {
        magnitudes.push_back(
            std::hypot(static_cast<double>(number.real()), static_cast<double>(number.imag())));
      } else {
        magnitudes.push_back(std::fabs(static_cast<double>(number)));
      }
    }
    return magnitudes;
  });
}

// Whether both parts are numbers: the magnitude of infinity and NaN is infinite.
bool all_finite(std::span<const double> numbers) {
  for (double number : numbers) {
    if (!std::isfinite(number)) return false;
  }
  return true;
}

}  // namespace

Bounded fft_bounded(const Node& node, const Bounded& operand, Literal value) {
  const auto& [kind, lengths] = node.as<FftAttributes>();
  const Shape& from = operand.value.type().shape;
  std::int64_t count = 1;
  for (int axis = 0; axis + static_cast<int>(lengths.size()) < from.rank(); ++axis) {
    count *= from[axis];
  }
  double points = 1;
  for (std::int64_t length : lengths)
    points *= static_cast<double>(std::max<std::int64_t>(length, 1));
  const bool inverse = kind == FftKind::ifft || kind == FftKind::irfft;
  const double scale = (kind == FftKind::irfft ? 2 : 1) / (inverse ? points : 1);
  const bool is_narrow = part_dtype(value.type().dtype) == f32;
  const double unit = is_narrow ? 0x1p-24 : 0x1p-53, most = is_narrow ? 1e36 : 1e300;
  const double least = is_narrow ? 0x1p-126 : 0x1p-1022;
  const Numbers magnitudes = magnitudes_of(operand.value);
  const auto errors = operand.bound.values<double>();
  Numbers bound(static_cast<std::size_t>(value.type().size()));
  const std::size_t in = count == 0 ? 0 : magnitudes.size() / static_cast<std::size_t>(count);
  const std::size_t out = count == 0 ? 0 : bound.size() / static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    double sum = 0, error = 0;
    for (std::size_t k = i * in; k < (i + 1) * in; ++k) sum += magnitudes[k], error += errors[k];
    const bool is_known = all_finite({magnitudes.data() + i * in, in}) && sum < most;
    const double roundings = 20 * (std::log2(points) + 4) * (unit * sum + least);
    const double each = is_known ? scale * (roundings + 1.5 * error) + least : unknown;
    std::fill_n(bound.begin() + static_cast<std::ptrdiff_t>(i * out), out, each);
  }
  const Literal made = Literal::of(std::span<const double>(bound), value.type().shape);
  return {std::move(value), made, made};
}

}  // namespace anabranch
