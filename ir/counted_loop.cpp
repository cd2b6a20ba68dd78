#include "ir/counted_loop.h"

#include <algorithm>

#include "ir/scalar.h"

namespace anabranch {

Value unguarded(const Graph& graph, Value value) {
  while (graph.node(value).op == Op::check) value = graph.node(value).inputs[1 + value.result];
  return value;
}

std::optional<CountedLoop> counted_loop(const Node& loop) {
  const Graph &condition = loop.regions[0], &body = loop.regions[1];
  const Node& compare = condition.node(unguarded(condition, condition.outputs()[0]));
  if (compare.op != Op::compare) return {};
  if (compare.as<CompareAttributes>().direction != Comparison::lt) return {};
  const std::uint32_t counter = compare.inputs[0].node;
  if (counter >= loop.types.size() || !is_integer(loop.types[counter].dtype)) return {};
  const Node& next = body.node(unguarded(body, body.outputs()[counter]));
  if (next.op != Op::add) return {};
  const auto is_step = [&](Value a, Value b) {
    return a == Value{counter, 0} && integer_of(body, b) == 1;
  };
  if (!is_step(next.inputs[0], next.inputs[1]) && !is_step(next.inputs[1], next.inputs[0])) {
    return {};
  }
  CountedLoop counted{counter, {}, integer_of(condition, compare.inputs[1])};
  const std::uint32_t bound = compare.inputs[1].node;
  if (counted.constant_bound) return counted;
  // A bound that is carried is one where it stays as it is.
  if (bound >= condition.parameter_count()) return {};
  if (bound < loop.types.size() && body.outputs()[bound] != Value{bound, 0}) return {};
  counted.bound = bound;
  return counted;
}

std::vector<char> written_in_blocks(const Node& loop) {
  const Graph& body = loop.regions[1];
  std::vector<int> uses(body.nodes().size());
  for (const Node& node : body.nodes()) {
    for (Value input : node.inputs) ++uses[input.node];
  }
  for (Value output : body.outputs()) ++uses[output.node];
  std::vector<char> written;
  for (std::uint32_t i = 0; i < loop.types.size(); ++i) {
    const Value output = body.outputs()[i];
    const Node& update = body.node(output);
    written.push_back(update.op == Op::dynamic_update_slice && update.inputs[0] == Value{i, 0} &&
                      uses[i] == 1 && uses[output.node] == 1);
  }
  return written;
}

std::optional<KnownTurns> known_turns(const Graph& graph, const Node& loop) {
  auto counted = counted_loop(loop);
  if (!counted) return {};
  if (counted->bound) counted->constant_bound = integer_of(graph, loop.inputs[*counted->bound]);
  const auto first = integer_of(graph, loop.inputs[counted->counter]);
  if (!first || !counted->constant_bound || *counted->constant_bound <= *first) return {};
  // What is computed with the counter's numbers is to fit 64 bits, too.
  constexpr std::int64_t most = std::int64_t{1} << 61;
  if (*first < -most || *counted->constant_bound > most) return {};
  return KnownTurns{counted->counter, *first, *counted->constant_bound - *first};
}

}  // namespace anabranch
