// Distributions made of even and normal numbers.
#include <cmath>
#include <numbers>

#include "anabranch/bits.h"
#include "anabranch/control_flow.h"
#include "anabranch/creation.h"
#include "anabranch/manipulate.h"
#include "anabranch/nn.h"
#include "anabranch/random.h"
#include "anabranch/reduce.h"
#include "anabranch/special.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/random_key.h"
#include "frontend/ops/special_terms.h"
#include "frontend/trace/record.h"

namespace anabranch::random {
namespace {

// Even numbers in [0, 1), in the dtype that `dtype` is computed in.
Term even(const char* function, const Operand& key, const Sizes& sizes, Dtype dtype) {
  const Term source = checked_key(function, key);
  demand_float(function, dtype, key.where());
  return {uniform(source, Sizes(sizes.shape(function)), computes_in(dtype)), key.where()};
}

// The same without 0.
Term above_zero(const char* function, const Operand& key, const Sizes& sizes, Dtype dtype) {
  return maximum(even(function, key, sizes, dtype), computes_in(dtype) == f64 ? 0x1p-54 : 0x1p-25);
}

// The same in (-1, 1), symmetric about 0.
Term symmetric(const char* function, const Operand& key, const Sizes& sizes, Dtype dtype) {
  const Term u = even(function, key, sizes, dtype);
  return u * 2 + ((computes_in(dtype) == f64 ? 0x1p-53 : 0x1p-24) - 1);
}

// Turns with keys of their own, until all elements are accepted: `draw(key)` gives a proposal and
// whether it is accepted. At first no element is.
struct Proposal {
  Term value, accepted;
};
template <class Draw>
Term until_accepted(const char* function, const Term& key, const Shape& shape, Dtype dtype,
                    std::vector<Array> parameters, const Draw& draw) {
  const SourceLocation where = key.where();
  const auto term = [&](const Array& array) { return Term(array, where); };
  const std::vector<Array> first = {scalar(std::int64_t{0}), full(Sizes(shape), false),
                                    zeros(Sizes(shape), dtype)};
  detail::Loop loop{function, where, detail::taken_apart(first, "carry")};
  loop.invariants = std::move(parameters);
  loop.invariants.push_back(key);
  loop.condition = [&](const detail::Leaves& carry, const detail::Leaves&) -> Array {
    return !term(all(term(carry[1])));
  };
  loop.body = [&](const detail::Leaves& carry, const detail::Leaves& given) {
    const Term turn_key = term(fold_in(term(given.back()), term(carry[0])));
    const Proposal proposal = draw(turn_key, given);
    const Term done = term(carry[1]);
    const Term value = anabranch::where(done, term(carry[2]), proposal.value);
    return detail::taken_apart(
        std::vector<Array>{term(carry[0]) + 1, done | proposal.accepted, value}, "carry");
  };
  return term(detail::run_while(loop)[2]);
}

// Marsaglia and Tsang's method, for shapes of at least 1; f32 or f64.
Term gamma_of_at_least_one(const Term& key, const Term& a) {
  const Type type = type_of(a.array());
  const SourceLocation where = key.where();
  return until_accepted(
      "random::gamma", key, type.shape, type.dtype, {a.array()},
      [&](const Term& turn, const detail::Leaves& given) -> Proposal {
        const std::vector<Array> keys = split(turn);
        const Sizes sizes(type.shape);
        const Term d = Term(given[0], where) - 1.0 / 3, c = 1.0 / 3 / sqrt(d);
        const Term x = {normal({keys[0], where}, sizes, type.dtype), where};
        const Term u = above_zero("random::gamma", {keys[1], where}, sizes, type.dtype);
        const Term root = 1 + c * x, v = root * root * root, positive = v > 0;
        const Term safe = anabranch::where(positive, v, 1);
        const Term fits = log(u) < 0.5 * x * x + d * (1 - v + log(safe));
        // NaN and infinity end the loop as they are, and so does what is no shape.
        const Term is_finite = isfinite(d);
        return {anabranch::where(is_finite, d * v, d), (positive & fits) | !is_finite | !(d > 0)};
      });
}

// The gamma distribution as drawn e^log_boost; NaN for what is no shape.
struct GammaDraws {
  Term drawn, log_boost;
};

GammaDraws gamma_draws(const char* function, const Operand& key, const Operand& a,
                       const Sizes& sizes, Dtype dtype) {
  const Term source = checked_key(function, key);
  demand_float(function, dtype, key.where());
  const Term shape = parameter(function, a, sizes.shape(function), computes_in(dtype), key.where());
  const std::vector<Array> keys = split(source);
  // Below 1: a draw of a + 1 times u^(1 / a).
  const Term is_small = shape < 1;
  const Term drawn =
      gamma_of_at_least_one({keys[0], key.where()}, where(is_small, shape + 1, shape));
  const Term u = above_zero(function, {keys[1], key.where()}, sizes, dtype);
  return {where(shape > 0, drawn, not_a_number), where(is_small, log(u) / shape, 0)};
}

// The sum of probabilities up to an even number, for small rates; f64.
Term poisson_by_sum(const Term& key, const Term& rate) {
  const SourceLocation where = key.where();
  const Term u = {uniform(key, Sizes(type_of(rate.array()).shape), f64), where};
  const Term none = exp(-rate);
  const auto term = [&](const Array& array) { return Term(array, where); };
  detail::Loop loop{"random::poisson", where,
                    detail::taken_apart(std::vector<Array>{rate * 0, none, none}, "carry")};
  loop.invariants = {u.array(), rate.array()};
  // A count, its probability, and that of all up to it.
  loop.condition = [&](const detail::Leaves& carry, const detail::Leaves& given) -> Array {
    return any({(term(given[0]) >= term(carry[2])) & (term(carry[0]) < 200), where});
  };
  loop.body = [&](const detail::Leaves& carry, const detail::Leaves& given) {
    const Term more = term(given[0]) >= term(carry[2]), count = term(carry[0]) + 1;
    const Term probability = term(carry[1]) * term(given[1]) / count;
    return detail::taken_apart(
        std::vector<Array>{anabranch::where(more, count, term(carry[0])),
                           anabranch::where(more, probability, term(carry[1])),
                           anabranch::where(more, term(carry[2]) + probability, term(carry[2]))},
        "carry");
  };
  return term(detail::run_while(loop)[0]);
}

// Hoermann's PTRS, for rates of at least 10; f64.
Term poisson_by_rejection(const Term& key, const Term& rate) {
  const Shape shape = type_of(rate.array()).shape;
  const SourceLocation where = key.where();
  return until_accepted(
      "random::poisson", key, shape, f64, {rate.array()},
      [&](const Term& turn, const detail::Leaves& given) -> Proposal {
        const std::vector<Array> keys = split(turn);
        const Term r = {given[0], where};
        const Term b = 0.931 + 2.53 * sqrt(r), a = -0.059 + 0.02483 * b;
        const Term inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), bound = 0.9277 - 3.6224 / (b - 2);
        const Term u = even("random::poisson", {keys[0], where}, Sizes(shape), f64) - 0.5;
        const Term v = above_zero("random::poisson", {keys[1], where}, Sizes(shape), f64);
        const Term s = 0.5 - abs(u), k = floor((2 * a / s + b) * u + r + 0.43);
        const Term clear = (s >= 0.07) & (v <= bound), out = (k < 0) | ((s < 0.013) & (v > s));
        const Term left = log(v * inverse_alpha / (a / (s * s) + b));
        const Term right = k * log(r) - r - Term(lgamma(maximum(k, 0) + 1), where);
        const Term is_finite = isfinite(r);
        return {anabranch::where(is_finite, k, r), clear | ((!out) & (left <= right)) | !is_finite};
      });
}

}  // namespace

Array fold_in(const Operand& key, const Operand& data) {
  const SourceLocation at = key.where();
  const Term parent = checked_key("random::fold_in", key);
  const Term given = {as_array("random::fold_in", data, Takes::integers), at};
  const Term number = converted(with_own_dtype(given), u64);
  if (type_of(number.array()).rank() != 0) {
    fail("random::fold_in: the data is " + describe(data) + ", and has to be an integer scalar",
         at);
  }
  // Words of the key's sequence that no split or draw comes to.
  const Term low = number * 2 + (std::uint64_t{1} << 63), high = low + 1;
  const auto word = [&](const Term& counter) {
    return converted({record(Op::random_bits, {parent.array(), counter.array()}, at), at}, u64);
  };
  return (word(high) << 32) | word(low);
}

Array bits(const Operand& key, const Sizes& sizes, Dtype dtype) {
  const SourceLocation at = key.where();
  if (!is_integer(dtype)) {
    fail("random::bits: draws integers, not " + std::string(name(dtype)), at);
  }
  const Term source = checked_key("random::bits", key);
  const Shape shape = sizes.shape("random::bits");
  const int words = info(dtype).bits == 64 ? 2 : 1;
  // As randint does over the whole range of u32.
  std::vector<std::int64_t> parts(shape.begin(), shape.end());
  parts.push_back(words);
  const Term drawn = {randint(source, Sizes(parts, sizes.where()), 0, std::int64_t{1} << 32, u32),
                      at};
  const Term all =
      words == 2 ? Term(bitcast(drawn, u64), at) : Term(reshape(drawn, Sizes(shape)), at);
  const int width = info(dtype).bits;
  const Dtype holds = width == 8 ? u8 : width == 16 ? u16 : width == 32 ? u32 : u64;
  const Term kept = width < 32 ? converted(all & ((1u << width) - 1), holds) : all;
  return bitcast(kept, dtype);
}

Array exponential(const Operand& key, const Sizes& sizes, Dtype dtype) {
  return astype(-log1p(-even("random::exponential", key, sizes, dtype)), dtype);
}

Array gumbel(const Operand& key, const Sizes& sizes, Dtype dtype) {
  return astype(-log(-log(above_zero("random::gumbel", key, sizes, dtype))), dtype);
}

Array laplace(const Operand& key, const Sizes& sizes, Dtype dtype) {
  const Term u = symmetric("random::laplace", key, sizes, dtype), size = -log1p(-abs(u));
  return astype(where(u < 0, -size, size), dtype);
}

Array logistic(const Operand& key, const Sizes& sizes, Dtype dtype) {
  const Term u = above_zero("random::logistic", key, sizes, dtype);
  return astype(log(u) - log1p(-u), dtype);
}

Array cauchy(const Operand& key, const Sizes& sizes, Dtype dtype) {
  const Term u = symmetric("random::cauchy", key, sizes, dtype);
  return astype(tan(u * (std::numbers::pi / 2)), dtype);
}

Array rademacher(const Operand& key, const Sizes& sizes, Dtype dtype) {
  if (dtype == bool_ || is_unsigned_integer(dtype)) {
    fail("random::rademacher: " + std::string(name(dtype)) + " has no -1; give a signed dtype",
         key.where());
  }
  constexpr const char* function = "random::rademacher";
  const Term source = checked_key(function, key);
  const Term heads = {bernoulli(source, Sizes(sizes.shape(function))), key.where()};
  return converted(converted(heads, i8) * 2 - 1, dtype);
}

Array truncated_normal(const Operand& key, const Sizes& sizes, const Operand& low,
                       const Operand& high, Dtype dtype) {
  constexpr const char* function = "random::truncated_normal";
  const Dtype compute = computes_in(dtype);
  const Term u = even(function, key, sizes, dtype);
  const Shape shape = sizes.shape(function);
  const Term bottom = parameter(function, low, shape, compute, key.where());
  const Term top = parameter(function, high, shape, compute, key.where());
  const Term a = erf(bottom * (1 / std::numbers::sqrt2)), b = erf(top * (1 / std::numbers::sqrt2));
  const Term x = erfinv(u * (b - a) + a) * std::numbers::sqrt2;
  // Between the bounds as the result's dtype has them, which a rounded number may reach.
  const Term first = converted(bottom, dtype), last = converted(top, dtype);
  const auto toward = [&](const Term& from, const Term& to) {
    return Term(nextafter(from, to), key.where());
  };
  const Term inside =
      minimum(maximum(converted(x, dtype), toward(first, last)), toward(last, first));
  return where(bottom < top, inside, not_a_number);
}

Array gamma(const Operand& key, const Operand& a, const Sizes& sizes, Dtype dtype) {
  const auto [drawn, log_boost] = gamma_draws("random::gamma", key, a, sizes, dtype);
  return astype(drawn * exp(log_boost), dtype);
}

Array beta(const Operand& key, const Operand& a, const Operand& b, const Sizes& sizes,
           Dtype dtype) {
  const std::vector<Array> keys = split(checked_key("random::beta", key));
  // x / (x + y) by logarithms: for small a and b both are below any float.
  const auto log_draws = [&](const Array& own, const Operand& shape) {
    const auto [drawn, log_boost] =
        gamma_draws("random::beta", {own, key.where()}, shape, sizes, dtype);
    return log(drawn) + log_boost;
  };
  const Term apart = log_draws(keys[0], a) - log_draws(keys[1], b);
  return astype({sigmoid(apart), key.where()}, dtype);
}

Array poisson(const Operand& key, const Operand& rate, const Sizes& sizes, Dtype dtype) {
  constexpr const char* function = "random::poisson";
  if (!is_integer(dtype)) {
    fail(std::string(function) + ": draws integers, not " + std::string(name(dtype)), key.where());
  }
  const Term r = parameter(function, rate, sizes.shape(function), f64, key.where());
  const std::vector<Array> keys = split(checked_key(function, key));
  const Term is_small = r < 10;
  const Term few = poisson_by_sum({keys[0], key.where()}, where(is_small, r, 1));
  const Term many = poisson_by_rejection({keys[1], key.where()}, where(is_small, 10, r));
  return astype(where(is_small, few, many), dtype);
}

Array categorical(const Operand& key, const Operand& logits, Axis axis) {
  constexpr const char* function = "random::categorical";
  const Term source = checked_key(function, key), x = term(function, logits);
  const Shape& shape = type_of(x.array()).shape;
  const Axes along = folded_axes_of_some(function, x, axis);
  const Term noise = {gumbel(source, Sizes(shape), computes_in(type_of(x.array()).dtype)),
                      key.where()};
  return argmax({widened(x) + noise, key.where()}, along);
}

}  // namespace anabranch::random
