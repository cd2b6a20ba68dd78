#include "passes/row_blocks/chains.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "ir/fusion_plan.h"
#include "ir/graph/builder.h"
#include "passes/placement.h"
#include "passes/row_blocks/axis_roles.h"
#include "passes/row_blocks/row_axes.h"

namespace anabranch {
namespace {

constexpr std::size_t most_members = 128;  // of a chain: what looks at it takes time in proportion
constexpr std::size_t most_copies = 32;
// Neighbours that a chain could not take before it stops to grow, and readers of one value that
// are looked at: a matrix may be read by thousands of products of which none are rows together.
constexpr std::size_t most_refused = 32, most_readers = 128;

double bytes_in(const Type& type) { return static_cast<double>(type.bytes()); }

bool has_roles(const Graph& graph, std::uint32_t index) {
  const Node& node = graph.node(index);
  if (node.op == Op::parameter) return false;
  std::vector<Type> operands;
  for (Value input : node.inputs) operands.push_back(graph.type(input));
  return axis_roles(node, operands).has_value();
}

// Whether it costs less to compute what a node gives again, for one who has its operands, than to
// write it to memory and read it there twice.
bool is_cheap(const Graph& graph, const Node& node, const BlockCosts& costs) {
  constexpr double accesses = 3;
  if (node.op == Op::dot) {
    return dot_operations(graph, node) * costs.operation_ns <=
           accesses * bytes_in(node.types[0]) * costs.memory_ns_per_byte;
  }
  return node.op == Op::constant || node.op == Op::iota || is_index(node.op) ||
         is_elementwise(node.op);
}

}  // namespace

ChainFinder::ChainFinder(const Graph& graph, const BlockCosts& costs)
    : graph_(graph),
      costs_(costs),
      readers_(graph.nodes().size()),
      is_output_(graph.nodes().size(), 0),
      can_be_cut_(graph.nodes().size(), 0),
      depends_(nodes_on_devices(graph)) {
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    can_be_cut_[i] = has_roles(graph, i);
    for (Value input : graph.node(i).inputs) {
      auto& readers = readers_[input.node];
      if (readers.empty() || readers.back() != i) readers.push_back(i);
    }
  }
  for (Value output : graph.outputs()) is_output_[output.node] = 1;
}

bool ChainFinder::is_seed(std::uint32_t node) const {
  const Node& at = graph_.node(node);
  if (!can_be_member(node) || !is_large(bytes_in(at.types[0]), costs_) || readers_[node].empty())
    return false;
  return at.op == Op::dot || std::ranges::any_of(readers_[node], [&](auto reader) {
           return graph_.node(reader).op == Op::dot;
         });
}

std::vector<std::uint32_t> ChainFinder::seeds() const {
  std::vector<std::uint32_t> found;
  for (auto i = static_cast<std::uint32_t>(graph_.nodes().size()); i-- > 0;) {
    if (is_seed(i)) found.push_back(i);
  }
  std::ranges::stable_sort(found, std::greater(),
                           [&](std::uint32_t node) { return graph_.node(node).types[0].bytes(); });
  return found;
}

/// One chain as it grows.
class ChainGrowth {
 public:
  ChainGrowth(const ChainFinder& finder, const std::vector<char>& taken)
      : finder_(finder), graph_(finder.graph_), taken_(taken) {}

  std::optional<Chain> run(std::uint32_t seed) {
    members_ = {seed};
    largest_ = bytes_in(graph_.node(seed).types[0]);
    // All that is connected, where that may be; else one after the other. What could not join at
    // first may be able to once others have.
    if (!join(connected())) {
      for (int round = 0; round < 2; ++round) {
        std::set<std::uint32_t> refused;
        while (refused.size() < most_refused) {
          const auto next = neighbour(refused);
          if (!next) break;
          if (!join({*next})) refused.insert(*next);
        }
      }
    }
    if (members_.size() < 2) return {};
    copy_cheap();
    Chain chain = made(copies_);
    if (rows_of(chain) == 0) return {};
    return chain;
  }

 private:
  bool may_join(std::uint32_t node) const { return finder_.can_be_member(node) && !taken_[node]; }
  // A product of small values is better computed at once than in each turn.
  bool may_be_between(std::uint32_t node) const {
    return may_join(node) && graph_.node(node).op != Op::dot;
  }
  bool links(const Type& type) const {
    return is_large(bytes_in(type), finder_.costs_) && 2 * bytes_in(type) >= largest_;
  }

  // The first node that is outside and gives or reads a large value that is of the chain, or that
  // the chain reads.
  std::optional<std::uint32_t> neighbour(const std::set<std::uint32_t>& refused) const {
    std::optional<std::uint32_t> first;
    const auto consider = [&](std::uint32_t node) {
      if (members_.contains(node) || refused.contains(node) || !may_join(node)) return;
      if (!first || node < *first) first = node;
    };
    const auto consider_readers = [&](std::uint32_t node) {
      const auto& readers = finder_.readers_[node];
      if (!finder_.depends_[node] || readers.size() > most_readers) return;
      std::ranges::for_each(readers, consider);
    };
    for (std::uint32_t member : members_) {
      const Node& node = graph_.node(member);
      if (links(node.types[0])) consider_readers(member);
      for (Value input : node.inputs) {
        if (!links(graph_.type(input))) continue;
        consider(input.node);
        consider_readers(input.node);
      }
    }
    return first;
  }

  std::set<std::uint32_t> connected() {
    const std::set<std::uint32_t> before = members_;
    const double largest = largest_;
    while (const auto next = neighbour({})) {
      members_.insert(*next);
      largest_ = std::max(largest_, bytes_in(graph_.node(*next).types[0]));
      if (members_.size() > most_members) break;
    }
    largest_ = largest;
    return std::exchange(members_, before);
  }

  bool join(const std::set<std::uint32_t>& nodes) {
    const std::set<std::uint32_t> before = members_;
    members_.insert(nodes.begin(), nodes.end());
    if (close() && members_.size() <= most_members && rows_of(made({})) > 0) {
      for (std::uint32_t member : members_) {
        largest_ = std::max(largest_, bytes_in(graph_.node(member).types[0]));
      }
      return true;
    }
    members_ = before;
    return false;
  }

  // Takes in what is between members: what one of them needs and needs one of them. Whether all of
  // that may join.
  bool close() {
    const std::uint32_t first = *members_.begin(), last = *members_.rbegin();
    std::vector<char> needs(last - first + 1, 0);
    const auto is_in = [&](const std::vector<char>& flags, std::uint32_t node) {
      return node >= first && node <= last && flags[node - first];
    };
    for (std::uint32_t i = first; i <= last; ++i) {
      needs[i - first] = members_.contains(i) ||
                         std::ranges::any_of(graph_.node(i).inputs,
                                             [&](Value input) { return is_in(needs, input.node); });
    }
    std::vector<char> is_needed(last - first + 1, 0);
    for (std::uint32_t i = last + 1; i-- > first;) {
      if (!members_.contains(i) && !is_needed[i - first]) continue;
      if (!members_.contains(i) && !may_be_between(i)) return false;
      if (!members_.contains(i) && members_.size() >= most_members) return false;
      members_.insert(i);
      for (Value input : graph_.node(i).inputs) {
        if (is_in(needs, input.node)) is_needed[input.node - first] = 1;
      }
    }
    return true;
  }

  static std::size_t rows_of(const Chain& chain) {
    return chain.outputs.empty() ? 0 : row_axes(chain.graph).size();
  }

  Chain made(const std::set<std::uint32_t>& copies) const {
    Chain chain;
    chain.members.assign(members_.begin(), members_.end());
    chain.copies.assign(copies.begin(), copies.end());
    std::set<std::uint32_t> all = members_;
    all.insert(copies.begin(), copies.end());
    GraphBuilder builder("chain");
    std::map<Value, Value> inside;
    for (std::uint32_t node : all) {
      for (Value input : graph_.node(node).inputs) {
        if (all.contains(input.node) || inside.contains(input)) continue;
        inside[input] = builder.parameter(graph_.type(input));
        chain.inputs.push_back(input);
      }
    }
    for (std::uint32_t node : all) {
      Node copy = graph_.node(node);
      for (Value& input : copy.inputs) input = inside.at(input);
      inside[{node, 0}] = builder.append(std::move(copy));
    }
    std::vector<Value> outputs;
    for (std::uint32_t node : members_) {
      const bool is_read = std::ranges::any_of(
          finder_.readers_[node], [&](auto reader) { return !members_.contains(reader); });
      if (!is_read && !finder_.is_output_[node]) continue;
      chain.outputs.push_back({node, 0});
      outputs.push_back(inside.at({node, 0}));
    }
    chain.is_copy.assign(builder.size(), false);
    for (std::uint32_t node : copies) chain.is_copy[inside.at({node, 0}).node] = true;
    chain.graph = builder.build(std::move(outputs));
    return chain;
  }

  // Computes for itself what costs less than to have it in memory, where fewer bytes are read then:
  // what is made of constants and iotas, what repeats a smaller value, and in the gradient of
  // attention its weights, from the products of queries and keys on.
  void copy_cheap() {
    std::set<std::uint32_t> copies;
    std::size_t rows = rows_of(made(copies));
    std::set<std::uint32_t> kept;
    double least = input_bytes(copies);
    const auto try_copy = [&](std::uint32_t node) {
      copies.insert(node);
      const std::size_t left = rows_of(made(copies));
      if (left < rows) copies.erase(node);
      return left >= rows;
    };
    while (copies.size() < most_copies) {
      const auto next = largest_cheap_input(copies, kept);
      if (!next) break;
      if (!try_copy(*next)) {
        kept.insert(*next);
        continue;
      }
      if (const double now = input_bytes(copies); now < least) {
        least = now;
        copies_ = copies;
      }
    }
  }

  std::vector<Value> inputs_with(const std::set<std::uint32_t>& copies) const {
    return made(copies).inputs;
  }

  double input_bytes(const std::set<std::uint32_t>& copies) const {
    double sum = 0;
    for (Value input : inputs_with(copies)) sum += bytes_in(graph_.type(input));
    return sum;
  }

  // The last cheap node, of those that give the largest inputs. What another chain computes inside
  // nobody else has.
  std::optional<std::uint32_t> largest_cheap_input(const std::set<std::uint32_t>& copies,
                                                   const std::set<std::uint32_t>& kept) const {
    std::optional<std::uint32_t> found;
    double size = 0;
    for (Value input : inputs_with(copies)) {
      const Node& node = graph_.node(input);
      const bool may_copy = finder_.can_be_cut_[input.node] && !taken_[input.node] &&
                            is_cheap(graph_, node, finder_.costs_);
      if (!may_copy || kept.contains(input.node)) continue;
      const double own = bytes_in(node.types[0]);
      if (own < size || (own == size && found && input.node < *found)) continue;
      found = input.node;
      size = own;
    }
    return found;
  }

  const ChainFinder& finder_;
  const Graph& graph_;
  const std::vector<char>& taken_;
  std::set<std::uint32_t> members_, copies_;
  double largest_ = 0;
};

std::optional<Chain> ChainFinder::around(std::uint32_t seed, const std::vector<char>& taken) const {
  return ChainGrowth(*this, taken).run(seed);
}

}  // namespace anabranch
