#include "passes/transform/batch.h"

#include <string>

#include "anabranch/error.h"
#include "ir/graph/copier.h"
#include "passes/transform/batch_rules.h"
#include "passes/transform/gather_checks.h"

namespace anabranch {
namespace {

BatchedResults elementwise(const BatchCall& call) {
  std::optional<Type> stated;
  if (info(call.node.op).has(OpInfo::typed)) stated = call.with_batch(call.node.types[0]);
  return call.add(call.node.op, call.all_whole(), call.node.attributes, std::move(stated));
}

BatchedResults without_rule(const BatchCall& call, const char* why) {
  throw InternalError("batch", std::string(name(call.node.op)) + " " + why);
}

BatchedResults rule_of(const BatchCall& call) {
  switch (call.node.op) {
#define LEAF_OP(name) \
  case Op::name:      \
    return without_rule(call, "takes no operands, so that none can be batched");
#define ELEMENTWISE_OP(name) \
  case Op::name:             \
    return elementwise(call);
#define COMPOSED_OP ELEMENTWISE_OP
#define REGION_OP(name) \
  case Op::name:        \
    return without_rule(call, "is made by passes that come after this one");
#define OTHER_OP(name) \
  case Op::name:       \
    return batch_rules::name(call);
#include "ir/ops_by_kind.def"
  }
  throw InternalError("batch", "an op that ops.def does not have");
}

// A batch of none has nothing to compute, and some ops would refuse it.
BatchedResults results_of(const BatchCall& call) {
  const bool has_programs = is_control(call.node.op) || call.node.op == Op::composite;
  if (call.size > 0 || has_programs) return rule_of(call);
  std::vector<BatchedValue> results;
  for (const Type& type : call.node.types) {
    results.push_back({Quantity::zeros(call.to, call.with_batch(type)).value, true});
  }
  return results;
}

class Batcher {
 public:
  Batcher(const Graph& graph, GraphBuilder& to, std::int64_t size)
      : graph_(graph), to_(to), size_(size), copier_(graph, to) {}

  void rename(std::uint32_t parameter, BatchedValue as) {
    copier_.rename(parameter, as.value);
    batched_.push_back({as.batched});
  }
  void body() {
    for (auto i = static_cast<std::uint32_t>(graph_.parameter_count()); i < graph_.nodes().size();
         ++i) {
      node(i);
    }
  }
  BatchedValue operator()(Value value) const {
    return {copier_(value), batched_[value.node][value.result]};
  }

 private:
  void node(std::uint32_t index) {
    const Node& node = graph_.node(index);
    BatchCall call{node, size_, to_, {}};
    for (Value input : node.inputs) call.operands.push_back((*this)(input));
    if (!call.any_batched(0, call.operands.size())) {
      copier_.copy(index);
      batched_.emplace_back(node.types.size(), false);
      return;
    }
    const std::vector<BatchedValue> results = results_of(call).values;
    std::vector<bool>& flags = batched_.emplace_back();
    for (std::uint32_t i = 0; i < results.size(); ++i) {
      copier_.rename({index, i}, results[i].value);
      flags.push_back(results[i].batched);
    }
  }

  const Graph& graph_;
  GraphBuilder& to_;
  const std::int64_t size_;
  GraphCopier copier_;
  std::vector<std::vector<bool>> batched_;  // per node and result
};

void demand_length(const Graph& graph, const std::vector<bool>& list, std::size_t wanted,
                   const char* what) {
  if (list.size() == wanted) return;
  throw InternalError("batch", std::to_string(list.size()) + " entries for the " +
                                   std::to_string(wanted) + " " + what + " of " + graph.name());
}

}  // namespace

std::vector<BatchedValue> batch_into(GraphBuilder& to, const Graph& graph, std::int64_t size,
                                     const std::vector<BatchedValue>& operands) {
  Batcher batcher(graph, to, size);
  for (std::uint32_t i = 0; i < operands.size(); ++i) batcher.rename(i, operands[i]);
  batcher.body();
  std::vector<BatchedValue> outputs;
  for (Value output : graph.outputs()) outputs.push_back(batcher(output));
  return outputs;
}

BatchedGraph batch(const Graph& single, std::int64_t size, const std::vector<bool>& batched,
                   const std::vector<bool>& required) {
  // Branches that are not taken and loops that are over check nothing.
  PassContext context;
  const Graph graph = gather_checks(single, context);
  demand_length(graph, batched, graph.parameter_count(), "parameters");
  if (!required.empty()) demand_length(graph, required, graph.outputs().size(), "outputs");
  GraphBuilder builder(graph.name());
  std::vector<BatchedValue> parameters;
  for (std::uint32_t i = 0; i < graph.parameter_count(); ++i) {
    const Type& type = graph.parameter_type(i);
    const Value parameter =
        builder.parameter(batched[i] ? with_first_axis(type, size) : type, graph.node(i).location);
    parameters.push_back({parameter, batched[i]});
  }
  BatchedGraph result;
  std::vector<Value> outputs;
  for (BatchedValue output : batch_into(builder, graph, size, parameters)) {
    const std::size_t i = outputs.size();
    const bool is_required = !required.empty() && required[i];
    outputs.push_back(is_required ? with_batch_axis(builder, output, size).value : output.value);
    result.batched.push_back(output.batched || is_required);
  }
  result.graph = builder.build(std::move(outputs));
  return result;
}

}  // namespace anabranch
