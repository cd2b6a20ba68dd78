// Rewriting: a graph built anew from its leaves up, every node offered to a table of rules on the
// way.
//
// A rule sees a node whose operands are already in their final form, and what a rule builds is
// offered to the rules again; so one walk reaches the fixed point of rules that look downwards.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph/builder.h"
#include "passes/pass.h"

namespace anabranch {

class Rewriter;
struct Equation;

/// The place in each axis of the element that is `number`-th in row-major order.
std::vector<std::int64_t> row_major_place(std::int64_t number, std::span<const std::int64_t> sizes);

/// One equation. `apply` gives the value to use instead of the node, or nothing where the left side
/// does not match. The node is not yet part of the new graph; its inputs are.
struct Rule {
  std::string_view equation;
  std::vector<Op> ops;  ///< of the nodes that it may match; empty for all
  std::function<std::optional<Value>(Rewriter&, const Node&)> apply = {};
  std::shared_ptr<const Equation> sides = {};  ///< as data, of a rule that is made of patterns
  /// In place of `apply`, for ops of several results: a value for each.
  std::function<std::optional<std::vector<Value>>(Rewriter&, const Node&)> apply_to_all = {};
};

/// Rules by the op that they match, each op's in the order given.
class RuleTable {
 public:
  explicit RuleTable(std::vector<Rule> rules);
  const std::vector<Rule>& rules() const { return rules_; }
  const std::vector<std::size_t>& of(Op op) const { return by_op_[static_cast<std::size_t>(op)]; }

 private:
  std::vector<Rule> rules_;
  std::vector<std::vector<std::size_t>> by_op_;
};

/// The new graph, as rules see it. What `node` and `type` give is good until the next `add`.
class Rewriter {
 public:
  Rewriter(std::string name, const RuleTable& rules, bool fast_math)
      : builder_(std::move(name)), rules_(rules), fast_math_(fast_math) {}

  bool fast_math() const { return fast_math_; }
  const Node& node(Value value) const { return builder_.node(value); }
  const Type& type(Value value) const { return builder_.type(value); }
  std::vector<std::int64_t> sizes(Value value) const {
    const Shape& shape = type(value).shape;
    return {shape.begin(), shape.end()};
  }

  /// Result 0 of an op, or what the rules make of it.
  Value add(Op op, std::vector<Value> inputs, Attributes attributes = NoAttributes{},
            std::optional<Type> stated = std::nullopt, std::vector<Graph> regions = {});
  Value reshape(Value value, std::vector<std::int64_t> sizes);
  /// A constant; one whose elements are all equal becomes a scalar's broadcast.
  Value constant(Literal literal);
  /// Every element of `shape` equal to a scalar.
  Value splat(Literal scalar, const Shape& shape);

  /// The scalar that all elements equal, where that is known.
  std::optional<Literal> splat_of(Value value) const;
  /// Whether more than one node or output of the graph before reads the value: it is computed
  /// even if a rule does without it once.
  bool is_shared(Value value) const;

 private:
  friend Graph rewrite(const Graph& graph, const RuleTable& rules, const PassContext& context);
  Value offer(Node node);
  std::vector<Value> offer_all(Node node);

  GraphBuilder builder_;
  const RuleTable& rules_;
  bool fast_math_;
  const std::function<void(std::string_view)>* applied_ = nullptr;  // of the context
  int depth_ = 0;
  std::map<Value, std::size_t> uses_;  // in the graph before, of what stands for its values
  SourceLocation location_;
};

/// `graph` with the rules applied wherever they match, its regions too, those of fusions left as
/// they are; dead nodes are dropped where anything changed.
Graph rewrite(const Graph& graph, const RuleTable& rules, const PassContext& context);

}  // namespace anabranch
