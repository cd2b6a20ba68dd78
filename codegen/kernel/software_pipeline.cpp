#include "codegen/kernel/software_pipeline.h"

#include <algorithm>
#include <bit>
#include <map>

#include "anabranch/error.h"
#include "codegen/kernel/loop_nest.h"
#include "ir/kernel/builder.h"

namespace anabranch {
namespace {

/// The loops over a row, in order, if the row loop holds nothing that cannot be moved.
std::optional<std::vector<Ref>> stages_of(const Kernel& kernel, const Loop& rows) {
  std::vector<Ref> stages;
  for (Ref ref : rows.body) {
    const auto* loop = std::get_if<Loop>(&kernel[ref].operation);
    if (!loop) continue;
    const bool holds_loops = std::any_of(loop->body.begin(), loop->body.end(), [&](Ref inner) {
      return std::holds_alternative<Loop>(kernel[inner].operation);
    });
    const auto& first = std::get<Loop>(kernel[stages.empty() ? ref : stages[0]].operation);
    if (loop->runs_in_order() || holds_loops || loop->extent != first.extent) return std::nullopt;
    stages.push_back(ref);
  }
  if (stages.size() < 2) return std::nullopt;
  return stages;
}

/// Writes the pipelined kernel. At step t of a block, stage s works on the block's row t - s.
/// Before the first row and after the last it works on that row itself, too early with what the
/// buffers held before and then once more, or again: what it stores is right in the end, where no
/// result is in an operand's place.
class Stagger {
 public:
  Stagger(const Kernel& kernel, Ref rows, std::vector<Ref> stages, std::int64_t block_rows)
      : kernel_(kernel),
        row_loop_(rows),
        rows_(std::get<Loop>(kernel[rows].operation)),
        stages_(std::move(stages)),
        block_rows_(block_rows),
        builder_(kernel.name),
        copiers_(stages_.size(), IndexCopier(kernel.indices, builder_.indices())),
        scalars_(stages_.size()) {}

  Kernel run() {
    const auto depth = static_cast<std::int64_t>(stages_.size());
    add_buffers();
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) carry_results(stage);

    const std::int64_t blocks = (rows_.extent + block_rows_ - 1) / block_rows_;
    const Index block = builder_.index_of(builder_.open_loop(blocks));
    clear_scratch();
    step_ = builder_.index_of(builder_.open_loop(block_rows_ + depth - 1));
    IndexTable& table = builder_.indices();
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      copiers_[stage].set_scalars(
          [this, stage](std::uint32_t old) { return scalar(Ref{old}, stage).index; });
      // max(t - s, 0), as -min(s - t, 0)
      const Index late = table.add(table.scale(step_, -1), static_cast<std::int64_t>(stage));
      const Index in_block = table.least(table.scale(table.least(late, 0), -1), block_rows_ - 1);
      const Index row = table.add(table.scale(block, block_rows_), in_block);
      copiers_[stage].set_loop(row_loop_.index, table.least(row, rows_.extent - 1));
    }
    write_step();
    builder_.close_loop();
    builder_.close_loop();
    Kernel made = builder_.take();
    made.cost = kernel_.cost;
    made.graph_text = kernel_.graph_text;
    return made;
  }

 private:
  const Loop& loop(std::size_t stage) const {
    return std::get<Loop>(kernel_[stages_[stage]].operation);
  }
  std::size_t stage_of(Ref leaf) const {
    return static_cast<std::size_t>(std::find(stages_.begin(), stages_.end(), leaf) -
                                    stages_.begin());
  }

  // What one stage's reductions come to waits in scratch for the rows' later stages.
  void carry_results(std::size_t stage) {
    for (const Reduction& reduction : loop(stage).reductions) {
      for (Ref result : reduction.results) {
        const std::string name = "carry" + std::to_string(carries_.size());
        const auto slots = static_cast<std::int64_t>(std::bit_ceil(stages_.size()));
        carries_[result.index] =
            builder_.add_buffer({name, kernel_[result].dtype, slots, Access::scratch});
      }
    }
  }

  // A scratch row gets as many versions as rows are between its first stage and its last.
  void add_buffers() {
    struct Life {
      std::size_t first = SIZE_MAX, last = 0;
    };
    std::vector<Life> lives(kernel_.buffers.size());
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      for (Ref ref : loop(stage).body) {
        const auto* load = std::get_if<Load>(&kernel_[ref].operation);
        const auto* store = std::get_if<Store>(&kernel_[ref].operation);
        if (!load && !store) continue;
        Life& life = lives[load ? load->buffer : store->buffer];
        life = {std::min(life.first, stage), std::max(life.last, stage)};
      }
    }
    for (std::size_t i = 0; i < lives.size(); ++i) {
      KernelBuffer buffer = kernel_.buffers[i];
      versions_.push_back(1);
      if (buffer.access == Access::scratch && lives[i].first <= lives[i].last) {
        const std::size_t rows = lives[i].last - lives[i].first + 1;
        versions_.back() = static_cast<std::int64_t>(std::bit_ceil(rows));
        buffer.size *= versions_.back();
      }
      builder_.add_buffer(std::move(buffer));
    }
  }

  void clear_scratch() {
    const std::size_t buffers = builder_.kernel().buffers.size();
    for (std::uint32_t buffer = 0; buffer < buffers; ++buffer) {
      const KernelBuffer& cleared = builder_.kernel().buffers[buffer];
      if (cleared.access != Access::scratch) continue;
      const Ref zero = builder_.constant(cleared.dtype, 0);
      const Index place = builder_.index_of(builder_.open_loop(cleared.size));
      builder_.store(buffer, place, zero);
      builder_.close_loop();
    }
  }

  /// Which of a buffer's `slots` belongs to the row at hand in that stage.
  Index slot(std::size_t stage, std::int64_t slots) {
    const auto ahead = static_cast<std::int64_t>(stages_.size() - stage);
    return builder_.indices().remainder(builder_.indices().add(step_, ahead), slots);
  }
  Index carry_slot(std::size_t stage) {
    return slot(stage, static_cast<std::int64_t>(std::bit_ceil(stages_.size())));
  }

  void write_step() {
    // Uniform scalars first: what they load comes from earlier steps.
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      for (Ref ref : loop(stage).body) {
        for_each_used(ref, [&](Ref used) { prepare(used, stage); });
      }
      for (const Reduction& reduction : loop(stage).reductions) {
        for (Ref value : reduction.values) prepare(value, stage);
      }
    }
    const Index place = builder_.index_of(builder_.open_loop(loop(0).extent));
    std::vector<Reduction> reductions;
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      copiers_[stage].set_loop(stages_[stage].index, place);
      for (Ref ref : loop(stage).body) replay(ref, stage);
      for (const Reduction& old : loop(stage).reductions) {
        reductions.push_back(
            {old.combine, scalars(old.initial, stage), scalars(old.values, stage), {}, {}});
      }
    }
    reductions = builder_.close_loop(std::move(reductions));
    auto made = reductions.begin();
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      for (const Reduction& old : loop(stage).reductions) {
        for (std::size_t k = 0; k < old.results.size(); ++k) {
          scalars_[stage][old.results[k].index] = made->results[k];
          builder_.store(carries_[old.results[k].index], carry_slot(stage), made->results[k]);
        }
        ++made;
      }
    }
    for (Ref ref : rows_.body) {
      if (std::holds_alternative<Store>(kernel_[ref].operation)) replay(ref, last_stage(ref));
    }
  }

  /// The last stage whose results an instruction of the row depends on.
  std::size_t last_stage(Ref ref) const {
    if (auto* result = std::get_if<Result>(&kernel_[ref].operation)) return stage_of(result->loop);
    std::size_t last = 0;
    for_each_used(ref, [&](Ref used) { last = std::max(last, last_stage(used)); });
    return last;
  }

  /// The scalars that an instruction reads, those of its index included.
  template <class Visit>
  void for_each_used(Ref ref, const Visit& visit) const {
    const Operation& operation = kernel_[ref].operation;
    if (auto* compute = std::get_if<Compute>(&operation)) {
      for (Ref operand : compute->operands) visit(operand);
    } else if (auto* load = std::get_if<Load>(&operation)) {
      if (load->mask) visit(load->mask);
      for_each_scalar(kernel_, load->index, visit);
    } else if (auto* store = std::get_if<Store>(&operation)) {
      visit(store->value);
      for_each_scalar(kernel_, store->index, visit);
    } else if (auto* position = std::get_if<IndexValue>(&operation)) {
      for_each_scalar(kernel_, position->index, visit);
    }
  }

  bool is_in_row(Ref ref) const {
    return std::find(rows_.body.begin(), rows_.body.end(), ref) != rows_.body.end();
  }
  void prepare(Ref ref, std::size_t stage) {
    if (is_in_row(ref)) scalar(ref, stage);
  }

  Index place_in(std::uint32_t buffer, Index index, std::size_t stage) {
    const Index place = copiers_[stage](index);
    const KernelBuffer& of = kernel_.buffers[buffer];
    if (of.access != Access::scratch) return place;
    IndexTable& table = builder_.indices();
    return table.add(table.scale(slot(stage, versions_[buffer]), of.size), place);
  }

  void replay(Ref ref, std::size_t stage) {
    if (auto* store = std::get_if<Store>(&kernel_[ref].operation)) {
      builder_.set_location(kernel_[ref].location);
      const Ref value = scalar(store->value, stage);
      builder_.store(store->buffer, place_in(store->buffer, store->index, stage), value);
    } else {
      scalar(ref, stage);
    }
  }

  std::vector<Ref> scalars(std::span<const Ref> old, std::size_t stage) {
    std::vector<Ref> made;
    for (Ref ref : old) made.push_back(scalar(ref, stage));
    return made;
  }

  /// What an old scalar is for the row that `stage` works on.
  Ref scalar(Ref ref, std::size_t stage) {
    if (auto known = scalars_[stage].find(ref.index); known != scalars_[stage].end()) {
      return known->second;
    }
    return scalars_[stage][ref.index] = make(ref, stage);
  }

  Ref compute(Ref ref, std::size_t stage) {
    const auto& old = std::get<Compute>(kernel_[ref].operation);
    const std::vector<Ref> operands = scalars(old.operands, stage);
    return builder_.compute(old.op, kernel_[ref].dtype, operands, old.direction);
  }

  Ref make(Ref ref, std::size_t stage) {
    const Instruction& instruction = kernel_[ref];
    builder_.set_location(instruction.location);
    if (auto* constant = std::get_if<ConstantInstruction>(&instruction.operation)) {
      return builder_.constant(instruction.dtype, constant->bits);
    }
    if (auto* position = std::get_if<IndexValue>(&instruction.operation)) {
      return builder_.scalar(copiers_[stage](position->index));
    }
    if (std::holds_alternative<Compute>(instruction.operation)) return compute(ref, stage);
    if (auto* load = std::get_if<Load>(&instruction.operation)) {
      const Ref mask = load->mask ? scalar(load->mask, stage) : Ref{};
      // The first stage is `stage` rows ahead, and the row that no stage has touched is one
      // further.
      const std::int64_t ahead = load->prefetch * (static_cast<std::int64_t>(stage) + 1);
      return builder_.load(load->buffer, place_in(load->buffer, load->index, stage), mask, ahead);
    }
    if (std::holds_alternative<Result>(instruction.operation)) {
      return builder_.load(carries_.at(ref.index), carry_slot(stage));
    }
    throw InternalError("software_pipeline",
                        "kernel " + kernel_.name + " has an unexpected instruction");
  }

  const Kernel& kernel_;
  const Ref row_loop_;
  const Loop& rows_;
  const std::vector<Ref> stages_;
  const std::int64_t block_rows_;
  KernelBuilder builder_;
  std::vector<IndexCopier> copiers_;                   // per stage
  std::vector<std::map<std::uint32_t, Ref>> scalars_;  // per stage, by old scalar
  std::map<std::uint32_t, std::uint32_t> carries_;     // buffers, by old result
  std::vector<std::int64_t> versions_;                 // per old buffer
  Index step_;
};

}  // namespace

std::optional<Kernel> software_pipeline(const Kernel& kernel, std::int64_t block_rows) {
  const std::vector<Ref> outer = outer_loops(kernel);
  if (outer.size() != 1) return std::nullopt;
  const auto& rows = std::get<Loop>(kernel[outer[0]].operation);
  std::optional<std::vector<Ref>> stages = stages_of(kernel, rows);
  if (!stages) return std::nullopt;
  return Stagger(kernel, outer[0], std::move(*stages), block_rows).run();
}

}  // namespace anabranch
