#include "codegen/lower/group.h"

#include <algorithm>

#include "codegen/lower/writer.h"
#include "ir/place_in.h"

namespace anabranch {
namespace {

std::vector<std::int64_t> sizes_of(const Shape& domain, std::span<const int> axes) {
  std::vector<std::int64_t> sizes;
  for (int axis : axes) sizes.push_back(domain[axis]);
  return sizes;
}

std::int64_t product(std::span<const std::int64_t> sizes) {
  std::int64_t total = 1;
  for (std::int64_t size : sizes) total *= size;
  return total;
}

}  // namespace

GroupLowering::GroupLowering(const Graph& region, FusionPlan plan, std::string name)
    : region_(region), plan_(std::move(plan)), name_(std::move(name)) {
  for (int axis = 0; axis < plan_.domain.rank(); ++axis) {
    const auto& reduced = plan_.reduced_axes;
    if (std::find(reduced.begin(), reduced.end(), axis) == reduced.end()) {
      kept_axes_.push_back(axis);
    }
  }
  kept_sizes_ = sizes_of(plan_.domain, kept_axes_);
  reduced_sizes_ = sizes_of(plan_.domain, plan_.reduced_axes);
  kept_size_ = product(kept_sizes_);
  row_size_ = product(reduced_sizes_);
}

Lowered GroupLowering::run(const LowerTarget& target) {
  Nest nest = loop_per_axis(plan_.domain.sizes(), plan_.reduced_axes);
  for (const Node& node : region_.nodes()) {
    // It combines in row-major order, so one loop must walk all of it.
    if (node.op == Op::reduce) nest.reduced = as_one_group(nest.reduced);
  }
  Trial trial = attempt(nest, std::nullopt);
  if (auto cut = split(trial.joined, target.column_sums)) {
    Lowered lowered;
    lowered.calls.push_back(partial_kernel(trial.joined, *cut));
    lowered.calls.push_back(combining_kernel(trial.joined, *cut));
    lowered.temporaries = partial_types(*cut);
    return lowered;
  }
  const bool joins = trial.joined.kept.size() != nest.kept.size() ||
                     trial.joined.reduced.size() != nest.reduced.size();
  if (joins || !trial.kept_row.empty()) {
    if (!may_keep(trial, target.kept_rows)) trial.kept_row.clear();
    trial = attempt(trial.joined, trial.kept_row);
  }

  KernelCall call{std::move(trial.kernel), {}};
  call.add_arguments(KernelArgument::Kind::input, region_.parameter_count());
  call.add_arguments(KernelArgument::Kind::output, region_.outputs().size());
  return {{std::move(call)}, {}, plan_.updates};
}

bool GroupLowering::may_keep(const Trial& trial, const KeptRows& limits) const {
  const auto runs_in_order = [](const Instruction& instruction) {
    const auto* loop = std::get_if<Loop>(&instruction.operation);
    return loop && loop->runs_in_order();
  };
  const bool is_nested = trial.joined.reduced.size() > 1;
  return (!is_nested || trial.kept_bytes <= limits.most_of_loops) &&
         (std::ranges::none_of(trial.kernel.instructions, runs_in_order) ||
          trial.kept_bytes <= limits.most_in_order);
}

GroupLowering::Trial GroupLowering::attempt(
    const Nest& nest, const std::optional<std::vector<Value>>& kept_row) const {
  GroupWriter writer(region_, name_, nest, plan_.domain.rank());
  writer.add_outputs(region_);
  writer.exploring = !kept_row;
  for (Value value : kept_row.value_or(std::vector<Value>())) {
    KernelBuffer buffer{"scratch" + std::to_string(writer.scratch.size()),
                        region_.type(value).dtype, row_size_, Access::scratch};
    writer.scratch[value] = writer.builder.add_buffer(std::move(buffer));
  }
  writer.producers.set_intercept([&](Value value, Point at) { return reuse(writer, value, at); });

  std::vector<Ref> kept_loops;
  if (kept_size_ > 0) {
    kept_loops = writer.open(nest.kept);
    writer.row = writer.producers.point(writer.places(kept_axes_));
    for (int stage = 0; stage < plan_.stages; ++stage) write_stage(writer, stage);
    store_rows(writer);
    for (std::size_t i = 0; i < kept_loops.size(); ++i) writer.builder.close_loop();
  }

  Trial trial;
  const IndexTable& table = writer.builder.indices();
  const auto used = writer.builder.used_indices();
  trial.joined = nest;
  if (kept_size_ > 0) {
    trial.joined.kept = join_groups(nest.kept, std::span(&kept_loops, 1), used, table);
    trial.joined.reduced = join_groups(nest.reduced, writer.reduced_loops, used, table);
  }
  trial.kept_row = std::move(writer.found);
  trial.kept_bytes = writer.found_bytes;
  trial.kernel = writer.builder.take();
  return trial;
}

void GroupLowering::write_stage(GroupWriter& writer, int stage) const {
  const std::vector<std::uint32_t> reductions = reductions_of(stage);
  bool stores = false;
  for (std::size_t i = 0; i < region_.outputs().size(); ++i) {
    stores |= !plan_.is_row[i] && plan_.stage[region_.outputs()[i].node] == stage;
  }
  if (reductions.empty() && !stores) return;
  writer.stage = stage;
  if (row_size_ > 0) {
    writer.reduced_loops.push_back(writer.open(writer.nest.reduced));
    if (!reductions.empty() && writer.nest.reduced.empty()) {
      writer.reduced_loops.back().push_back(writer.builder.open_loop(1));
    }
    writer.element = writer.producers.point(writer.domain);
  }
  fold_stage(writer, reductions);
}

void GroupLowering::fold_stage(GroupWriter& writer, const std::vector<std::uint32_t>& nodes) const {
  std::vector<Combiner> combiners;
  std::vector<Reduction> reductions;
  for (std::uint32_t index : nodes) {
    const Node& node = region_.node(index);
    const Combiner& combiner = combiners.emplace_back(combiner_of(node, region_));
    std::vector<Ref> initial = initial_scalars(combiner, node, writer.producers, writer.builder);
    if (row_size_ == 0) {
      bind_results(combiner, index, node, writer.row, initial, writer.producers, writer.builder);
      continue;
    }
    const Index position = position_of(writer);
    std::vector<Ref> values = element_scalars(combiner, node, writer.element, position, {},
                                              writer.producers, writer.builder);
    reductions.push_back(make_reduction(combiner, node, initial, values, writer.builder));
  }
  if (row_size_ == 0) return;
  store_outputs(writer, writer.stage);
  const std::vector<Ref>& loops = writer.reduced_loops.back();
  if (reductions.empty()) {
    for (std::size_t i = 0; i < loops.size(); ++i) writer.builder.close_loop();
    return;
  }
  reductions = writer.close(loops.size(), std::move(reductions));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    bind_results(combiners[i], nodes[i], region_.node(nodes[i]), writer.row, reductions[i].results,
                 writer.producers, writer.builder);
  }
}

void GroupLowering::store_outputs(GroupWriter& writer, int stage) const {
  IndexTable& table = writer.builder.indices();
  // Everything is computed before anything is stored, so that results may take operands' memory.
  std::vector<std::pair<std::uint32_t, GroupWriter::Stored>> computed;
  for (std::uint32_t i = 0; i < region_.outputs().size(); ++i) {
    if (plan_.is_row[i] || plan_.stage[region_.outputs()[i].node] != stage) continue;
    computed.emplace_back(writer.first_output + i, stored(writer, i));
  }
  for (auto [buffer, made] : computed) writer.builder.store(buffer, made.index, made.value);
  const std::vector<Index> place = writer.places(plan_.reduced_axes);
  for (auto [value, buffer] : writer.scratch) {
    auto first = writer.first_stage.find(value);
    if (first == writer.first_stage.end() || first->second != stage) continue;
    writer.builder.store(buffer, table.flatten(place, reduced_sizes_),
                         writer.producers.value_at(value, writer.element));
  }
}

void GroupLowering::store_rows(GroupWriter& writer) const {
  std::vector<std::pair<std::uint32_t, GroupWriter::Stored>> computed;
  for (std::uint32_t i = 0; i < region_.outputs().size(); ++i) {
    if (plan_.is_row[i]) computed.emplace_back(writer.first_output + i, stored(writer, i));
  }
  for (auto [buffer, made] : computed) writer.builder.store(buffer, made.index, made.value);
}

GroupWriter::Stored GroupLowering::stored(GroupWriter& writer, std::uint32_t output) const {
  IndexTable& table = writer.builder.indices();
  InlineProducers& producers = writer.producers;
  const Value result = region_.outputs()[output];
  const bool is_row = plan_.is_row[output];
  const auto updates = [&](const BlockUpdate& update) { return update.output == output; };
  if (std::ranges::none_of(plan_.updates, updates)) {
    const Shape& shape = region_.type(result).shape;
    const Point place = is_row ? producers.point(place_of(writer, shape, true)) : writer.element;
    const Ref value = producers.value_at(result, place);
    return {value, is_row ? table.flatten(writer.places(kept_axes_), kept_sizes_)
                          : table.flatten(writer.domain, plan_.domain.sizes())};
  }
  const Node& update = region_.node(result);
  const Shape& block = region_.type(update.inputs[1]).shape;
  return writer.block_element(
      update, producers.point(block == plan_.domain && !is_row ? writer.domain
                                                               : place_of(writer, block, is_row)));
}

// The axes of the domain, or of its row, in order, but for those of size 1, which an output may
// have anywhere. Never by way of one flat index: the reductions are bound at the very expressions
// of the open loops.
std::vector<Index> GroupLowering::place_of(GroupWriter& writer, const Shape& shape,
                                           bool of_row) const {
  IndexTable& table = writer.builder.indices();
  return *(of_row ? place_in(shape, kept_sizes_, writer.places(kept_axes_), table)
                  : place_in(shape, plan_.domain.sizes(), writer.domain, table));
}

// Along the reduced axis that argmax and argmin count on; a `reduce` of no axes has none.
Index GroupLowering::position_of(GroupWriter& writer) const {
  if (plan_.reduced_axes.empty()) return writer.builder.indices().constant(0);
  return writer.domain[static_cast<std::size_t>(plan_.reduced_axes[0])];
}

// A costly value that an earlier stage computed at every place of the row is kept, if the row is
// short.
Ref GroupLowering::reuse(GroupWriter& writer, Value value, Point at) const {
  if (!(at == writer.element) || row_size_ <= 1) return {};
  const auto [first, added] = writer.first_stage.emplace(value, writer.stage);
  if (first->second >= writer.stage) return {};
  if (auto kept = writer.scratch.find(value); kept != writer.scratch.end()) {
    IndexTable& table = writer.builder.indices();
    return writer.builder.load(kept->second,
                               table.flatten(writer.places(plan_.reduced_axes), reduced_sizes_));
  }
  if (!writer.exploring || !can_keep_rows(plan_)) return {};
  const Dtype dtype = region_.type(value).dtype;
  const auto bytes = row_size_ * static_cast<std::int64_t>(byte_size(dtype));
  if (bytes > largest_kept_row || writer.found_bytes + bytes > largest_kept_rows) return {};
  if (std::find(writer.found.begin(), writer.found.end(), value) == writer.found.end()) {
    writer.found.push_back(value);
    writer.found_bytes += bytes;
  }
  return writer.builder.argument(dtype);  // a stand-in: this attempt is not the last
}

std::vector<std::uint32_t> GroupLowering::reductions_of(int stage) const {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < region_.nodes().size(); ++i) {
    if (is_folded(plan_, region_, region_.node(i)) && plan_.stage[i] == stage) nodes.push_back(i);
  }
  return nodes;
}

}  // namespace anabranch
