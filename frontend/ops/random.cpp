#include "anabranch/random.h"

#include <cmath>
#include <numbers>

#include "anabranch/creation.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/random_key.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch::random {

Term checked_key(const char* function, const Operand& key) {
  Array array = as_array(function, key);
  const Type& type = array.expression()->type;
  if (key.is_number() || type.dtype != u64 || type.rank() != 0) {
    fail(std::string(function) + ": the key is " + describe(key) +
             ", and has to be one that random::key or random::split made (u64[])",
         key.where());
  }
  return {array, key.where()};
}

void demand_float(const char* function, Dtype dtype, SourceLocation where) {
  if (is_float(dtype)) return;
  fail(std::string(function) + ": draws floats, not " + std::string(name(dtype)) +
           "; use random::randint",
       where);
}

Term parameter(const char* function, const Operand& operand, const Shape& shape, Dtype dtype,
               SourceLocation where) {
  const Array array = operand.is_number() ? number_as(function, operand.number(), dtype, where)
                                          : as_array(function, operand, Takes::real_numbers);
  return {broadcast_to_shape(function, astype({array, where}, dtype), shape, where), where};
}

namespace {

// Words `stride * i + offset` of the key's sequence, i being the position in row-major order.
Term words(const Term& key, const Shape& shape, std::uint64_t stride, std::uint64_t offset) {
  const SourceLocation at = key.where();
  Shape flat({shape.size()});
  Term counter = {record(Op::iota, {}, at, AxisAttributes{0}, Type{u64, flat}), at};
  if (stride != 1) counter = counter * stride;
  if (offset != 0) counter = counter + offset;
  Array keys = broadcast_to_shape("random", key, flat, at);
  return {reshape({record(Op::random_bits, {keys, counter.array()}, at), at}, shape), at};
}

// 64 bits an element, from two words.
Term double_words(const Term& key, const Shape& shape) {
  Term high = converted(words(key, shape, 2, 0), u64);
  Term low = converted(words(key, shape, 2, 1), u64);
  return (high << 32) | low;
}

// Even multiples of 2^-digits in [0, 1), as many digits as the dtype holds, so that nothing rounds
// to 1.
Term unit(const Term& key, const Shape& shape, Dtype dtype) {
  if (dtype == f64) return converted(double_words(key, shape) >> 11, f64) * 0x1p-53;
  const int digits = info(dtype).precision;
  return converted(words(key, shape, 1, 0) >> (32 - digits), f32) * std::ldexp(1.0, -digits);
}

bool is_number(const Operand& operand, double number) {
  return operand.is_number() && real_number(operand.number()) == number;
}

}  // namespace

Array key(std::uint64_t seed) { return scalar(seed); }

std::vector<Array> split(const Operand& key, std::int64_t count) {
  Term parent = checked_key("random::split", key);
  if (count < 0) {
    fail("random::split: a count of " + std::to_string(count) + " is negative; give 0 or more",
         key.where());
  }
  Array all = double_words(parent, Shape({count}));
  std::vector<Array> keys;
  for (std::int64_t i = 0; i < count; ++i) keys.push_back(index({all, key.where()}, i));
  return keys;
}

Array uniform(const Operand& key, const Sizes& sizes, Dtype dtype, const Operand& low,
              const Operand& high) {
  Term source = checked_key("random::uniform", key);
  demand_float("random::uniform", dtype, key.where());
  const SourceLocation at = key.where();
  const Shape shape = sizes.shape("random::uniform");
  Term value = unit(source, shape, dtype);
  auto bound = [&](const Operand& operand) {
    return parameter("random::uniform", operand, shape, computes_in(dtype), at);
  };
  if (!is_number(low, 0) || !is_number(high, 1)) {
    Term bottom = bound(low), top = bound(high);
    value = value * (top - bottom) + bottom;
  }
  return astype(value, dtype);
}

Array normal(const Operand& key, const Sizes& sizes, Dtype dtype) {
  Term source = checked_key("random::normal", key);
  demand_float("random::normal", dtype, key.where());
  // (unit + half a step) * 2 - 1 is inside (-1, 1), symmetric about 0, where erfinv is finite.
  const Dtype compute = dtype == f64 ? f64 : f32;
  Term value = unit(source, sizes.shape("random::normal"), compute);
  Term inside = value * 2 + ((dtype == f64 ? 0x1p-53 : 0x1p-24) - 1);
  return astype(erfinv(inside) * std::numbers::sqrt2, dtype);
}

Array randint(const Operand& key, const Sizes& sizes, std::int64_t low, std::int64_t high,
              Dtype dtype) {
  Term source = checked_key("random::randint", key);
  if (!is_integer(dtype)) {
    fail("random::randint: draws integers, not " + std::string(name(dtype)) +
             "; use random::uniform",
         key.where());
  }
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (low >= high || range > (std::uint64_t{1} << 32)) {
    fail("random::randint: " + std::string(name(dtype)) + " in [" + std::to_string(low) + ", " +
             std::to_string(high) + "); give integers low < high at most 2^32 apart",
         key.where());
  }
  // Refused where the dtype does not hold them.
  number_as("random::randint", Number(low), dtype, key.where());
  number_as("random::randint", Number(high - 1), dtype, key.where());
  // Multiply and shift (Lemire, ACM TOMACS 29(1), 2019), without the rejection.
  Term bits = converted(words(source, sizes.shape("random::randint"), 1, 0), u64);
  Term offset = converted((bits * range) >> 32, i64);
  return astype(offset + low, dtype);
}

Array bernoulli(const Operand& key, const Sizes& sizes, const Operand& p) {
  Term source = checked_key("random::bernoulli", key);
  const SourceLocation at = key.where();
  const Shape shape = sizes.shape("random::bernoulli");
  return unit(source, shape, f32) < parameter("random::bernoulli", p, shape, f32, at);
}

}  // namespace anabranch::random
