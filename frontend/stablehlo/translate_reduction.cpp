// Reductions over axes and over windows.
#include <limits>

#include "frontend/array/expression.h"
#include "frontend/stablehlo/site.h"
#include "frontend/trace/record.h"
#include "ir/scalar.h"

namespace anabranch::stablehlo {
namespace {

/// A reduction of the IR, and the op that combines two of its elements.
struct Monoid {
  Op reduce, combine;
  double identity;  ///< of floats and of bools; integers have extremes of their own
};

// What a body of two operations is; nothing where it is none of the IR's reductions.
std::optional<Monoid> monoid_of(const RegionSyntax& body, Dtype dtype) {
  const std::string name = applied_op(body);
  const double infinity = std::numeric_limits<double>::infinity();
  if (dtype == bool_) {
    if (name == "add" || name == "or" || name == "maximum") {
      return Monoid{Op::reduce_any, Op::or_, 0};
    }
    if (name == "multiply" || name == "and" || name == "minimum") {
      return Monoid{Op::reduce_all, Op::and_, 1};
    }
    return {};
  }
  if (name == "add") return Monoid{Op::reduce_sum, Op::add, 0};
  if (name == "multiply") return Monoid{Op::reduce_product, Op::multiply, 1};
  if (name == "maximum") return Monoid{Op::reduce_max, Op::maximum, -infinity};
  if (name == "minimum") return Monoid{Op::reduce_min, Op::minimum, infinity};
  return {};
}

// Whether combining with the initial value changes nothing, so that it can be left out.
bool is_identity(const Site& site, std::size_t operand, const Monoid& monoid) {
  const std::optional<Literal> constant = site.constant_operand(operand);
  if (!constant || constant->type().rank() != 0) return false;
  return visit_any_dtype(constant->type().dtype, [&]<class T>() {
    const T wanted = convert_scalar<T>(monoid.identity);
    const T found = constant->values<T>()[0];
    if constexpr (is_float_storage<T>) {
      return static_cast<double>(found) == static_cast<double>(wanted);
    } else {
      return found == wanted;
    }
  });
}

// `inputs` over `axes`, beginning with the operands from `first_initial` on.
Results reduced(const Site& site, const std::vector<Array>& inputs, std::size_t first_initial,
                const List& axes) {
  const RegionSyntax& body = site.region(0);
  const std::size_t count = inputs.size();
  const Dtype dtype = type_of(inputs[0]).dtype;
  const std::optional<Monoid> monoid =
      count == 1 ? monoid_of(body, dtype) : std::optional<Monoid>();
  if (monoid) {
    Array result = inputs[0];
    if (!axes.empty()) result = site.record(monoid->reduce, {result}, AxesAttributes{axes});
    if (is_identity(site, first_initial, *monoid)) return {result};
    const Array initial =
        site.repeated(site.converted(site.operand(first_initial), dtype), type_of(result).shape);
    return {site.record(monoid->combine, {initial, result})};
  }
  std::vector<Array> operands = inputs;
  std::vector<Type> arguments;
  for (std::size_t i = 0; i < count; ++i) {
    const Dtype own = type_of(inputs[i]).dtype;
    operands.push_back(site.converted(site.operand(first_initial + i), own));
    arguments.push_back({own, {}});
  }
  for (std::size_t i = 0; i < count; ++i) arguments.push_back(arguments[i]);
  std::vector<Graph> regions = {graph_of_body(site, body, arguments)};
  return record_all(Op::reduce, operands, site.where(), AxesAttributes{axes}, std::move(regions));
}

// Inputs come first, then as many initial values. What is accumulated in a wider dtype is converted
// before.
std::vector<Array> reduction_inputs(const Site& site) {
  if (site.count() == 0 || site.count() % 2 != 0) {
    site.fail("takes arrays and as many initial values, and has " + std::to_string(site.count()) +
              " operands");
  }
  std::vector<Array> inputs;
  for (std::size_t i = 0; i < site.count() / 2; ++i) {
    inputs.push_back(site.converted(site.operand(i), site.result_type(i).dtype));
  }
  return inputs;
}

Results reduce_op(const Site& site) {
  const std::vector<Array> inputs = reduction_inputs(site);
  return reduced(site, inputs, inputs.size(), site.integers("dimensions"));
}

Results reduce_window_op(const Site& site) {
  std::vector<Array> inputs = reduction_inputs(site);
  const std::size_t count = inputs.size();
  const int rank = type_of(inputs[0]).rank();
  const auto axes = static_cast<std::size_t>(rank);
  const List ones(axes, 1), zeros(2 * axes, 0);
  WindowsAttributes windows{site.integers("window_dimensions"),
                            site.integers("window_strides", ones),
                            site.integers("window_dilations", ones)};
  const List spread = site.integers("base_dilations", ones);
  const List padding = site.integers("padding", zeros);
  if (windows.sizes.size() != axes || windows.strides.size() != axes ||
      windows.dilations.size() != axes || spread.size() != axes || padding.size() != 2 * axes) {
    site.fail("its windows, strides, dilations and padding need one entry for each of " +
              std::to_string(rank) + " axes");
  }
  PadAttributes around;
  bool is_padded = false;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    around.low.push_back(padding[2 * axis]);
    around.high.push_back(padding[2 * axis + 1]);
    around.interior.push_back(spread[axis] - 1);
    is_padded = is_padded || around.low[axis] != 0 || around.high[axis] != 0 || spread[axis] != 1;
  }
  List window_axes;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    window_axes.push_back(static_cast<std::int64_t>(axes + axis));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (is_padded) {
      const Array value = site.converted(site.operand(count + i), type_of(inputs[i]).dtype);
      inputs[i] = site.record(Op::pad, {inputs[i], value}, around);
    }
    inputs[i] = site.record(Op::sliding_windows, {inputs[i]}, windows);
  }
  return reduced(site, inputs, count, window_axes);
}

constexpr Translation rows_of_reductions[] = {
    {"reduce", reduce_op},
    {"reduce_window", reduce_window_op},
};

}  // namespace

std::span<const Translation> reduction_translations() { return rows_of_reductions; }

}  // namespace anabranch::stablehlo
