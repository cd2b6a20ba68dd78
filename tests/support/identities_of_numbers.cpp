// Arithmetic identities, both sides as data.
#include <array>

#include "passes/match.h"
#include "tests/support/identities.h"

namespace anabranch {
namespace {

/// What numbers an equation holds of, by dtype.
enum class Of : std::uint8_t {
  any,       // complex ones too
  reals,     // integers, floats, bool
  integers,  // and bool
  floats,
  signed_  // floats and signed integers
};

bool holds_of(Of of, Dtype dtype) {
  switch (of) {
    case Of::any:
      return true;
    case Of::reals:
      return !is_complex(dtype);
    case Of::integers:
      return is_integer(dtype) || dtype == bool_;
    case Of::floats:
      return is_float(dtype);
    case Of::signed_:
      return is_float(dtype) || is_signed_integer(dtype);
  }
  return false;
}

// Whether every op of a side takes the dtype.
bool is_taken(const Pattern& side, Dtype dtype) {
  if (side.kind != Pattern::Kind::op) return true;
  const OpInfo& row = info(side.op);
  if (row.has(OpInfo::no_bools) && dtype == bool_) return false;
  for (std::size_t k = 0; k < side.operands.size(); ++k) {
    const bool chooses = side.op == Op::select && k == 0;
    if (!is_taken(side.operands[k], chooses ? bool_ : dtype)) return false;
  }
  return true;
}

using Bindings = std::array<std::optional<Value>, 4>;

// A variable has the dtype of the whole, unless it chooses: a complex number's absolute value does
// not match.
bool matches(const IdentityWriter& in, const Pattern& side, Value x, Dtype dtype, Bindings& bound) {
  if (in.dtype(x) != dtype) return false;
  if (side.kind == Pattern::Kind::variable) {
    auto& value = bound[static_cast<std::size_t>(side.variable)];
    if (!value) value = x;
    return *value == x;
  }
  const Node node = in.node(x);
  if (node.op != side.op) return false;
  for (std::size_t k = 0; k < side.operands.size(); ++k) {
    const bool chooses = side.op == Op::select && k == 0;
    const Dtype wanted = chooses ? bool_ : dtype;
    if (!matches(in, side.operands[k], node.inputs[k], wanted, bound)) return false;
  }
  return true;
}

// A variable that the left side has not stands for anything.
Value written(IdentityWriter& to, const Pattern& side, Value x, Bindings& bound, bool chooses) {
  switch (side.kind) {
    case Pattern::Kind::op: {
      std::vector<Value> operands;
      for (const Pattern& operand : side.operands) {
        const bool first_of_select = side.op == Op::select && operands.empty();
        operands.push_back(written(to, operand, x, bound, chooses || first_of_select));
      }
      if (info(side.op).has(OpInfo::commutative) && to.random.percent(50)) {
        std::swap(operands[0], operands[1]);
      }
      return to.add(side.op, operands);
    }
    case Pattern::Kind::number:
      return to.splat({chooses ? bool_ : to.dtype(x), to.shape(x)}, side.value);
    case Pattern::Kind::all_ones: {
      const Value zero = to.splat(to.type(x), 0);
      return to.add(Op::not_, {zero});
    }
    default: {
      auto& value = bound[static_cast<std::size_t>(side.variable)];
      if (!value) value = chooses ? to.mask(x) : to.other(x);
      return *value;
    }
  }
}

Identity identity(std::string_view equation, Pattern left, Pattern right, Of of) {
  return {equation,
          [=](IdentityWriter& to, const Node&, Value x) -> std::optional<Value> {
            const Dtype dtype = to.dtype(x);
            Bindings bound;
            if (!holds_of(of, dtype) || !is_taken(right, dtype)) return std::nullopt;
            if (!matches(to, left, x, dtype, bound)) return std::nullopt;
            return written(to, right, x, bound, false);
          },
          left.kind == Pattern::Kind::variable};
}

Pattern call(Op op, Pattern a) { return {op, {std::move(a)}}; }
Pattern call(Op op, Pattern a, Pattern b) { return {op, {std::move(a), std::move(b)}}; }
Pattern call(Op op, Pattern a, Pattern b, Pattern c) {
  return {op, {std::move(a), std::move(b), std::move(c)}};
}

std::vector<Identity> identities_as_data() {
  const Pattern x(Pattern::Kind::variable, 0), y(Pattern::Kind::variable, 1),
      z(Pattern::Kind::variable, 2), p(Pattern::Kind::variable, 3),
      ones(Pattern::Kind::all_ones, 0);
  const auto max = [](Pattern a, Pattern b) {
    return call(Op::maximum, std::move(a), std::move(b));
  };
  const auto min = [](Pattern a, Pattern b) {
    return call(Op::minimum, std::move(a), std::move(b));
  };
  const auto choose = [](Pattern a, Pattern b, Pattern c) {
    return call(Op::select, std::move(a), std::move(b), std::move(c));
  };
  const auto left = [](Pattern a, Pattern b) {
    return call(Op::shift_left, std::move(a), std::move(b));
  };
  const auto right = [](Pattern a, Pattern b) {
    return call(Op::shift_right_logical, std::move(a), std::move(b));
  };
  const Pattern infinity(std::numeric_limits<double>::infinity());
  const Pattern minus_infinity(-std::numeric_limits<double>::infinity());
  // clang-format off
  std::vector<Identity> rows = {
      // of any value
      identity("x = -(-x)",                          x,                -(-x),                        Of::any),
      identity("x = x - 0",                          x,                x - 0.0,                      Of::any),
      identity("x = x * 1",                          x,                x * 1.0,                      Of::reals),
      identity("x = x / 1",                          x,                x / 1.0,                      Of::reals),
      identity("x = x + -0, for floats",             x,                x + -0.0,                     Of::floats),
      identity("x = x + 0, for integers",            x,                x + 0.0,                      Of::integers),
      identity("x = ~(~x)",                          x,                ~(~x),                        Of::integers),
      identity("x = x & x",                          x,                x & x,                        Of::integers),
      identity("x = x & ~0",                         x,                x & ones,                     Of::integers),
      identity("x = x | x",                          x,                x | x,                        Of::integers),
      identity("x = x | (x & y)",                    x,                x | (x & y),                  Of::integers),
      identity("x = x & (x | y)",                    x,                x & (x | y),                  Of::integers),
      identity("x = (x & y) | (x & ~y)",             x,                (x & y) | (x & ~y),           Of::integers),
      identity("x = (x ^ y) ^ y",                    x,                (x ^ y) ^ y,                  Of::integers),
      identity("x = (x + y) - y, for integers",      x,                (x + y) - y,                  Of::integers),
      identity("x = (x - y) + y, for integers",      x,                (x - y) + y,                  Of::integers),
      identity("x = x * 3 - x * 2, for integers",    x,                x * 3.0 - x * 2.0,            Of::integers),
      identity("x = ((x >>> 3) << 3) | (x & 7)",     x,                left(right(x, 3.0), 3.0) | (x & 7.0), Of::integers),
      identity("x = max(x, x)",                      x,                max(x, x),                    Of::reals),
      identity("x = min(x, x)",                      x,                min(x, x),                    Of::reals),
      identity("x = max(x, min(x, y)), for integers", x,               max(x, min(x, y)),            Of::integers),
      identity("x = clamp(-inf, x, inf)",            x,                call(Op::clamp, minus_infinity, x, infinity), Of::floats),
      identity("x = select(true, x, y)",             x,                choose(1.0, x, y),            Of::any),
      identity("x = select(false, y, x)",            x,                choose(0.0, y, x),            Of::any),
      identity("x = select(p, x, x)",                x,                choose(p, x, x),              Of::any),
      identity("x = select(p, x, select(p, y, x))",  x,                choose(p, x, choose(p, y, x)), Of::any),
      identity("x = select(p, select(~p, y, x), x)", x,                choose(p, choose(~p, y, x), x), Of::any),

      // of any value, for those below to match
      identity("x = (x | x) | (x & y)",               x,                (x | x) | (x & y),           Of::integers),
      identity("x = (x & x) & (x | y)",               x,                (x & x) & (x | y),           Of::integers),
      identity("x = (x + 0) * 1, for integers",       x,                (x + 0.0) * 1.0,             Of::integers),
      identity("x = (x + y) + -y, for integers",      x,                (x + y) + -y,                Of::integers),
      identity("x = (x * -1) * -1, for integers",     x,                (x * ones) * ones,           Of::integers),
      identity("x = max(max(x, x), x)",               x,                max(max(x, x), x),           Of::reals),
      identity("x = min(min(x, x), x)",               x,                min(min(x, x), x),           Of::reals),

      // of sums and products
      identity("x + y = y + x",                      x + y,            y + x,                        Of::any),
      identity("x * y = y * x",                      x * y,            y * x,                        Of::any),
      identity("x + y = x - (-y)",                   x + y,            x - (-y),                     Of::any),
      identity("x - y = x + (-y)",                   x - y,            x + (-y),                     Of::any),
      identity("x * y = (-x) * (-y)",                x * y,            (-x) * (-y),                  Of::reals),
      identity("x * y = -((-x) * y)",                x * y,            -((-x) * y),                  Of::reals),
      identity("x / y = (-x) / (-y), for floats",    x / y,            (-x) / (-y),                  Of::floats),
      identity("x / y = -(x / (-y)), for floats",    x / y,            -(x / (-y)),                  Of::floats),
      identity("(x + y) + z = x + (y + z), for integers", (x + y) + z, x + (y + z),                  Of::integers),
      identity("(x * y) * z = x * (y * z), for integers", (x * y) * z, x * (y * z),                  Of::integers),
      identity("(x + y) * z = x * z + y * z, for integers", (x + y) * z, x * z + y * z,              Of::integers),
      identity("x - y = -(y - x), for integers",     x - y,            -(y - x),                     Of::integers),
      identity("-x = ~x + 1, for integers",          -x,               ~x + 1.0,                     Of::integers),
      identity("-x = 0 - x, for integers",           -x,               0.0 - x,                      Of::integers),
      identity("-x = -0 - x, for floats",            -x,               -0.0 - x,                     Of::floats),
      identity("x mod y = x - x / y * y, for integers", x % y,         x - (x / y) * y,              Of::integers),

      // of bits
      identity("x & y = y & x",                      x & y,            y & x,                        Of::integers),
      identity("x & y = ~(~x | ~y)",                 x & y,            ~(~x | ~y),                   Of::integers),
      identity("x | y = ~(~x & ~y)",                 x | y,            ~(~x & ~y),                   Of::integers),
      identity("x ^ y = (x | y) & ~(x & y)",         x ^ y,            (x | y) & ~(x & y),           Of::integers),
      identity("(x & y) & z = x & (y & z)",          (x & y) & z,      x & (y & z),                  Of::integers),
      identity("(x | y) | z = x | (y | z)",          (x | y) | z,      x | (y | z),                  Of::integers),
      identity("(x ^ y) ^ z = x ^ (y ^ z)",          (x ^ y) ^ z,      x ^ (y ^ z),                  Of::integers),
      identity("(x | y) & z = (x & z) | (y & z)",    (x | y) & z,      (x & z) | (y & z),            Of::integers),
      identity("~x = x ^ ~0",                        ~x,               x ^ ones,                     Of::integers),

      // of what is ordered
      identity("max(x, y) = max(y, x)",              max(x, y),        max(y, x),                    Of::reals),
      identity("max(x, y) = -min(-x, -y), for floats", max(x, y),      -min(-x, -y),                 Of::floats),
      identity("min(x, y) = -max(-x, -y), for floats", min(x, y),      -max(-x, -y),                 Of::floats),
      identity("max(x, y) = ~min(~x, ~y), for integers", max(x, y),    ~min(~x, ~y),                 Of::integers),
      identity("min(x, y) = ~max(~x, ~y), for integers", min(x, y),    ~max(~x, ~y),                 Of::integers),
      identity("max(max(x, y), z) = max(x, max(y, z))", max(max(x, y), z), max(x, max(y, z)),        Of::reals),
      identity("min(min(x, y), z) = min(x, min(y, z))", min(min(x, y), z), min(x, min(y, z)),        Of::reals),
      identity("clamp(x, y, z) = min(max(y, x), z)", call(Op::clamp, x, y, z), min(max(y, x), z),    Of::reals),
      identity("abs(x) = max(x, -x)",                call(Op::abs, x), max(x, -x),                   Of::signed_),
      identity("abs(x) = abs(-x)",                   call(Op::abs, x), call(Op::abs, -x),            Of::signed_),
      identity("select(p, x, y) = select(~p, y, x)", choose(p, x, y),  choose(~p, y, x),             Of::any),
      identity("floor(x) = -ceil(-x)",               call(Op::floor, x), -call(Op::ceil, -x),        Of::floats),
      identity("ceil(x) = -floor(-x)",               call(Op::ceil, x), -call(Op::floor, -x),        Of::floats),
  };
  // clang-format on
  return rows;
}

// f(-x) = -f(x), and f(-x) = f(x).
void add_odd_and_even(std::vector<Identity>& rows) {
  const Pattern x(Pattern::Kind::variable, 0);
  for (Op odd : {Op::sign, Op::round_nearest_even, Op::round_nearest_afz, Op::cbrt, Op::sine,
                 Op::tan, Op::asin, Op::atan, Op::sinh, Op::tanh, Op::asinh, Op::atanh, Op::erf}) {
    rows.push_back(
        identity("f(x) = -f(-x), for odd functions", call(odd, x), -call(odd, -x), Of::floats));
  }
  for (Op even : {Op::cosine, Op::cosh}) {
    rows.push_back(
        identity("f(x) = f(-x), for even functions", call(even, x), call(even, -x), Of::floats));
  }
}

}  // namespace

std::span<const Identity> arithmetic_identities() {
  static const std::vector<Identity> rows = [] {
    std::vector<Identity> all = identities_as_data();
    add_odd_and_even(all);
    return all;
  }();
  return rows;
}

}  // namespace anabranch
