#include "tests/support/derivative_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "ir/text/print.h"
#include "passes/transform/jvp.h"
#include "passes/transform/vjp.h"

namespace anabranch::testing {
namespace {

using Complex = std::complex<double>;
using Numbers = std::vector<Complex>;

Numbers numbers_of(const Literal& literal) {
  Numbers numbers;
  visit_any_dtype(literal.type().dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < literal.type().size(); ++i) {
      const auto value = [&] {
        if constexpr (std::is_same_v<T, bool>) {
          return 0.0;
        } else {
          return literal.values<T>()[static_cast<std::size_t>(i)];
        }
      }();
      if constexpr (is_complex_storage<T>) {
        numbers.emplace_back(value.real(), value.imag());
      } else {
        numbers.emplace_back(convert_scalar<double>(value), 0.0);
      }
    }
  });
  return numbers;
}

Literal literal_of(const Type& type, const Numbers& numbers) {
  std::vector<std::byte> bytes(type.bytes());
  visit_any_dtype(type.dtype, [&]<class T>() {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      T value;
      if constexpr (is_complex_storage<T>) {
        value = T(static_cast<typename T::value_type>(numbers[i].real()),
                  static_cast<typename T::value_type>(numbers[i].imag()));
      } else {
        value = convert_scalar<T>(numbers[i].real());
      }
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
  return Literal(type, std::move(bytes));
}

// The sum of products, without conjugates; the real part counts.
double pairing(const Literal& a, const Literal& b) {
  const Numbers x = numbers_of(a), y = numbers_of(b);
  Complex sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum.real();
}

std::vector<Literal> moved(const std::vector<Literal>& inputs, const std::vector<bool>& active,
                           const std::vector<Literal>& direction, double by) {
  std::vector<Literal> result;
  std::size_t next = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    result.push_back(inputs[i]);
    if (!active[i]) continue;
    Numbers x = numbers_of(inputs[i]);
    const Numbers t = numbers_of(direction[next++]);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += by * t[k];
    result.back() = literal_of(inputs[i].type(), x);
  }
  return result;
}

void expect_near(Complex got, Complex wanted, double tolerance, const std::string& what) {
  if (std::isnan(wanted.real()) || std::isinf(std::abs(wanted))) return;
  EXPECT_LE(std::abs(got - wanted), tolerance * std::max(1.0, std::abs(wanted)))
      << "got " << got << ", wanted " << wanted << "\n"
      << what;
}

}  // namespace

Literal spread_numbers(const Type& type, std::mt19937& random, double low, double high) {
  std::uniform_real_distribution<double> number(low, high);
  Numbers numbers;
  for (std::int64_t i = 0; i < type.size(); ++i)
    numbers.emplace_back(number(random), number(random));
  return literal_of(type, numbers);
}

void check_derivatives(const Graph& graph, const std::vector<Literal>& inputs, std::mt19937& random,
                       const std::string& what, const DerivativeCheck& check) {
  std::vector<bool> active;
  std::vector<Literal> direction;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool is_fixed = std::find(check.fixed.begin(), check.fixed.end(), i) != check.fixed.end();
    active.push_back(!is_fixed && has_tangent(inputs[i].type().dtype));
    if (active[i]) direction.push_back(spread_numbers(inputs[i].type(), random, -1, 1));
  }
  const Jvp pushed = jvp(graph, active);
  std::vector<Literal> both = inputs;
  both.insert(both.end(), direction.begin(), direction.end());
  const std::vector<Literal> results = interpret(pushed.graph, both);
  const auto ahead = interpret(graph, moved(inputs, active, direction, check.step));
  const auto behind = interpret(graph, moved(inputs, active, direction, -check.step));
  std::vector<Literal> tangents(results.begin() + static_cast<std::ptrdiff_t>(ahead.size()),
                                results.end());
  std::size_t next = 0;
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    if (!has_tangent(ahead[i].type().dtype)) continue;
    const Numbers a = numbers_of(ahead[i]), b = numbers_of(behind[i]);
    const Numbers t = pushed.active[i] ? numbers_of(tangents[next++]) : Numbers(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
      expect_near(t[k], (a[k] - b[k]) / (2 * check.step), check.tolerance,
                  "the tangent of output " + std::to_string(i) + ", element " + std::to_string(k) +
                      ": " + what + "\n" + to_string(pushed.graph));
      if (::testing::Test::HasFailure()) return;
    }
  }
  const ForwardAndLinear pulled = vjp(graph, active);
  const std::vector<Literal> forward = interpret(pulled.forward, inputs);
  std::vector<Literal> operands(forward.begin() + static_cast<std::ptrdiff_t>(ahead.size()),
                                forward.end());
  double wanted = 0;
  for (const Literal& tangent : tangents) {
    operands.push_back(spread_numbers(tangent.type(), random, -1, 1));
    wanted += pairing(operands.back(), tangent);
  }
  const std::vector<Literal> gradients = interpret(pulled.linear, operands);
  double got = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) got += pairing(gradients[i], direction[i]);
  expect_near(got, wanted, 1e-9, "the inner product: " + what + "\n" + to_string(pulled.linear));
  if (check.order < 2 || ::testing::Test::HasFailure()) return;
  DerivativeCheck first = check;
  first.order = 1;
  first.tolerance *= 10;
  check_derivatives(pushed.graph, both, random, "the jvp of " + what, first);
  check_derivatives(pulled.linear, operands, random, "the vjp of " + what, first);
}

}  // namespace anabranch::testing
