#include "ir/scalar_index.h"

#include "anabranch/error.h"
#include "ir/bounds.h"
#include "ir/integer_constant.h"

namespace anabranch {
namespace {

// What places an access is shallow.
constexpr int greatest_height = 64;

class ScalarIndex {
 public:
  ScalarIndex(const Graph& graph, const KnownIndex& known, IndexTable& table)
      : graph_(graph), known_(known), table_(table) {}

  std::optional<Index> at(Value value, int height) {
    if (height > greatest_height) return {};
    if (auto known = known_(value)) return known;
    if (auto constant = integer_of(graph_, value)) return table_.constant(*constant);
    const Node& node = graph_.node(value);
    const Dtype dtype = node.types[0].dtype;
    if (node.types[0].rank() != 0 || !is_integer(dtype)) return {};
    const std::optional<Index> made = computed(node, height + 1);
    if (!made || !holds(dtype, bounds(*made))) return {};
    return made;
  }

 private:
  Bounds bounds(Index index) const { return {table_[index].low, table_[index].high}; }

  std::optional<Index> computed(const Node& node, int height) {
    if (node.op == Op::select) {
      const auto holds = condition(node.inputs[0], height);
      return holds ? at(node.inputs[*holds ? 1 : 2], height) : std::nullopt;
    }
    if (node.op == Op::convert) return at(node.inputs[0], height);
    if (node.op == Op::negate) return scaled(at(node.inputs[0], height), -1);
    if (node.op == Op::clamp) {
      const auto least = greater(at(node.inputs[1], height), at(node.inputs[0], height));
      return lesser(least, at(node.inputs[2], height));
    }
    if (node.inputs.size() != 2 || !is_elementwise(node.op)) return {};
    const auto a = at(node.inputs[0], height), b = at(node.inputs[1], height);
    if (!a || !b) return {};
    switch (node.op) {
      case Op::add:
        return table_.add(*a, *b);
      case Op::subtract:
        return table_.add(*a, table_.scale(*b, -1));
      case Op::multiply:
        if (table_.is_constant(*b)) return scaled(a, table_[*b].constant);
        return table_.is_constant(*a) ? scaled(b, table_[*a].constant) : std::nullopt;
      case Op::maximum:
        return greater(a, b);
      case Op::minimum:
        return lesser(a, b);
      default:
        return {};
    }
  }

  std::optional<Index> scaled(std::optional<Index> a, std::int64_t by) {
    return a ? std::optional(table_.scale(*a, by)) : std::nullopt;
  }

  // Where one is never less than the other.
  std::optional<Index> greater(std::optional<Index> a, std::optional<Index> b) const {
    if (!a || !b) return {};
    const auto first = compared(bounds(*a), bounds(*b), Comparison::ge);
    if (first) return *first ? a : b;
    return compared(bounds(*b), bounds(*a), Comparison::ge) == true ? b : std::nullopt;
  }

  std::optional<Index> lesser(std::optional<Index> a, std::optional<Index> b) const {
    const auto most = greater(a, b);
    if (!most) return {};
    return *most == *a ? b : a;
  }

  std::optional<bool> condition(Value value, int height) {
    const Node& node = graph_.node(value);
    if (node.op != Op::compare) return {};
    const auto a = at(node.inputs[0], height), b = at(node.inputs[1], height);
    if (!a || !b) return {};
    return compared(bounds(*a), bounds(*b), node.as<CompareAttributes>().direction);
  }

  const Graph& graph_;
  const KnownIndex& known_;
  IndexTable& table_;
};

}  // namespace

std::optional<Index> scalar_index(const Graph& graph, Value value, const KnownIndex& known,
                                  IndexTable& table) {
  try {
    return ScalarIndex(graph, known, table).at(value, 0);
  } catch (const Error&) {  // it leaves what an expression can be
    return {};
  }
}

}  // namespace anabranch
