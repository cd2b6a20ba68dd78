// Reductions over axes and over windows.
#include <algorithm>
#include <limits>

#include "anabranch/window.h"
#include "frontend/array/expression.h"
#include "frontend/stablehlo/site.h"
#include "ir/scalar.h"

namespace anabranch::stablehlo {
namespace {

/// A reduction of the IR.
struct Monoid {
  Op reduce;
  double identity;  ///< of floats and of bools; integers have extremes of their own
};

// What a body of two operations is; nothing where it is none of the IR's reductions.
std::optional<Monoid> monoid_of(const RegionSyntax& body, Dtype dtype) {
  const std::string name = applied_op(body);
  const double infinity = std::numeric_limits<double>::infinity();
  if (dtype == bool_) {
    if (name == "add" || name == "or" || name == "maximum") {
      return Monoid{Op::reduce_any, 0};
    }
    if (name == "multiply" || name == "and" || name == "minimum") {
      return Monoid{Op::reduce_all, 1};
    }
    return {};
  }
  if (name == "add") return Monoid{Op::reduce_sum, 0};
  if (name == "multiply") return Monoid{Op::reduce_product, 1};
  // The IR's extremes are of real numbers.
  if (is_complex(dtype)) return {};
  if (name == "maximum") return Monoid{Op::reduce_max, -infinity};
  if (name == "minimum") return Monoid{Op::reduce_min, infinity};
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

// Where it is a constant, one that the frontend can look at.
Array initial_value(const Site& site, std::size_t operand, Dtype dtype) {
  const std::optional<Literal> constant = site.constant_operand(operand);
  if (!constant || constant->type().rank() != 0)
    return site.converted(site.operand(operand), dtype);
  const Array value = site.importer.constant({*constant, false}, constant->type(), site.where());
  return site.converted(value, dtype);
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

std::vector<Array> initial_values(const Site& site, const std::vector<Array>& inputs) {
  std::vector<Array> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    values.push_back(initial_value(site, inputs.size() + i, type_of(inputs[i]).dtype));
  }
  return values;
}

Results reduce_op(const Site& site) {
  const std::vector<Array> inputs = reduction_inputs(site);
  List axes = site.integers("dimensions");
  std::ranges::sort(axes);
  const auto monoid = inputs.size() == 1 ? monoid_of(site.region(0), type_of(inputs[0]).dtype)
                                         : std::optional<Monoid>();
  if (monoid && !axes.empty() && is_identity(site, 1, *monoid)) {
    return {site.record(monoid->reduce, inputs, AxesAttributes{axes})};
  }
  const ScalarBody body = [&](const std::vector<Array>& scalars) {
    return site.run_body(site.region(0), scalars);
  };
  // No axes are all for the frontend.
  if (axes.empty()) {
    std::vector<Array> scalars = initial_values(site, inputs);
    for (Array& scalar : scalars) scalar = site.repeated(scalar, type_of(inputs[0]).shape);
    scalars.insert(scalars.end(), inputs.begin(), inputs.end());
    return map_elements(site.located(scalars), body);
  }
  return reduce(site.located(inputs), site.located(initial_values(site, inputs)), body, Axes(axes));
}

Results reduce_window_op(const Site& site) {
  const std::vector<Array> inputs = reduction_inputs(site);
  WindowOptions options;
  options.strides = site.integers("window_strides", {});
  options.base_dilations = site.integers("base_dilations", {});
  options.window_dilations = site.integers("window_dilations", {});
  Site::Paddings paddings = site.paddings_of(site.integers("padding", {}));
  options.padding_low = std::move(paddings.low);
  options.padding_high = std::move(paddings.high);
  const ScalarBody body = [&](const std::vector<Array>& scalars) {
    return site.run_body(site.region(0), scalars);
  };
  return reduce_window(site.located(inputs), site.located(initial_values(site, inputs)), body,
                       site.integers("window_dimensions"), options);
}

constexpr Translation rows_of_reductions[] = {
    {"reduce", reduce_op},
    {"reduce_window", reduce_window_op},
};

}  // namespace

std::span<const Translation> reduction_translations() { return rows_of_reductions; }

}  // namespace anabranch::stablehlo
