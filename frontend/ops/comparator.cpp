#include "frontend/ops/comparator.h"

#include <map>
#include <utility>

#include "ir/graph/graph.h"

namespace anabranch {
namespace {

using Keys = std::vector<SortKey>;

class KeyFinder {
 public:
  KeyFinder(const Graph& graph, std::size_t arrays) : graph_(graph), own_(2 * arrays) {}

  std::optional<Keys> keys(Value value) {
    const Node& node = node_of(value);
    switch (node.op) {
      case Op::compare:
        return compared(node);
      case Op::not_:
        return inverted(node.inputs[0]);
      case Op::or_:
      case Op::add:
        if (auto found = lexicographic(node.inputs[0], node.inputs[1])) return found;
        return lexicographic(node.inputs[1], node.inputs[0]);
      case Op::select:
        return selected(node);
      default:
        return std::nullopt;
    }
  }

 private:
  const Node& node_of(Value value) const { return graph_.nodes()[value.node]; }
  bool is_own(Value value) const { return node_of(value).op == Op::parameter && value.node < own_; }

  // Whether b is of the second place what a is of the first, or the other way round.
  bool are_alike(Value a, Value b) {
    const std::pair both(a.node, b.node);
    if (const auto known = alike_.find(both); known != alike_.end()) return known->second;
    return alike_[both] = find_alike(a, b);
  }
  bool find_alike(Value a, Value b) {
    const Node &x = node_of(a), &y = node_of(b);
    if (is_own(a) || is_own(b)) {
      return is_own(a) && is_own(b) && (a.node ^ 1) == b.node && a.result == b.result;
    }
    if (a.result != b.result || x.op != y.op) return false;
    if (x.op == Op::parameter) return a.node == b.node;
    const bool is_same = x.types == y.types && x.attributes == y.attributes &&
                         x.inputs.size() == y.inputs.size() && x.regions.empty() &&
                         y.regions.empty();
    if (!is_same) return false;
    for (std::size_t i = 0; i < x.inputs.size(); ++i) {
      if (!are_alike(x.inputs[i], y.inputs[i])) return false;
    }
    return true;
  }

  // Which places' elements it depends on: bit 0 for the first, bit 1 for the second.
  int places(Value value) {
    if (const auto known = places_.find(value.node); known != places_.end()) return known->second;
    int found = is_own(value) ? 1 << (value.node % 2) : 0;
    for (Value input : node_of(value).inputs) found |= places(input);
    return places_[value.node] = found;
  }

  std::optional<Keys> compared(const Node& node) {
    const Value a = node.inputs[0], b = node.inputs[1];
    const Comparison direction = node.as<CompareAttributes>().direction;
    if (direction == Comparison::eq || direction == Comparison::ne) return std::nullopt;
    if (!are_alike(a, b)) return std::nullopt;
    const int at = places(a);
    if (at != 1 && at != 2) return std::nullopt;
    const bool rises = direction == Comparison::lt || direction == Comparison::le;
    // LE says that equal elements come before each other: as LT, they are equal.
    return at == 1 ? Keys{{a, !rises}} : Keys{{b, rises}};
  }

  // What does not come before comes behind, or is equal.
  std::optional<Keys> inverted(Value value) {
    const Node& node = node_of(value);
    if (node.op != Op::compare) return std::nullopt;
    auto found = compared(node);
    if (found) found->front().descending = !found->front().descending;
    return found;
  }

  // Whether `value` holds where the keys are equal.
  bool says_equal(Value value, const Keys& keys) {
    if (keys.size() != 1) return false;
    const Node& node = node_of(value);
    if (node.op != Op::compare || node.as<CompareAttributes>().direction != Comparison::eq) {
      return false;
    }
    const Value a = node.inputs[0], b = node.inputs[1];
    return (a == keys[0].value || b == keys[0].value) && are_alike(a, b);
  }

  std::optional<Keys> joined(std::optional<Keys> first, std::optional<Keys> rest) {
    if (!first || !rest) return std::nullopt;
    first->insert(first->end(), rest->begin(), rest->end());
    return first;
  }

  // or(before, and(equal, rest))
  std::optional<Keys> lexicographic(Value before, Value tie) {
    const Node& both = node_of(tie);
    if (both.op != Op::and_ && both.op != Op::multiply) return std::nullopt;
    auto first = keys(before);
    if (!first) return std::nullopt;
    for (const int equal : {0, 1}) {
      if (!says_equal(both.inputs[static_cast<std::size_t>(equal)], *first)) continue;
      return joined(std::move(first), keys(both.inputs[static_cast<std::size_t>(1 - equal)]));
    }
    return std::nullopt;
  }

  // select(equal, rest, before), or select(not equal, before, rest)
  std::optional<Keys> selected(const Node& node) {
    const Node& condition = node_of(node.inputs[0]);
    if (condition.op != Op::compare) return std::nullopt;
    const Comparison direction = condition.as<CompareAttributes>().direction;
    const bool is_equal = direction == Comparison::eq;
    if (!is_equal && direction != Comparison::ne) return std::nullopt;
    auto first = keys(node.inputs[is_equal ? 2 : 1]);
    if (!first || first->size() != 1) return std::nullopt;
    const Value key = first->front().value;
    const Value a = condition.inputs[0], b = condition.inputs[1];
    if ((a != key && b != key) || !are_alike(a, b)) return std::nullopt;
    return joined(std::move(first), keys(node.inputs[is_equal ? 1 : 2]));
  }

  const Graph& graph_;
  const std::size_t own_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> alike_;
  std::map<std::uint32_t, int> places_;
};

}  // namespace

std::optional<std::vector<SortKey>> keys_of(const Graph& comparator, std::size_t arrays) {
  return KeyFinder(comparator, arrays).keys(comparator.outputs()[0]);
}

}  // namespace anabranch
