#include "codegen/lower/loop.h"

#include <utility>
#include <vector>

#include "codegen/lower/chunks.h"
#include "codegen/lower/writer.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "ir/place_in.h"
#include "ir/pointwise_loop.h"

namespace anabranch {
namespace {

/// A value that the kernel carries, in the graph of a turn.
struct Carried {
  Value before, initial, next;
};

/// One turn of the loop as a graph, whose parameters are those of the region and then what is
/// carried. A complex number is carried in its parts.
struct Turn {
  Graph graph;
  Value counter;                   ///< before the turn, of a loop that counts
  std::vector<Carried> carried;    ///< of elements and scalars
  std::vector<std::size_t> first;  ///< per value that the loop carries: its first in `carried`
  std::vector<Value> next;         ///< per value that the loop carries
};

constexpr int most_choices = 4;  // one after the other

/// The real or the imaginary part of `value`, of its operands where it chooses between two.
Value part_of(GraphBuilder& builder, Value value, Op part, int choices = 0) {
  const Node node = builder.node(value);
  if (node.op == Op::complex) return node.inputs[part == Op::real ? 0 : 1];
  if (node.op != Op::select || choices == most_choices) return builder.add(part, {value});
  const Value yes = part_of(builder, node.inputs[1], part, choices + 1);
  const Value no = part_of(builder, node.inputs[2], part, choices + 1);
  return builder.add(Op::select, {node.inputs[0], yes, no});
}

Turn turn_of(const Graph& region, const Node& loop, const PointwiseLoop& pointwise) {
  GraphBuilder builder("turn");
  GraphCopier copier(region, builder);
  for (std::uint32_t i = 0; i < region.parameter_count(); ++i) copier.copy(i);
  std::vector<std::vector<Value>> parts;  // per value that the loop carries: itself, or both parts
  for (const Type& type : loop.types) {
    const Type part{part_dtype(type.dtype), type.shape};
    std::vector<Value>& own = parts.emplace_back();
    for (int i = is_complex(type.dtype) ? 2 : 1; i > 0; --i) own.push_back(builder.parameter(part));
  }
  for (std::uint32_t i = 0; i < region.nodes().size(); ++i) {
    const Op op = region.node(i).op;
    if (op != Op::parameter && op != Op::while_) copier.copy(i);
  }
  std::vector<Value> inputs = copier(loop.inputs);
  const std::vector<Value> initial = inputs;
  for (std::uint32_t i = 0; i < loop.types.size(); ++i) {
    inputs[i] = parts[i].size() == 2 ? builder.add(Op::complex, parts[i]) : parts[i][0];
  }
  Turn turn;
  if (const KnownTurns* counted = pointwise.counted()) turn.counter = inputs[counted->counter];
  turn.next = inlined(loop.regions[1], builder, inputs);
  std::vector<Value> outputs = turn.next;
  for (std::uint32_t i = 0; i < loop.types.size(); ++i) {
    turn.first.push_back(turn.carried.size());
    const CarryRole role = pointwise.roles[i];
    if (role != CarryRole::element && role != CarryRole::uniform) continue;
    if (parts[i].size() == 1) {
      turn.carried.push_back({parts[i][0], initial[i], turn.next[i]});
      continue;
    }
    for (std::size_t k : {0u, 1u}) {
      const Op part = k == 0 ? Op::real : Op::imag;
      turn.carried.push_back(
          {parts[i][k], part_of(builder, initial[i], part), part_of(builder, turn.next[i], part)});
      outputs.push_back(turn.carried.back().next);
    }
  }
  turn.graph = builder.build(std::move(outputs));
  return turn;
}

class LoopLowering {
 public:
  LoopLowering(const Graph& region, FusionPlan plan, std::string name)
      : region_(region),
        name_(std::move(name)),
        loop_(*whole_loop(region)),
        plan_(std::move(plan)),
        pointwise_(std::get<PointwiseLoop>(pointwise_loop(region, loop_))),
        turn_(turn_of(region, loop_, pointwise_)) {}

  Lowered run() const {
    const Nest nest = loop_per_axis(plan_.domain.sizes(), {});
    Trial trial = attempt(nest);
    if (trial.joined.kept.size() != nest.kept.size()) trial = attempt(trial.joined);
    KernelCall call{std::move(trial.kernel), {}};
    call.add_arguments(KernelArgument::Kind::input, region_.parameter_count());
    call.add_arguments(KernelArgument::Kind::output, region_.outputs().size());
    return {{std::move(call)}, {}, plan_.updates};
  }

 private:
  struct Trial {
    Kernel kernel;
    Nest joined;  ///< the loops it could have had
  };

  Trial attempt(const Nest& nest) const {
    GroupWriter writer(turn_.graph, region_.parameter_count(), name_, nest, plan_.domain.rank());
    writer.add_outputs(region_);
    Trial trial;
    trial.joined = nest;
    if (plan_.domain.size() > 0) {
      const std::vector<Ref> places = writer.open(nest.kept);
      write_turns(writer);
      for (std::size_t i = 0; i < places.size(); ++i) writer.builder.close_loop();
      trial.joined.kept = join_groups(nest.kept, std::span(&places, 1),
                                      writer.builder.used_indices(), writer.builder.indices());
    }
    trial.kernel = writer.builder.take();
    return trial;
  }

  void write_turns(GroupWriter& writer) const {
    KernelBuilder& builder = writer.builder;
    InlineProducers& producers = writer.producers;
    std::vector<Reduction> carries;
    for (const Carried& carried : turn_.carried) {
      const Ref initial = producers.value_at(carried.initial, place_of(writer, carried.initial));
      carries.push_back({Combine::carry, {initial}, {}, {}, {}});
    }
    if (const KnownTurns* counted = pointwise_.counted()) {
      const Index turn = builder.index_of(builder.open_loop(counted->count));
      producers.bind(turn_.counter, builder.indices().add(turn, counted->first));
    } else {
      const std::uint32_t mask = std::get<TurnsWhile>(pointwise_.turns).mask;
      carries[turn_.first[mask]].combine = Combine::while_;
      builder.open_loop(Loop::no_bound);
    }
    for (std::size_t k = 0; k < carries.size(); ++k) {
      const Value before = turn_.carried[k].before;
      carries[k].so_far = {builder.argument(turn_.graph.type(before).dtype)};
      producers.bind(before, place_of(writer, before), carries[k].so_far[0]);
    }
    for (std::size_t k = 0; k < carries.size(); ++k) {
      const Value next = turn_.carried[k].next;
      carries[k].values = {producers.value_at(next, place_of(writer, next))};
    }
    store_blocks(writer);
    carries = builder.close_loop(std::move(carries));
    const Index place = builder.indices().flatten(writer.domain, plan_.domain.sizes());
    for (std::uint32_t i = 0; i < region_.outputs().size(); ++i) {
      const std::uint32_t carry = region_.outputs()[i].result;
      if (pointwise_.roles[carry] != CarryRole::element) continue;
      const std::size_t first = turn_.first[carry];
      Ref result = carries[first].results[0];
      const Dtype dtype = loop_.types[carry].dtype;
      if (is_complex(dtype)) {
        result = builder.compute(Op::complex, dtype, {result, carries[first + 1].results[0]});
      }
      builder.store(writer.first_output + i, place, result);
    }
  }

  // Everything is computed before anything is stored.
  void store_blocks(GroupWriter& writer) const {
    std::vector<std::pair<std::uint32_t, GroupWriter::Stored>> computed;
    for (std::uint32_t i = 0; i < region_.outputs().size(); ++i) {
      const std::uint32_t carry = region_.outputs()[i].result;
      if (pointwise_.roles[carry] != CarryRole::stack) continue;
      const Node& update = turn_.graph.node(turn_.next[carry]);
      computed.emplace_back(writer.first_output + i,
                            writer.block_element(update, place_of(writer, update.inputs[1])));
    }
    for (auto [buffer, made] : computed) writer.builder.store(buffer, made.index, made.value);
  }

  // The place at hand; that of a scalar.
  Point place_of(GroupWriter& writer, Value value) const {
    const Shape& shape = turn_.graph.type(value).shape;
    if (shape.rank() == 0) return writer.producers.point({});
    return writer.producers.point(
        *place_in(shape, plan_.domain.sizes(), writer.domain, writer.builder.indices()));
  }

  const Graph& region_;
  const std::string name_;
  const Node& loop_;
  const FusionPlan plan_;
  const PointwiseLoop pointwise_;
  const Turn turn_;
};

}  // namespace

Lowered lower_loop(const Graph& region, FusionPlan plan, const std::string& name) {
  return LoopLowering(region, std::move(plan), name).run();
}

}  // namespace anabranch
