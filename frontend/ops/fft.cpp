// Fourier transforms: lengths, axes and norms around the op.
#include "anabranch/fft.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "anabranch/arrange.h"
#include "anabranch/complex.h"
#include "anabranch/creation.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch::fft {
namespace {

using List = std::vector<std::int64_t>;

/// One call of a function of the user's.
struct Transform {
  const char* function;
  FftKind kind;
  List lengths, axes;  // one length for each axis
  Norm norm;
  SourceLocation where;

  bool is_inverse() const { return kind == FftKind::ifft || kind == FftKind::irfft; }
  double factor() const {
    double count = 1;
    for (std::int64_t length : lengths) count *= static_cast<double>(length);
    if (norm == Norm::ortho) return is_inverse() ? std::sqrt(count) : 1 / std::sqrt(count);
    if (norm == Norm::forward) return is_inverse() ? count : 1 / count;
    return 1;
  }
};

std::int64_t size_of(const Array& x, std::int64_t axis) {
  return type_of(x).shape[static_cast<int>(axis)];
}

// Cut, or filled with zeros at the end.
Array resized(const Array& x, std::int64_t axis, std::int64_t size, SourceLocation where) {
  const std::int64_t own = size_of(x, axis);
  if (size == own) return x;
  if (size < own) return slice_in_dim({x, where}, 0, size, axis);
  List low(static_cast<std::size_t>(type_of(x).rank())), high = low;
  high[static_cast<std::size_t>(axis)] = size - own;
  return pad({x, where}, Sizes(low, where), Sizes(high, where),
             {zeros(type_of(x).dtype, Sizes(List(), where)), where});
}

// In the dtype that the transform takes.
Array operand_of(const char* function, FftKind kind, const Operand& x) {
  if (kind == FftKind::rfft) return widened(term(function, x));
  const Term given = term(function, x, Takes::floats_or_complex);
  if (is_complex(type_of(given).dtype)) return given;
  const Term real = widened(given);
  return complex(real, Term(zeros_like(real), x.where()));
}

// The last axes, three at a time: of reals, the one of them first or last.
Array along_last_axes(const Transform& t, Array x) {
  List lengths = t.lengths;
  const auto record_some = [&](FftKind kind, std::size_t begin, std::size_t end) {
    // The axes of this part come last while it runs.
    const auto rank = static_cast<std::int64_t>(type_of(x).rank());
    const auto count = static_cast<std::int64_t>(lengths.size());
    List from, to;
    for (std::size_t i = begin; i < end; ++i) {
      from.push_back(rank - count + static_cast<std::int64_t>(i));
      to.push_back(rank - static_cast<std::int64_t>(end - i));
    }
    const bool moves = from != to;
    if (moves) x = moveaxis({x, t.where}, Axes(from), Axes(to));
    x = record(Op::fft, {x}, t.where,
               FftAttributes{kind, List(lengths.begin() + static_cast<std::ptrdiff_t>(begin),
                                        lengths.begin() + static_cast<std::ptrdiff_t>(end))});
    if (moves) x = moveaxis({x, t.where}, Axes(to), Axes(from));
  };
  const std::size_t count = lengths.size(), first = count > 3 ? count - 3 : 0;
  const FftKind others = t.is_inverse() ? FftKind::ifft : FftKind::fft;
  if (t.kind != FftKind::irfft) record_some(t.kind, first, count);
  for (std::size_t end = first; end > 0;) {
    const std::size_t begin = end > 3 ? end - 3 : 0;
    record_some(others, begin, end);
    end = begin;
  }
  if (t.kind == FftKind::irfft) record_some(t.kind, first, count);
  return x;
}

Array run(const Transform& t, const Operand& given) {
  Array x = operand_of(t.function, t.kind, given);
  for (std::size_t i = 0; i < t.axes.size(); ++i) {
    const std::int64_t length = t.lengths[i];
    if (length < 1) {
      fail(std::string(t.function) +
               ": a transform has at least one element: " + std::to_string(length) + " of " +
               to_string(type_of(given.array())) + " on axis " + std::to_string(t.axes[i]),
           t.where);
    }
    List sizes(type_of(x).shape.begin(), type_of(x).shape.end());
    sizes[static_cast<std::size_t>(t.axes[i])] = length;
    Sizes(sizes, t.where).shape(t.function);  // refused by its name where none is as large
    const bool is_half = t.kind == FftKind::irfft && i + 1 == t.axes.size();
    x = resized(x, t.axes[i], is_half ? length / 2 + 1 : length, t.where);
  }
  List last(t.axes.size());
  std::iota(last.begin(), last.end(), type_of(x).rank() - static_cast<std::int64_t>(last.size()));
  const bool moves = t.axes != last;
  if (moves) x = moveaxis({x, t.where}, Axes(t.axes), Axes(last));
  x = along_last_axes(t, x);
  if (moves) x = moveaxis({x, t.where}, Axes(last), Axes(t.axes));
  const double factor = t.factor();
  if (factor != 1) x = multiply({x, t.where}, factor);
  const Dtype dtype = type_of(as_array(t.function, given)).dtype;
  const bool is_narrow = t.kind == FftKind::irfft && is_float(dtype) && byte_size(dtype) < 4;
  return is_narrow ? astype({x, t.where}, dtype) : x;
}

// Along one axis.
Array one(const char* function, FftKind kind, const Operand& x, Length n, Axis axis, Norm norm) {
  const Array array = as_array(function, x);
  const std::int64_t at = axis_of(function, axis, type_of(array).shape, x.where());
  const std::int64_t own = size_of(array, at);
  const std::int64_t length = n ? *n : kind == FftKind::irfft ? 2 * (own - 1) : own;
  return run({function, kind, {length}, {at}, norm, x.where()}, x);
}

// Along several.
Array several(const char* function, FftKind kind, const Operand& x, const Sizes& sizes,
              const Axes& given, Norm norm) {
  const Array array = as_array(function, x);
  const Shape& shape = type_of(array).shape;
  List lengths = sizes.list(), axes;
  if (given.all()) {
    const std::size_t rank = static_cast<std::size_t>(shape.rank());
    if (lengths.size() > rank) {
      fail(std::string(function) + ": " + std::to_string(lengths.size()) + " sizes for " +
               to_string(type_of(array)) + "; give at most one per axis",
           x.where());
    }
    axes.resize(lengths.empty() ? rank : lengths.size());
    std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(rank - axes.size()));
  } else {
    axes = given.in_order(function, shape, x.where());
  }
  if (axes.empty()) {
    fail(std::string(function) + ": no axis to transform: " + to_string(type_of(array)), x.where());
  }
  if (lengths.empty()) {
    for (std::int64_t axis : axes) lengths.push_back(shape[static_cast<int>(axis)]);
    if (kind == FftKind::irfft) lengths.back() = 2 * (lengths.back() - 1);
  }
  if (lengths.size() != axes.size()) {
    fail(std::string(function) + ": " + std::to_string(lengths.size()) + " sizes for " +
             std::to_string(axes.size()) + " axes of " + to_string(type_of(array)) +
             "; give one per axis",
         x.where());
  }
  return run({function, kind, lengths, axes, norm, x.where()}, x);
}

Norm opposite(Norm norm) {
  return norm == Norm::backward ? Norm::forward : norm == Norm::forward ? Norm::backward : norm;
}

Array shifted(const char* function, const Operand& x, const Axes& axes, bool is_inverse) {
  Array result = as_array(function, x);
  const Shape shape = type_of(result).shape;
  for (std::int64_t axis : axes.of_rank(function, shape, x.where())) {
    const std::int64_t half = shape[static_cast<int>(axis)] / 2;
    result = roll({result, x.where()}, is_inverse ? -half : half, axis);
  }
  return result;
}

void check_frequencies(const char* function, std::int64_t n, double spacing, Dtype dtype,
                       SourceLocation where) {
  if (!is_float(dtype)) {
    fail(std::string(function) + ": gives floats, not " + std::string(name(dtype)) +
             "; give one, or nothing for the default float",
         where);
  }
  if (n >= 1 && spacing != 0) return;
  fail(std::string(function) + ": takes at least one sample and a spacing: " + std::to_string(n) +
           ", " + std::to_string(spacing),
       where);
}

}  // namespace

Array fft(const Operand& x, Length n, Axis axis, Norm norm) {
  return one("fft", FftKind::fft, x, n, axis, norm);
}
Array ifft(const Operand& x, Length n, Axis axis, Norm norm) {
  return one("ifft", FftKind::ifft, x, n, axis, norm);
}
Array rfft(const Operand& x, Length n, Axis axis, Norm norm) {
  return one("rfft", FftKind::rfft, x, n, axis, norm);
}
Array irfft(const Operand& x, Length n, Axis axis, Norm norm) {
  return one("irfft", FftKind::irfft, x, n, axis, norm);
}
Array hfft(const Operand& x, Length n, Axis axis, Norm norm) {
  const Term given = term("hfft", x, Takes::floats_or_complex);
  return one("hfft", FftKind::irfft, {conj(given), x.where()}, n, axis, opposite(norm));
}
Array ihfft(const Operand& x, Length n, Axis axis, Norm norm) {
  return conj({one("ihfft", FftKind::rfft, x, n, axis, opposite(norm)), x.where()});
}

Array fftn(const Operand& x, const Sizes& sizes, const Axes& axes, Norm norm) {
  return several("fftn", FftKind::fft, x, sizes, axes, norm);
}
Array ifftn(const Operand& x, const Sizes& sizes, const Axes& axes, Norm norm) {
  return several("ifftn", FftKind::ifft, x, sizes, axes, norm);
}
Array rfftn(const Operand& x, const Sizes& sizes, const Axes& axes, Norm norm) {
  return several("rfftn", FftKind::rfft, x, sizes, axes, norm);
}
Array irfftn(const Operand& x, const Sizes& sizes, const Axes& axes, Norm norm) {
  return several("irfftn", FftKind::irfft, x, sizes, axes, norm);
}

Array fft2(const Operand& x, const Sizes& sizes, const Axes& axes, Norm norm) {
  return several("fft2", FftKind::fft, x, sizes, axes, norm);
}
Array ifft2(const Operand& x, const Sizes& sizes, const Axes& axes, Norm norm) {
  return several("ifft2", FftKind::ifft, x, sizes, axes, norm);
}
Array rfft2(const Operand& x, const Sizes& sizes, const Axes& axes, Norm norm) {
  return several("rfft2", FftKind::rfft, x, sizes, axes, norm);
}
Array irfft2(const Operand& x, const Sizes& sizes, const Axes& axes, Norm norm) {
  return several("irfft2", FftKind::irfft, x, sizes, axes, norm);
}

Array fftfreq(std::int64_t n, double spacing, Dtype dtype, std::source_location where) {
  check_frequencies("fftfreq", n, spacing, dtype, where);
  const Term positions = converted(Term(arange(n), where), dtype);
  const Term middle(static_cast<double>((n - 1) / 2));
  const Term signed_positions =
      anabranch::where(positions > middle, positions - Term(static_cast<double>(n)), positions);
  return signed_positions / Term(static_cast<double>(n) * spacing);
}

Array rfftfreq(std::int64_t n, double spacing, Dtype dtype, std::source_location where) {
  check_frequencies("rfftfreq", n, spacing, dtype, where);
  const Term positions = converted(Term(arange(n / 2 + 1), where), dtype);
  return positions / Term(static_cast<double>(n) * spacing);
}

Array fftshift(const Operand& x, const Axes& axes) { return shifted("fftshift", x, axes, false); }
Array ifftshift(const Operand& x, const Axes& axes) { return shifted("ifftshift", x, axes, true); }

}  // namespace anabranch::fft
