// Statistics: medians and quantiles, covariances, and reductions that pass over NaN.
//
// `axes` is one axis, a list, or nothing for all; with `keepdims` the folded axes stay with size 1.
// Floats alone have NaN: the nan-functions of other dtypes are the plain ones.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

/// How a quantile between two elements is made of them.
enum class Interpolation : std::uint8_t { linear, lower, higher, midpoint, nearest };

/// One q, or several: their results come in front, along a first axis.
class Quantiles {
 public:
  Quantiles(double q) : all_{q}, is_one_(true) {}
  Quantiles(std::initializer_list<double> q) : all_(q) {}
  Quantiles(std::vector<double> q) : all_(std::move(q)) {}

  const std::vector<double>& all() const { return all_; }
  bool is_one() const { return is_one_; }

 private:
  std::vector<double> all_;
  bool is_one_ = false;
};

/// The element that is `q` of the way, from 0 to 1, through the sorted elements of floats; between
/// two it is interpolated (numpy.quantile's methods). NaN where one is NaN. Throws Error over no
/// elements or for another q. Computed in f32 for f16 and bf16, as all that follow are.
Array quantile(const Operand& x, const Quantiles& q, const Axes& axes = {}, bool keep = false,
               Interpolation interpolation = Interpolation::linear);
/// quantile(x, q / 100)
Array percentile(const Operand& x, const Quantiles& q, const Axes& axes = {}, bool keep = false,
                 Interpolation interpolation = Interpolation::linear);
/// quantile(x, 0.5): the middle element, or the mean of the two in the middle.
Array median(const Operand& x, const Axes& axes = {}, bool keep = false);

Array nansum(const Operand& x, const Axes& axes = {}, bool keep = false);   ///< as `sum`; NaN is 0
Array nanprod(const Operand& x, const Axes& axes = {}, bool keep = false);  ///< as `prod`; NaN is 1
/// The greatest, NaN where all are. Error over no elements.
Array nanmax(const Operand& x, const Axes& axes = {}, bool keep = false);
/// The least, NaN where all are. Error over no elements.
Array nanmin(const Operand& x, const Axes& axes = {}, bool keep = false);
/// The mean of what is no NaN; NaN where there is nothing.
Array nanmean(const Operand& x, const Axes& axes = {}, bool keep = false);
/// As `var`, of what is no NaN.
Array nanvar(const Operand& x, const Axes& axes = {}, bool keep = false, double correction = 0);
/// The square root of `nanvar`.
Array nanstd(const Operand& x, const Axes& axes = {}, bool keep = false, double correction = 0);
/// Where the first greatest element is, as i64, -1 where all are NaN; see `argmax`.
Array nanargmax(const Operand& x, const Axes& axis = {}, bool keep = false);
/// Where the first least element is; see `nanargmax`.
Array nanargmin(const Operand& x, const Axes& axis = {}, bool keep = false);
/// As `quantile`, of what is no NaN; NaN where there is nothing.
Array nanquantile(const Operand& x, const Quantiles& q, const Axes& axes = {}, bool keep = false,
                  Interpolation interpolation = Interpolation::linear);
/// nanquantile(x, q / 100)
Array nanpercentile(const Operand& x, const Quantiles& q, const Axes& axes = {}, bool keep = false,
                    Interpolation interpolation = Interpolation::linear);
/// nanquantile(x, 0.5)
Array nanmedian(const Operand& x, const Axes& axes = {}, bool keep = false);

/// The greatest less the least. Error over no elements.
Array ptp(const Operand& x, const Axes& axes = {}, bool keep = false);
/// sum(x * weights) / sum(weights), of floats; the weights are broadcast to x.
Array average(const Operand& x, const Operand& weights, const Axes& axes = {}, bool keep = false);
/// The integral along an axis by the trapezoidal rule, of samples `spacing` apart.
Array trapezoid(const Operand& y, const Operand& spacing = 1.0, Axis axis = -1);

/// The covariances of the rows of a matrix, each an observed variable (of a vector, its variance as
/// a scalar): sums of products of the distances from the means, divided by the count less
/// `correction`.
Array cov(const Operand& x, double correction = 1);
/// Pearson's correlation coefficients, from -1 to 1: cov scaled so that its diagonal is 1.
Array corrcoef(const Operand& x);

}  // namespace anabranch
