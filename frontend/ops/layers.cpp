#include "anabranch/layers.h"

#include <cmath>
#include <string>

#include "anabranch/creation.h"
#include "anabranch/gather.h"
#include "anabranch/linear_algebra.h"
#include "anabranch/manipulate.h"
#include "anabranch/nn.h"
#include "anabranch/random.h"
#include "anabranch/reduce.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/random_key.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

std::int64_t size_at(const Array& x, int axis) {
  return type_of(x).shape[axis < 0 ? axis + type_of(x).rank() : axis];
}

void demand_rank(const char* function, const char* operand, const Array& x, int least,
                 const char* form, SourceLocation where) {
  if (type_of(x).rank() >= least) return;
  fail(std::string(function) + ": " + operand + " is " + to_string(type_of(x)) +
           ", and has to have the axes " + form,
       where);
}

Array dense_product(const std::vector<Array>& all, SourceLocation where) {
  const Array &x = all[0], &w = all[1];
  demand_rank("dense", "x", x, 1, "[..., inputs]", where);
  if (type_of(w).rank() != 2) {
    fail("dense: w is " + to_string(type_of(w)) + ", and has to have the axes [inputs, outputs]",
         where);
  }
  if (size_at(x, -1) != size_at(w, 0)) {
    fail("dense: x is " + to_string(type_of(x)) + ", whose last axis has " +
             std::to_string(size_at(x, -1)) + " elements, and w is " + to_string(type_of(w)) +
             ", for " + std::to_string(size_at(w, 0)) + " inputs",
         where);
  }
  return matmul({x, where}, {w, where});
}

}  // namespace

Array dense(const Operand& x, const Operand& w) {
  return dense_product(promote("dense", {&x, &w}, Takes::floats), x.where());
}

Array dense(const Operand& x, const Operand& w, const Operand& b) {
  const SourceLocation at = x.where();
  const std::vector<Array> all = promote("dense", {&x, &w, &b}, Takes::floats);
  const Term product = {dense_product(all, at), at};
  const Type& bias = type_of(all[2]);
  if (bias.rank() > 1 || (bias.rank() == 1 && bias.shape[0] != size_at(all[1], 1))) {
    fail("dense: b is " + to_string(bias) + ", and has to have one element for each of the " +
             std::to_string(size_at(all[1], 1)) + " outputs",
         at);
  }
  return product + Term(all[2], at);
}

Array rms_norm(const Operand& x, const Operand& scale, const Axes& axes, double epsilon) {
  const SourceLocation at = x.where();
  const std::vector<Array> all = promote("rms_norm", {&x, &scale}, Takes::floats);
  const Array factor = broadcast_to_shape("rms_norm", all[1], type_of(all[0]).shape, at);
  const Term given = {all[0], at}, y = widened(given);
  const Term power = {mean(square(y), folded_axes("rms_norm", given, axes), keepdims), at};
  return rounded_as(given, y * rsqrt(power + epsilon) * widened({factor, at}));
}

Array embedding(const Operand& table, const Operand& ids) {
  const Array rows = as_array("embedding", table, Takes::floats);
  const Array places = as_array("embedding", ids, Takes::integers);
  if (type_of(rows).rank() != 2) {
    fail("embedding: the table is " + to_string(type_of(rows)) +
             ", and has to have the axes [count, features]",
         table.where());
  }
  return take({rows, table.where()}, {places, ids.where()}, 0);
}

Array dropout(const Operand& key, const Operand& x, double rate) {
  random::checked_key("dropout", key);
  const Term y = term("dropout", x);
  if (!(rate >= 0 && rate <= 1)) {
    fail("dropout: the rate is " + to_string(Number(rate)) + "; give a probability from 0 to 1",
         x.where());
  }
  const Sizes sizes(type_of(y.array()).shape);
  const Term kept = {random::bernoulli(key, sizes, 1 - rate), x.where()};
  return where(kept, y * (rate < 1 ? 1 / (1 - rate) : 0), 0);
}

namespace {

// query, key and value of one dtype, the heads of each an axis before the last two.
struct Heads {
  Term query, key, value;
};

Term split_heads(const char* operand, const Array& x, std::int64_t heads, SourceLocation where) {
  demand_rank("attention", operand, x, 2, "[..., places, features]", where);
  const std::int64_t features = size_at(x, -1);
  if (heads < 1 || features % heads != 0) {
    fail("attention: " + std::string(operand) + " is " + to_string(type_of(x)) + ", whose " +
             std::to_string(features) + " features are not " + std::to_string(heads) +
             " heads of equal size",
         where);
  }
  if (heads == 1) return {x, where};
  std::vector<std::int64_t> sizes(type_of(x).shape.begin(), type_of(x).shape.end()), order;
  sizes.back() = heads;
  sizes.push_back(features / heads);
  const auto rank = static_cast<std::int64_t>(sizes.size());
  for (std::int64_t axis = 0; axis < rank; ++axis) order.push_back(axis);
  std::swap(order[static_cast<std::size_t>(rank - 3)], order[static_cast<std::size_t>(rank - 2)]);
  const Array apart = reshape({x, where}, Sizes(sizes, where));
  return {permute_dims({apart, where}, Axes(order)), where};
}

Array joined_heads(const Term& x, std::int64_t heads) {
  if (heads == 1) return x;
  const Shape& shape = type_of(x.array()).shape;
  std::vector<std::int64_t> order, sizes(shape.begin(), shape.end());
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) order.push_back(axis);
  const std::size_t last = order.size() - 1;
  std::swap(order[last - 2], order[last - 1]);
  sizes[last - 2] = sizes[last - 1];
  sizes[last - 1] = heads * sizes[last];
  sizes.pop_back();
  return reshape({permute_dims(x, Axes(order)), x.where()}, Sizes(sizes, x.where()));
}

Heads heads_of(const Operand& query, const Operand& key, const Operand& value, std::int64_t heads) {
  const SourceLocation at = query.where();
  const std::vector<Array> all = promote("attention", {&query, &key, &value}, Takes::floats);
  Heads made = {split_heads("query", all[0], heads, at), split_heads("key", all[1], heads, at),
                split_heads("value", all[2], heads, at)};
  if (size_at(all[0], -1) != size_at(all[1], -1)) {
    fail("attention: query is " + to_string(type_of(all[0])) + " and key is " +
             to_string(type_of(all[1])) + "; give both as many features",
         at);
  }
  if (size_at(all[1], -2) != size_at(all[2], -2)) {
    fail("attention: key is " + to_string(type_of(all[1])) + " and value is " +
             to_string(type_of(all[2])) + "; give a value for each key",
         at);
  }
  return made;
}

// Whether a key is not behind its query, the last of both being at one place.
Term is_seen(std::int64_t queries, std::int64_t keys, SourceLocation where) {
  const Type type{i64, Shape({queries, keys})};
  const Term row = {record(Op::iota, {}, where, AxisAttributes{0}, type), where};
  const Term column = {record(Op::iota, {}, where, AxisAttributes{1}, type), where};
  return column <= row + (keys - queries);
}

// Finite, so that a row of nothing else has no NaN, and a sum with a score is.
Term unseen(const Term& scores) { return Term(scores.array().dtype() == f64 ? -1e300 : -1e30); }

Term masked(const Term& scores, const Array& mask) {
  const SourceLocation at = scores.where();
  const Type &own = type_of(mask), &type = type_of(scores.array());
  if (own.dtype != bool_ && !is_float(own.dtype)) {
    fail("attention: the mask is " + to_string(own) + "; give bools, or floats to add", at);
  }
  bool fits = own.rank() <= type.rank();
  for (int i = 1; fits && i <= own.rank(); ++i) {
    const std::int64_t size = own.shape[own.rank() - i];
    fits = size == 1 || size == type.shape[type.rank() - i];
  }
  if (!fits) {
    fail("attention: the mask is " + to_string(own) + ", and has to broadcast to the scores, " +
             to_string(type),
         at);
  }
  if (own.dtype == bool_) return where({mask, at}, scores, unseen(scores));
  return scores + converted({mask, at}, type.dtype);
}

}  // namespace

Array attention(const Operand& query, const Operand& key, const Operand& value,
                const AttentionOptions& options) {
  const SourceLocation at = query.where();
  const auto [q, k, v] = heads_of(query, key, value, options.heads);
  const auto features = static_cast<double>(size_at(q, -1));
  const double scale = options.scale.value_or(1 / std::sqrt(std::max(features, 1.0)));
  // The queries are scaled, and not the scores: products of f16 stay within its range.
  Term scores = widened({matmul(q * scale, {matrix_transpose(k), at}), at});
  if (options.mask.expression()) scores = masked(scores, options.mask);
  if (options.causal) {
    scores = where(is_seen(size_at(q, -2), size_at(k, -2), at), scores, unseen(scores));
  }
  const Term weights = {rounded_as(q, {softmax(scores), at}), at};
  return joined_heads({matmul(weights, v), at}, options.heads);
}

}  // namespace anabranch
