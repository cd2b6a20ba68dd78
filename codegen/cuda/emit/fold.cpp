// The reductions that the loops of emit_kernel carry, and what a group makes of its members' parts.
#include <algorithm>

#include "codegen/cuda/emit/kernel_emitter.h"
#include "codegen/kernel/blocked_sums.h"
#include "codegen/kernel/combine_op.h"

namespace anabranch::cuda {
namespace {

std::string_view function_of(Combine how) {
  static constexpr std::string_view names[] = {"Sum", "Product", "Maximum", "Minimum",
                                               "Any", "All",     "Argmax",  "Argmin"};
  return names[static_cast<std::size_t>(how)];
}

}  // namespace

void KernelEmitter::begin_folds(const Loop& loop) {
  for (const Reduction& reduction : loop.reductions) {
    if (has_position(reduction.combine)) {
      const std::string name = new_name();
      text_.line("Place<{}> {} = {{{}, {}}};", type_name(kernel_[reduction.results[0]].dtype), name,
                 value(reduction.initial[0]), value(reduction.initial[1]));
      folds_[reduction.results[0].index] = {name};
      continue;
    }
    std::vector<std::string>& names = folds_[reduction.results[0].index];
    names.clear();
    for (std::size_t i = 0; i < reduction.results.size(); ++i) {
      names.push_back(new_name());
      text_.line("{} {} = {};", type_name(kernel_[reduction.results[i]].dtype), names.back(),
                 value(reduction.initial[i]));
    }
    for (std::size_t i = 0; i < reduction.so_far.size(); ++i) {
      names_[reduction.so_far[i].index] = names[i];
    }
  }
}

// Loops over blocks, outermost first, in each of which sums start anew; `step` iterations a turn.
// What stands inside runs over the range.
KernelEmitter::Range KernelEmitter::open_blocks(const Loop& loop,
                                                const std::vector<std::int64_t>& blocks,
                                                std::int64_t step) {
  Range range{"0", std::to_string(loop.extent)};
  for (std::int64_t turns : blocks) {
    const std::string first = new_name(), end = new_name();
    text_.open("for (index {0} = {1}; {0} < {2}; {0} += {3}) {{", first, range.first, range.end,
               turns * step);
    text_.line("const index {} = op::minimum<index>({} + {}, {});", end, first, turns * step,
               range.end);
    for (const Reduction& reduction : loop.reductions) {
      if (!is_blocked(kernel_, reduction)) continue;
      std::vector<std::string>& names = folds_[reduction.results[0].index];
      whole_folds_.push_back(names);
      names = {new_name()};
      text_.line("{} {} = {};", type_name(kernel_[reduction.results[0]].dtype), names[0],
                 value(reduction.initial[0]));
    }
    range = {first, end};
  }
  return range;
}

void KernelEmitter::close_blocks(const Loop& loop, std::size_t count) {
  for (; count > 0; --count) {
    for (auto reduction = loop.reductions.rbegin(); reduction != loop.reductions.rend();
         ++reduction) {
      if (!is_blocked(kernel_, *reduction)) continue;
      std::vector<std::string>& part = folds_[reduction->results[0].index];
      text_.line("{0} = {1}::of({0}, {2});", whole_folds_.back()[0],
                 function_of(reduction->combine), part[0]);
      part = std::move(whole_folds_.back());
      whole_folds_.pop_back();
    }
    text_.close();
  }
}

void KernelEmitter::fold(const Loop& loop) {
  for (const Reduction& reduction : loop.reductions) {
    const std::vector<std::string>& names = folds_[reduction.results[0].index];
    if (runs_in_order(reduction.combine)) continue;
    if (has_position(reduction.combine)) {
      text_.line("{0} = {1}::of({0}, Place<{2}>{{{3}, {4}}});", names[0],
                 function_of(reduction.combine), type_name(kernel_[reduction.results[0]].dtype),
                 value(reduction.values[0]), value(reduction.values[1]));
    } else {
      text_.line("{0} = {1}::of({0}, {2});", names[0], function_of(reduction.combine),
                 value(reduction.values[0]));
    }
  }
  hand_on(loop);
}

// Each may be computed from what the others were.
void KernelEmitter::hand_on(const Loop& loop) {
  std::vector<std::pair<std::string, std::string>> moves;
  for (const Reduction& reduction : loop.reductions) {
    if (!runs_in_order(reduction.combine)) continue;
    for (std::size_t i = 0; i < reduction.values.size(); ++i) {
      const Ref next = reduction.values[i];
      moves.emplace_back(folds_[reduction.results[0].index][i], new_name());
      text_.line("const {} {} = {};", type_name(kernel_[next].dtype), moves.back().second,
                 value(next));
    }
  }
  for (const auto& [to, from] : moves) text_.line("{} = {};", to, from);
}

void KernelEmitter::end_folds(const Loop& loop, bool shares_out) {
  for (const Reduction& reduction : loop.reductions) {
    const std::vector<std::string>& names = folds_[reduction.results[0].index];
    const bool is_whole = !shares_out && !is_partial_[reduction.values[0].index];
    if (!is_whole && !is_partial_[reduction.results[0].index]) combine(reduction, names[0]);
    if (has_position(reduction.combine)) {
      names_[reduction.results[0].index] = names[0] + ".value";
      const Ref position = reduction.results[1];
      names_[position.index] =
          fmt::format("static_cast<{}>({}.position)", type_name(kernel_[position].dtype), names[0]);
    } else {
      for (std::size_t i = 0; i < names.size(); ++i) names_[reduction.results[i].index] = names[i];
    }
  }
}

// Over the members of a group.
void KernelEmitter::combine(const Reduction& reduction, const std::string& name) {
  if (map_.in_columns) {
    text_.line("{0} = of_lane<{1}, {2}>({0});", name, function_of(reduction.combine), map_.members);
  } else {
    text_.line("{0} = of_group<{1}, {2}>({0});", name, function_of(reduction.combine),
               map_.members);
  }
}

}  // namespace anabranch::cuda
