#include "tests/support/equal_twin.h"

#include <algorithm>

namespace anabranch {
namespace {

constexpr std::int64_t largest = 20'000;  // elements of what is rewritten
constexpr std::int64_t usual_count = 8;   // of identities a graph

class TwinWriter {
 public:
  explicit TwinWriter(std::uint64_t seed) : random_(seed) {}

  Graph twin_of(const Graph& graph) {
    GraphBuilder builder(graph.name());
    IdentityWriter to(builder, random_);
    std::vector<std::vector<Equals>> known;  // per node, per result
    const auto any = [&](Value value) { return random_.of(known[value.node][value.result]); };
    for (const Node& node : graph.nodes()) {
      if (node.op == Op::parameter) known.push_back({{builder.parameter(node.types[0])}});
    }
    const std::int64_t sites = 1 + static_cast<std::int64_t>(graph.nodes().size());
    for (std::uint32_t index = 0; index < graph.nodes().size(); ++index) {
      if (graph.node(index).op != Op::parameter)
        known.push_back(copied(to, graph.node(index), any));
      for (Equals& equals : known[index]) {
        if (random_.below(sites) < usual_count) extend(to, equals, random_.percent(50));
        if (random_.percent(30)) extend(to, equals, true);
      }
    }
    std::vector<Value> outputs;
    for (Value output : graph.outputs())
      outputs.push_back(known[output.node][output.result].back());
    return builder.build(outputs);
  }

  std::vector<std::string_view> equations;

 private:
  using Equals = std::vector<Value>;

  template <class Any>
  std::vector<Equals> copied(IdentityWriter& to, Node node, Any any) {
    std::vector<Value> inputs;
    for (Value input : node.inputs) inputs.push_back(any(input));
    if (is_control(node.op)) {
      for (Graph& region : node.regions) region = twin_of(region);
    }
    const Value first = to.again(node, inputs);
    std::vector<Equals> results;
    for (std::uint32_t k = 0; k < node.types.size(); ++k) results.push_back({{first.node, k}});
    return results;
  }

  // One identity more, or several, each of what the last one gave or of any before. Those that hold
  // of few ops go first where `of_few`, since they seldom apply.
  void extend(IdentityWriter& to, Equals& equals, bool of_few) {
    do {
      const Value x = random_.percent(60) ? equals.back() : random_.of(equals);
      if (auto equal = rewritten(to, x, of_few)) equals.push_back(*equal);
    } while (random_.percent(40));
  }

  std::optional<Value> rewritten(IdentityWriter& to, Value x, bool of_few) {
    const Node node = to.node(x);
    std::int64_t elements = to.type(x).size();
    for (Value input : node.inputs) elements = std::max(elements, to.type(input).size());
    if (elements > largest) return std::nullopt;
    for (const bool of_any_value : {!of_few, of_few}) {
      std::vector<const Identity*> rest;
      for (const Identity& identity : all_identities()) {
        if (identity.of_any_value == of_any_value) rest.push_back(&identity);
      }
      while (!rest.empty()) {
        const auto at = static_cast<std::size_t>(random_.below(std::ssize(rest)));
        if (const auto equal = rest[at]->write(to, node, x)) {
          equations.push_back(rest[at]->equation);
          return equal;
        }
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    return std::nullopt;
  }

  Random random_;
};

}  // namespace

std::span<const Identity> all_identities() {
  static const std::vector<Identity> rows = [] {
    std::vector<Identity> all;
    for (const auto table : {op_identities(), product_identities(), arithmetic_identities(),
                             value_identities(), flow_identities()}) {
      all.insert(all.end(), table.begin(), table.end());
    }
    return all;
  }();
  return rows;
}

EqualTwin equal_twin(const GraphCase& original, std::uint64_t seed) {
  TwinWriter writer(seed);
  Graph graph = writer.twin_of(original.graph);
  return {{std::move(graph), original.inputs, original.parameters}, writer.equations};
}

}  // namespace anabranch
