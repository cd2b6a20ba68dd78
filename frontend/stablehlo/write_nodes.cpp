// Nodes as operations of StableHLO: those of each element, index maps, products.
#include "anabranch/spec.h"
#include "anabranch/trace.h"
#include "frontend/ops/philox.h"
#include "frontend/stablehlo/types.h"
#include "frontend/stablehlo/writer.h"

namespace anabranch::stablehlo {
namespace {

std::string numbers_text(std::span<const std::int64_t> numbers) {
  std::string text;
  for (std::int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

// " [0:4:1, 2:6:2]"
std::string ranges_text(const SliceAttributes& bounds) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < bounds.start.size(); ++i) {
    ranges.push_back(std::to_string(bounds.start[i]) + ":" + std::to_string(bounds.limit[i]) + ":" +
                     std::to_string(bounds.stride[i]));
  }
  return " [" + joined(ranges) + "]";
}

// "(a, b) -> c"
std::string signature_text(const Graph& graph, const Node& node) {
  std::vector<std::string> inputs, results;
  for (Value input : node.inputs) inputs.push_back(type_text(graph.type(input)));
  for (const Type& type : node.types) results.push_back(type_text(type));
  const std::string given = results.size() == 1 ? results[0] : "(" + joined(results) + ")";
  return "(" + joined(inputs) + ") -> " + given;
}

bool is_of_chlo(Op op) {
  switch (op) {
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::sinh:
    case Op::cosh:
    case Op::asinh:
    case Op::acosh:
    case Op::atanh:
    case Op::erf:
    case Op::erf_inv:
      return true;
    default:
      return false;
  }
}

bool is_bool_of_complex(const Graph& graph, const Node& node) {
  return node.types[0].dtype == bool_ && is_complex(graph.type(node.inputs[0]).dtype);
}

std::string_view comparison_type(Dtype dtype) {
  if (is_float(dtype) || is_complex(dtype)) return "FLOAT";
  return dtype == bool_ || is_unsigned_integer(dtype) ? "UNSIGNED" : "SIGNED";
}

// "[b, f, 0]": the places of the axes by their names.
std::string layout_text(const std::vector<std::int64_t>& axes, const char* first,
                        const char* second) {
  std::vector<std::string> names(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    names[static_cast<std::size_t>(axes[i])] = i == 0   ? first
                                               : i == 1 ? second
                                                        : std::to_string(i - 2);
  }
  return "[" + joined(names) + "]";
}

}  // namespace

bool Writer::plain(const Frame& frame, const Node& node, Names& results) {
  const OpInfo& about = info(node.op);
  const Graph& graph = frame.graph;
  const std::string given = joined(operands(frame, node));
  const bool is_elementwise = about.kind == OpKind::elementwise || about.kind == OpKind::composed;
  if (!is_elementwise) return false;
  if (node.op == Op::random_bits) {
    const Spec numbers = spec(u64, Sizes(node.types[0].shape));
    results = body(
        trace([](Array key, Array counter) { return philox_word(key, counter); }, numbers, numbers),
        operands(frame, node));
    return true;
  }
  if (of_other_types(frame, node, results)) return true;
  const std::string own(name(node.op));
  if (node.op == Op::compare) {
    const std::string direction(
        words<Comparison>[static_cast<std::size_t>(node.as<CompareAttributes>().direction)]);
    std::string capital;
    for (char c : direction) capital += static_cast<char>(c - 'a' + 'A');
    results = {define("stablehlo.compare " + capital + ", " + given + ", " +
                      std::string(comparison_type(graph.type(node.inputs[0]).dtype)) + " : " +
                      signature_text(graph, node))};
  } else if (node.op == Op::convert && is_bool_of_complex(graph, node)) {
    // StableHLO converts the real part alone.
    const Type& type = graph.type(node.inputs[0]);
    const std::string zero = define("stablehlo.constant dense<(0.0, 0.0)> : " + type_text(type));
    results = {define("stablehlo.compare NE, " + given + ", " + zero + ", FLOAT : (" +
                      type_text(type) + ", " + type_text(type) + ") -> " +
                      type_text(node.types[0]))};
  } else if (node.op == Op::optimization_barrier) {
    results = {
        define("stablehlo.optimization_barrier " + given + " : " + type_text(node.types[0]))};
  } else if (is_of_chlo(node.op)) {
    const std::string type = type_text(node.types[0]);
    results = {define("chlo." + own + " " + given + " : " + type + " -> " + type)};
  } else {
    results = {define("stablehlo." + own + " " + given + " : " + signature_text(graph, node))};
  }
  return true;
}

bool Writer::of_other_types(const Frame& frame, const Node& node, Names& results) {
  const Names given = operands(frame, node);
  const Type& type = frame.graph.type(node.inputs[0]);
  const std::string text = " : " + type_text(type);
  switch (node.op) {
    case Op::abs:
      if (!is_unsigned_integer(type.dtype)) return false;
      results = given;
      return true;
    case Op::sign: {
      if (!is_unsigned_integer(type.dtype)) return false;
      const std::string scalar = type_text({type.dtype, {}});
      const std::string one = define("stablehlo.constant dense<1> : " + scalar);
      const std::string ones = define("stablehlo.broadcast_in_dim " + one + ", dims = [] : (" +
                                      scalar + ") -> " + type_text(type));
      results = {define("stablehlo.minimum " + given[0] + ", " + ones + text)};
      return true;
    }
    // A bool is one bit: its highest, and the only one that is counted.
    case Op::popcnt:
    case Op::shift_right_arithmetic:
      if (type.dtype != bool_) return false;
      results = {given[0]};
      return true;
    case Op::count_leading_zeros:
      if (type.dtype != bool_) return false;
      results = {define("stablehlo.not " + given[0] + text)};
      return true;
    case Op::shift_left:
    case Op::shift_right_logical: {
      if (type.dtype != bool_) return false;
      const std::string stays = define("stablehlo.not " + given[1] + text);
      results = {define("stablehlo.and " + given[0] + ", " + stays + text)};
      return true;
    }
    case Op::is_finite: {
      if (!is_complex(type.dtype)) return false;
      const std::string part = type_text({type.dtype == c64 ? f32 : f64, type.shape});
      const std::string finite = type_text(node.types[0]);
      Names both;
      for (const char* of : {"real ", "imag "}) {
        const std::string value =
            define("stablehlo." + (of + given[0]) + " : (" + type_text(type) + ") -> " + part);
        both.push_back(define("stablehlo.is_finite " + value + " : (" + part + ") -> " + finite));
      }
      results = {define("stablehlo.and " + joined(both) + " : " + finite)};
      return true;
    }
    default:
      return false;
  }
}

bool Writer::moving(const Frame& frame, const Node& node, Names& results) {
  const Names given = operands(frame, node);
  const std::string types = " : " + signature_text(frame.graph, node);
  std::string text = "stablehlo." + std::string(name(node.op)) + " " + joined(given);
  switch (node.op) {
    case Op::iota:
      text = "stablehlo.iota dim = " + std::to_string(node.as<AxisAttributes>().axis) + " : " +
             type_text(node.types[0]);
      results = {define(text)};
      return true;
    case Op::reshape:
    case Op::dynamic_update_slice:
      break;
    case Op::broadcast_in_dim:
    case Op::transpose:
    case Op::reverse:
      text += ", dims = " + numbers_text(node.as<AxesAttributes>().axes);
      break;
    case Op::slice:
      text += ranges_text(node.as<SliceAttributes>());
      break;
    case Op::pad: {
      const auto& padding = node.as<PadAttributes>();
      text += ", low = " + numbers_text(padding.low) + ", high = " + numbers_text(padding.high) +
              ", interior = " + numbers_text(padding.interior);
      break;
    }
    case Op::concatenate:
      text += ", dim = " + std::to_string(node.as<AxisAttributes>().axis);
      break;
    case Op::dynamic_slice:
      text += ", sizes = " + numbers_text(node.as<SizesAttributes>().sizes);
      break;
    case Op::sliding_windows:
      windows(frame, node, results);
      return true;
    default:
      return false;
  }
  results = {define(text + types)};
  return true;
}

std::string Writer::slice(const std::string& value, const Type& whole,
                          const SliceAttributes& bounds, const Type& part) {
  return define("stablehlo.slice " + value + ranges_text(bounds) + " : (" + type_text(whole) +
                ") -> " + type_text(part));
}

std::string Writer::concatenate(const Names& parts, const Type& part, std::size_t axis,
                                const Type& result) {
  return define("stablehlo.concatenate " + joined(parts) + ", dim = " + std::to_string(axis) +
                " : (" + joined(Names(parts.size(), type_text(part))) + ") -> " +
                type_text(result));
}

// Along each axis, the elements at one place of every window are a strided slice; the places of the
// windows are a new axis at the end.
void Writer::windows(const Frame& frame, const Node& node, Names& results) {
  const auto& form = node.as<WindowsAttributes>();
  Type whole = frame.graph.type(node.inputs[0]);
  std::string current = frame(node.inputs[0]);
  const auto rank = static_cast<std::size_t>(whole.rank());
  for (std::size_t axis = 0; axis < rank; ++axis) {
    std::vector<std::int64_t> sizes(whole.shape.begin(), whole.shape.end());
    sizes[axis] = node.types[0].shape[static_cast<int>(axis)];
    const Type part{whole.dtype, Shape(sizes)};
    sizes.push_back(1);
    const Type column{whole.dtype, Shape(sizes)};
    Names columns;
    for (std::int64_t place = 0; place < form.sizes[axis]; ++place) {
      SliceAttributes bounds;
      for (std::size_t i = 0; i < static_cast<std::size_t>(part.rank()); ++i) {
        // Of no windows, places may be far outside.
        const std::int64_t size = part.shape[static_cast<int>(i)];
        const std::int64_t start = i == axis && size > 0 ? place * form.dilations[axis] : 0;
        const std::int64_t stride = i == axis ? form.strides[axis] : 1;
        bounds.start.push_back(start);
        bounds.limit.push_back(size == 0 ? 0 : start + (size - 1) * stride + 1);
        bounds.stride.push_back(stride);
      }
      columns.push_back(define("stablehlo.reshape " + slice(current, whole, bounds, part) + " : (" +
                               type_text(part) + ") -> " + type_text(column)));
    }
    sizes.back() = form.sizes[axis];
    whole = {whole.dtype, Shape(sizes)};
    current = concatenate(columns, column, sizes.size() - 1, whole);
  }
  results = {current};
}

bool Writer::contracting(const Frame& frame, const Node& node, Names& results) {
  if (node.op == Op::convolution) {
    results = {convolution(frame, node)};
    return true;
  }
  if (node.op != Op::dot) return false;
  const auto& axes = node.as<DotAttributes>();
  std::string text = "stablehlo.dot_general " + joined(operands(frame, node));
  if (!axes.lhs_batch.empty()) {
    text +=
        ", batching_dims = " + numbers_text(axes.lhs_batch) + " x " + numbers_text(axes.rhs_batch);
  }
  text += ", contracting_dims = " + numbers_text(axes.lhs_contracting) + " x " +
          numbers_text(axes.rhs_contracting);
  results = {define(text + " : " + signature_text(frame.graph, node))};
  return true;
}

std::string Writer::convolution(const Frame& frame, const Node& node) {
  const auto& form = node.as<ConvolutionAttributes>();
  std::vector<std::string> padding, reversals;
  for (std::size_t i = 0; i < form.low.size(); ++i) {
    const std::int64_t both[] = {form.low[i], form.high[i]};
    padding.push_back(numbers_text(both));
    reversals.push_back(form.rhs_reversals[i] != 0 ? "true" : "false");
  }
  const std::string attributes =
      ") dim_numbers = " + layout_text(form.lhs_axes, "b", "f") + "x" +
      layout_text(form.rhs_axes, "o", "i") + "->" + layout_text(form.result_axes, "b", "f") +
      ", window = {stride = " + numbers_text(form.strides) + ", pad = [" + joined(padding) +
      "], lhs_dilate = " + numbers_text(form.lhs_dilations) +
      ", rhs_dilate = " + numbers_text(form.rhs_dilations) + ", reverse = [" + joined(reversals) +
      "]} {batch_group_count = 1 : i64, feature_group_count = " + std::to_string(form.groups) +
      " : i64} : ";
  if (form.feature_splits == 1) {
    return define("stablehlo.convolution(" + joined(operands(frame, node)) + attributes +
                  signature_text(frame.graph, node));
  }
  // One for each part of the features, one above the other.
  const Type& result = node.types[0];
  std::vector<std::int64_t> sizes(result.shape.begin() + 1, result.shape.end());
  const std::string sums = type_text({result.dtype, Shape(sizes)});
  sizes.insert(sizes.begin(), 1);
  const Type part{result.dtype, Shape(sizes)};
  Names parts;
  for (std::int64_t split = 0; split < form.feature_splits; ++split) {
    Names given;
    std::vector<Type> types;
    for (const std::size_t side : {0, 1}) {
      const auto axis = static_cast<std::size_t>(side == 0 ? form.lhs_axes[1] : form.rhs_axes[1]);
      const Type& whole = frame.graph.type(node.inputs[side]);
      SliceAttributes bounds;
      bounds.limit.assign(whole.shape.begin(), whole.shape.end());
      bounds.start.assign(bounds.limit.size(), 0);
      bounds.stride.assign(bounds.limit.size(), 1);
      std::vector<std::int64_t> of_part = bounds.limit;
      of_part[axis] /= form.feature_splits;
      bounds.start[axis] = split * of_part[axis];
      bounds.limit[axis] = bounds.start[axis] + of_part[axis];
      types.push_back({whole.dtype, Shape(std::move(of_part))});
      given.push_back(slice(frame(node.inputs[side]), whole, bounds, types.back()));
    }
    const std::string of_split = define("stablehlo.convolution(" + joined(given) + attributes +
                                        "(" + joined(types) + ") -> " + sums);
    parts.push_back(
        define("stablehlo.reshape " + of_split + " : (" + sums + ") -> " + type_text(part)));
  }
  return concatenate(parts, part, 0, result);
}

}  // namespace anabranch::stablehlo
