// Fourier transforms, transfers, and functions with derivatives of their own.
#include "derivative_cases.h"
#include "passes/transform/keep.h"

namespace anabranch::testing {
namespace {

using Make = ExampleMaker;
using Case = DerivativeCase;
using Axes = std::vector<std::int64_t>;

Example fft(Make& m, FftKind kind) {
  const Shape shape = m.shape(1, 3);
  const auto count = m.between(1, std::min<std::int64_t>(shape.rank(), 3));
  FftAttributes a{kind, Axes(shape.end() - count, shape.end())};
  Axes sizes(shape.begin(), shape.end());
  if (kind == FftKind::irfft) sizes.back() = a.lengths.back() / 2 + 1;
  const Value x = m.numbers(Shape(sizes));
  return m.build({m.graph.add(Op::fft, {x}, a)});
}

Example transfer(Make& m) {
  const Value x = m.numbers(m.shape());
  return m.build({m.graph.add(Op::transfer, {x}, DeviceAttributes{Device::cpu()})});
}

// sin(x y) and x, from x, y and an integer.
std::vector<Value> sine_of_product(GraphBuilder& graph, Value x, Value y) {
  const Value product = graph.add(Op::multiply, {x, y});
  return {graph.add(Op::sine, {product}), x};
}

Example checkpoint(Make& m, bool keeps) {
  const Shape shape = m.shape();
  const std::vector<Value> operands = {m.numbers(shape), m.numbers(shape)};
  GraphBuilder function("function");
  const Value x = function.parameter({m.dtype, shape}), y = function.parameter({m.dtype, shape});
  const Graph region = function.build(sine_of_product(function, x, y));
  const MarkedFunction marked = mark_kept(region, [&](const KeepCandidate&) { return keeps; });
  const Value made =
      m.graph.add(Op::composite, operands, CompositeAttributes{CompositeRule::checkpoint, 2},
                  std::nullopt, {marked.graph});
  return m.build({m.graph.add(Op::multiply, {made, operands[0]}), {made.node, 1}});
}

// Outside of any checkpoint.
Example marks(Make& m) {
  const Value x = m.numbers(m.shape());
  const Value kept = add_mark(m.graph, m.graph.add(Op::sine, {x}), CompositeRule::kept);
  return m.build({m.graph.add(Op::multiply, {kept, x}), kept});
}

// The tangents are those of the function: what is asked for is what the rule gives.
Example custom_jvp(Make& m) {
  const Shape shape = m.shape();
  const std::vector<Value> operands = {m.numbers(shape), m.numbers(shape)};
  GraphBuilder function("function"), rule("rule");
  const Value x = function.parameter({m.dtype, shape}), y = function.parameter({m.dtype, shape});
  std::vector<Value> p;
  for (int i = 0; i < 4; ++i) p.push_back(rule.parameter({m.dtype, shape}));
  const std::vector<Value> given = sine_of_product(rule, p[0], p[1]);
  const Value slope = rule.add(Op::cosine, {rule.add(Op::multiply, {p[0], p[1]})});
  const Value by_x = rule.add(Op::multiply, {p[2], p[1]});
  const Value by_y = rule.add(Op::multiply, {p[0], p[3]});
  const Value tangent = rule.add(Op::multiply, {slope, rule.add(Op::add, {by_x, by_y})});
  const Graph regions[] = {function.build(sine_of_product(function, x, y)),
                           rule.build({given[0], given[1], tangent, p[2]})};
  const Value made =
      m.graph.add(Op::composite, operands, CompositeAttributes{CompositeRule::custom_jvp, 2},
                  std::nullopt, {regions[0], regions[1]});
  return m.build({made, {made.node, 1}});
}

}  // namespace

std::vector<DerivativeCase> cases_of_calls() {
  std::vector<Case> cases;
  const std::tuple<FftKind, const char*, Case::Dtypes> kinds[] = {
      {FftKind::fft, "fft", Case::complex},
      {FftKind::ifft, "ifft", Case::complex},
      {FftKind::rfft, "rfft", Case::real},
      {FftKind::irfft, "irfft", Case::complex}};
  for (const auto& [kind, name, dtypes] : kinds) {
    const FftKind own = kind;
    cases.push_back({Op::fft, name, [=](Make& m) { return fft(m, own); }, dtypes, 2, false});
  }
  cases.push_back({Op::transfer, "transfer", transfer, Case::both});
  cases.push_back(
      {Op::composite, "checkpoint", [](Make& m) { return checkpoint(m, false); }, Case::both});
  cases.push_back({Op::composite, "checkpoint_that_keeps",
                   [](Make& m) { return checkpoint(m, true); }, Case::both});
  cases.push_back({Op::composite, "marks", marks, Case::both});
  cases.push_back({Op::composite, "custom_jvp", custom_jvp, Case::both});
  return cases;
}

}  // namespace anabranch::testing
