// ScalarFunction: a user's function on scalars (a comparator, the body of a reduction), traced
// once, and what it gives for whole arrays.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "anabranch/array.h"
#include "anabranch/source_location.h"
#include "frontend/trace/region.h"
#include "ir/graph/graph.h"

namespace anabranch {

class ScalarFunction {
 public:
  using Function = std::function<std::vector<Array>(const std::vector<Array>&)>;

  /// Traces `function` on one scalar of each dtype. `caller` and `what` ("sort", "the comparator")
  /// name it in messages. Throws Error for a result that is no scalar.
  ScalarFunction(std::string caller, std::string what, const Function& function,
                 const std::vector<Dtype>& parameters, SourceLocation where);

  /// Its parameters are the function's own, then what it captures.
  const Graph& graph() const { return region_->graph(); }
  std::size_t own_parameters() const { return region_->own_parameters(); }
  const std::vector<Array>& captures() const { return region_->captures(); }
  /// Throws Error unless its results are of these.
  void demand_results(const std::vector<Dtype>& dtypes) const;

  /// What it gives for the elements of arrays of one shape, place by place. One pass where it
  /// computes elementwise, else a loop over the places.
  std::vector<Array> over(const std::vector<Array>& arrays) const;
  /// The value of its graph for the elements of arrays, one per own parameter that it needs; others
  /// may be empty. Only where it computes elementwise.
  Array value_over(Value value, const std::vector<Array>& arrays) const;
  /// Whether no element of an array would need another.
  bool is_elementwise() const;

 private:
  std::vector<Array> values_over(const std::vector<Array>& arrays,
                                 const std::vector<bool>& needed) const;
  Array computed(const Node& node, const std::vector<Array>& operands, const Shape& shape) const;
  std::vector<Array> looped(const std::vector<Array>& arrays) const;

  std::string caller_, what_;
  Function function_;
  SourceLocation where_;
  std::unique_ptr<Region> region_;
};

/// A scalar, repeated over a shape.
Array repeated(const Array& scalar, const Shape& shape, SourceLocation where);

}  // namespace anabranch
