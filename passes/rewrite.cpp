#include "passes/rewrite.h"

#include <algorithm>

#include "ir/graph/copier.h"
#include "ir/graph/value_table.h"
#include "ir/infer/infer.h"
#include "passes/dce.h"

namespace anabranch {
namespace {

// Rules that undo each other would build for ever: beyond this depth nothing is rewritten.
constexpr int most_depth = 64;

bool is_array(const Node& node) {
  return node.op == Op::constant && !node.as<ConstantAttributes>().value.is_splat();
}

// Whether rules may make `after` of a region of `node`. A fusion is decided: without an op it may
// be no single kernel of its kind. The body of a reduce is computed scalar by scalar, with no
// array.
bool takes(const Node& node, const Graph& after) {
  if (node.op == Op::fusion) return false;
  return node.op != Op::reduce || std::ranges::none_of(after.nodes(), is_array);
}

}  // namespace

std::vector<std::int64_t> row_major_place(std::int64_t number,
                                          std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> place(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0; number /= sizes[i]) place[i] = number % sizes[i];
  return place;
}

RuleTable::RuleTable(std::vector<Rule> rules) : rules_(std::move(rules)), by_op_(all_ops().size()) {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    for (Op op : rules_[i].ops) by_op_[static_cast<std::size_t>(op)].push_back(i);
    if (!rules_[i].ops.empty()) continue;
    for (auto& list : by_op_) list.push_back(i);
  }
}

Value Rewriter::add(Op op, std::vector<Value> inputs, Attributes attributes,
                    std::optional<Type> stated, std::vector<Graph> regions) {
  std::vector<Type> operands;
  for (Value input : inputs) operands.push_back(type(input));
  std::vector<Type> types = infer(op, operands, attributes, stated, regions, location_);
  return offer(Node{op, std::move(types), std::move(inputs), std::move(attributes),
                    std::move(regions), location_});
}

Value Rewriter::reshape(Value value, std::vector<std::int64_t> sizes) {
  const Type reshaped{type(value).dtype, Shape(std::move(sizes))};
  return add(Op::reshape, {value}, NoAttributes{}, reshaped);
}

Value Rewriter::constant(Literal literal) {
  if (literal.type().rank() == 0 || !literal.is_splat()) {
    return builder_.constant(std::move(literal), location_);
  }
  const std::size_t width = byte_size(literal.type().dtype);
  std::vector<std::byte> first(literal.bytes().begin(),
                               literal.bytes().begin() + static_cast<std::ptrdiff_t>(width));
  return splat(Literal(Type{literal.type().dtype, {}}, std::move(first)), literal.type().shape);
}

Value Rewriter::splat(Literal scalar, const Shape& shape) {
  const Dtype dtype = scalar.type().dtype;
  Value value = builder_.constant(std::move(scalar), location_);
  if (shape.rank() == 0) return value;
  return builder_.add(Op::broadcast_in_dim, {value}, AxesAttributes{}, Type{dtype, shape}, {},
                      location_);
}

std::optional<Literal> Rewriter::splat_of(Value value) const {
  const Node* at = &node(value);
  while (at->op == Op::broadcast_in_dim || at->op == Op::reshape) at = &node(at->inputs[0]);
  if (at->op != Op::constant) return std::nullopt;
  const Literal& literal = at->as<ConstantAttributes>().value;
  if (literal.type().rank() == 0) return literal;
  if (!literal.is_splat()) return std::nullopt;
  const std::size_t width = byte_size(literal.type().dtype);
  std::vector<std::byte> first(literal.bytes().begin(),
                               literal.bytes().begin() + static_cast<std::ptrdiff_t>(width));
  return Literal(Type{literal.type().dtype, {}}, std::move(first));
}

bool Rewriter::is_shared(Value value) const {
  const auto uses = uses_.find(value);
  return uses != uses_.end() && uses->second > 1;
}

Value Rewriter::offer(Node node) {
  if (depth_ < most_depth && node.types.size() == 1) {
    ++depth_;
    for (std::size_t rule : rules_.of(node.op)) {
      auto replacement = rules_.rules()[rule].apply(*this, node);
      if (!replacement) continue;
      if (applied_ && *applied_) (*applied_)(rules_.rules()[rule].equation);
      --depth_;
      return *replacement;
    }
    --depth_;
  }
  return builder_.append(std::move(node));
}

// What is to be used for each result.
std::vector<Value> Rewriter::offer_all(Node node) {
  if (node.types.size() == 1) return {offer(std::move(node))};
  for (std::size_t rule : rules_.of(node.op)) {
    const Rule& candidate = rules_.rules()[rule];
    if (!candidate.apply_to_all) continue;
    auto replacement = candidate.apply_to_all(*this, node);
    if (!replacement) continue;
    if (applied_ && *applied_) (*applied_)(candidate.equation);
    return *std::move(replacement);
  }
  const auto count = static_cast<std::uint32_t>(node.types.size());
  const Value first = builder_.append(std::move(node));
  std::vector<Value> results;
  for (std::uint32_t i = 0; i < count; ++i) results.push_back({first.node, i});
  return results;
}

namespace {

// How often each value is read; a node that no output needs reads nothing.
ValueTable<std::size_t> uses_in(const Graph& graph) {
  ValueTable<std::size_t> uses(graph);
  for (Value output : graph.outputs()) ++uses[output];
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    if (std::ranges::count(uses.of(i), 0u) == std::ssize(uses.of(i))) continue;
    for (Value input : graph.nodes()[i].inputs) ++uses[input];
  }
  return uses;
}

}  // namespace

Graph rewrite(const Graph& graph, const RuleTable& rules, const PassContext& context) {
  const auto uses = uses_in(graph);
  Rewriter rewriter(graph.name(), rules, context.fast_math);
  rewriter.applied_ = &context.applied;
  rewriter.builder_.reserve(graph.nodes().size());
  GraphCopier copier(graph, rewriter.builder_);
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const auto count_uses = [&] {
      for (std::uint32_t r = 0; r < graph.node(i).types.size(); ++r) {
        rewriter.uses_[copier({i, r})] += uses[{i, r}];
      }
    };
    if (graph.node(i).op == Op::parameter) {
      copier.copy(i);
      count_uses();
      continue;
    }
    Node node = copier.renamed(i);
    for (Graph& region : node.regions) {
      Graph after = rewrite(region, rules, context);
      if (takes(node, after)) region = std::move(after);
    }
    rewriter.location_ = node.location;
    const std::vector<Value> results = rewriter.offer_all(std::move(node));
    for (std::uint32_t r = 0; r < results.size(); ++r) copier.rename({i, r}, results[r]);
    count_uses();
    for (Value input :
         graph.node(i).inputs) {  // a node that its operand stands for reads it no more
      if (copier({i, 0}) == copier(input)) --rewriter.uses_[copier(input)];
    }
  }
  return without_dead_nodes(rewriter.builder_.build(copier(graph.outputs())));
}

}  // namespace anabranch
