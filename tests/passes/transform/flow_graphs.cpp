#include "flow_graphs.h"

#include <algorithm>

namespace anabranch::testing {
namespace {

const Type counts{i64, {}};

Value number_of(GraphBuilder& graph, std::int64_t number) {
  return graph.constant(Literal::scalar(number));
}

std::vector<Value> results(Value first, std::size_t begin, std::size_t count) {
  std::vector<Value> list;
  for (std::size_t i = begin; i < begin + count; ++i) {
    list.push_back({first.node, static_cast<std::uint32_t>(i)});
  }
  return list;
}

}  // namespace

std::vector<Value> repeat(GraphBuilder& graph, Turns how, Count count, std::vector<Value> carries,
                          std::vector<Value> captures, const Turn& turn) {
  if (how == Turns::unrolled) {
    for (std::int64_t i = 0; i < count.number; ++i) {
      carries = turn(graph, {number_of(graph, i), i}, carries, captures);
    }
    return carries;
  }
  std::vector<Value> operands = {number_of(graph, 0)};
  operands.insert(operands.end(), carries.begin(), carries.end());
  operands.insert(operands.end(), captures.begin(), captures.end());
  if (how == Turns::uncounted) operands.push_back(count.value);
  GraphBuilder condition("condition"), body("body");
  std::vector<Value> asked, own;
  for (Value operand : operands) {
    asked.push_back(condition.parameter(graph.type(operand)));
    own.push_back(body.parameter(graph.type(operand)));
  }
  const Value bound = how == Turns::uncounted ? asked.back() : number_of(condition, count.number);
  const Value is_left =
      condition.add(Op::compare, {asked[0], bound}, CompareAttributes{Comparison::lt});
  const std::span<const Value> all(own);
  std::vector<Value> next = turn(body, {own[0]}, all.subspan(1, carries.size()),
                                 all.subspan(1 + carries.size(), captures.size()));
  next.insert(next.begin(), body.add(Op::add, {own[0], number_of(body, 1)}));
  const Value made = graph.add(Op::while_, operands, NoAttributes{}, std::nullopt,
                               {condition.build({is_left}), body.build(std::move(next))});
  return results(made, 1, carries.size());
}

std::vector<Value> choose(GraphBuilder& graph, Turns how, Count which,
                          const std::vector<Value>& operands, const std::vector<Branch>& branches) {
  if (how == Turns::unrolled) {
    const auto last = std::ssize(branches) - 1;
    const std::int64_t own = which.number < 0 || which.number > last ? last : which.number;
    return branches[static_cast<std::size_t>(own)](graph, operands);
  }
  std::vector<Value> all = {graph.add(Op::convert, {which.value}, NoAttributes{}, Type{i32, {}})};
  all.insert(all.end(), operands.begin(), operands.end());
  std::vector<Graph> regions;
  std::size_t count = 0;
  for (const Branch& branch : branches) {
    GraphBuilder region("branch");
    std::vector<Value> own;
    for (Value operand : operands) own.push_back(region.parameter(graph.type(operand)));
    std::vector<Value> outputs = branch(region, own);
    count = outputs.size();
    regions.push_back(region.build(std::move(outputs)));
  }
  const Value made =
      graph.add(Op::case_, std::move(all), NoAttributes{}, std::nullopt, std::move(regions));
  return results(made, 0, count);
}

}  // namespace anabranch::testing
