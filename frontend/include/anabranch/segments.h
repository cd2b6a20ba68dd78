// Sums and counts by group: segments, histograms; and what places things in tables.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

/// For each of `count` segments, the sum of the slabs of x whose id is its number: [count, ...] of
/// x's dtype. `ids`, integers in any order, are of x's first axis, or its first few. Slabs with
/// another id are left out; a segment of none is 0. f16 and bf16 are summed in f32. The same bits
/// on every run.
Array segment_sum(const Operand& x, const Operand& ids, std::int64_t count);
/// The product, 1 of none.
Array segment_prod(const Operand& x, const Operand& ids, std::int64_t count);
/// The greatest; the least value that the dtype has (-inf) of none.
Array segment_max(const Operand& x, const Operand& ids, std::int64_t count);
/// The least; the greatest value that the dtype has (inf) of none.
Array segment_min(const Operand& x, const Operand& ids, std::int64_t count);

/// How often each of the numbers 0 to `length` - 1 is among the integers of x, as i64; others are
/// left out.
Array bincount(const Operand& x, std::int64_t length);
/// The sum of the weights of each number instead, of their dtype; one weight per element of x.
Array bincount(const Operand& x, std::int64_t length, const Operand& weights);

/// The ends that bins span; of no width, half of 1 is added on either side.
struct HistogramRange {
  double low, high;
};
/// The `bins` + 1 edges of bins of equal width over the range, or over the elements where none is
/// given (0 to 1 where there are no elements): of x's dtype, or the default float of integers.
Array histogram_bin_edges(const Operand& x, std::int64_t bins = 10,
                          std::optional<HistogramRange> range = {});
/// How many elements are in each bin, as i64, and the edges. A bin holds its lower edge, the last
/// one both; NaN and what is outside are in none.
std::pair<Array, Array> histogram(const Operand& x, std::int64_t bins = 10,
                                  std::optional<HistogramRange> range = {});
/// The same between edges that ascend, a vector of two or more.
Array histogram(const Operand& x, const Operand& edges);

/// The piecewise linear function through the points (xp[i], fp[i]), xp ascending, at each element
/// of x: of the dtype that the floats among the three come to. Below the first and above the last
/// point it is `left` and `right`, or the values of these points. NaN stays NaN.
Array interp(const Operand& x, const Operand& xp, const Operand& fp,
             std::optional<double> left = {}, std::optional<double> right = {});

/// The positions of the first `size` elements that are not zero, in row-major order: for each axis
/// an i64 vector of that size. Where there are fewer, the rest is `fill`.
std::vector<Array> nonzero(const Operand& x, std::int64_t size, std::int64_t fill = 0);

/// The different elements of an array. Each NaN is one of its own; 0 and -0 are the same.
struct Unique {
  Array values;           ///< [size], of x's dtype, ascending
  Array indices;          ///< i64[size]: the first position of each, in row-major order
  Array inverse_indices;  ///< i64, of x's shape: which of the values each element is
  Array counts;           ///< i64[size]: how often each is there
};
/// The first `size` of them. Where there are fewer, the least is repeated with a count of 0. Throws
/// Error where `size` is not 0 and x has no elements.
Unique unique_all(const Operand& x, std::int64_t size);
Array unique_values(const Operand& x, std::int64_t size);                     ///< its values
std::pair<Array, Array> unique_counts(const Operand& x, std::int64_t size);   ///< and counts
std::pair<Array, Array> unique_inverse(const Operand& x, std::int64_t size);  ///< and inverse

}  // namespace anabranch
