// Elementwise ops.
#include "derivative_cases.h"
#include "ir/infer/infer.h"
#include "passes/transform/derivative_rules.h"

namespace anabranch::testing {
namespace {

using Make = ExampleMaker;
using Case = DerivativeCase;

// Where a function of one number is smooth.
std::pair<double, double> domain(Op op) {
  switch (op) {
    case Op::sqrt:
    case Op::rsqrt:
    case Op::log:
    case Op::cbrt:
      return {0.3, 3};
    case Op::log_plus_one:
      return {-0.7, 3};
    case Op::asin:
    case Op::acos:
    case Op::atanh:
    case Op::erf_inv:
      return {-0.8, 0.8};
    case Op::acosh:
      return {1.2, 3};
    default:
      return {-1.4, 1.4};
  }
}

// Of one number; those that have cases of their own below do without.
void add_unary(std::vector<Case>& cases) {
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const Op op = static_cast<Op>(i);
    const OpInfo& row = all_ops()[i];
    if (row.arity != 1 || !is_elementwise(row)) continue;
    if (derivative_rule(op).jvp.kind == JvpRule::Kind::none || op == Op::convert) continue;
    const Case::Dtypes dtypes = row.has(OpInfo::complex_only)    ? Case::complex
                                : row.has(OpInfo::takes_complex) ? Case::both
                                                                 : Case::real;
    const bool has_kink = op == Op::abs || op == Op::sign || op == Op::cbrt;
    cases.push_back({op, std::string(row.name),
                     [=](Make& m) {
                       const auto [low, high] = domain(op);
                       const Value x = has_kink ? m.away_from_zero(m.shape(), 0.2, 2)
                                                : m.numbers(m.shape(), low, high);
                       return m.build({m.graph.add(op, {x})});
                     },
                     dtypes});
  }
}

Example two(Make& m, Op op, Value x, Value y) { return m.build({m.graph.add(op, {x, y})}); }

Example sum_or_product(Make& m, Op op) {
  const Shape shape = m.shape();
  const Value x = m.numbers(shape);
  return two(m, op, x, m.random.percent(20) ? x : m.numbers(shape));
}

Example quotient(Make& m) {
  const Shape shape = m.shape();
  const Value x = m.numbers(shape);
  return two(m, Op::divide, x, m.away_from_zero(shape));
}

// The ratio is away from integers.
Example remainder(Make& m) {
  const Shape shape = m.shape();
  std::vector<double> x, y;
  for (std::int64_t i = 0; i < 2 * shape.size(); ++i) {
    y.push_back(m.uniform(0.5, 2) * (m.random.percent(50) ? 1 : -1));
    x.push_back(y.back() * (static_cast<double>(m.between(-3, 2)) + m.uniform(0.2, 0.8)));
  }
  std::size_t i = 0, k = 0;
  const Value dividend = m.parameter({m.dtype, shape}, [&] { return x[i++]; });
  return two(m, Op::remainder, dividend, m.parameter({m.dtype, shape}, [&] { return y[k++]; }));
}

Example power(Make& m) {
  const Shape shape = m.shape();
  const Value x = m.numbers(shape, 0.3, 2);
  return two(m, Op::power, x, m.numbers(shape));
}

// Of 0 and of negative numbers, by exponents that are not differentiated by.
Example whole_power(Make& m) {
  const Shape shape = m.shape();
  const Value x =
      m.parameter({m.dtype, shape}, [&] { return m.random.percent(30) ? 0.0 : m.uniform(-2, 2); });
  const Value y = m.integers({m.dtype, shape}, 0, 4);
  m.fix_last();
  return two(m, Op::power, x, y);
}

Example extremum(Make& m, Op op) {
  const Shape shape = m.shape();
  const std::vector<double> pool = m.distinct(4 * shape.size());
  std::size_t next = 0;
  const Value x = m.parameter({m.dtype, shape}, [&] { return pool[next++]; });
  return two(m, op, x, m.parameter({m.dtype, shape}, [&] { return pool[next++]; }));
}

// Away from the point 0 and, of the angle's jump, from y = 0.
Example angle(Make& m) {
  const Shape shape = m.shape();
  const Value y = m.away_from_zero(shape, 0.3, 2);
  return two(m, Op::atan2, y, m.numbers(shape));
}

Example selection(Make& m) {
  const Shape shape = m.shape();
  const Value condition = m.integers({bool_, shape}, 0, 1), x = m.numbers(shape);
  return m.build({m.graph.add(Op::select, {condition, x, m.numbers(shape)})});
}

// Below, between and above; now and then the lower bound is above the upper one.
Example clamp(Make& m) {
  const Shape shape = m.shape();
  std::vector<double> numbers[3];
  for (std::int64_t i = 0; i < 2 * shape.size(); ++i) {
    std::vector<double> three = m.distinct(3);
    if (three[0] > three[2] && m.random.percent(80)) std::swap(three[0], three[2]);
    for (std::size_t k = 0; k < 3; ++k) numbers[k].push_back(three[k]);
  }
  std::vector<Value> operands;
  for (const auto& list : numbers) {
    std::size_t next = 0;
    operands.push_back(m.parameter({m.dtype, shape}, [&] { return list[next++]; }));
  }
  return m.build({m.graph.add(Op::clamp, operands)});
}

Example complex_number(Make& m) {
  const Shape shape = m.shape();
  const Value x = m.numbers(shape);
  return two(m, Op::complex, x, m.numbers(shape));
}

// Between real and complex numbers, and to the same; widths have a test of their own.
Example conversion(Make& m) {
  const Value x = m.numbers(m.shape());
  const Dtype to = m.random.percent(80) ? (is_complex(m.dtype) ? f64 : c128) : m.dtype;
  const Type type{to, m.graph.type(x).shape};
  return m.build({m.graph.add(Op::convert, {x}, NoAttributes{}, type)});
}

}  // namespace

std::vector<DerivativeCase> cases_of_numbers() {
  std::vector<Case> cases;
  add_unary(cases);
  for (Op op : {Op::add, Op::subtract, Op::multiply}) {
    cases.push_back(
        {op, std::string(name(op)), [=](Make& m) { return sum_or_product(m, op); }, Case::both});
  }
  for (Op op : {Op::maximum, Op::minimum}) {
    cases.push_back({op, std::string(name(op)), [=](Make& m) { return extremum(m, op); }});
  }
  cases.push_back({Op::divide, "divide", quotient, Case::both});
  cases.push_back({Op::remainder, "remainder", remainder});
  cases.push_back({Op::power, "power", power, Case::both});
  cases.push_back({Op::power, "whole_power", whole_power});
  cases.push_back({Op::atan2, "atan2", angle});
  cases.push_back({Op::select, "select", selection, Case::both});
  cases.push_back({Op::clamp, "clamp", clamp});
  cases.push_back({Op::complex, "complex", complex_number, Case::real, 2, false});
  cases.push_back({Op::convert, "convert", conversion, Case::both, 2, false});
  return cases;
}

}  // namespace anabranch::testing
