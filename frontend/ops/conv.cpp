// conv: layouts by letters, and groups of the batch as groups of features.
#include <algorithm>
#include <string>

#include "anabranch/manipulate.h"
#include "anabranch/nn.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

using List = std::vector<std::int64_t>;

// The spatial axes of a layout, in its order.
std::string spatial_letters(std::string_view layout, std::string_view first_two) {
  std::string letters;
  for (char letter : layout) {
    if (first_two.find(letter) == first_two.npos) letters += letter;
  }
  return letters;
}

// Where the axes named by `first_two` and then by `spatial` are in `layout`.
List axes_of(const char* what, std::string_view layout, std::string_view first_two,
             std::string_view spatial, SourceLocation where) {
  const std::string wanted = std::string(first_two) + std::string(spatial);
  List axes;
  for (char letter : wanted) {
    const auto at = layout.find(letter);
    if (at == layout.npos || layout.size() != wanted.size()) {
      fail("conv: " + std::string(what) + " \"" + std::string(layout) +
               "\" has to name each axis once: " + wanted + ", in any order",
           where);
    }
    axes.push_back(static_cast<std::int64_t>(at));
  }
  return axes;
}

List or_all(const List& given, std::size_t count, std::int64_t other) {
  return given.empty() ? List(count, other) : given;
}

// x with its groups of the batch next to each other in its features: each output then sees the
// features of its group, as if those were groups of features.
Array with_groups_as_features(const Array& x, const List& axes, std::int64_t groups,
                              SourceLocation where) {
  const Shape& shape = type_of(x).shape;
  const auto batch = static_cast<std::size_t>(axes[0]), feature = static_cast<std::size_t>(axes[1]);
  List split(shape.begin(), shape.end()), joined = split, order;
  joined[batch] /= groups;
  joined[feature] *= groups;
  split[batch] /= groups;
  split.insert(split.begin() + axes[0], groups);
  for (std::size_t axis = 0; axis < joined.size(); ++axis) {
    // In `split` what follows the groups is one further on, the batch included.
    if (axis == feature) order.push_back(axes[0]);
    order.push_back(static_cast<std::int64_t>(axis < batch ? axis : axis + 1));
  }
  const Array parts = permute_dims({reshape({x, where}, split), where}, Axes(order));
  return reshape({parts, where}, joined);
}

}  // namespace

Array conv(const Operand& x, const Operand& w, const ConvOptions& options) {
  const SourceLocation where = x.where();
  std::vector<Array> both = promote("conv", {&x, &w}, Takes::numbers);
  const int rank = type_of(both[0]).rank();
  if (rank < 2 || type_of(both[1]).rank() != rank) {
    fail("conv: " + to_string(type_of(both[0])) + " with " + to_string(type_of(both[1])) +
             "; both need a batch or output axis, a feature axis and the same spatial axes",
         where);
  }
  const auto spatial = static_cast<std::size_t>(rank) - 2;
  std::string letters;
  for (std::size_t i = 0; i < spatial; ++i) letters += static_cast<char>('0' + i % 10);
  const auto layout = [](std::string_view given, std::string_view first, const std::string& rest) {
    return given.empty() ? std::string(first) + rest : std::string(given);
  };
  for (const auto& [given, first] :
       {std::pair(options.lhs_layout, "NC"), std::pair(options.rhs_layout, "OI"),
        std::pair(options.result_layout, "NC")}) {
    if (!given.empty()) {
      letters = spatial_letters(given, first);
      break;
    }
  }
  ConvolutionAttributes a;
  a.lhs_axes =
      axes_of("lhs_layout", layout(options.lhs_layout, "NC", letters), "NC", letters, where);
  a.rhs_axes =
      axes_of("rhs_layout", layout(options.rhs_layout, "OI", letters), "OI", letters, where);
  a.result_axes =
      axes_of("result_layout", layout(options.result_layout, "NC", letters), "NC", letters, where);
  if (a.lhs_axes.size() != static_cast<std::size_t>(rank)) {
    fail("conv: layouts of " + std::to_string(a.lhs_axes.size()) + " axes for " +
             to_string(type_of(both[0])) + "; give one letter per axis",
         where);
  }
  a.strides = or_all(options.strides, spatial, 1);
  a.low = or_all(options.padding_low, spatial, 0);
  a.high = or_all(options.padding_high, spatial, 0);
  a.lhs_dilations = or_all(options.lhs_dilation, spatial, 1);
  a.rhs_dilations = or_all(options.rhs_dilation, spatial, 1);
  a.rhs_reversals.assign(spatial, 0);
  a.groups = options.groups;
  if (options.batch_groups != 1) {
    const std::int64_t batch = type_of(both[0]).shape[static_cast<int>(a.lhs_axes[0])];
    if (options.batch_groups < 1 || batch % options.batch_groups != 0 || options.groups != 1) {
      fail("conv: " + std::to_string(options.batch_groups) + " groups of a batch of " +
               std::to_string(batch) + ", and " + std::to_string(options.groups) +
               " of its features; the first has to divide the batch, and then the second be 1",
           where);
    }
    both[0] = with_groups_as_features(both[0], a.lhs_axes, options.batch_groups, where);
    a.groups = options.batch_groups;
  }
  return record_as("conv", Op::convolution, both, where, std::move(a));
}

}  // namespace anabranch
