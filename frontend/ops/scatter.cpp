#include <algorithm>
#include <limits>
#include <optional>

#include "anabranch/control_flow.h"
#include "anabranch/gather.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/positions.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/ops/with_public_names.h"
#include "frontend/trace/record.h"
#include "frontend/trace/region.h"
#include "ir/infer/infer.h"

namespace anabranch {
namespace {

using Arrays = std::vector<Array>;

ScatterCombiner combiner_of(Update update) {
  switch (update) {
    case Update::replace:
      return ScatterCombiner::replace;
    case Update::add:
      return ScatterCombiner::add;
    case Update::multiply:
      return ScatterCombiner::multiply;
    case Update::minimum:
      return ScatterCombiner::minimum;
    case Update::maximum:
      return ScatterCombiner::maximum;
    case Update::bitwise_and:
      return ScatterCombiner::and_;
    case Update::bitwise_or:
      return ScatterCombiner::or_;
    case Update::bitwise_xor:
      return ScatterCombiner::xor_;
  }
  __builtin_unreachable();
}

ScatterAttributes attributes_of(const ScatterDimensions& d, ScatterCombiner combiner) {
  return {d.update_window_dims,
          d.inserted_window_dims,
          d.input_batching_dims,
          d.scatter_indices_batching_dims,
          d.scatter_dims_to_operand_dims,
          d.index_vector_dim,
          combiner};
}

constexpr PublicName names_of_scatter[] = {
    {"window_axes", "update_window_dims"},
    {"inserted_axes", "inserted_window_dims"},
    {"operand_batch_axes", "input_batching_dims"},
    {"index_batch_axes", "scatter_indices_batching_dims"},
    {"start_axes", "scatter_dims_to_operand_dims"},
    {"index_vector_axis", "index_vector_dim"},
};

std::optional<ScatterCombiner> combiner_of(Op op) {
  switch (op) {
    case Op::add:
      return ScatterCombiner::add;
    case Op::multiply:
      return ScatterCombiner::multiply;
    case Op::minimum:
      return ScatterCombiner::minimum;
    case Op::maximum:
      return ScatterCombiner::maximum;
    case Op::and_:
      return ScatterCombiner::and_;
    case Op::or_:
      return ScatterCombiner::or_;
    case Op::xor_:
      return ScatterCombiner::xor_;
    default:
      return std::nullopt;
  }
}

/// What a body does to one of the arrays, where that has a name: an op, or nothing at all.
struct Recognised {
  std::optional<ScatterCombiner> combiner;  // none: the element stays
};

// Through a conversion to the dtype that `dtype` is computed in: what is computed in that and
// rounded is what the op of `dtype` is.
Value unwidened(const Graph& body, Value value, Dtype dtype) {
  const Node& node = body.node(value);
  const bool widens = node.op == Op::convert && node.types[0].dtype == computes_in(dtype) &&
                      body.type(node.inputs[0]).dtype == dtype;
  return widens ? node.inputs[0] : value;
}

// Output k of a body of `count` elements and as many updates.
std::optional<Recognised> recognise(const Graph& body, std::uint32_t k, std::uint32_t count) {
  const Value element{k, 0}, update{count + k, 0};
  Value result = body.outputs()[k];
  if (result == element) return Recognised{};
  if (result == update) return Recognised{ScatterCombiner::replace};
  const Dtype dtype = body.type(element).dtype;
  const Node* node = &body.node(result);
  if (node->op == Op::convert && body.type(node->inputs[0]).dtype == computes_in(dtype) &&
      computes_in(dtype) != dtype) {
    node = &body.node(node->inputs[0]);
    if (node->inputs.size() == 1 && unwidened(body, body.node(result).inputs[0], dtype) == update) {
      return Recognised{ScatterCombiner::replace};
    }
  }
  const auto combiner = combiner_of(node->op);
  if (!combiner) return std::nullopt;
  const Value first = unwidened(body, node->inputs[0], dtype);
  const Value second = unwidened(body, node->inputs[1], dtype);
  const bool is_it =
      (first == element && second == update) || (first == update && second == element);
  return is_it ? std::optional(Recognised{combiner}) : std::nullopt;
}

std::vector<std::optional<Recognised>> recognise(const Arrays& xs, const Arrays& updates,
                                                 const ScatterBody& body, SourceLocation where) {
  Region region("body", TraceKind::loop);
  Arrays scalars;
  for (const Arrays* list : {&xs, &updates}) {
    for (const Array& array : *list) {
      scalars.push_back(region.parameter({type_of(array).dtype, {}}, false));
    }
  }
  const Arrays results = body(scalars);
  const auto count = static_cast<std::uint32_t>(xs.size());
  if (results.size() != xs.size()) {
    fail("scatter: the body gives " + std::to_string(results.size()) + " scalars for " +
             std::to_string(count) + " arrays; give one each",
         where);
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Type wanted{type_of(xs[k]).dtype, {}};
    if (results[k].expression() && type_of(results[k]) == wanted) continue;
    fail("scatter: result " + std::to_string(k) + " of the body is " +
             (results[k].expression() ? to_string(type_of(results[k])) : "an empty Array") +
             ", and has to be " + to_string(wanted),
         where);
  }
  region.finish(results);
  std::vector<std::optional<Recognised>> recognised;
  for (std::uint32_t k = 0; k < count; ++k) {
    recognised.push_back(recognise(region.graph(), k, count));
  }
  return recognised;
}

/// The loop over the updates, one after the other.
class ScatterLoop {
 public:
  ScatterLoop(Arrays xs, Array indices, Arrays updates, const ScatterDimensions& dimensions,
              const ScatterBody& body, SourceLocation where)
      : xs_(std::move(xs)),
        indices_(std::move(indices)),
        updates_(std::move(updates)),
        d_(dimensions),
        body_(body),
        where_(where) {}

  Arrays run() const {
    const std::int64_t count = type_of(updates_[0]).size();
    detail::Tree init;
    init.leaves = xs_;
    for (std::size_t k = 0; k < xs_.size(); ++k) {
      init.form.add("array " + std::to_string(k), "");
    }
    const detail::Form form = init.form;
    return detail::run_fori(Operand(std::int64_t{0}), Operand(count), std::move(init),
                            [&](const Array& index, const Arrays& arrays) {
                              return detail::Tree{step(Term(index, where_), arrays), form};
                            });
  }

 private:
  static std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }
  static bool holds(const std::vector<std::int64_t>& axes, std::int64_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  }

  Arrays step(const Term& index, const Arrays& arrays) const {
    const std::vector<Term> place = unravelled(index, type_of(updates_[0]).shape);
    const std::vector<Term> target = target_of(place);
    const Shape& shape = type_of(xs_[0]).shape;
    Term is_inside(scalar_of(bool_, 1), where_);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const Term& along = target[at(axis)];
      is_inside = is_inside & (along >= Term(0)) & (along < Term(shape[axis]));
    }
    Arrays scalars;
    for (const Array& array : arrays) scalars.push_back(element(array, target));
    for (const Array& update : updates_) scalars.push_back(element(update, place));
    const Arrays results = body_(scalars);
    Arrays next;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      const Array chosen = record(Op::select, {is_inside, results[k], scalars[k]}, where_);
      next.push_back(with_element(arrays[k], target, chosen));
    }
    return next;
  }

  Array scalar_of(Dtype dtype, std::int64_t number) const {
    if (dtype == bool_) return number_as("scatter", Number(number != 0), dtype, where_);
    return number_as("scatter", Number(number), dtype, where_);
  }

  std::vector<Term> unravelled(const Term& index, const Shape& shape) const {
    std::vector<Term> place;
    const std::vector<std::int64_t> strides = shape.strides();
    const Term wide = converted(index, i64);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const Term whole = wide / Term(std::max<std::int64_t>(strides[at(axis)], 1));
      place.push_back({fmod(whole, Operand(std::max<std::int64_t>(shape[axis], 1))), where_});
    }
    return place;
  }

  // Where on each axis of the arrays the update at `place` goes.
  std::vector<Term> target_of(const std::vector<Term>& place) const {
    const int rank = type_of(xs_[0]).rank();
    std::vector<Term> window, vector;
    for (std::size_t i = 0; i < place.size(); ++i) {
      const bool is_window = holds(d_.update_window_dims, static_cast<std::int64_t>(i));
      (is_window ? window : vector).push_back(place[i]);
    }
    std::vector<Term> target(at(rank), Term(scalar_of(i64, 0), where_));
    std::size_t next = 0;
    for (int axis = 0; axis < rank; ++axis) {
      if (holds(d_.inserted_window_dims, axis) || holds(d_.input_batching_dims, axis)) continue;
      target[at(axis)] = window[next++];
    }
    for (std::size_t k = 0; k < d_.scatter_dims_to_operand_dims.size(); ++k) {
      Term& along = target[at(d_.scatter_dims_to_operand_dims[k])];
      along = moved(along, component(vector, static_cast<std::int64_t>(k)));
    }
    for (std::size_t i = 0; i < d_.input_batching_dims.size(); ++i) {
      std::int64_t axis = d_.scatter_indices_batching_dims[i];
      if (axis > d_.index_vector_dim) --axis;
      target[at(d_.input_batching_dims[i])] = vector[at(axis)];
    }
    return target;
  }

  // A number far outside stays there: it is held where no window brings it back.
  Term moved(const Term& along, const Term& start) const {
    const Term far(std::int64_t{1} << 62);
    return along + minimum(maximum(start, -far), far);
  }

  Term component(std::vector<Term> vector, std::int64_t k) const {
    if (d_.index_vector_dim < type_of(indices_).rank()) {
      vector.insert(vector.begin() + d_.index_vector_dim, Term(scalar_of(i64, k), where_));
    }
    return converted(Term(element(indices_, vector), where_), i64);
  }

  static Arrays with_places(Arrays operands, const std::vector<Term>& place) {
    for (const Term& along : place) operands.push_back(along);
    return operands;
  }

  Array element(const Array& array, const std::vector<Term>& place) const {
    const std::vector<std::int64_t> ones(place.size(), 1);
    const Array one =
        record(Op::dynamic_slice, with_places({array}, place), where_, SizesAttributes{ones});
    return record(Op::reshape, {one}, where_, NoAttributes{}, Type{type_of(array).dtype, {}});
  }

  // Where `place` is outside, what is at the nearest place inside comes back there.
  Array with_element(const Array& array, const std::vector<Term>& place, const Array& value) const {
    const std::vector<std::int64_t> ones(place.size(), 1);
    const Array block = record(Op::reshape, {value}, where_, NoAttributes{},
                               Type{type_of(array).dtype, Shape(ones)});
    return record(Op::dynamic_update_slice, with_places({array, block}, place), where_);
  }

  const Arrays xs_;
  const Array indices_;
  const Arrays updates_;
  const ScatterDimensions& d_;
  const ScatterBody& body_;
  const SourceLocation where_;
};

}  // namespace

Array scatter(const Operand& x, const Operand& indices, const Operand& updates,
              const ScatterDimensions& dimensions, Update update) {
  const Array array = as_array("scatter", x);
  const Array given = updates_of("scatter", updates, type_of(array).dtype);
  const Array at = positions("scatter", indices);
  return with_public_names(names_of_scatter, [&] {
    return record(Op::scatter, {array, at, given}, x.where(),
                  attributes_of(dimensions, combiner_of(update)));
  });
}

std::vector<Array> scatter(const Operands& xs, const Operand& indices, const Operands& updates,
                           const ScatterDimensions& dimensions, const ScatterBody& body) {
  const SourceLocation where = indices.where();
  if (xs.list().empty() || xs.list().size() != updates.list().size()) {
    fail("scatter: " + std::to_string(xs.list().size()) + " arrays and " +
             std::to_string(updates.list().size()) + " of updates; give at least one, and one each",
         where);
  }
  const Array at = positions("scatter", indices);
  Arrays arrays, given;
  for (std::size_t k = 0; k < xs.list().size(); ++k) {
    arrays.push_back(as_array("scatter", xs.list()[k]));
    const Dtype dtype = type_of(arrays[k]).dtype;
    given.push_back(updates_of("scatter", updates.list()[k], dtype));
    // Says here what is wrong with axes, sizes and dtypes.
    const Type operands[] = {type_of(arrays[k]), type_of(at), type_of(given[k])};
    with_public_names(names_of_scatter, [&] {
      return infer(Op::scatter, operands, attributes_of(dimensions, ScatterCombiner::replace),
                   std::nullopt, {}, where);
    });
    if (type_of(arrays[k]).shape == type_of(arrays[0]).shape &&
        type_of(given[k]).shape == type_of(given[0]).shape) {
      continue;
    }
    fail("scatter: shapes differ: " + to_string(type_of(arrays[0])) + " and " +
             to_string(type_of(arrays[k])) + " with updates " + to_string(type_of(given[0])) +
             " and " + to_string(type_of(given[k])),
         where);
  }
  const auto recognised = recognise(arrays, given, body, where);
  if (!std::all_of(recognised.begin(), recognised.end(),
                   [](auto& one) { return one.has_value(); })) {
    if (type_of(arrays[0]).size() == 0 || type_of(given[0]).size() == 0) return arrays;
    return ScatterLoop(arrays, at, given, dimensions, body, where).run();
  }
  Arrays results;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const auto& combiner = recognised[k]->combiner;
    results.push_back(combiner ? record(Op::scatter, {arrays[k], at, given[k]}, where,
                                        attributes_of(dimensions, *combiner))
                               : arrays[k]);
  }
  return results;
}

}  // namespace anabranch
