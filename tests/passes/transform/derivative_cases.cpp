#include "derivative_cases.h"

#include <algorithm>
#include <numeric>

#include "tests/support/apply.h"

namespace anabranch::testing {

Shape ExampleMaker::shape(int least_rank, int most_rank) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(between(least_rank, most_rank)));
  for (auto& size : sizes) size = random.percent(6) ? 0 : between(1, 5);
  return Shape(std::move(sizes));
}

Value ExampleMaker::given(Literal literal) {
  inputs_.push_back(literal);
  return graph.parameter(literal.type());
}

Value ExampleMaker::parameter(Type type, const std::function<double()>& draw) {
  std::vector<double> re, im;
  for (std::int64_t i = 0; i < type.shape.size(); ++i) {
    re.push_back(draw());
    im.push_back(draw());
  }
  Literal literal = Literal::of(std::span<const double>(re), type.shape);
  if (is_complex(type.dtype)) {
    literal = apply(Op::complex, {literal, Literal::of(std::span<const double>(im), type.shape)});
  }
  if (literal.type() != type) literal = apply(Op::convert, {literal}, NoAttributes{}, type);
  return given(std::move(literal));
}

Value ExampleMaker::numbers(Shape shape, double low, double high) {
  return parameter({dtype, std::move(shape)}, [&] { return uniform(low, high); });
}

Value ExampleMaker::away_from_zero(Shape shape, double low, double high) {
  return parameter({dtype, std::move(shape)},
                   [&] { return uniform(low, high) * (random.percent(50) ? 1 : -1); });
}

std::vector<double> ExampleMaker::distinct(std::int64_t count) {
  std::vector<double> pool;
  const double step = 4.0 / static_cast<double>(std::max<std::int64_t>(count, 8));
  for (std::int64_t i = 0; i < count; ++i) {
    pool.push_back(-2 + step * (static_cast<double>(i) + uniform(-0.2, 0.2)));
  }
  for (std::int64_t i = count; i > 1; --i) {
    std::swap(pool[static_cast<std::size_t>(i - 1)],
              pool[static_cast<std::size_t>(random.below(i))]);
  }
  return pool;
}

Value ExampleMaker::distinct_numbers(Shape shape) {
  const std::vector<double> pool = distinct(2 * shape.size());
  std::size_t next = 0;
  return parameter({dtype, std::move(shape)}, [&] { return pool[next++]; });
}

Value ExampleMaker::integers(Type type, std::int64_t low, std::int64_t high) {
  return parameter(std::move(type), [&] { return static_cast<double>(between(low, high)); });
}

Value ExampleMaker::index(std::int64_t low, std::int64_t high) {
  return integers({random.percent(50) ? i32 : i64, {}}, low, high);
}

}  // namespace anabranch::testing
