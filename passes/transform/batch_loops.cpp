#include "passes/transform/batch_loops.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "anabranch/error.h"
#include "ir/counted_loop.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "ir/plan_fusion.h"
#include "passes/canonicalize.h"
#include "passes/cse.h"
#include "passes/dce.h"
#include "passes/fold.h"
#include "passes/regions.h"
#include "passes/simplify.h"
#include "passes/transform/batch_rules.h"
#include "passes/transform/dependence.h"

namespace anabranch {
namespace {

/// A carried array, and the row that each turn writes in it.
struct Collected {
  std::uint32_t carry = 0;
  Value row;  ///< of the body, the first axis being of size 1
};

/// All turns of a loop as one kernel, and what it gives.
struct Batched {
  Graph region;
  FusionKind kind = FusionKind::elementwise;
  std::vector<Value> operands;       ///< of the loop's graph
  std::vector<Collected> collected;  ///< by output of the region
};

bool is_row_of(const Shape& row, const Shape& whole) {
  return whole.rank() > 0 && row[0] == 1 &&
         std::equal(row.begin() + 1, row.end(), whole.begin() + 1, whole.end());
}

/// What a loop's body computes in all turns.
class AllTurns {
 public:
  AllTurns(const Node& loop, const KnownTurns& turns)
      : loop_(loop),
        body_(loop.regions[1]),
        turns_(turns),
        outside_(body_, whole_),
        inside_(body_, turn_) {}

  std::optional<Batched> run(PassContext& context) {
    if (!find_rows() || !find_needed()) return std::nullopt;
    Batched made{{}, {}, {}, collected_};
    take_parameters(made.operands);
    for (auto i = parameters(); i < body_.nodes().size(); ++i) {
      if (needed_[i]) take(i);
    }
    made.region = region();
    for (const auto pass : {canonicalize, fold, simplify, canonicalize, cse, dce}) {
      made.region = pass(made.region, context);
    }
    const auto planned = plan_fusion(made.region);
    const auto* plan = std::get_if<FusionPlan>(&planned);
    if (!plan || plan->recompute > 1) return std::nullopt;
    if (plan->kind != FusionKind::elementwise && plan->kind != FusionKind::reduction) {
      return std::nullopt;
    }
    made.kind = plan->kind;
    return made;
  }

 private:
  std::uint32_t parameters() const { return static_cast<std::uint32_t>(body_.parameter_count()); }
  std::uint32_t carries() const { return static_cast<std::uint32_t>(loop_.types.size()); }

  /// Rows have numbers of i32 or i64, each of which has room for all of the counter.
  bool is_counter(Value value) const {
    const Node& node = body_.node(value);
    const Value from = node.op == Op::convert ? node.inputs[0] : value;
    return from == Value{turns_.counter, 0} && turns_.first + turns_.count <= INT32_MAX;
  }

  /// Whether all turns have rows of `whole`; none are moved inside then.
  bool has_rows(const Shape& whole) const {
    return turns_.first >= 0 && turns_.first + turns_.count <= whole[0];
  }

  // Each array that is carried is written, at its row, and nothing else looks at it.
  bool find_rows() {
    const std::vector<char> is_written = written_in_blocks(loop_);
    for (std::uint32_t i = 0; i < carries(); ++i) {
      if (i == turns_.counter) continue;
      if (!is_written[i]) return false;
      const Node& update = body_.node(body_.outputs()[i]);
      const Shape& whole = update.types[0].shape;
      if (!is_row_of(body_.type(update.inputs[1]).shape, whole) || !has_rows(whole)) return false;
      if (!is_counter(update.inputs[2])) return false;
      collected_.push_back({i, update.inputs[1]});
    }
    return !collected_.empty();
  }

  // What rows are made of, and what of it is not the same in every turn.
  bool find_needed() {
    std::vector<Value> rows;
    for (const Collected& each : collected_) rows.push_back(each.row);
    needed_ = needed_nodes(body_, rows);
    for (std::uint32_t i = 0; i < body_.nodes().size(); ++i) {
      const Op op = body_.nodes()[i].op;
      if (!needed_[i]) continue;
      if (is_control(op) || is_call(op) || is_library(op) || op == Op::fusion) return false;
    }
    std::vector<bool> counter(parameters());
    counter[turns_.counter] = true;
    depends_ = dependent_values(body_, counter);
    return true;
  }

  bool depends(Value value) const { return depends_[value.node][value.result]; }

  void take_parameters(std::vector<Value>& operands) {
    for (std::uint32_t i = carries(); i < parameters(); ++i) {
      if (!needed_[i]) continue;
      outside_.rename(i, whole_.parameter(body_.parameter_type(i)));
      operands.push_back(loop_.inputs[i]);
    }
    if (!needed_[turns_.counter]) return;
    const Type& type = body_.parameter_type(turns_.counter);
    const Type all{type.dtype, Shape{turns_.count}};
    const Quantity numbers = iota(whole_, all, 0) + static_cast<double>(turns_.first);
    hand_in({turns_.counter, 0}, {numbers.value, true});
  }

  // A value of the body is one of the turn's operands.
  void hand_in(Value value, BatchedValue as) {
    inside_.rename(value, turn_.late_parameter(body_.type(value)));
    handed_in_.insert(value);
    operands_.push_back(as);
  }

  void take(std::uint32_t at) {
    if (!depends({at, 0})) {
      outside_.copy(at);
      return;
    }
    const Node& node = body_.nodes()[at];
    if (reads_its_row(node)) return hand_in({at, 0}, {rows_of(node).value, true});
    for (Value input : node.inputs) {
      if (depends(input) || handed_in_.contains(input)) continue;
      hand_in(input, {outside_(input), false});
    }
    inside_.copy(at);
  }

  bool reads_its_row(const Node& node) const {
    if (node.op != Op::dynamic_slice || depends(node.inputs[0])) return false;
    const Shape& whole = body_.type(node.inputs[0]).shape;
    return is_counter(node.inputs[1]) && is_row_of(node.types[0].shape, whole) && has_rows(whole);
  }

  Quantity rows_of(const Node& read) {
    const Quantity array{&whole_, outside_(read.inputs[0])};
    AxisList start(static_cast<std::size_t>(array.shape().rank())),
        limit(array.shape().begin(), array.shape().end());
    start[0] = turns_.first;
    limit[0] = turns_.first + turns_.count;
    return array.slice(start, limit).reshape(with_first_axis(read.types[0], turns_.count).shape);
  }

  Graph region() {
    std::vector<Value> rows;
    std::vector<BatchedValue> made;
    for (const Collected& each : collected_) {
      if (depends(each.row)) rows.push_back(inside_(each.row));
    }
    if (!rows.empty()) {
      made = batch_into(whole_, turn_.build(std::move(rows)), turns_.count, operands_);
    }
    std::vector<Value> outputs;
    auto next = made.begin();
    for (const Collected& each : collected_) {
      const BatchedValue row =
          depends(each.row) ? *next++ : BatchedValue{outside_(each.row), false};
      const Quantity all = with_batch_axis(whole_, row, turns_.count);
      AxisList sizes(all.shape().begin(), all.shape().end());
      sizes.erase(sizes.begin() + 1);
      outputs.push_back(all.reshape(Shape(std::move(sizes))).value);
    }
    return whole_.build(std::move(outputs));
  }

  const Node& loop_;
  const Graph& body_;
  const KnownTurns turns_;
  std::vector<Collected> collected_;
  std::vector<char> needed_;                // by node of the body: to make rows
  std::vector<std::vector<bool>> depends_;  // by node and result: on the counter
  GraphBuilder whole_{""}, turn_{"turn"};
  GraphCopier outside_;  // what every turn has, to all turns
  GraphCopier inside_;   // what one turn computes by itself
  std::set<Value> handed_in_;
  std::vector<BatchedValue> operands_;  // of `turn_`, in `whole_`
};

std::optional<Batched> batched(const Node& loop, const KnownTurns& turns, PassContext& context) {
  try {
    return AllTurns(loop, turns).run(context);
  } catch (const Error&) {  // more elements than an array can have
    return std::nullopt;
  }
}

class LoopBatcher {
 public:
  /// `as_kernels`: each is a fusion; else its ops stand in its place.
  LoopBatcher(const Graph& graph, PassContext& context, bool as_kernels)
      : graph_(graph),
        context_(context),
        as_kernels_(as_kernels),
        builder_(graph.name()),
        copier_(graph, builder_) {}

  Graph run() {
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.node(i);
      if (!is_control(node.op)) {
        copier_.copy(i);
        continue;
      }
      if (node.op == Op::while_ && replace(i)) continue;
      Node made = copier_.renamed(i);
      // What is around a loop that stays is no kernel, whatever is inside.
      for (Graph& region : made.regions) {
        if (as_kernels_) region = LoopBatcher(region, context_, true).run();
      }
      copier_.rename(i, builder_.append(std::move(made)));
    }
    return builder_.build(copier_(graph_.outputs()));
  }

 private:
  bool replace(std::uint32_t at) {
    const auto turns = known_turns(graph_, graph_.node(at));
    if (!turns) return false;
    Node loop = graph_.node(at);
    loop.regions[1] = LoopBatcher(loop.regions[1], context_, false).run();
    const auto all = batched(loop, *turns, context_);
    if (!all) return false;
    const std::vector<Value> rows = write(*all, loop.location);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Value result{at, all->collected[i].carry};
      copier_.rename(result, placed(rows[i], result, turns->first));
    }
    const Dtype dtype = loop.types[turns->counter].dtype;
    copier_.rename({at, turns->counter},
                   builder_.constant(integer_literal(dtype, turns->first + turns->count)));
    return true;
  }

  std::vector<Value> write(const Batched& all, const SourceLocation& location) {
    const std::vector<Value> operands = copier_(all.operands);
    if (!as_kernels_) return inlined(all.region, builder_, operands);
    std::vector<Type> types;
    for (Value output : all.region.outputs()) types.push_back(all.region.type(output));
    const Value first = builder_.append(
        Node{Op::fusion, types, operands, FusionAttributes{all.kind}, {all.region}, location});
    std::vector<Value> results;
    for (std::uint32_t i = 0; i < types.size(); ++i) results.push_back({first.node, i});
    return results;
  }

  // The rows in the array that the loop begins with, where they are not all of it.
  Value placed(Value rows, Value result, std::int64_t first) {
    const Type& whole = graph_.type(result);
    if (builder_.type(rows) == whole) return rows;
    const Value begins_with = copier_(graph_.node(result).inputs[result.result]);
    std::vector<Value> operands = {begins_with, rows};
    for (int axis = 0; axis < whole.rank(); ++axis) {
      operands.push_back(builder_.constant(integer_literal(i64, axis == 0 ? first : 0)));
    }
    return builder_.add(Op::dynamic_update_slice, std::move(operands));
  }

  const Graph& graph_;
  PassContext& context_;
  const bool as_kernels_;
  GraphBuilder builder_;
  GraphCopier copier_;
};

bool has_control(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return is_control(node.op); });
}

}  // namespace

Graph batch_loops(const Graph& graph, PassContext& context) {
  return has_control(graph) ? without_dead_nodes(LoopBatcher(graph, context, true).run()) : graph;
}

}  // namespace anabranch
