#include "passes/simplify.h"

#include <cmath>

#include "passes/match.h"

namespace anabranch {
namespace {

Pattern unary(Op op, Pattern a) { return {op, {std::move(a)}}; }
Pattern binary(Op op, Pattern a, Pattern b) { return {op, {std::move(a), std::move(b)}}; }
Pattern select(Pattern c, Pattern a, Pattern b) {
  return {Op::select, {std::move(c), std::move(a), std::move(b)}};
}

// x / 2^k = x * 2^-k: exact, as long as 2^-k is a normal number. Fast math takes any c.
std::optional<Value> divide_by_constant(Rewriter& graph, const Node& node) {
  const Type& type = node.types[0];
  if (!is_float(type.dtype) || graph.splat_of(node.inputs[0])) return std::nullopt;
  auto divisor = graph.splat_of(node.inputs[1]);
  if (!divisor) return std::nullopt;
  const auto number = divisor->first_as<double>();
  int exponent = 0;
  const bool is_power = std::fabs(std::frexp(number, &exponent)) == 0.5;
  const int most = info(type.dtype).max_exponent - 1;  // 2^-most is the least normal number
  const bool is_normal = std::isfinite(number) && number != 0 && std::abs(exponent - 1) < most;
  if (!is_normal || (!is_power && !graph.fast_math())) return std::nullopt;
  Value inverse = graph.splat(Literal::scalar(type.dtype, 1 / number), type.shape);
  return graph.add(Op::multiply, {node.inputs[0], inverse});
}

// How many bits of significand a float has, or of value an integer.
int precision(Dtype dtype) {
  if (is_float(dtype)) return info(dtype).precision;
  return dtype == bool_ ? 1 : info(dtype).bits - (is_signed_integer(dtype) ? 1 : 0);
}

// Whether every number of `from` is one of `to`.
bool holds_all(Dtype from, Dtype to) {
  if (from == to || from == bool_) return true;
  if (is_complex(from) || is_complex(to)) return false;
  if (precision(to) < precision(from)) return false;
  if (is_float(from)) return is_float(to) && info(to).max_exponent >= info(from).max_exponent;
  if (is_float(to)) return info(to).max_exponent >= info(from).bits;
  return is_signed_integer(to) || !is_signed_integer(from);
}

std::optional<Value> convert_of_convert(Rewriter& graph, const Node& node) {
  const Node& inner = graph.node(node.inputs[0]);
  if (inner.op != Op::convert) return std::nullopt;
  const Value source = inner.inputs[0];
  const Dtype from = graph.type(source).dtype;
  const Dtype middle = inner.types[0].dtype;
  const Dtype to = node.types[0].dtype;
  const bool all_integers = is_integer(from) && is_integer(middle) && is_integer(to);
  const bool only_narrows = all_integers && byte_size(middle) >= byte_size(to);
  if (!holds_all(from, middle) && !only_narrows) return std::nullopt;
  // Integers wrap where floats saturate.
  const bool saturates = is_integer(from) && is_float(middle) && is_integer(to);
  if (saturates && !holds_all(from, to)) return std::nullopt;
  if (from == to) return source;
  return graph.add(Op::convert, {source}, NoAttributes{}, node.types[0]);
}

std::optional<Value> compare_with_itself(Rewriter& graph, const Node& node) {
  const Dtype dtype = graph.type(node.inputs[0]).dtype;
  if (node.inputs[0] != node.inputs[1] || is_float(dtype) || is_complex(dtype)) return std::nullopt;
  const Comparison direction = node.as<CompareAttributes>().direction;
  const bool result =
      direction == Comparison::eq || direction == Comparison::le || direction == Comparison::ge;
  return graph.splat(Literal::scalar(result), node.types[0].shape);
}

// A float that is neither below nor equal may be NaN; only eq and ne are each other's opposites.
std::optional<Value> not_of_compare(Rewriter& graph, const Node& node) {
  const Node& inner = graph.node(node.inputs[0]);
  if (inner.op != Op::compare) return std::nullopt;
  constexpr Comparison opposite[] = {Comparison::ne, Comparison::eq, Comparison::ge,
                                     Comparison::gt, Comparison::le, Comparison::lt};
  const Comparison direction = inner.as<CompareAttributes>().direction;
  const bool is_equality = direction == Comparison::eq || direction == Comparison::ne;
  if (is_float(graph.type(inner.inputs[0]).dtype) && !is_equality) return std::nullopt;
  return graph.add(Op::compare, std::vector<Value>(inner.inputs),
                   CompareAttributes{opposite[static_cast<int>(direction)]});
}

std::vector<Rule> exact_rules() {
  const Pattern x(Pattern::Kind::variable, 0), y(Pattern::Kind::variable, 1),
      z(Pattern::Kind::variable, 2), c(Pattern::Kind::constant_variable, 3),
      d(Pattern::Kind::constant_variable, 4), all_ones(Pattern::Kind::all_ones, 0);
  // clang-format off
  return {
      rule("x + -0 = x",                   x + -0.0,             x),
      rule("x - 0 = x",                    x - 0.0,              x),
      rule("x * 1 = x",                    x * 1.0,              x),
      rule("x / 1 = x",                    x / 1.0,              x),
      rule("-(-x) = x",                    -(-x),                x),
      rule("x + (-y) = x - y",             x + (-y),             x - y),
      rule("x - (-y) = x + y",             x - (-y),             x + y),
      rule("(-x) * (-y) = x * y",          (-x) * (-y),          x * y),
      rule("(-x) / (-y) = x / y",          (-x) / (-y),          x / y,          When::floats),
      rule("-(x - y) = y - x",             -(x - y),             y - x,          When::integers),
      rule("x * 0 = 0",                    x * 0.0,              0.0,            When::integers),
      rule("x - x = 0",                    x - x,                0.0,            When::integers),
      rule("x mod 1 = 0",                  x % 1.0,              0.0,            When::integers),
      rule("(x + c) + d = x + (c + d)",    (x + c) + d,          x + (c + d),    When::integers),
      rule("(x * c) * d = x * (c * d)",    (x * c) * d,          x * (c * d),    When::integers),

      rule("x & 0 = 0",                    x & 0.0,              0.0),
      rule("x & ~0 = x",                   x & all_ones,         x),
      rule("x & x = x",                    x & x,                x),
      rule("(x & c) & d = x & (c & d)",    (x & c) & d,          x & (c & d)),
      rule("x | 0 = x",                    x | 0.0,              x),
      rule("x | ~0 = ~0",                  x | all_ones,         all_ones),
      rule("x | x = x",                    x | x,                x),
      rule("(x | c) | d = x | (c | d)",    (x | c) | d,          x | (c | d)),
      rule("x ^ 0 = x",                    x ^ 0.0,              x),
      rule("x ^ ~0 = ~x",                  x ^ all_ones,         ~x),
      rule("x ^ x = 0",                    x ^ x,                0.0),
      rule("(x ^ c) ^ d = x ^ (c ^ d)",    (x ^ c) ^ d,          x ^ (c ^ d)),
      rule("~(~x) = x",                    ~(~x),                x),
      rule("x << 0 = x",                   binary(Op::shift_left, x, 0.0), x),
      rule("x >> 0 = x",                   binary(Op::shift_right_arithmetic, x, 0.0), x),
      rule("x >>> 0 = x",                  binary(Op::shift_right_logical, x, 0.0), x),

      rule("max(x, x) = x",                binary(Op::maximum, x, x), x),
      rule("min(x, x) = x",                binary(Op::minimum, x, x), x),
      rule("max(max(x, y), y) = max(x, y)",
           binary(Op::maximum, binary(Op::maximum, x, y), y), binary(Op::maximum, x, y)),
      rule("min(min(x, y), y) = min(x, y)",
           binary(Op::minimum, binary(Op::minimum, x, y), y), binary(Op::minimum, x, y)),
      rule("abs(abs(x)) = abs(x)",         unary(Op::abs, unary(Op::abs, x)), unary(Op::abs, x)),
      rule("abs(-x) = abs(x)",             unary(Op::abs, -x),   unary(Op::abs, x), When::signed_),
      rule("abs(x) * abs(x) = x * x",      unary(Op::abs, x) * unary(Op::abs, x), x * x),
      rule("sign(sign(x)) = sign(x)",      unary(Op::sign, unary(Op::sign, x)), unary(Op::sign, x)),
      rule("floor(floor(x)) = floor(x)",
           unary(Op::floor, unary(Op::floor, x)), unary(Op::floor, x)),
      rule("ceil(ceil(x)) = ceil(x)",      unary(Op::ceil, unary(Op::ceil, x)), unary(Op::ceil, x)),
      rule("floor(ceil(x)) = ceil(x)", unary(Op::floor, unary(Op::ceil, x)), unary(Op::ceil, x)),
      rule("ceil(floor(x)) = floor(x)", unary(Op::ceil, unary(Op::floor, x)), unary(Op::floor, x)),
      rule("cos(-x) = cos(x)",             unary(Op::cosine, -x), unary(Op::cosine, x)),
      rule("cosh(-x) = cosh(x)",           unary(Op::cosh, -x),  unary(Op::cosh, x)),

      rule("x^1 = x",                      binary(Op::power, x, 1.0), x),
      rule("x^0 = 1",                      binary(Op::power, x, 0.0), 1.0),
      rule("x^2 = x * x",                  binary(Op::power, x, 2.0), x * x),
      rule("x^-1 = 1 / x",                 binary(Op::power, x, -1.0), 1.0 / x,  When::floats),

      rule("select(true, x, y) = x",       select(1.0, x, y),    x),
      rule("select(false, x, y) = y",      select(0.0, x, y),    y),
      rule("select(z, x, x) = x",          select(z, x, x),      x),
      rule("select(~z, x, y) = select(z, y, x)", select(~z, x, y), select(z, y, x)),

      {"x / 2^k = x * 2^-k",                       {Op::divide},  divide_by_constant},
      {"convert(convert(x)) = convert(x), if nothing is lost", {Op::convert}, convert_of_convert},
      {"x < x = false, x <= x = true, for integers", {Op::compare}, compare_with_itself},
      {"~(x < y) = x >= y, for integers",          {Op::not_},    not_of_compare},
  };
  // clang-format on
}

std::vector<Rule> fast_rules() {
  const Pattern x(Pattern::Kind::variable, 0), y(Pattern::Kind::variable, 1),
      c(Pattern::Kind::constant_variable, 2), d(Pattern::Kind::constant_variable, 3);
  constexpr When fast = When::fast_math;
  // clang-format off
  return {
      rule("x + 0 = x",                    x + 0.0,              x,              fast),
      rule("x - x = 0",                    x - x,                0.0,            fast),
      rule("x * 0 = 0",                    x * 0.0,              0.0,            fast),
      rule("x / x = 1",                    x / x,                1.0,            fast),
      rule("(x + c) + d = x + (c + d)",    (x + c) + d,          x + (c + d), fast),
      rule("(x * c) * d = x * (c * d)",    (x * c) * d,          x * (c * d), fast),
      rule("x * c + x * d = x * (c + d)", x * c + x * d, x * (c + d), fast),
      rule("1 / sqrt(x) = rsqrt(x)",       1.0 / unary(Op::sqrt, x), unary(Op::rsqrt, x), fast),
      rule("y / sqrt(x) = y * rsqrt(x)", y / unary(Op::sqrt, x), y * unary(Op::rsqrt, x), fast),
      rule("x^0.5 = sqrt(x)",              binary(Op::power, x, 0.5), unary(Op::sqrt, x), fast),
      rule("x^3 = x * x * x",              binary(Op::power, x, 3.0), x * x * x, fast),
      rule("log(exp(x)) = x",              unary(Op::log, unary(Op::exponential, x)), x, fast),
  };
  // clang-format on
}

std::vector<Rule> exact_and_fast_rules() {
  std::vector<Rule> rules = exact_rules();
  for (Rule& rule : fast_rules()) rules.push_back(std::move(rule));
  return rules;
}

}  // namespace

const RuleTable& simplify_rules() {
  static const RuleTable& rules = *new RuleTable(exact_and_fast_rules());
  return rules;
}

Graph simplify(const Graph& graph, PassContext& context) {
  return rewrite(graph, simplify_rules(), context);
}

}  // namespace anabranch
