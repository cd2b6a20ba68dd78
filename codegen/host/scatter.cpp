#include "codegen/host/scatter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "codegen/costs.h"
#include "codegen/host/aligned_bytes.h"
#include "codegen/host/combine.h"
#include "codegen/host/idle.h"
#include "codegen/host/keep_within.h"
#include "codegen/host/phases.h"
#include "codegen/host/scatter_layout.h"

namespace anabranch {
namespace {

constexpr std::int64_t chunk = 1024;            // runs that are placed before any is combined
constexpr std::int64_t longest_part = 1 << 14;  // bytes that are not cut
constexpr std::int64_t most_offsets = std::int64_t{1} << 31;  // that are kept in 32 bits
constexpr double least_ns_per_thread = 20'000;  // waking a thread and waiting for it takes some
constexpr std::int64_t least_updates_of_element = 8;    // in each part of the updates, on average
constexpr std::int64_t least_bytes_in_parts = 1 << 22;  // of updates of floats: caches hold fewer
constexpr std::int64_t most_parts_of_floats = 8;

struct ScatterTask {
  ScatterLayout layout;
  Dtype dtype = f32;
  ScatterCombiner combiner = ScatterCombiner::replace;
  std::size_t element = 1;    // bytes
  std::int64_t per_part = 1;  // elements of one iteration
  CombineRuns combine = nullptr;
  CombineElements combine_elements = nullptr;  // where runs are of one element
  std::int64_t pieces = 1;
  std::int64_t parts = 1;  // that the updates are cut into
};

/// Whether one number of each run says where it goes.
bool goes_by_one_component(const ScatterLayout& layout) {
  const ScatterLayout::Axis& axis = layout.axes.back();
  return layout.components.size() == 1 && axis.component < 0 && axis.target_stride == 0;
}

/// Places the runs of one part and hands them on, chunk by chunk. `I` is the indices' dtype.
template <class I>
class Scatter {
 public:
  /// Into elements [begin, end) of `array`.
  Scatter(const ScatterTask& task, void* const* buffers, void* array, std::int64_t begin,
          std::int64_t end)
      : task_(task),
        layout_(task.layout),
        indices_(static_cast<const I*>(buffers[1])),
        updates_(buffers[2]),
        result_(array),
        begin_(begin),
        end_(end),
        by_one_(goes_by_one_component(task.layout) && end - begin <= most_offsets),
        place_(layout_.axes.size() - 1),
        counted_(layout_.components.size()) {}

  void run() { run(0, layout_.runs); }

  /// Runs [first, last).
  void run(std::int64_t first, std::int64_t last) {
    if (first >= last || layout_.run == 0) return;
    const std::int64_t inner = layout_.axes.back().size;
    seek(first / inner);
    for (std::int64_t run = first; run < last;) {
      const std::int64_t from = run % inner, count = std::min(inner - from, last - run);
      run_line(run - from, from, from + count);
      run += count;
      step();
    }
  }

 private:
  // Runs [first, end) along the innermost axis, whose first run is `number`.
  void run_line(std::int64_t number, std::int64_t first, std::int64_t end) {
    for (; first < end; first += chunk) {
      const std::int64_t count = std::min(chunk, end - first);
      if (by_one_) {
        place_by_one(number, first, count);
      } else {
        place(number, first, count);
      }
    }
  }

  // As `place` does, where one number of each run says whether it is of this part: whether it is
  // one of `some` from `least` on.
  void place_by_one(std::int64_t number, std::int64_t first, std::int64_t count) {
    const ScatterLayout::Axis& axis = layout_.axes.back();
    const ScatterLayout::Component& component = layout_.components[0];
    const std::int64_t stride = component.target_stride;
    const std::int64_t least =
        std::max<std::int64_t>(up(begin_ - layout_.run + 1 - target_base_, stride), 0);
    const std::int64_t end = std::min(up(end_ - target_base_, stride), component.size);
    if (least >= end) return;
    const std::int64_t from_least = counted_[0] - least;
    const std::int64_t base = target_base_ + least * stride;
    const I* from = indices_ + index_base_ + component.index_offset + first * axis.index_stride;
    const std::size_t kept = keep(from, axis.index_stride, from_least, end - least, count);
    if (task_.combine_elements) return combine(kept, base, number + first, stride);
    for (std::size_t i = 0; i < kept; ++i) {
      runs_[i] = {base + std::int64_t{offsets_[i]} * stride, number + first + positions_[i]};
    }
    if (kept > 0) hand_on(kept);
  }

  // Of runs of one element, the first of which is `number`.
  void combine(std::size_t kept, std::int64_t base, std::int64_t number, std::int64_t stride) {
    const auto element = static_cast<std::int64_t>(task_.element);
    const bool is_near = (end_ - begin_) * element <= near_bytes;
    task_.combine_elements(static_cast<std::byte*>(result_) + base * element,
                           static_cast<const std::byte*>(updates_) + number * element,
                           {offsets_.data(), positions_.data(), kept, stride, is_near});
  }

  // Which of the `count` indices from `from` on are, with `shift` added, in [0, some).
  std::size_t keep(const I* from, std::int64_t stride, std::int64_t shift, std::int64_t some,
                   std::int64_t count) {
    if constexpr (std::is_same_v<I, std::int32_t>) {
      using Limits = std::numeric_limits<std::int32_t>;
      if (stride == 1 && -shift >= Limits::min() && some - shift <= Limits::max()) {
        return host::keep_within(
            from, static_cast<std::size_t>(count), static_cast<std::int32_t>(-shift),
            static_cast<std::uint32_t>(some), offsets_.data(), positions_.data());
      }
    }
    // Without a branch, as there.
    std::size_t kept = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t at = static_cast<std::uint64_t>(std::int64_t{from[i * stride]}) +
                               static_cast<std::uint64_t>(shift);
      offsets_[kept] = static_cast<std::uint32_t>(at);
      positions_[kept] = static_cast<std::uint32_t>(i);
      kept += at < static_cast<std::uint64_t>(some) ? 1 : 0;
    }
    return kept;
  }

  // The quotient, rounded up.
  static std::int64_t up(std::int64_t number, std::int64_t by) {
    return number > 0 ? (number - 1) / by + 1 : number / by;
  }

  // Runs `first` and on along the innermost axis, whose first run is `number`.
  void place(std::int64_t number, std::int64_t first, std::int64_t count) {
    const ScatterLayout::Axis& axis = layout_.axes.back();
    const auto size = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < size; ++i) {
      target_[i] = target_base_ + (first + static_cast<std::int64_t>(i)) * axis.target_stride;
    }
    std::fill_n(outside_.begin(), size, std::uint8_t{0});
    for (std::size_t k = 0; k < layout_.components.size(); ++k) {
      const ScatterLayout::Component& component = layout_.components[k];
      const bool counts = axis.component == static_cast<int>(k);
      const I* from = indices_ + index_base_ + component.index_offset + first * axis.index_stride;
      const std::int64_t counted = counted_[k] + (counts ? first : 0);
      if (axis.index_stride == 1 && !counts) {
        add(component, from, 1, counted, 0, size);
      } else {
        add(component, from, axis.index_stride, counted, counts ? 1 : 0, size);
      }
    }
    keep(number + first, size);
  }

  // What is outside may be any number: it wraps around, and is left out.
  void add(const ScatterLayout::Component& component, const I* from, std::int64_t stride,
           std::int64_t counted, std::int64_t step, std::size_t count) {
    const auto size = static_cast<std::uint64_t>(component.size);
    const auto target_stride = static_cast<std::uint64_t>(component.target_stride);
    for (std::size_t i = 0; i < count; ++i) {
      const auto n = static_cast<std::int64_t>(i);
      const auto at = static_cast<std::uint64_t>(std::int64_t{from[n * stride]}) +
                      static_cast<std::uint64_t>(counted + n * step);
      outside_[i] |= static_cast<std::uint8_t>(at >= size);
      target_[i] =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(target_[i]) + at * target_stride);
    }
  }

  void keep(std::int64_t number, std::size_t count) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      runs_[kept] = {target_[i], number + static_cast<std::int64_t>(i)};
      const bool is_ours =
          outside_[i] == 0 && target_[i] < end_ && target_[i] > begin_ - layout_.run;
      kept += is_ours ? 1 : 0;
    }
    if (kept > 0) hand_on(kept);
  }

  void hand_on(std::size_t count) {
    task_.combine(result_, updates_, {runs_.data(), count, layout_.run, begin_, end_});
  }

  // To a place of the axes but the innermost, from the first.
  void seek(std::int64_t line) {
    for (std::size_t i = place_.size(); i-- > 0;) {
      const ScatterLayout::Axis& axis = layout_.axes[i];
      place_[i] = line % axis.size;
      line /= axis.size;
      index_base_ += place_[i] * axis.index_stride;
      target_base_ += place_[i] * axis.target_stride;
      if (axis.component >= 0) counted_[static_cast<std::size_t>(axis.component)] += place_[i];
    }
  }

  // The axes but the innermost, on by one place.
  void step() {
    for (std::size_t i = place_.size(); i-- > 0;) {
      const ScatterLayout::Axis& axis = layout_.axes[i];
      const bool ends = ++place_[i] == axis.size;
      const std::int64_t moved = ends ? 1 - axis.size : 1;
      index_base_ += moved * axis.index_stride;
      target_base_ += moved * axis.target_stride;
      if (axis.component >= 0) counted_[static_cast<std::size_t>(axis.component)] += moved;
      if (!ends) return;
      place_[i] = 0;
    }
  }

  const ScatterTask& task_;
  const ScatterLayout& layout_;
  const I* const indices_;
  const void* const updates_;
  void* const result_;
  const std::int64_t begin_, end_;  // elements of the array
  const bool by_one_;
  std::vector<std::int64_t> place_;    // along the axes but the innermost
  std::vector<std::int64_t> counted_;  // what they add to each component
  std::int64_t index_base_ = 0, target_base_ = 0;
  std::array<std::int64_t, chunk> target_;
  std::array<std::uint8_t, chunk> outside_;
  std::array<PlacedRun, chunk> runs_;
  std::array<std::uint32_t, chunk + host::keep_within_overhang> offsets_, positions_;
};

// What is updated begins as it was.
void copy_elements(const ScatterTask& task, void* const* buffers, std::int64_t first,
                   std::int64_t last) {
  if (buffers[0] == buffers[3]) return;
  const std::size_t offset = static_cast<std::size_t>(first) * task.element;
  std::memcpy(static_cast<std::byte*>(buffers[3]) + offset,
              static_cast<const std::byte*>(buffers[0]) + offset,
              static_cast<std::size_t>(last - first) * task.element);
}

// Ranges are of the array; each reads every index.
template <class I>
void run_scatter(const void* context, void* const* buffers, std::int64_t begin, std::int64_t end) {
  const auto& task = *static_cast<const ScatterTask*>(context);
  const std::int64_t first = begin * task.per_part;
  const std::int64_t last = std::min(end * task.per_part, task.layout.target);
  if (first >= last) return;
  copy_elements(task, buffers, first, last);
  Scatter<I>(task, buffers, buffers[3], first, last).run();
}

/// What the parts of the updates, but for the first, are combined in.
using Copies = std::vector<host::AlignedBytes>;

/// A scatter whose updates are cut into parts, and a run of it on several threads.
struct ScatterInParts {
  ScatterTask task;
  std::shared_ptr<host::Idle<Copies>> idle;
  std::unique_ptr<Copies> copies = nullptr;        // of a run
  std::unique_ptr<host::Phases> phases = nullptr;  // null where one thread does all of it

  ~ScatterInParts() {
    if (copies) idle->give_back(std::move(copies));
  }
  void take_copies() {
    copies = idle->take([&] {
      const std::size_t bytes = static_cast<std::size_t>(task.layout.target) * task.element;
      auto made = std::make_unique<Copies>();
      for (std::int64_t part = 1; part < task.parts; ++part) made->emplace_back(bytes);
      return made;
    });
  }
};

std::shared_ptr<const void> share_updates(const void* context, void* const*) {
  const auto& made = *static_cast<const ScatterInParts*>(context);
  auto run = std::make_shared<ScatterInParts>(made.task, made.idle);
  run->take_copies();
  run->phases = std::make_unique<host::Phases>(2);
  return run;
}

// Where there are more threads than parts, several take a part, each into a range of the array.
template <class I>
void combine_in_parts(const ScatterInParts& run, void* const* buffers) {
  const ScatterTask& task = run.task;
  const std::int64_t target = task.layout.target, runs = task.layout.runs;
  const std::int64_t ranges = std::max<std::int64_t>(task.pieces / task.parts, 1);
  // Ranges begin where iterations over the array do: no two threads write a cache line.
  const std::int64_t iterations = (target + task.per_part - 1) / task.per_part;
  const auto begin_of = [&](std::int64_t range, std::int64_t count) {
    return std::min(iterations * range / count * task.per_part, target);
  };
  host::Phases::run(run.phases.get(), 0, task.parts * ranges, [&](std::int64_t item) {
    const std::int64_t part = item / ranges, range = item % ranges;
    const std::int64_t first = begin_of(range, ranges), last = begin_of(range + 1, ranges);
    if (first == last) return;
    auto* array = static_cast<std::byte*>(buffers[3]);
    if (part == 0) {
      copy_elements(task, buffers, first, last);
    } else {
      array = (*run.copies)[static_cast<std::size_t>(part - 1)].get();
      fill_with_identity(array + static_cast<std::size_t>(first) * task.element, last - first,
                         task.dtype, task.combiner);
    }
    Scatter<I>(task, buffers, array, first, last)
        .run(runs * part / task.parts, runs * (part + 1) / task.parts);
  });
  if (task.parts == 1) return;
  host::Phases::run(run.phases.get(), 1, task.pieces, [&](std::int64_t piece) {
    const std::int64_t first = begin_of(piece, task.pieces);
    const std::int64_t last = begin_of(piece + 1, task.pieces);
    if (first == last) return;
    const PlacedRun whole{0, 0};
    for (const host::AlignedBytes& copy : *run.copies) {
      task.combine(buffers[3], copy.get(), {&whole, 1, target, first, last});
    }
  });
}

template <class I>
void run_in_parts(const void* context, void* const* buffers, std::int64_t, std::int64_t) {
  const auto& made = *static_cast<const ScatterInParts*>(context);
  if (made.phases) return combine_in_parts<I>(made, buffers);
  ScatterInParts alone{made.task, made.idle};
  alone.task.pieces = 1;
  if (combines_in_any_order(made.task.dtype, made.task.combiner)) {
    alone.task.parts = 1;
  } else {
    alone.take_copies();
  }
  combine_in_parts<I>(alone, buffers);
}

// As many as there are threads, or, of sums of floats, which round, as the sizes say: then bits do
// not depend on the threads. One where copies cost much beside the updates.
std::int64_t parts_of_updates(const ScatterTask& task, const CallStep& scatter) {
  const auto element = static_cast<std::int64_t>(task.element);
  const std::int64_t target = std::max<std::int64_t>(task.layout.target, 1);
  const std::int64_t updates = scatter.operands[2].size();
  const std::int64_t most = updates / (least_updates_of_element * target);
  if (combines_in_any_order(task.dtype, task.combiner)) {
    const bool is_near = target * element <= near_bytes;
    return is_near && most >= task.pieces ? task.pieces : 1;
  }
  if (!combines_in_parts(task.dtype, task.combiner)) return 1;
  if (updates * element < least_bytes_in_parts) return 1;
  return std::clamp<std::int64_t>(most, 1, most_parts_of_floats);
}

// Runs of less than a cache line share one: no two threads write it.
std::int64_t elements_per_part(std::int64_t run, std::int64_t element) {
  const std::int64_t bytes = std::max<std::int64_t>(run, 1) * element;
  if (bytes > longest_part) return longest_part / element;
  return std::max<std::int64_t>(run, 1) * ((cache_line + bytes - 1) / bytes);
}

}  // namespace

Cost scatter_cost(const CallStep& scatter, bool is_in_place) {
  constexpr std::int64_t operations_per_run = 8;
  const auto bytes = [&](std::size_t operand) {
    return static_cast<std::int64_t>(scatter.operands[operand].bytes());
  };
  // What updates meet is read and written as well.
  const std::int64_t met = std::min(bytes(0), bytes(2)), array = is_in_place ? met : bytes(0);
  return {array + bytes(1) + bytes(2), array,
          scatter.operands[2].size() + operations_per_run * ScatterLayout(scatter).runs};
}

std::int64_t scatter_pieces(const CallStep& scatter, std::int64_t cores) {
  const double ns = core_ns(scatter_cost(scatter));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(ns / least_ns_per_thread), 1, cores);
}

HostTask scatter_task(const CallStep& scatter, std::int64_t cores) {
  const Type &operand = scatter.operands[0], &indices = scatter.operands[1];
  const auto& attributes = std::get<ScatterAttributes>(scatter.attributes);
  ScatterTask task{ScatterLayout(scatter), operand.dtype, attributes.combiner};
  task.element = byte_size(operand.dtype);
  task.combine = combine_runs(operand.dtype, attributes.combiner);
  if (task.layout.run == 1) {
    task.combine_elements = combine_elements(operand.dtype, attributes.combiner);
  }
  task.per_part = elements_per_part(task.layout.run, static_cast<std::int64_t>(task.element));
  task.pieces = scatter_pieces(scatter, cores);
  const bool is_narrow = indices.dtype == i32;
  task.parts = parts_of_updates(task, scatter);
  if (task.parts > 1) {
    HostTask made;
    made.function = is_narrow ? &run_in_parts<std::int32_t> : &run_in_parts<std::int64_t>;
    made.extent = std::max(task.parts, task.pieces);
    made.share = share_updates;
    made.context =
        std::make_shared<ScatterInParts>(std::move(task), std::make_shared<host::Idle<Copies>>());
    return made;
  }
  const std::int64_t extent = (operand.size() + task.per_part - 1) / task.per_part;
  const std::int64_t grain = std::max<std::int64_t>((extent + task.pieces - 1) / task.pieces, 1);
  const auto function = is_narrow ? &run_scatter<std::int32_t> : &run_scatter<std::int64_t>;
  return {function, std::make_shared<ScatterTask>(std::move(task)), extent, grain, grain};
}

}  // namespace anabranch
