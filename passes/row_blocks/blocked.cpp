#include "passes/row_blocks/blocked.h"

#include <utility>

#include "ir/graph/copier.h"
#include "passes/dce.h"
#include "passes/row_blocks/axis_roles.h"
#include "passes/transform/quantity.h"

namespace anabranch {
namespace {

/// A parameter of a chain as a node reads it: a block of its rows, or all of it.
struct Slice {
  std::uint32_t parameter = 0;
  RowAxis::Place axis;

  bool operator==(const Slice&) const = default;
};

/// What a chain computes of some of its rows. Parameter 0 is the first row's number, then come the
/// slices.
struct Block {
  Graph graph;
  std::vector<Slice> slices;
  std::vector<Value> of;  // per node of the chain: what stands for it
};

Block block_of(const Graph& chain, const RowAxis& row, std::int64_t rows) {
  Block block;
  GraphBuilder builder(chain.name());
  const Value offset = builder.parameter(count_type());
  const auto read = [&](Value input, RowAxis::Place axis) -> Value {
    if (input.node >= chain.parameter_count()) return block.of[input.node];
    const Slice slice{input.node, axis};
    for (std::uint32_t i = 0; i < block.slices.size(); ++i) {
      if (block.slices[i] == slice) return {i + 1, 0};
    }
    block.slices.push_back(slice);
    const Type& type = chain.type(input);
    return builder.parameter(axis ? with_size(type, *axis, rows) : type);
  };
  block.of.resize(chain.parameter_count());
  // All of them first, so that they are the first nodes.
  for (auto i = static_cast<std::uint32_t>(chain.parameter_count()); i < chain.nodes().size();
       ++i) {
    const Node& node = chain.node(i);
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (node.inputs[k].node < chain.parameter_count()) read(node.inputs[k], row.operands[i][k]);
    }
  }
  for (auto i = static_cast<std::uint32_t>(chain.parameter_count()); i < chain.nodes().size();
       ++i) {
    Node node = chain.node(i);
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      node.inputs[k] = read(node.inputs[k], row.operands[i][k]);
    }
    block.of.push_back(row.result[i] ? add_block(builder, node, std::move(node.inputs),
                                                 *row.result[i], rows, offset)
                                     : builder.append(std::move(node)));
  }
  std::vector<Value> outputs;
  for (Value output : chain.outputs()) outputs.push_back(block.of[output.node]);
  block.graph = builder.build(std::move(outputs));
  return block;
}

/// One level of loops.
class Loop {
 public:
  Loop(const Graph& chain, std::span<const BlockLevel> levels, RowAxis row)
      : chain_(chain), levels_(levels), row_(std::move(row)) {}

  std::vector<Value> add(GraphBuilder& to, std::span<const Value> inputs) const {
    const std::int64_t rows = levels_[0].rows, turns = row_.size / rows, left = row_.size % rows;
    std::vector<Value> results;
    for (Value output : chain_.outputs()) {
      results.push_back(Quantity::zeros(to, chain_.type(output)).value);
    }
    if (turns > 1) {
      results = add_while(to, turns, results, inputs);
    } else {
      add_turn(to, Quantity::zeros(to, count_type()).value, rows, results, inputs);
    }
    if (left > 0) {
      const auto first = Quantity::splat(to, count_type(), static_cast<double>(turns * rows));
      add_turn(to, first.value, left, results, inputs);
    }
    return results;
  }

 private:
  // Carried: the number of the turn, the outputs. Captured: the inputs.
  std::vector<Value> add_while(GraphBuilder& to, std::int64_t turns, std::span<const Value> results,
                               std::span<const Value> inputs) const {
    std::vector<Value> operands = {Quantity::zeros(to, count_type()).value};
    operands.insert(operands.end(), results.begin(), results.end());
    operands.insert(operands.end(), inputs.begin(), inputs.end());
    GraphBuilder condition("condition"), body("body");
    std::vector<Value> own;
    for (Value operand : operands) {
      condition.parameter(to.type(operand));
      own.push_back(body.parameter(to.type(operand)));
    }
    const Quantity asked{&condition, {0, 0}}, turn{&body, {0, 0}};
    const Quantity goes_on = asked < asked.number(static_cast<double>(turns));
    std::vector<Value> next(own.begin() + 1, own.begin() + 1 + std::ssize(results));
    const std::int64_t rows = levels_[0].rows;
    const Quantity first = turn * static_cast<double>(rows);
    add_turn(body, first.value, rows, next, std::span(own).subspan(1 + results.size()));
    next.insert(next.begin(), (turn + 1).value);
    const Value made =
        to.add(Op::while_, std::move(operands), WhileAttributes{}, std::nullopt,
               {condition.build({goes_on.value}), without_dead_nodes(body.build(std::move(next)))},
               location());
    std::vector<Value> after;
    for (std::uint32_t i = 1; i <= results.size(); ++i) after.push_back({made.node, i});
    return after;
  }

  // Rows `first` to `first + rows` of the results, or their part of the sums.
  void add_turn(GraphBuilder& to, Value first, std::int64_t rows, std::vector<Value>& results,
                std::span<const Value> inputs) const {
    const Block block = block_of(chain_, row_, rows);
    std::vector<Value> operands = {first};
    for (const Slice& slice : block.slices) {
      const Value input = inputs[slice.parameter];
      operands.push_back(slice.axis ? add_slice(to, input, *slice.axis, first, rows) : input);
    }
    std::vector<BlockLevel> inner(levels_.begin() + 1, levels_.end());
    for (BlockLevel& level : inner) level.axis.node = block.of[level.axis.node].node;
    const std::vector<Value> made = add_blocked(to, block.graph, operands, inner);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const std::uint32_t output = chain_.outputs()[i].node;
      results[i] = row_.is_summed[output]
                       ? to.add(Op::add, {results[i], made[i]})
                       : add_update(to, results[i], made[i], *row_.result[output], first);
    }
  }

  static std::vector<Value> starts(GraphBuilder& to, int rank, std::int64_t axis, Value first) {
    const Value zero = Quantity::zeros(to, count_type()).value;
    std::vector<Value> at(static_cast<std::size_t>(rank), zero);
    at[static_cast<std::size_t>(axis)] = first;
    return at;
  }

  static Value add_slice(GraphBuilder& to, Value from, std::int64_t axis, Value first,
                         std::int64_t rows) {
    const Type type = with_size(to.type(from), axis, rows);
    std::vector<Value> operands = starts(to, type.rank(), axis, first);
    operands.insert(operands.begin(), from);
    return to.add(Op::dynamic_slice, std::move(operands),
                  SizesAttributes{{type.shape.begin(), type.shape.end()}});
  }

  static Value add_update(GraphBuilder& to, Value whole, Value block, std::int64_t axis,
                          Value first) {
    std::vector<Value> operands = starts(to, to.type(whole).rank(), axis, first);
    operands.insert(operands.begin(), {whole, block});
    return to.add(Op::dynamic_update_slice, std::move(operands));
  }

  SourceLocation location() const { return chain_.node(chain_.outputs()[0]).location; }

  const Graph& chain_;
  const std::span<const BlockLevel> levels_;
  const RowAxis row_;
};

}  // namespace

std::vector<Value> add_blocked(GraphBuilder& to, const Graph& chain, std::span<const Value> inputs,
                               std::span<const BlockLevel> levels) {
  if (levels.empty()) return inlined(chain, to, inputs);
  auto row = row_axis(chain, levels[0].axis);
  // What a block of an outer level has whole is large beside it, and is read in one way.
  if (!row) return add_blocked(to, chain, inputs, levels.subspan(1));
  return Loop(chain, levels, std::move(*row)).add(to, inputs);
}

}  // namespace anabranch
