#include "passes/row_blocks/row_blocks.h"

#include <algorithm>
#include <optional>

#include "ir/graph/copier.h"
#include "passes/dce.h"
#include "passes/row_blocks/blocked.h"
#include "passes/row_blocks/chains.h"
#include "passes/row_blocks/costs.h"

namespace anabranch {
namespace {

struct BlockedChain {
  Chain chain;
  std::vector<BlockLevel> levels;
};

/// Writes a graph with some of its chains as loops. What two chains have is not interleaved.
class ChainWriter {
 public:
  ChainWriter(const Graph& graph, std::span<const BlockedChain> chains)
      : graph_(graph), chains_(chains), builder_(graph.name()), copier_(graph, builder_) {}

  /// `tried` is of the nodes of the graph, and then of those of the new one.
  Graph run(std::vector<char>& tried) {
    find_needed();
    std::uint32_t next = 0;
    for (const BlockedChain& blocked : chains_) {
      if (!is_needed_[blocked.chain.first()]) continue;
      for (; next < blocked.chain.first(); ++next) copy(next);
      write(blocked);
      next = blocked.chain.last() + 1;
    }
    for (; next < graph_.nodes().size(); ++next) copy(next);
    std::vector<char> moved(builder_.size(), 0);
    for (std::uint32_t i = 0; i < tried.size(); ++i) {
      if (tried[i] && place_[i]) moved[*place_[i]] = 1;
    }
    tried = std::move(moved);
    return builder_.build(copier_(graph_.outputs()));
  }

 private:
  // What a chain computes for itself, no other may need.
  void find_needed() {
    std::vector<std::int32_t> chain_of(graph_.nodes().size(), -1);
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      for (std::uint32_t member : chains_[i].chain.members) {
        chain_of[member] = static_cast<std::int32_t>(i);
      }
    }
    std::vector<Value> open(graph_.outputs().begin(), graph_.outputs().end());
    is_needed_.assign(graph_.nodes().size(), 0);
    while (!open.empty()) {
      const std::uint32_t node = open.back().node;
      open.pop_back();
      if (is_needed_[node]) continue;
      const std::int32_t in = chain_of[node];
      const std::vector<Value>* inputs = &graph_.node(node).inputs;
      if (in >= 0) {
        const Chain& chain = chains_[static_cast<std::size_t>(in)].chain;
        for (std::uint32_t member : chain.members) is_needed_[member] = 1;
        inputs = &chain.inputs;
      }
      is_needed_[node] = 1;
      open.insert(open.end(), inputs->begin(), inputs->end());
    }
    place_.resize(graph_.nodes().size());
  }

  void copy(std::uint32_t node) {
    if (!is_needed_[node] && graph_.node(node).op != Op::parameter) return;
    place_[node] = copier_.copy(node).node;
  }

  // What does not depend on the chain, the chain, the rest.
  void write(const BlockedChain& blocked) {
    const Chain& chain = blocked.chain;
    const std::uint32_t first = chain.first(), last = chain.last();
    const auto is_member = [&](std::uint32_t node) {
      return std::ranges::binary_search(chain.members, node);
    };
    std::vector<char> depends(last - first + 1, 0);
    for (std::uint32_t i = first; i <= last; ++i) {
      depends[i - first] =
          is_member(i) || std::ranges::any_of(graph_.node(i).inputs, [&](Value input) {
            return input.node >= first && depends[input.node - first];
          });
      if (!depends[i - first]) copy(i);
    }
    std::vector<Value> inputs;
    for (Value input : chain.inputs) inputs.push_back(copier_(input));
    const std::vector<Value> made = add_blocked(builder_, chain.graph, inputs, blocked.levels);
    for (std::size_t i = 0; i < made.size(); ++i) copier_.rename(chain.outputs[i], made[i]);
    for (std::uint32_t i = first; i <= last; ++i) {
      if (depends[i - first] && !is_member(i)) copy(i);
    }
  }

  const Graph& graph_;
  std::span<const BlockedChain> chains_;
  GraphBuilder builder_;
  GraphCopier copier_;
  std::vector<char> is_needed_;                      // per node
  std::vector<std::optional<std::uint32_t>> place_;  // per node: where it is in the new graph
};

/// Chains of `graph` that pay, ascending and apart from each other; seeds that were looked at are
/// `tried`.
std::vector<BlockedChain> chains_that_pay(const Graph& graph, const BlockCosts& costs,
                                          std::vector<char>& tried) {
  std::vector<BlockedChain> found;
  const ChainFinder finder(graph, costs);
  std::vector<char> taken(graph.nodes().size(), 0), waits = tried, is_copied = taken;
  for (std::uint32_t node : finder.seeds()) {
    if (waits[node]) continue;
    auto chain = finder.around(node, taken);
    waits[node] = 1;
    if (!chain) {
      tried[node] = 1;
      continue;
    }
    for (std::uint32_t member : chain->members) waits[member] = 1;
    // Once the others are written it is another chain.
    const auto is_before = [&](const BlockedChain& other) {
      return chain->last() < other.chain.first() || other.chain.last() < chain->first();
    };
    if (!std::ranges::all_of(found, is_before)) continue;
    if (std::ranges::any_of(chain->members, [&](auto member) { return is_copied[member]; })) {
      continue;
    }
    for (std::uint32_t member : chain->members) tried[member] = 1;
    std::vector<BlockLevel> levels = block_levels(*chain, costs);
    if (levels.empty()) continue;
    for (std::uint32_t member : chain->members) taken[member] = 1;
    for (std::uint32_t copy : chain->copies) is_copied[copy] = 1;
    found.push_back({std::move(*chain), std::move(levels)});
  }
  std::ranges::sort(found, {}, [](const BlockedChain& blocked) { return blocked.chain.first(); });
  return found;
}

Graph blocked(const Graph& given, const BlockCosts& costs) {
  GraphBuilder builder(given.name());
  GraphCopier copier(given, builder);
  for (std::uint32_t i = 0; i < given.nodes().size(); ++i) {
    if (!is_control(given.node(i).op)) {
      copier.copy(i);
      continue;
    }
    Node node = copier.renamed(i);
    for (Graph& region : node.regions) region = blocked(region, costs);
    copier.rename(i, builder.append(std::move(node)));
  }
  Graph graph = builder.build(copier(given.outputs()));
  std::vector<char> tried(graph.nodes().size(), 0);
  for (;;) {
    const std::vector<BlockedChain> chains = chains_that_pay(graph, costs, tried);
    if (chains.empty()) return graph;
    graph = ChainWriter(graph, chains).run(tried);
  }
}

bool has_large_value(const Graph& graph, const BlockCosts& costs) {
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
    if (node.op == Op::parameter) return false;
    return is_large(static_cast<double>(node.types[0].bytes()), costs) ||
           std::ranges::any_of(node.regions,
                               [&](const Graph& region) { return has_large_value(region, costs); });
  });
}

bool has_dot(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) {
    return node.op == Op::dot || std::ranges::any_of(node.regions, has_dot);
  });
}

}  // namespace

Graph row_blocks(const Graph& graph, PassContext& context) {
  if (!context.block_costs || !has_dot(graph)) return graph;
  const BlockCosts costs = context.block_costs();
  if (costs.cached_bytes <= 0 || !has_large_value(graph, costs)) return graph;
  return blocked(graph, costs);
}

}  // namespace anabranch
