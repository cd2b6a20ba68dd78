#include "passes/expand_complex.h"

#include "ir/graph/builder.h"
#include "passes/complex_functions.h"

namespace anabranch {
namespace {

namespace functions = complex_functions;

Dtype dtype_of(const Rewriter& graph, Value value) { return graph.type(value).dtype; }

// Whether a node works on complex numbers: what rules see, their operands being final.
bool is_of_complex(const Rewriter& graph, const Node& node) {
  return !node.inputs.empty() && is_complex(dtype_of(graph, node.inputs.back()));
}

// The parts in f64, in which functions are computed, and back.
Parts widened(const Parts& z) { return {z.re.as(f64), z.im.as(f64)}; }
Parts narrowed(const Parts& z, Dtype part) { return {z.re.as(part), z.im.as(part)}; }

// --- elementwise
// -------------------------------------------------------------------------------------

Value converted(Rewriter& graph, Value operand, Dtype to) {
  const Dtype from = dtype_of(graph, operand);
  if (!is_complex(from)) {
    const Part re = Part{&graph, operand}.as(part_dtype(to));
    return complex_of({re, re.number(0)});
  }
  const Parts z = parts_of(graph, operand);
  if (is_complex(to)) return complex_of(narrowed(z, part_dtype(to)));
  return to == bool_ ? (z.re.as(bool_) | z.im.as(bool_)).value : z.re.as(to).value;
}

std::optional<Value> convert(Rewriter& graph, const Node& node) {
  const Dtype from = dtype_of(graph, node.inputs[0]), to = node.types[0].dtype;
  if (from == to || (!is_complex(from) && !is_complex(to))) return std::nullopt;
  return converted(graph, node.inputs[0], to);
}

std::optional<Value> iota(Rewriter& graph, const Node& node) {
  const Type type = node.types[0];
  if (!is_complex(type.dtype)) return std::nullopt;
  const Type part{part_dtype(type.dtype), type.shape};
  const Value position = graph.add(Op::iota, {}, node.attributes, part);
  return converted(graph, position, type.dtype);
}

Parts product(const Parts& x, const Parts& y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

// Rounded part by part.
std::optional<Value> arithmetic(Rewriter& graph, const Node& node) {
  if (!is_of_complex(graph, node)) return std::nullopt;
  const Op op = node.op;
  const Value left = node.inputs[0], right = node.inputs.back();
  const Parts x = parts_of(graph, left), y = parts_of(graph, right);
  switch (op) {
    case Op::negate:
      return complex_of({-x.re, -x.im});
    case Op::add:
      return complex_of({x.re + y.re, x.im + y.im});
    case Op::subtract:
      return complex_of({x.re - y.re, x.im - y.im});
    case Op::multiply:
      return complex_of(product(x, y));
    case Op::optimization_barrier:
      return complex_of({x.re.op(op), x.im.op(op)});
    default:
      return (x.re.op(Op::is_finite) & x.im.op(Op::is_finite)).value;
  }
}

std::optional<Value> compare(Rewriter& graph, const Node& node) {
  if (!is_of_complex(graph, node)) return std::nullopt;
  const Comparison direction = node.as<CompareAttributes>().direction;
  const Value left = node.inputs[0], right = node.inputs[1];
  const Parts x = parts_of(graph, left), y = parts_of(graph, right);
  const Part re = x.re.compare(direction, y.re), im = x.im.compare(direction, y.im);
  return direction == Comparison::eq ? (re & im).value : (re | im).value;
}

using Function = Parts (*)(const Parts&, bool narrow);

Function function_of(Op op) {
  switch (op) {
    case Op::sign:
      return functions::sign;
    case Op::sqrt:
      return functions::square_root;
    case Op::rsqrt:
      return functions::reciprocal_square_root;
    case Op::exponential:
      return functions::exponential;
    case Op::exponential_minus_one:
      return functions::exponential_minus_one;
    case Op::log:
      return functions::logarithm;
    case Op::log_plus_one:
      return functions::log_plus_one;
    case Op::logistic:
      return functions::logistic;
    case Op::sine:
      return functions::sine;
    case Op::cosine:
      return functions::cosine;
    case Op::tan:
      return functions::tangent;
    case Op::asin:
      return functions::arc_sine;
    case Op::acos:
      return functions::arc_cosine;
    case Op::atan:
      return functions::arc_tangent;
    case Op::sinh:
      return functions::hyperbolic_sine;
    case Op::cosh:
      return functions::hyperbolic_cosine;
    case Op::tanh:
      return functions::hyperbolic_tangent;
    case Op::asinh:
      return functions::inverse_hyperbolic_sine;
    case Op::acosh:
      return functions::inverse_hyperbolic_cosine;
    case Op::atanh:
      return functions::inverse_hyperbolic_tangent;
    default:
      return nullptr;
  }
}

std::optional<Value> function(Rewriter& graph, const Node& node) {
  const Function made_by = function_of(node.op);
  if (!made_by || !is_of_complex(graph, node)) return std::nullopt;
  const Dtype part = part_dtype(node.types[0].dtype);
  const Parts z = widened(parts_of(graph, Value(node.inputs[0])));
  return complex_of(narrowed(made_by(z, part == f32), part));
}

std::optional<Value> function_of_two(Rewriter& graph, const Node& node) {
  if (!is_of_complex(graph, node)) return std::nullopt;
  const Dtype part = part_dtype(node.types[0].dtype);
  const bool is_power = node.op == Op::power;
  const Value left = node.inputs[0], right = node.inputs[1];
  const Parts x = widened(parts_of(graph, left)), y = widened(parts_of(graph, right));
  const Parts made =
      is_power ? functions::power(x, y, part == f32) : functions::divide(x, y, part == f32);
  return complex_of(narrowed(made, part));
}

std::optional<Value> absolute(Rewriter& graph, const Node& node) {
  if (!is_of_complex(graph, node)) return std::nullopt;
  const Dtype part = node.types[0].dtype;
  const Parts z = widened(parts_of(graph, Value(node.inputs[0])));
  return functions::absolute(z, part == f32).as(part).value;
}

std::optional<Value> part_of_complex(Rewriter& graph, const Node& node) {
  const Node& inner = graph.node(node.inputs[0]);
  if (inner.op != Op::complex) return std::nullopt;
  return inner.inputs[node.op == Op::real ? 0 : 1];
}

std::optional<Value> complex_of_parts(Rewriter& graph, const Node& node) {
  const Node &re = graph.node(node.inputs[0]), &im = graph.node(node.inputs[1]);
  const bool same = re.op == Op::real && im.op == Op::imag && re.inputs[0] == im.inputs[0];
  return same ? std::optional(re.inputs[0]) : std::nullopt;
}

// --- reductions and dot
// ------------------------------------------------------------------------------

std::optional<Value> sum(Rewriter& graph, const Node& node) {
  if (!is_of_complex(graph, node)) return std::nullopt;
  const Attributes axes = node.attributes;
  const Parts z = parts_of(graph, Value(node.inputs[0]));
  const Part re{&graph, graph.add(Op::reduce_sum, {z.re.value}, axes)};
  return complex_of({re, {&graph, graph.add(Op::reduce_sum, {z.im.value}, axes)}});
}

Graph product_body(Dtype dtype) {
  GraphBuilder body("product");
  const Value x = body.parameter({dtype, {}}), y = body.parameter({dtype, {}});
  const Value a = body.add(Op::real, {x}), b = body.add(Op::imag, {x});
  const Value c = body.add(Op::real, {y}), d = body.add(Op::imag, {y});
  const auto times = [&](Value p, Value q) { return body.add(Op::multiply, {p, q}); };
  const Value re = body.add(Op::subtract, {times(a, c), times(b, d)});
  const Value im = body.add(Op::add, {times(a, d), times(b, c)});
  return body.build({body.add(Op::complex, {re, im})});
}

std::optional<Value> product_of_all(Rewriter& graph, const Node& node) {
  if (!is_of_complex(graph, node)) return std::nullopt;
  const Dtype dtype = node.types[0].dtype;
  const Attributes axes = node.attributes;
  const Value operand = node.inputs[0], one = graph.constant(Literal::scalar(dtype, 1));
  return graph.add(Op::reduce, {operand, one}, axes, std::nullopt, {product_body(dtype)});
}

std::optional<Value> dot(Rewriter& graph, const Node& node) {
  if (!is_of_complex(graph, node)) return std::nullopt;
  const Attributes axes = node.attributes;
  const Value left = node.inputs[0], right = node.inputs[1];
  const Parts x = parts_of(graph, left), y = parts_of(graph, right);
  const auto times = [&](Part a, Part b) {
    return Part{&graph, graph.add(Op::dot, {a.value, b.value}, axes)};
  };
  return complex_of({times(x.re, y.re) - times(x.im, y.im), times(x.re, y.im) + times(x.im, y.re)});
}

}  // namespace

std::vector<Rule> complex_rules() {
  return {
      {"real(complex(a, b)) = a, imag(complex(a, b)) = b", {Op::real, Op::imag}, part_of_complex},
      {"complex(real(z), imag(z)) = z", {Op::complex}, complex_of_parts},
      {"convert(z), convert(x) by parts", {Op::convert}, convert},
      {"iota = complex(iota, 0)", {Op::iota}, iota},
      {"arithmetic on z = arithmetic on real(z), imag(z)",
       {Op::add, Op::subtract, Op::multiply, Op::negate, Op::is_finite, Op::optimization_barrier},
       arithmetic},
      {"x = y where real(x) = real(y) and imag(x) = imag(y)", {Op::compare}, compare},
      {"x / y, x^y by parts", {Op::divide, Op::power}, function_of_two},
      {"|z| by parts", {Op::abs}, absolute},
      {"sum(z) = complex(sum(real(z)), sum(imag(z)))", {Op::reduce_sum}, sum},
      {"product(z) = reduce(z, 1, multiply)", {Op::reduce_product}, product_of_all},
      {"dot(x, y) = complex(dot - dot, dot + dot)", {Op::dot}, dot},
      {"f(z) by parts", {}, function},
  };
}

}  // namespace anabranch
