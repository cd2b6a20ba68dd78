// The Fourier transform by its definition, one axis after the other.
#include <complex>
#include <numbers>

#include "ir/interpret/rules.h"

namespace anabranch {
namespace {

template <class R>
using Line = std::vector<std::complex<R>>;

// e^(2 pi i k / n), exact where it is a root of order 4.
template <class R>
Line<R> roots_of(std::int64_t n) {
  Line<R> roots;
  for (std::int64_t k = 0; k < n; ++k) {
    if (4 * k % n == 0) {
      constexpr std::complex<R> quarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
      roots.push_back(quarters[4 * k / n]);
    } else {
      roots.push_back(
          std::polar(R(1), 2 * std::numbers::pi_v<R> * static_cast<R>(k) / static_cast<R>(n)));
    }
  }
  return roots;
}

// Sums of x_j e^(-+ 2 pi i j k / n), the inverse over n.
template <class R>
Line<R> transformed(const Line<R>& x, const Line<R>& roots, bool inverse) {
  const std::size_t n = x.size();
  Line<R> result(n);
  for (std::size_t k = 0; k < n; ++k) {
    std::complex<R> sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const std::complex<R> root = roots[j * k % n];
      sum += x[j] * (inverse ? root : std::conj(root));
    }
    result[k] = inverse ? sum / static_cast<R>(n) : sum;
  }
  return result;
}

// Along one axis of an array of these sizes.
template <class R>
void transform_axis(Line<R>& x, std::span<const std::int64_t> sizes, std::size_t axis,
                    bool inverse) {
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < sizes.size(); ++i) inner *= sizes[i];
  const std::int64_t n = sizes[axis];
  if (x.empty()) return;
  const Line<R> roots = roots_of<R>(n);
  const auto lines = static_cast<std::int64_t>(x.size()) / n;
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::int64_t first = line / inner * inner * n + line % inner;
    const auto place = [&](std::int64_t i) { return static_cast<std::size_t>(first + i * inner); };
    Line<R> along;
    for (std::int64_t i = 0; i < n; ++i) along.push_back(x[place(i)]);
    along = transformed(along, roots, inverse);
    for (std::int64_t i = 0; i < n; ++i) x[place(i)] = along[static_cast<std::size_t>(i)];
  }
}

// The last axis from `from` to `to` elements; `element(line, i)` says what is where.
template <class R, class Element>
Line<R> with_last_axis(std::int64_t lines, std::int64_t to, Element element) {
  Line<R> result;
  for (std::int64_t line = 0; line < lines; ++line) {
    for (std::int64_t i = 0; i < to; ++i) result.push_back(element(line, i));
  }
  return result;
}

// The other half of the transform of reals: the conjugates, turned round.
template <class R>
Line<R> completed(const Line<R>& half, std::int64_t lines, std::int64_t from, std::int64_t n) {
  return with_last_axis<R>(lines, n, [&](std::int64_t line, std::int64_t i) {
    const bool is_own = 2 * i <= n;
    const auto found = half[static_cast<std::size_t>(line * from + (is_own ? i : n - i))];
    if (i == 0 || 2 * i == n) return std::complex<R>(found.real());
    return is_own ? found : std::conj(found);
  });
}

template <class R>
void transform_axes(Line<R>& x, std::span<const std::int64_t> sizes, std::size_t first,
                    std::size_t last, bool inverse) {
  for (std::size_t axis = first; axis < last; ++axis) transform_axis(x, sizes, axis, inverse);
}

template <class T>
Results fft_of(const Node& node, const Literal& operand) {
  const auto& [kind, lengths] = node.as<FftAttributes>();
  using R = Exact<T>;
  const bool inverse = kind == FftKind::ifft || kind == FftKind::irfft;
  std::vector<std::int64_t> sizes(operand.type().shape.begin(), operand.type().shape.end());
  const std::size_t first = sizes.size() - lengths.size();
  const std::int64_t from = sizes.back();
  const std::int64_t lines = from == 0 ? 0 : operand.type().size() / from;
  Line<R> x;
  if (kind == FftKind::rfft) {
    for (T number : operand.values<T>()) x.emplace_back(number);
  } else {
    for (std::complex<T> number : operand.values<std::complex<T>>()) {
      x.emplace_back(number.real(), number.imag());
    }
  }
  if (kind == FftKind::irfft) {
    transform_axes(x, sizes, first, sizes.size() - 1, true);
    sizes.back() = lengths.back();
    x = completed(x, lines, from, sizes.back());
    transform_axis(x, sizes, sizes.size() - 1, true);
    Elements<T> result(node.types[0]);
    for (std::size_t i = 0; i < x.size(); ++i) {
      result[static_cast<std::int64_t>(i)] = static_cast<T>(x[i].real());
    }
    return std::move(result).finish();
  }
  transform_axes(x, sizes, first, sizes.size(), inverse);
  if (kind == FftKind::rfft) {
    const std::int64_t to = node.types[0].shape[node.types[0].rank() - 1];
    x = with_last_axis<R>(lines, to, [&](std::int64_t line, std::int64_t i) {
      return x[static_cast<std::size_t>(line * from + i)];
    });
  }
  Elements<std::complex<T>> result(node.types[0]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    result[static_cast<std::int64_t>(i)] = {static_cast<T>(x[i].real()),
                                            static_cast<T>(x[i].imag())};
  }
  return std::move(result).finish();
}

}  // namespace

Results rules::fft(const Node& node, Operands operands) {
  const bool is_narrow = part_dtype(operands[0].type().dtype) == Dtype::f32;
  return is_narrow ? fft_of<float>(node, operands[0]) : fft_of<double>(node, operands[0]);
}

}  // namespace anabranch
