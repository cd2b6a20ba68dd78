#include "anabranch/window.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "anabranch/control_flow.h"
#include "anabranch/dynamic.h"
#include "anabranch/gather.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/order.h"
#include "frontend/ops/promote.h"
#include "frontend/trace/record.h"
#include "frontend/trace/scalar_function.h"
#include "frontend/trace/tracer.h"

namespace anabranch {
namespace {

using List = std::vector<std::int64_t>;

// The arrays, and scalars of their dtypes.
struct ArraysToReduce {
  std::vector<Array> arrays, initial;
  SourceLocation where;
};

ArraysToReduce reduced_arrays(const char* function, const Operands& operands,
                              const Operands& initial) {
  if (operands.list().empty()) {
    fail(std::string(function) + ": no arrays; give one or more", operands.where());
  }
  ArraysToReduce all{arrays_of_one_shape(function, operands), {}, operands.where()};
  if (initial.list().size() != all.arrays.size()) {
    fail(std::string(function) + ": " + std::to_string(initial.list().size()) +
             " initial values for " + std::to_string(all.arrays.size()) + " arrays; give one each",
         all.where);
  }
  for (std::size_t i = 0; i < all.arrays.size(); ++i) {
    const Operand& given = initial.list()[i];
    const Dtype dtype = type_of(all.arrays[i]).dtype;
    all.initial.push_back(given.is_number() ? number_as(function, given.number(), dtype, all.where)
                                            : as_array(function, given));
    if (type_of(all.initial[i]) == Type{dtype, {}}) continue;
    fail(std::string(function) + ": initial value " + std::to_string(i) + " is " + describe(given) +
             ", and array " + std::to_string(i) + " is " + describe(operands.list()[i]) +
             "; give a scalar of its dtype",
         all.where);
  }
  return all;
}

ScalarFunction traced_body(const char* function, const ScalarBody& body,
                           const ArraysToReduce& all) {
  std::vector<Dtype> dtypes, both;
  for (const Array& array : all.arrays) dtypes.push_back(type_of(array).dtype);
  both = dtypes;
  both.insert(both.end(), dtypes.begin(), dtypes.end());
  ScalarFunction traced(function, "the body", body, both, all.where);
  traced.demand_results(dtypes);
  return traced;
}

// The op that a body of two scalars applies to them, and nothing else.
std::optional<Op> only_op(const ScalarFunction& body) {
  const Graph& graph = body.graph();
  if (graph.outputs().size() != 1) return std::nullopt;
  const Node& node = graph.nodes()[graph.outputs()[0].node];
  if (node.inputs.size() != 2 || body.own_parameters() != 2) return std::nullopt;
  const std::uint32_t a = node.inputs[0].node, b = node.inputs[1].node;
  const bool is_of_both = a < 2 && b < 2 && a != b;
  if (!is_of_both || !info(node.op).has(OpInfo::commutative)) return std::nullopt;
  return node.op;
}

// The named reduction by that op, of elements of that dtype.
std::optional<Op> named_reduction(Op op, Dtype dtype) {
  const bool is_bool = dtype == bool_;
  switch (op) {
    case Op::add:
      return is_bool ? Op::reduce_any : Op::reduce_sum;
    case Op::multiply:
      return is_bool ? Op::reduce_all : Op::reduce_product;
    case Op::maximum:
      return Op::reduce_max;
    case Op::minimum:
      return Op::reduce_min;
    case Op::or_:
      return is_bool ? std::optional(Op::reduce_any) : std::nullopt;
    case Op::and_:
      return is_bool ? std::optional(Op::reduce_all) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// Whether a reduction of the IR can hold it: its scalars are computed within a loop.
bool is_straight(const ScalarFunction& body) {
  if (!body.captures().empty()) return false;
  return std::ranges::all_of(body.graph().nodes(), [](const Node& node) {
    const bool is_leaf = info(node.op).kind == OpKind::leaf;
    if (node.op == Op::constant && !node.as<ConstantAttributes>().value.is_splat()) return false;
    return is_leaf || is_elementwise(node.op) || is_index(node.op);
  });
}

// One place after the other, of whole slabs.
std::vector<Array> reduced_in_turns(const ArraysToReduce& all, const ScalarFunction& body,
                                    const List& axes) {
  const SourceLocation where = all.where;
  const Shape& shape = type_of(all.arrays[0]).shape;
  List order = axes, kept;
  std::int64_t places = 1;
  for (std::int64_t axis : axes) places *= shape[static_cast<int>(axis)];
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (std::ranges::count(axes, axis) > 0) continue;
    order.push_back(axis);
    kept.push_back(shape[static_cast<int>(axis)]);
  }
  List sizes = kept;
  sizes.insert(sizes.begin(), places);
  std::vector<Array> slabs;
  detail::Tree init;
  for (std::size_t i = 0; i < all.arrays.size(); ++i) {
    const Array turned = record(Op::transpose, {all.arrays[i]}, where, AxesAttributes{order});
    slabs.push_back(reshape({turned, where}, Sizes(sizes, where)));
    init.leaves.push_back(repeated(all.initial[i], Shape(kept), where));
    init.form.add("so far", "");
  }
  if (places == 0) return init.leaves;
  const detail::Form form = init.form;
  const auto turn = [&](const Array& index, const detail::Leaves& so_far) {
    std::vector<Array> both(so_far.begin(), so_far.end());
    for (const Array& slab : slabs) {
      both.push_back(dynamic_index_in_dim({slab, where}, {index, where}));
    }
    return detail::Tree{body.over(both), form};
  };
  const Array first = array_of(i64, 0, where);
  const Array last = array_of(i64, static_cast<std::uint64_t>(places), where);
  return detail::run_fori({first, where}, {last, where}, std::move(init), turn);
}

std::vector<Array> reduced_over(const ArraysToReduce& all, const ScalarFunction& body,
                                const List& axes) {
  if (const auto op = only_op(body)) {
    const Array& x = all.arrays[0];
    if (const auto named = named_reduction(*op, type_of(x).dtype)) {
      const Array folded = axes.empty() ? x : record(*named, {x}, all.where, AxesAttributes{axes});
      const Array start = repeated(all.initial[0], type_of(folded).shape, all.where);
      return {record(*op, {start, folded}, all.where)};
    }
  }
  if (!is_straight(body)) return reduced_in_turns(all, body, axes);
  std::vector<Array> operands = all.arrays;
  operands.insert(operands.end(), all.initial.begin(), all.initial.end());
  return record_all(Op::reduce, operands, all.where, AxesAttributes{axes}, {body.graph()});
}

// --- windows
// -----------------------------------------------------------------------------------------

// What is stated per axis, checked.
struct Windows {
  WindowsAttributes windows;
  PadAttributes edges;

  Windows(const char* function, const Type& type, const Sizes& sizes, const WindowOptions& options,
          SourceLocation where) {
    const auto per_axis = [&](const char* what, const List& given, std::int64_t usual,
                              std::int64_t least) {
      const auto rank = static_cast<std::size_t>(type.rank());
      const List list = given.empty() ? List(rank, usual) : given;
      const bool is_large = std::ranges::all_of(list, [&](auto n) { return n >= least; });
      if (list.size() == rank && is_large) return list;
      fail(std::string(function) + ": " + what + " for " + to_string(type) + ": " +
               std::to_string(list.size()) + " numbers" + (is_large ? "" : ", one too small") +
               "; give one per axis" + (least > 0 ? ", 1 or more" : ""),
           where);
    };
    constexpr std::int64_t any = std::numeric_limits<std::int64_t>::min();
    windows.sizes = per_axis("sizes", sizes.list(), 1, 1);
    windows.strides = per_axis("strides", options.strides, 1, 1);
    windows.dilations = per_axis("window_dilations", options.window_dilations, 1, 1);
    edges.interior = per_axis("base_dilations", options.base_dilations, 1, 1);
    for (std::int64_t& gap : edges.interior) --gap;
    edges.low = per_axis("padding_low", options.padding_low, 0, any);
    edges.high = per_axis("padding_high", options.padding_high, 0, any);
  }

  static bool are_all(const List& list, std::int64_t number) {
    return std::ranges::all_of(list, [&](std::int64_t n) { return n == number; });
  }

  Array of(const Array& x, const Array& filler, SourceLocation where) const {
    const bool is_padded =
        !are_all(edges.low, 0) || !are_all(edges.high, 0) || !are_all(edges.interior, 0);
    const Array padded = is_padded ? record(Op::pad, {x, filler}, where, edges) : x;
    return record(Op::sliding_windows, {padded}, where, windows);
  }

  // The axes of what `of` gives that hold the places in a window.
  List places() const {
    List axes(windows.sizes.size());
    std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(axes.size()));
    return axes;
  }

  // The axis along which each window is what is before an element, or behind it, and that element.
  std::optional<CumulativeAttributes> running(const Shape& shape) const {
    if (!are_all(windows.strides, 1) || !are_all(edges.interior, 0)) return std::nullopt;
    std::optional<CumulativeAttributes> found, of_one;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const auto at = static_cast<std::size_t>(axis);
      const std::int64_t size = windows.sizes[at], reach = size - 1;
      const std::int64_t low = edges.low[at], high = edges.high[at];
      if (size == 1 && low == 0 && high == 0) {
        if (shape[axis] == 1) of_one = CumulativeAttributes{axis, Running::sum, false};
        continue;
      }
      const bool is_one_sided = (low == reach && high == 0) || (low == 0 && high == reach);
      const bool is_whole = size >= shape[axis] && windows.dilations[at] == 1 && is_one_sided;
      if (!is_whole || found || shape[axis] == 0) return std::nullopt;
      found = CumulativeAttributes{axis, Running::sum, low == 0};
    }
    return found ? found : of_one;
  }
};

std::optional<Literal> constant_of(const Array& array) {
  const Expression& expression = *array.expression();
  if (expression.kind == Expression::Kind::scalar) {
    const auto bytes = reinterpret_cast<const std::byte*>(&expression.scalar);
    const std::size_t size = byte_size(expression.type.dtype);
    return Literal(expression.type, std::vector<std::byte>(bytes, bytes + size));
  }
  if (expression.kind != Expression::Kind::traced) return std::nullopt;
  return expression.traced.tracer->constant(expression.traced.value);
}

// Whether padding with it, any number of times, changes nothing.
bool is_neutral(Running of, const Array& initial) {
  if (of == Running::maximum || of == Running::minimum) return true;  // it is combined once
  const auto value = constant_of(initial);
  if (!value || !value->is_splat()) return false;
  const Dtype dtype = value->type().dtype;
  const auto is = [&](double number) {
    return value->bits(0) == Literal::scalar(dtype, number).bits(0);
  };
  return of == Running::sum ? is(0.0) || is(-0.0) : is(1.0);
}

std::optional<Running> running_of(Op op, Dtype dtype) {
  const bool is_bool = dtype == bool_;
  if (op == Op::maximum || (is_bool && (op == Op::or_ || op == Op::add))) return Running::maximum;
  if (op == Op::minimum || (is_bool && (op == Op::and_ || op == Op::multiply))) {
    return Running::minimum;
  }
  if (is_bool) return std::nullopt;
  if (op == Op::add) return Running::sum;
  return op == Op::multiply ? std::optional(Running::product) : std::nullopt;
}

// The windows as a running combination, where they are one.
std::optional<Array> as_running(const ArraysToReduce& all, const ScalarFunction& body,
                                const Windows& windows) {
  const auto op = only_op(body);
  auto line = windows.running(type_of(all.arrays[0]).shape);
  if (!op || !line) return std::nullopt;
  const auto of = running_of(*op, type_of(all.arrays[0]).dtype);
  if (!of || !is_neutral(*of, all.initial[0])) return std::nullopt;
  line->of = *of;
  const Array combined = record(Op::cumulative, {all.arrays[0]}, all.where, *line);
  const Array start = repeated(all.initial[0], type_of(combined).shape, all.where);
  return record(*op, {start, combined}, all.where);
}

// The scalars of what is chosen so far and of another one, each with its place: -1 for padding,
// which is never chosen.
std::vector<Array> chosen(const Comparator& select, const std::vector<Array>& scalars,
                          SourceLocation where) {
  const Operand value(scalars[0], where), place(scalars[1], where);
  const Operand other(scalars[2], where), other_place(scalars[3], where);
  const Array keeps = select({scalars[0], scalars[2]});
  if (!keeps.expression() || type_of(keeps) != Type{bool_, {}}) {
    fail("select_and_scatter: select gives " +
             (keeps.expression() ? to_string(type_of(keeps)) : "an empty Array") +
             ", and not bool[]; compare the two scalars",
         where);
  }
  const Array is_first = (place >= 0) & ((other_place < 0) | Operand(keeps, where));
  return {anabranch::where(is_first, value, other), anabranch::where(is_first, place, other_place)};
}

}  // namespace

std::vector<Array> reduce(const Operands& arrays, const Operands& initial, const ScalarBody& body,
                          const Axes& axes) {
  const ArraysToReduce all = reduced_arrays("reduce", arrays, initial);
  const List list = axes.of_rank("reduce", type_of(all.arrays[0]).shape, all.where);
  return reduced_over(all, traced_body("reduce", body, all), list);
}

std::vector<Array> reduce_window(const Operands& arrays, const Operands& initial,
                                 const ScalarBody& body, const Sizes& sizes,
                                 const WindowOptions& options) {
  ArraysToReduce all = reduced_arrays("reduce_window", arrays, initial);
  const Windows windows("reduce_window", type_of(all.arrays[0]), sizes, options, all.where);
  const ScalarFunction traced = traced_body("reduce_window", body, all);
  if (const auto running = as_running(all, traced, windows)) return {*running};
  for (std::size_t i = 0; i < all.arrays.size(); ++i) {
    all.arrays[i] = windows.of(all.arrays[i], all.initial[i], all.where);
  }
  return reduced_over(all, traced, windows.places());
}

Array select_and_scatter(const Operand& x, const Operand& source, const Operand& initial,
                         const Comparator& select, const ScalarBody& body, const Sizes& sizes,
                         const WindowOptions& options) {
  const char* const function = "select_and_scatter";
  const SourceLocation where = x.where();
  ArraysToReduce all = reduced_arrays(function, {x}, {initial});
  const Array array = all.arrays[0];
  const Type type = type_of(array);
  const Windows windows(function, type, sizes, options, where);
  if (!Windows::are_all(windows.windows.dilations, 1) ||
      !Windows::are_all(windows.edges.interior, 0)) {
    fail(std::string(function) + ": takes no dilations; leave them out", where);
  }
  const auto reshaped = [&](const Array& from, const Shape& shape) {
    return record(Op::reshape, {from}, where, NoAttributes{}, Type{type_of(from).dtype, shape});
  };
  const Shape line{type.size()};
  const Array numbers =
      reshaped(record(Op::iota, {}, where, AxisAttributes{0}, Type{i64, line}), type.shape);
  const Array outside = number_as(function, Number(-1), i64, where);
  all.arrays = {windows.of(array, all.initial[0], where), windows.of(numbers, outside, where)};
  all.initial.push_back(outside);
  const auto choose = [&](const std::vector<Array>& scalars) {
    return chosen(select, scalars, where);
  };
  const ScalarFunction traced = traced_body(function, choose, all);
  const Array places = reduced_over(all, traced, windows.places())[1];
  const Array given = as_array(function, source);
  if (type_of(given) != Type{type.dtype, type_of(places).shape}) {
    fail(std::string(function) + ": the source is " + describe(source) + ", and the windows of " +
             describe(x) + " take " + to_string(Type{type.dtype, type_of(places).shape}),
         where);
  }
  const Shape all_windows{type_of(places).size()};
  const Array start = repeated(all.initial[0], line, where);
  const ScatterDimensions dimensions{{}, {0}, {}, {}, {0}, 1};
  const Array scattered =
      anabranch::scatter({{start, where}}, {reshaped(places, all_windows), where},
                         {{reshaped(given, all_windows), where}}, dimensions, body)[0];
  return reshaped(scattered, type.shape);
}

std::vector<Array> map_elements(const Operands& operands, const ScalarBody& body) {
  if (operands.list().empty()) fail("map_elements: no arrays; give one or more", operands.where());
  const std::vector<Array> arrays = arrays_of_one_shape("map_elements", operands);
  std::vector<Dtype> dtypes;
  for (const Array& array : arrays) dtypes.push_back(type_of(array).dtype);
  const ScalarFunction traced("map_elements", "the body", body, dtypes, operands.where());
  return traced.over(arrays);
}

}  // namespace anabranch
