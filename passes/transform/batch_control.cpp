// The rules of `batch` for loops and branches.
#include <algorithm>

#include "ir/masked_loop.h"
#include "passes/transform/batch.h"
#include "passes/transform/batch_rules.h"
#include "passes/transform/dependence.h"

namespace anabranch::batch_rules {
namespace {

std::vector<bool> flags_of(const BatchCall& call) {
  std::vector<bool> flags;
  for (const BatchedValue& operand : call.operands) flags.push_back(operand.batched);
  return flags;
}

std::vector<BatchedValue> with_flags(const std::vector<Value>& values, std::size_t first,
                                     const std::vector<bool>& flags) {
  std::vector<BatchedValue> batched;
  for (std::size_t i = 0; i < flags.size(); ++i) batched.push_back({values[first + i], flags[i]});
  return batched;
}

// --- loops --------------------------------------------------------------------------------------

// A loop whose carry and operands are as `flags` says.
struct LoopCall {
  const BatchCall& call;
  std::vector<bool> carried, flags;  // of what is carried; of all operands

  const Graph& condition() const { return call.node.regions[0]; }
  const Graph& body() const { return call.node.regions[1]; }

  /// The operands; those that are carried become what they will be.
  std::vector<Value> inputs() const {
    std::vector<Value> values;
    for (std::size_t i = 0; i < flags.size(); ++i) {
      values.push_back(flags[i] ? call.whole(i).value : call.given(i).value);
    }
    return values;
  }
};

std::vector<BatchedValue> results_of(const Quantity& loop, std::uint32_t first,
                                     const std::vector<bool>& flags) {
  std::vector<BatchedValue> results;
  for (std::uint32_t i = 0; i < flags.size(); ++i) {
    results.push_back({{loop.value.node, first + i}, flags[i]});
  }
  return results;
}

// All elements take as many turns.
BatchedResults in_step(const LoopCall& loop) {
  const BatchCall& call = loop.call;
  std::vector<Graph> regions = {batch(loop.condition(), call.size, loop.flags).graph,
                                batch(loop.body(), call.size, loop.flags, loop.carried).graph};
  const Quantity first =
      call.add(Op::while_, loop.inputs(), call.node.attributes, std::nullopt, std::move(regions));
  return results_of(first, 0, loop.carried);
}

// Parameters: whether each element goes on, then the loop's own.
std::vector<Value> parameters_of(GraphBuilder& builder, const BatchCall& call,
                                 const std::vector<Value>& inputs) {
  std::vector<Value> parameters;
  for (Value input : inputs) parameters.push_back(builder.parameter(call.to.type(input)));
  return parameters;
}

// Of these values in `to`: [size] of bool.
Quantity condition_of(GraphBuilder& to, const LoopCall& loop,
                      const std::vector<BatchedValue>& values) {
  return with_batch_axis(to, batch_into(to, loop.condition(), loop.call.size, values)[0],
                         loop.call.size);
}

// An element that goes on takes the next values; the others keep theirs.
Graph masked_body(const LoopCall& loop, const std::vector<Value>& inputs) {
  const std::int64_t size = loop.call.size;
  GraphBuilder builder(loop.body().name());
  const std::vector<Value> parameters = parameters_of(builder, loop.call, inputs);
  const Quantity goes_on{&builder, parameters[0]};
  std::vector<BatchedValue> values = with_flags(parameters, 1, loop.flags);
  const std::vector<BatchedValue> next = batch_into(builder, loop.body(), size, values);
  std::vector<Value> outputs = {goes_on.value};
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (loop.carried[i]) {
      const Quantity before{&builder, values[i].value};
      values[i].value = select(over_elements(goes_on, before.shape()),
                               with_batch_axis(builder, next[i], size), before)
                            .value;
    }
    outputs.push_back(values[i].value);
  }
  outputs[0] = builder.add(Op::and_, {goes_on.value, condition_of(builder, loop, values).value});
  return builder.build(std::move(outputs));
}

// All examples take as many turns as the longest: where one's mask is false, nothing changes.
BatchedResults until_all_masks_end(const LoopCall& loop, std::uint32_t mask) {
  const BatchCall& call = loop.call;
  std::vector<Value> inputs = loop.inputs();
  GraphBuilder condition(loop.condition().name());
  const Value all = parameters_of(condition, call, inputs)[mask];
  AxesAttributes axes;
  for (int axis = 0; axis < condition.type(all).rank(); ++axis) axes.axes.push_back(axis);
  const Value any = condition.add(Op::reduce_any, {all}, axes);
  std::vector<Graph> regions = {condition.build({any}),
                                batch(loop.body(), call.size, loop.flags, loop.carried).graph};
  const Quantity first = call.add(Op::while_, std::move(inputs), call.node.attributes, std::nullopt,
                                  std::move(regions));
  return results_of(first, 0, loop.carried);
}

// The loop with a mask (ir/masked_loop.h): whether each element goes on is carried, in front.
BatchedResults until_all_end(const LoopCall& loop) {
  const BatchCall& call = loop.call;
  std::vector<Value> inputs = loop.inputs();
  const Quantity goes_on = condition_of(call.to, loop, with_flags(inputs, 0, loop.flags));
  inputs.insert(inputs.begin(), goes_on.value);
  GraphBuilder condition(loop.condition().name());
  const Value any = condition.add(Op::reduce_any, {parameters_of(condition, call, inputs)[0]},
                                  AxesAttributes{{0}});
  std::vector<Graph> regions = {condition.build({any}), masked_body(loop, inputs)};
  const Quantity first = call.add(Op::while_, std::move(inputs), call.node.attributes, std::nullopt,
                                  std::move(regions));
  return results_of(first, 1, loop.carried);
}

// --- branches -----------------------------------------------------------------------------------

// The branch that is taken is one for all elements.
BatchedResults one_branch(const BatchCall& call) {
  std::vector<bool> flags = flags_of(call);
  flags.erase(flags.begin());
  std::vector<bool> results(call.node.types.size());
  for (const Graph& branch : call.node.regions) {
    const std::vector<bool> found = dependent_outputs(branch, flags);
    for (std::size_t i = 0; i < results.size(); ++i) results[i] = results[i] || found[i];
  }
  std::vector<Graph> regions;
  for (const Graph& branch : call.node.regions) {
    regions.push_back(batch(branch, call.size, flags, results).graph);
  }
  std::vector<Value> inputs;
  for (const BatchedValue& operand : call.operands) inputs.push_back(operand.value);
  const Quantity first =
      call.add(Op::case_, std::move(inputs), NoAttributes{}, std::nullopt, std::move(regions));
  return results_of(first, 0, results);
}

// All branches are computed, and each element takes its own's results: the last branch's where no
// other has its number.
BatchedResults all_branches(const BatchCall& call) {
  const std::vector<BatchedValue> operands(call.operands.begin() + 1, call.operands.end());
  const std::vector<Graph>& branches = call.node.regions;
  std::vector<BatchedValue> taken;
  for (std::size_t at = branches.size(); at-- > 0;) {
    std::vector<BatchedValue> own = batch_into(call.to, branches[at], call.size, operands);
    const bool is_last = at + 1 == branches.size();
    const Quantity index = call.given(0);
    const Quantity is_own = index == index.number(static_cast<double>(at));
    for (std::size_t i = 0; i < own.size(); ++i) {
      Quantity result = call.whole(own[i]);
      if (!is_last) {
        result = select(over_elements(is_own, result.shape()), result, {&call.to, taken[i].value});
      }
      own[i] = {result.value, true};
    }
    taken = std::move(own);
  }
  return taken;
}

}  // namespace

BatchedResults while_(const BatchCall& call) {
  std::vector<bool> flags = flags_of(call);
  const auto [carried, condition] = dependent_loop(call.node, flags);
  std::copy(carried.begin(), carried.end(), flags.begin());
  const LoopCall loop{call, carried, std::move(flags)};
  if (!condition) return in_step(loop);
  if (const auto mask = mask_of(call.node)) return until_all_masks_end(loop, *mask);
  return until_all_end(loop);
}

BatchedResults case_(const BatchCall& call) {
  return call.is_batched(0) ? all_branches(call) : one_branch(call);
}

// --- functions ----------------------------------------------------------------------------------

namespace {

// Of a function whose derivative is its own, what depends on nothing batched stays single.
BatchedResults plain_call(const BatchCall& call) {
  const BatchedGraph made = batch(call.node.regions[0], call.size, flags_of(call));
  std::vector<Value> inputs;
  for (const BatchedValue& operand : call.operands) inputs.push_back(operand.value);
  const Quantity first =
      call.add(Op::composite, std::move(inputs), call.node.attributes, std::nullopt, {made.graph});
  return results_of(first, 0, made.batched);
}

}  // namespace

// All that goes into regions with rules of their own, and all that comes out, is batched.
BatchedResults composite(const BatchCall& call) {
  CompositeAttributes attributes = call.as<CompositeAttributes>();
  if (is_plain_call(attributes)) return plain_call(call);
  for (Type& type : attributes.results) type = call.with_batch(type);
  std::vector<Graph> regions;
  for (const Graph& region : call.node.regions) {
    const std::vector<bool> in(region.parameter_count(), true), out(region.outputs().size(), true);
    regions.push_back(batch(region, call.size, in, out).graph);
  }
  return all_results(call, call.add(Op::composite, call.all_whole(), attributes, std::nullopt,
                                    std::move(regions)));
}

}  // namespace anabranch::batch_rules
