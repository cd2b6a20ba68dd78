// Reductions, running ones, and those with a body.
#include "derivative_cases.h"

namespace anabranch::testing {
namespace {

using Make = ExampleMaker;
using Case = DerivativeCase;
using Axes = std::vector<std::int64_t>;

Axes some_axes(Make& m, const Shape& shape) {
  Axes axes;
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (m.random.percent(60)) axes.push_back(axis);
  }
  return axes;
}

// Of a magnitude around 1; zeros among them, the first derivative of which products have.
Value factors(Make& m, const Shape& shape, bool with_zeros) {
  return m.parameter({m.dtype, shape}, [&] {
    const double x = m.uniform(0.5, 1.5) * (m.random.percent(50) ? 1 : -1);
    return with_zeros && m.random.percent(15) ? 0.0 : x;
  });
}

Example reduction(Make& m, Op op) {
  const Shape shape = m.shape();
  const Value x = op == Op::reduce_sum       ? m.numbers(shape)
                  : op == Op::reduce_product ? factors(m, shape, m.random.percent(50))
                                             : m.distinct_numbers(shape);
  return m.build({m.graph.add(op, {x}, AxesAttributes{some_axes(m, shape)})});
}

Example cumulative(Make& m, Running of) {
  const Shape shape = m.shape(1, 3);
  const Value x = of == Running::sum       ? m.numbers(shape)
                  : of == Running::product ? factors(m, shape, m.random.percent(50))
                                           : m.distinct_numbers(shape);
  const CumulativeAttributes a{m.random.below(shape.rank()), of, m.random.percent(50)};
  return m.build({m.graph.add(Op::cumulative, {x}, a)});
}

Example sort(Make& m) {
  const Shape shape = m.shape(1, 3);
  const Value x = m.distinct_numbers(shape);
  const SortAttributes a{m.random.below(shape.rank()), m.random.percent(50)};
  return m.build({m.graph.add(Op::sort, {x}, a)});
}

// --- with a body ---------------------------------------------------------------------------------

Graph body_of(Make& m, std::size_t parameters,
              const std::function<std::vector<Value>(GraphBuilder&, std::vector<Value>)>& make) {
  GraphBuilder body("body");
  std::vector<Value> values;
  for (std::size_t i = 0; i < parameters; ++i) values.push_back(body.parameter({m.dtype, {}}));
  std::vector<Value> outputs = make(body, values);
  return body.build(std::move(outputs));
}

// All results are outputs.
Example reduced(Make& m, const Shape& shape, std::vector<Value> operands, Graph body) {
  const std::size_t count = operands.size() / 2;
  const Value first = m.graph.add(Op::reduce, std::move(operands),
                                  AxesAttributes{some_axes(m, shape)}, std::nullopt, {body});
  std::vector<Value> outputs;
  for (std::uint32_t i = 0; i < count; ++i) outputs.push_back({first.node, i});
  return m.build(outputs);
}

Example with_one_op(Make& m, Op op) {
  const Shape shape = m.shape();
  const Value x = factors(m, shape, false);
  const Value init = factors(m, {}, false);
  return reduced(m, shape, {x, init}, body_of(m, 2, [&](GraphBuilder& body, auto v) {
                   return std::vector{body.add(op, {v[0], v[1]})};
                 }));
}

// Maps x -> a x + b, one after the other: associative, and not commutative.
Example affine_maps(Make& m) {
  const Shape shape = m.shape();
  const Value a = factors(m, shape, false), b = m.numbers(shape);
  const Value a0 = factors(m, {}, false), b0 = m.numbers({});
  return reduced(
      m, shape, {a, b, a0, b0}, body_of(m, 4, [](GraphBuilder& body, auto v) {
        const Value scaled = body.add(Op::multiply, {v[1], v[2]});
        return std::vector{body.add(Op::multiply, {v[0], v[2]}), body.add(Op::add, {scaled, v[3]})};
      }));
}

// The greatest and what goes with it.
Example greatest_pair(Make& m) {
  const Shape shape = m.shape();
  const Value x = m.distinct_numbers(shape), y = m.numbers(shape);
  const Value x0 = m.numbers({}, -3, -2.5), y0 = m.numbers({});
  return reduced(m, shape, {x, y, x0, y0}, body_of(m, 4, [](GraphBuilder& body, auto v) {
                   const Value is_first =
                       body.add(Op::compare, {v[0], v[2]}, CompareAttributes{Comparison::ge});
                   return std::vector{body.add(Op::select, {is_first, v[0], v[2]}),
                                      body.add(Op::select, {is_first, v[1], v[3]})};
                 }));
}

// The first, or the last; sqrt(x^2 + y^2).
Example one_of_two(Make& m) {
  const Shape shape = m.shape();
  const Value x = m.numbers(shape), init = m.numbers({});
  const std::size_t which = m.random.percent(50) ? 0 : 1;
  return reduced(m, shape, {x, init},
                 body_of(m, 2, [=](GraphBuilder&, auto v) { return std::vector{v[which]}; }));
}

Example lengths(Make& m) {
  const Shape shape = m.shape();
  const Value x = factors(m, shape, false), init = factors(m, {}, false);
  return reduced(m, shape, {x, init}, body_of(m, 2, [](GraphBuilder& body, auto v) {
                   const Value x2 = body.add(Op::multiply, {v[0], v[0]});
                   const Value y2 = body.add(Op::multiply, {v[1], v[1]});
                   return std::vector{body.add(Op::sqrt, {body.add(Op::add, {x2, y2})})};
                 }));
}

}  // namespace

std::vector<DerivativeCase> cases_of_reductions() {
  std::vector<Case> cases;
  for (Op op : {Op::reduce_sum, Op::reduce_product, Op::reduce_max, Op::reduce_min}) {
    const bool is_ordered = op == Op::reduce_max || op == Op::reduce_min;
    cases.push_back({op, std::string(name(op)), [=](Make& m) { return reduction(m, op); },
                     is_ordered ? Case::real : Case::both});
  }
  const std::pair<Running, const char*> running[] = {{Running::sum, "cumulative_sum"},
                                                     {Running::product, "cumulative_product"},
                                                     {Running::maximum, "cumulative_maximum"},
                                                     {Running::minimum, "cumulative_minimum"}};
  for (const auto& [of, name] : running) {
    const bool is_ordered = of == Running::maximum || of == Running::minimum;
    cases.push_back({Op::cumulative, name, [=](Make& m) { return cumulative(m, of); },
                     is_ordered ? Case::real : Case::both});
  }
  cases.push_back({Op::sort, "sort", sort});
  for (Op op : {Op::add, Op::multiply, Op::maximum}) {
    cases.push_back({Op::reduce, "reduce_by_" + std::string(name(op)),
                     [=](Make& m) { return with_one_op(m, op); },
                     op == Op::maximum ? Case::real : Case::both});
  }
  cases.push_back({Op::reduce, "reduce_of_affine_maps", affine_maps, Case::both});
  cases.push_back({Op::reduce, "reduce_of_pairs", greatest_pair});
  cases.push_back({Op::reduce, "reduce_to_one_of_two", one_of_two, Case::both});
  cases.push_back({Op::reduce, "reduce_to_lengths", lengths});
  return cases;
}

}  // namespace anabranch::testing
