// Discrete Fourier transforms, under the names of the Python Array API standard's extension `fft`.
//
// With w = e^(-2 pi i / n) the transform of x is y_k = sum over j of x_j w^(jk), and the inverse
// has the conjugate of w and the factor 1 / n. f32 and c64 give c64, f64 and c128 c128; f16 and
// bf16 are computed in f32; integers are an Error. An axis is first cut, or filled with zeros at
// its end, to the n that is asked for. Any n is computed in O(n log n) operations, on the host,
// whatever the device; the transforms of a batch are divided among threads. Every function throws
// Error, on the user's line, for a length below 1, an axis that x does not have, or too few of
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <source_location>

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {
namespace fft {

/// Where the factor 1 / n goes: to the inverse, to both as 1 / sqrt(n), or to the transform.
enum class Norm : std::uint8_t { backward, ortho, forward };

/// How many elements are transformed; nothing for all that the axis has.
using Length = std::optional<std::int64_t>;

/// The transform along one axis, of real or complex numbers.
Array fft(const Operand& x, Length n = {}, Axis axis = -1, Norm norm = Norm::backward);
/// The inverse of `fft`.
Array ifft(const Operand& x, Length n = {}, Axis axis = -1, Norm norm = Norm::backward);
/// The first n / 2 + 1 elements of the transform of reals: the others are their conjugates. Error
/// for complex numbers.
Array rfft(const Operand& x, Length n = {}, Axis axis = -1, Norm norm = Norm::backward);
/// The n reals whose `rfft` is x, 2 (m - 1) for m elements where n is not given. The imaginary
/// parts of the first element, and of the last for even n, are not read.
Array irfft(const Operand& x, Length n = {}, Axis axis = -1, Norm norm = Norm::backward);
/// The real transform of n elements of which x are the first n / 2 + 1, the others being their
/// conjugates: 2 (m - 1) of m elements where n is not given.
Array hfft(const Operand& x, Length n = {}, Axis axis = -1, Norm norm = Norm::backward);
/// The inverse of `hfft`: the first n / 2 + 1 elements of the inverse transform of reals.
Array ihfft(const Operand& x, Length n = {}, Axis axis = -1, Norm norm = Norm::backward);

/// The transform along several axes: those given, or as many of the last as there are sizes, or
/// all. The sizes are one for each, or none.
Array fftn(const Operand& x, const Sizes& sizes = {}, const Axes& axes = {},
           Norm norm = Norm::backward);
/// The inverse of `fftn`.
Array ifftn(const Operand& x, const Sizes& sizes = {}, const Axes& axes = {},
            Norm norm = Norm::backward);
/// `rfft` along the last of the axes, then `fft` along the others.
Array rfftn(const Operand& x, const Sizes& sizes = {}, const Axes& axes = {},
            Norm norm = Norm::backward);
/// The inverse of `rfftn`; the last size is that of the reals.
Array irfftn(const Operand& x, const Sizes& sizes = {}, const Axes& axes = {},
             Norm norm = Norm::backward);

/// The same along two axes (NumPy's).
Array fft2(const Operand& x, const Sizes& sizes = {}, const Axes& axes = {-2, -1},
           Norm norm = Norm::backward);
Array ifft2(const Operand& x, const Sizes& sizes = {}, const Axes& axes = {-2, -1},
            Norm norm = Norm::backward);
Array rfft2(const Operand& x, const Sizes& sizes = {}, const Axes& axes = {-2, -1},
            Norm norm = Norm::backward);
Array irfft2(const Operand& x, const Sizes& sizes = {}, const Axes& axes = {-2, -1},
             Norm norm = Norm::backward);

/// The frequency of each element of an `fft` of n samples `spacing` apart: 0, 1, ... up to the
/// middle, then the negative ones up to -1, over n * spacing.
Array fftfreq(std::int64_t n, double spacing = 1, Dtype dtype = f32,
              std::source_location where = std::source_location::current());
/// The frequencies of an `rfft`: 0, 1, ... n / 2, over n * spacing.
Array rfftfreq(std::int64_t n, double spacing = 1, Dtype dtype = f32,
               std::source_location where = std::source_location::current());
/// Frequency 0 moved to the middle of the axes, or of all.
Array fftshift(const Operand& x, const Axes& axes = {});
/// The inverse of `fftshift`, which differs for odd sizes.
Array ifftshift(const Operand& x, const Axes& axes = {});

}  // namespace fft
}  // namespace anabranch
