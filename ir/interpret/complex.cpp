// Elementwise ops on complex numbers. Arithmetic is done in a wider type and rounded once;
// elementary functions are the host's, of long double, with what C's Annex G says of infinities,
// zeros and cuts.
#include <cmath>
#include <complex>

#include "ir/interpret/rules.h"

namespace anabranch {
namespace {

using Widest = std::complex<long double>;

// `compute` of the operands' elements at each place.
template <class R, class Compute>
Results map(const Node& node, std::int64_t size, Compute compute) {
  Elements<R> result(node.types[0]);
  for (std::int64_t i = 0; i < size; ++i) result[i] = compute(static_cast<std::size_t>(i));
  return std::move(result).finish();
}

// Infinite over finite is infinite and finite over infinite is 0, whatever the other parts are (ISO
// C, Annex G.5.1). In the wider type no square over- or underflows.
template <class W>
std::complex<W> quotient(std::complex<W> x, std::complex<W> y) {
  W a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  const W square = c * c + d * d;
  const std::complex<W> plain((a * c + b * d) / square, (b * c - a * d) / square);
  if (!std::isnan(plain.real()) || !std::isnan(plain.imag())) return plain;
  const auto unit = [](W part) { return std::copysign(std::isinf(part) ? W{1} : W{0}, part); };
  const W infinity = std::numeric_limits<W>::infinity();
  const bool x_finite = std::isfinite(a) && std::isfinite(b);
  const bool y_finite = std::isfinite(c) && std::isfinite(d);
  if (square == 0 && (!std::isnan(a) || !std::isnan(b))) {
    return {std::copysign(infinity, c) * a, std::copysign(infinity, c) * b};
  }
  if ((std::isinf(a) || std::isinf(b)) && y_finite) {
    a = unit(a), b = unit(b);
    return {infinity * (a * c + b * d), infinity * (b * c - a * d)};
  }
  if ((std::isinf(c) || std::isinf(d)) && x_finite) {
    c = unit(c), d = unit(d);
    return {W{0} * (a * c + b * d), W{0} * (b * c - a * d)};
  }
  return plain;
}

// 0^0 is 1, and so is any number to the power 0; 0 to a power whose real part is positive is 0.
Widest complex_power(Widest x, Widest y) {
  const long double nan = std::numeric_limits<long double>::quiet_NaN();
  if (y == Widest(0)) return 1;
  if (x == Widest(0)) return y.real() > 0 ? Widest(0) : Widest(nan, nan);
  return std::exp(product_of(y, std::log(x)));
}

Widest expm1_of(Widest z) {
  const long double x = z.real(), y = z.imag(), half = std::sin(y / 2);
  if (std::isinf(x)) return std::exp(z) - 1.0L;
  return {std::expm1(x) * std::cos(y) - 2 * half * half, std::exp(z).imag()};
}

Widest log1p_of(Widest z) {
  const long double x = z.real(), y = z.imag();
  const bool is_small = std::fabs(x) < 0.5L && std::fabs(y) < 0.5L;
  const long double re = is_small ? std::log1p(x * (2 + x) + y * y) / 2 : std::log(1.0L + z).real();
  return {re, std::atan2(y, 1 + x)};
}

Widest sign_of(Widest z) {
  const long double size = std::hypot(z.real(), z.imag());
  return size == 0 ? z : Widest(z.real() / size, z.imag() / size);
}

// Two quotients whose greater exponentials cannot overflow.
Widest logistic_of(Widest z) {
  const Widest one(1);
  if (z.real() >= 0) return quotient(one, one + std::exp(-z));
  const Widest e = std::exp(z);
  return quotient(e, one + e);
}

Widest function_of(const Node& node, Widest z) {
  switch (node.op) {
    case Op::sign:
      return sign_of(z);
    case Op::sqrt:
      return std::sqrt(z);
    case Op::rsqrt:
      return quotient(Widest(1), std::sqrt(z));
    case Op::exponential:
      return std::exp(z);
    case Op::exponential_minus_one:
      return expm1_of(z);
    case Op::log:
      return std::log(z);
    case Op::log_plus_one:
      return log1p_of(z);
    case Op::logistic:
      return logistic_of(z);
    case Op::sine:
      return std::sin(z);
    case Op::cosine:
      return std::cos(z);
    case Op::tan:
      return std::tan(z);
    case Op::asin:
      return std::asin(z);
    case Op::acos:
      return std::acos(z);
    case Op::atan:
      return std::atan(z);
    case Op::sinh:
      return std::sinh(z);
    case Op::cosh:
      return std::cosh(z);
    case Op::tanh:
      return std::tanh(z);
    case Op::asinh:
      return std::asinh(z);
    case Op::acosh:
      return std::acosh(z);
    case Op::atanh:
      return std::atanh(z);
    default:
      throw InternalError("interpret", std::string(name(node.op)) + " of complex numbers");
  }
}

template <class T>
Results unary(const Node& node, const Literal& operand) {
  using Part = typename T::value_type;
  const auto z = operand.values<T>();
  const std::int64_t size = operand.type().size();
  switch (node.op) {
    case Op::real:
      return map<Part>(node, size, [&](std::size_t i) { return z[i].real(); });
    case Op::imag:
      return map<Part>(node, size, [&](std::size_t i) { return z[i].imag(); });
    case Op::abs:
      return map<Part>(node, size, [&](std::size_t i) {
        const Exact<T> wide(z[i]);
        return static_cast<Part>(std::hypot(wide.real(), wide.imag()));
      });
    case Op::is_finite:
      return map<bool>(node, size, [&](std::size_t i) {
        return std::isfinite(z[i].real()) && std::isfinite(z[i].imag());
      });
    case Op::optimization_barrier:
      return {operand};
    case Op::negate:
      return map<T>(node, size, [&](std::size_t i) { return T(-z[i].real(), -z[i].imag()); });
    default:
      return map<T>(node, size, [&](std::size_t i) {
        return convert_scalar<T>(function_of(node, Widest(z[i].real(), z[i].imag())));
      });
  }
}

template <class T>
Results binary(const Node& node, Operands operands) {
  const auto x = operands[0].values<T>(), y = operands[1].values<T>();
  const std::int64_t size = operands[0].type().size();
  using W = Exact<T>;
  if (node.op == Op::compare) {
    const bool wanted = node.as<CompareAttributes>().direction == Comparison::eq;
    return map<bool>(node, size, [&](std::size_t i) { return (x[i] == y[i]) == wanted; });
  }
  return map<T>(node, size, [&](std::size_t i) -> T {
    switch (node.op) {
      case Op::add:
        return x[i] + y[i];
      case Op::subtract:
        return x[i] - y[i];
      case Op::multiply:
        return convert_scalar<T>(product_of(W(x[i]), W(y[i])));
      case Op::divide:
        return convert_scalar<T>(quotient(W(x[i]), W(y[i])));
      case Op::power:
        return convert_scalar<T>(complex_power(Widest(x[i]), Widest(y[i])));
      default:
        throw InternalError("interpret", std::string(name(node.op)) + " of complex numbers");
    }
  });
}

Results made_of_parts(const Node& node, Operands operands) {
  return visit_any_dtype(node.types[0].dtype, [&]<class T>() -> Results {
    if constexpr (is_complex_storage<T>) {
      using Part = typename T::value_type;
      const auto re = operands[0].values<Part>(), im = operands[1].values<Part>();
      return map<T>(node, node.types[0].size(), [&](std::size_t i) { return T(re[i], im[i]); });
    } else {
      refuse_dtype(node, node.types[0].dtype);
    }
  });
}

}  // namespace

Results interpret_complex(const Node& node, Operands operands) {
  if (node.op == Op::convert) return rules::convert(node, operands);
  if (node.op == Op::complex) return made_of_parts(node, operands);
  return visit_any_dtype(operands[0].type().dtype, [&]<class T>() -> Results {
    if constexpr (is_complex_storage<T>)
      return operands.size() == 1 ? unary<T>(node, operands[0]) : binary<T>(node, operands);
    else
      refuse_dtype(node, operands[0].type().dtype);
  });
}

namespace rules {

// Of complex numbers all of it.
Results real(const Node& node, Operands x) { return interpret_complex(node, x); }
Results imag(const Node& node, Operands x) { return interpret_complex(node, x); }
Results complex(const Node& node, Operands xy) { return interpret_complex(node, xy); }

}  // namespace rules
}  // namespace anabranch
