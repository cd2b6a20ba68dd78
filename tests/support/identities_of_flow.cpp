// Identities that put work into regions: branches of which one is taken, loops of few turns.
#include "tests/support/identities.h"

namespace anabranch {
namespace {

using Written = std::optional<Value>;

/// A region whose parameters are `operands`, as they are called outside.
struct Region {
  Region(IdentityWriter& outside, std::string name, std::span<const Value> operands)
      : builder(std::move(name)), to(builder, outside.random) {
    for (Value operand : operands) parameters.push_back(builder.parameter(outside.type(operand)));
  }

  GraphBuilder builder;
  IdentityWriter to;
  std::vector<Value> parameters;
};

// Loops whose first operand counts in i32 from 0 to `turns`; `step` gives what else is carried,
// from the parameters.
template <class Step>
Value loop(IdentityWriter& to, std::int64_t turns, std::vector<Value> operands, Step step) {
  operands.insert(operands.begin(), to.scalar(i32, 0));
  Region condition(to, "condition", operands), body(to, "body", operands);
  const Value limit = condition.to.scalar(i32, static_cast<double>(turns));
  const Value more = condition.to.add(Op::compare, {condition.parameters[0], limit},
                                      CompareAttributes{Comparison::lt});
  const Value next = body.to.add(Op::add, {body.parameters[0], body.to.scalar(i32, 1)});
  std::vector<Value> results = step(body.to, std::span<const Value>(body.parameters).subspan(1));
  results.insert(results.begin(), next);
  std::vector<Graph> regions;
  regions.push_back(condition.builder.build({more}));
  regions.push_back(body.builder.build(results));
  const Value first =
      to.add(Op::while_, operands, WhileAttributes{}, std::nullopt, std::move(regions));
  return {first.node, 1};
}

Written carried_once(IdentityWriter& to, const Node&, Value x) {
  const Move move = random_move(to.random, to.shape(x));
  const Value moved = move.there(to, x);
  if (to.type(moved) != to.type(x)) return std::nullopt;
  return loop(to, 1, {moved}, [&](IdentityWriter& body, std::span<const Value> carried) {
    return std::vector{move.back(body, carried[0])};
  });
}

Written turned_round(IdentityWriter& to, const Node&, Value x) {
  const auto axis = to.axis_of(x);
  if (!axis) return std::nullopt;
  const std::int64_t size = to.size(x, *axis);
  if (size == 0 || size > 9) return std::nullopt;
  return loop(to, size, {x}, [&](IdentityWriter& body, std::span<const Value> carried) {
    const Value tail = body.part(carried[0], *axis, 1, size);
    return std::vector{body.concatenate({tail, body.part(carried[0], *axis, 0, 1)}, *axis)};
  });
}

Written written_piece_by_piece(IdentityWriter& to, const Node&, Value x) {
  const auto axis = to.axis_of(x);
  if (!axis) return std::nullopt;
  const std::int64_t size = to.size(x, *axis);
  if (size == 0 || size > 40) return std::nullopt;
  const Value counter = to.scalar(i32, 0);
  const Value blank = to.other(x);
  return loop(to, size, {blank, counter, x}, [&](IdentityWriter& body, std::span<const Value> in) {
    SizesAttributes block;
    std::vector<Value> starts;
    for (int k = 0; k < to.type(x).rank(); ++k) {
      starts.push_back(k == *axis ? in[1] : body.scalar(i32, 0));
      block.sizes.push_back(k == *axis ? 1 : to.shape(x)[k]);
    }
    std::vector<Value> read = starts, write = starts;
    read.insert(read.begin(), in[2]);
    const Value piece = body.add(Op::dynamic_slice, read, block);
    write.insert(write.begin(), {in[0], piece});
    const Value next = body.add(Op::add, {in[1], body.scalar(i32, 1)});
    return std::vector{body.add(Op::dynamic_update_slice, write), next};
  });
}

// Branches of one operand each.
template <class Body>
Graph branch(IdentityWriter& to, std::span<const Value> operands, Body body) {
  Region region(to, "branch", operands);
  const Value result = body(region.to, std::span<const Value>(region.parameters));
  return region.builder.build({result});
}

Written one_branch_of_several(IdentityWriter& to, const Node&, Value x) {
  const std::int64_t count = 1 + to.random.below(3);
  const std::int64_t taken = to.random.below(count + 1) - 1;  // of -1, the last
  std::vector<Graph> branches;
  const std::vector<Value> operands{x};
  for (std::int64_t k = 0; k < count; ++k) {
    const bool is_taken = k == (taken < 0 ? count - 1 : taken);
    branches.push_back(branch(to, operands, [&](IdentityWriter& in, std::span<const Value> given) {
      return is_taken ? given[0] : in.other(given[0]);
    }));
  }
  const Value index = to.scalar(i32, static_cast<double>(taken));
  return to.add(Op::case_, {index, x}, NoAttributes{}, std::nullopt, std::move(branches));
}

// Which is taken the values say.
Written equal_branches(IdentityWriter& to, const Node&, Value x) {
  if (is_complex(to.dtype(x)) || to.type(x).size() == 0) return std::nullopt;
  Value index = to.reshape(x, {to.type(x).size()});
  index = to.reshape(to.part(index, 0, 0, 1), {});
  if (to.dtype(x) != i32) index = to.convert(index, i32);
  std::vector<Graph> branches;
  const std::vector<Value> operands{x};
  const std::int64_t count = 1 + to.random.below(3);
  for (std::int64_t k = 0; k < count; ++k) {
    const Move move = random_move(to.random, to.shape(x));
    branches.push_back(branch(to, operands, [&](IdentityWriter& in, std::span<const Value> given) {
      return move.back(in, move.there(in, given[0]));
    }));
  }
  return to.add(Op::case_, {index, x}, NoAttributes{}, std::nullopt, std::move(branches));
}

bool may_be_in_a_region(const Node& node) {
  return node.op != Op::parameter && node.op != Op::transfer && !node.inputs.empty();
}

Written op_in_a_branch(IdentityWriter& to, const Node& node, Value x) {
  if (!may_be_in_a_region(node)) return std::nullopt;
  std::vector<Graph> branches;
  branches.push_back(branch(to, node.inputs, [&](IdentityWriter& in, std::span<const Value> given) {
    const Value first = in.again(node, {given.begin(), given.end()});
    return Value{first.node, x.result};
  }));
  std::vector<Value> operands = node.inputs;
  operands.insert(operands.begin(), to.scalar(i32, static_cast<double>(to.random.below(3))));
  return to.add(Op::case_, operands, NoAttributes{}, std::nullopt, std::move(branches));
}

Written op_in_a_loop(IdentityWriter& to, const Node& node, Value x) {
  if (!may_be_in_a_region(node)) return std::nullopt;
  std::vector<Value> operands = node.inputs;
  operands.insert(operands.begin(), to.other(x));
  const std::int64_t turns = 1 + to.random.below(2);
  return loop(to, turns, operands, [&](IdentityWriter& body, std::span<const Value> in) {
    const Value first = body.again(node, {in.begin() + 1, in.end()});
    return std::vector{Value{first.node, x.result}};
  });
}

const Identity table[] = {
    {"x = a loop of one turn that moves x back", carried_once},
    {"x = a loop that turns x by one place, all round", turned_round},
    {"x = a loop that writes each piece of x", written_piece_by_piece},
    {"x = a branch that gives x", one_branch_of_several},
    {"x = equal branches of x", equal_branches},
    {"f(x) = a branch that gives f(x)", op_in_a_branch},
    {"f(x) = a loop that gives f(x), of one or two turns", op_in_a_loop},
};

}  // namespace

std::span<const Identity> flow_identities() { return table; }

}  // namespace anabranch
