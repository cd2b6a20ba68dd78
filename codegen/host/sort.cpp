#include "codegen/host/sort.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

#include "anabranch/error.h"
#include "codegen/host/lines.h"
#include "codegen/host/phases.h"
#include "codegen/host/sort_items.h"
#include "codegen/host/sort_keys.h"
#include "ir/attributes.h"
#include "runtime/memory/buffer.h"

namespace anabranch::host {
namespace {

// A range of fewer elements is not worth a thread of its own.
constexpr std::int64_t sort_grain = 1 << 14;
// Nor does a part of a line pay that is shorter.
constexpr std::int64_t shortest_part = 1 << 15;

struct SortTask {
  Lines lines;
  bool descending;
  std::int64_t threads = 1;
  bool together = false;     // each range works on all lines
  Phases* phases = nullptr;  // only where several threads do
};

// A T as an item to sort, and an item as what `sort` gives.
template <class T>
struct SortedValues {
  using Element = T;
  using Result = T;
  using Item = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;

  const KeyOf<T> turned;  // all bits where the order is descending

  explicit SortedValues(bool descending)
      : turned(descending ? static_cast<KeyOf<T>>(~KeyOf<T>{0}) : KeyOf<T>{0}) {}
  Item item(T x, std::int64_t) const { return static_cast<KeyOf<T>>(key_of(x) ^ turned); }
  T result(Item item) const {
    return element_of<T>(static_cast<KeyOf<T>>(static_cast<KeyOf<T>>(item) ^ turned));
  }
  static bool loses(T x) { return loses_bits(x); }
};

// Items hold positions below their keys, so that equal keys keep their order. Wide: more than 64
// bits.
template <class T, class Position, bool wide>
struct SortedPositions {
  using Element = T;
  using Result = Position;
  using Item = std::conditional_t<wide, hwy::uint128_t, std::uint64_t>;

  const KeyOf<T> turned;

  explicit SortedPositions(bool descending)
      : turned(descending ? static_cast<KeyOf<T>>(~KeyOf<T>{0}) : KeyOf<T>{0}) {}
  Item item(T x, std::int64_t position) const {
    const std::uint64_t key = static_cast<KeyOf<T>>(key_of(x) ^ turned);
    const auto low = static_cast<std::uint64_t>(position);
    if constexpr (wide) {
      return {.lo = low, .hi = key};
    } else {
      return key << 32 | low;
    }
  }
  Position result(Item item) const {
    if constexpr (wide) {
      return static_cast<Position>(item.lo);
    } else {
      return static_cast<Position>(static_cast<std::uint32_t>(item));
    }
  }
  static bool loses(T) { return false; }
};

// What sorts the lines of one array, on one thread or as one of several.
template <class Form>
class LineSort {
 public:
  using Element = typename Form::Element;
  using Result = typename Form::Result;
  using Item = typename Form::Item;

  struct Memory {
    Buffer items, scratch;
    // Per line: whether some zero or NaN has other bits than those that its key stands for.
    std::unique_ptr<std::atomic<bool>[]> has_lost;

    Memory(const Lines& lines, std::int64_t first, std::int64_t last)
        : items(room_for(lines.extent)),
          scratch(room_for(lines.extent)),
          has_lost(std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(last - first))) {}

    static Buffer room_for(std::int64_t count) {
      return Buffer::allocate(Device::cpu(), static_cast<std::size_t>(count) * sizeof(Item));
    }
  };

  static constexpr std::int64_t phases_of(std::int64_t parts) {
    return 3 + std::countr_zero(static_cast<std::uint64_t>(parts));
  }

  LineSort(const SortTask& task, Phases* phases, std::int64_t parts, void* const* buffers)
      : lines_(task.lines),
        form_(task.descending),
        phases_(phases),
        parts_(parts),
        from_(static_cast<const Element*>(buffers[0])),
        to_(static_cast<Result*>(buffers[1])) {}

  void sort(Memory& memory, std::int64_t first, std::int64_t last) {
    for (std::int64_t line = first; line < last; ++line) {
      std::int64_t phase = (line - first) * phases_of(parts_);
      std::atomic<bool>& has_lost = memory.has_lost[static_cast<std::size_t>(line - first)];
      auto* items = static_cast<Item*>(memory.items.data());
      auto* other = static_cast<Item*>(memory.scratch.data());
      run(phase++, [&](std::int64_t part) { sort_part(line, part, items, other, has_lost); });
      for (std::int64_t width = 1; width < parts_; width *= 2) {
        run(phase++, [&](std::int64_t part) { merge_part(part, width, items, other); });
        std::swap(items, other);
      }
      run(phase++, [&](std::int64_t part) { store_part(line, part, items); });
      if (!has_lost.load(std::memory_order_relaxed)) continue;
      Phases::run(phases_, phase, 1, [&](std::int64_t) { restore(line, items); });
    }
  }

 private:
  template <class Work>
  void run(std::int64_t phase, Work work) const {
    Phases::run(phases_, phase, parts_, work);
  }

  std::int64_t begin_of(std::int64_t part) const { return lines_.extent * part / parts_; }

  void sort_part(std::int64_t line, std::int64_t part, Item* items, Item* scratch,
                 std::atomic<bool>& has_lost) const {
    const std::int64_t begin = begin_of(part), end = begin_of(part + 1);
    if (begin == end) return;
    const Element* from = from_ + lines_.first(line);
    bool lost = false;
    for (std::int64_t i = begin; i < end; ++i) {
      const Element x = from[i * lines_.stride];
      items[i] = form_.item(x, i);
      lost |= Form::loses(x);
    }
    if (lost) has_lost.store(true, std::memory_order_relaxed);
    sort_items(items + begin, end - begin, scratch + begin);
  }

  // This part of what becomes of two neighbouring runs of `width` parts.
  void merge_part(std::int64_t part, std::int64_t width, const Item* items, Item* to) const {
    const std::int64_t first = part / (2 * width) * (2 * width);
    const std::int64_t begin = begin_of(first), middle = begin_of(first + width);
    const std::int64_t end = begin_of(first + 2 * width);
    merge_range(items + begin, middle - begin, items + middle, end - middle, begin_of(part) - begin,
                begin_of(part + 1) - begin, to + begin_of(part));
  }

  void store_part(std::int64_t line, std::int64_t part, const Item* items) const {
    Result* to = to_ + lines_.first(line);
    const std::int64_t end = begin_of(part + 1);
    for (std::int64_t i = begin_of(part); i < end; ++i) {
      to[i * lines_.stride] = form_.result(items[i]);
    }
  }

  // Zeros and NaNs as they were, in the order that they had.
  void restore(std::int64_t line, const Item* items) const {
    if constexpr (is_float_storage<Element> && std::is_same_v<Element, Result>) {
      const Element* from = from_ + lines_.first(line);
      Result* to = to_ + lines_.first(line);
      const auto place_of = [&](KeyOf<Element> key) {
        const Item item = static_cast<KeyOf<Element>>(key ^ form_.turned);
        return std::lower_bound(items, items + lines_.extent, item) - items;
      };
      std::int64_t zero = place_of(key_of(Element(0.f)));
      std::int64_t nan = place_of(static_cast<KeyOf<Element>>(~KeyOf<Element>{0}));
      for (std::int64_t i = 0; i < lines_.extent; ++i) {
        const Element x = from[i * lines_.stride];
        const auto key = key_of(x);
        if (key == static_cast<KeyOf<Element>>(~KeyOf<Element>{0})) {
          to[nan++ * lines_.stride] = x;
        } else if (key == key_of(Element(0.f))) {
          to[zero++ * lines_.stride] = x;
        }
      }
    }
  }

  const Lines lines_;
  const Form form_;
  Phases* const phases_;
  const std::int64_t parts_;
  const Element* const from_;
  Result* const to_;
};

// What the threads of one run share.
template <class Form>
struct SharedSort : SortTask {
  std::int64_t parts;
  Phases all_phases;
  mutable typename LineSort<Form>::Memory memory;

  SharedSort(const SortTask& task, std::int64_t parts)
      : SortTask(task),
        parts(parts),
        all_phases(task.lines.count * LineSort<Form>::phases_of(parts)),
        memory(task.lines, 0, task.lines.count) {
    phases = &all_phases;
  }
};

template <class Form>
std::shared_ptr<const void> share_sort(const void* context, void* const*) {
  const auto& task = *static_cast<const SortTask*>(context);
  const auto threads = static_cast<std::uint64_t>(task.threads);
  const auto most = static_cast<std::uint64_t>(task.lines.extent / shortest_part);
  const std::uint64_t parts = std::min(std::bit_ceil(threads), std::bit_floor(most));
  return std::make_shared<SharedSort<Form>>(task, static_cast<std::int64_t>(parts));
}

template <class Form>
void run_sort(const void* context, void* const* buffers, std::int64_t begin, std::int64_t end) {
  const auto& task = *static_cast<const SortTask*>(context);
  if (task.phases) {
    const auto& shared = *static_cast<const SharedSort<Form>*>(context);
    LineSort<Form> lines(task, task.phases, shared.parts, buffers);
    lines.sort(shared.memory, 0, task.lines.count);
  } else {
    if (task.together) begin = 0, end = task.lines.count;
    typename LineSort<Form>::Memory memory(task.lines, begin, end);
    LineSort<Form>(task, nullptr, 1, buffers).sort(memory, begin, end);
  }
}

template <class Form>
HostTask task_of(SortTask task) {
  const Lines& lines = task.lines;
  task.together = lines.count < task.threads && lines.extent >= 2 * shortest_part;
  HostTask made{run_sort<Form>, std::make_shared<SortTask>(task), lines.count};
  made.grain = std::max<std::int64_t>(sort_grain / std::max<std::int64_t>(lines.extent, 1), 1);
  if (task.together) {
    made.share = share_sort<Form>;
    made.extent = task.threads;
    made.grain = 1;
  }
  return made;
}

template <class T, class Position>
HostTask argsort_task(const SortTask& task) {
  if constexpr (sizeof(T) < 8) {
    if (task.lines.extent <= std::numeric_limits<std::uint32_t>::max()) {
      return task_of<SortedPositions<T, Position, false>>(task);
    }
  }
  return task_of<SortedPositions<T, Position, true>>(task);
}

template <class T>
HostTask sort_task_of(const CallStep& call, std::int64_t threads) {
  const Shape& shape = call.operands[0].shape;
  if (call.op == Op::sort) {
    const auto& [axis, descending] = std::get<SortAttributes>(call.attributes);
    return task_of<SortedValues<T>>({Lines(shape, axis), descending, threads});
  }
  const auto& [axis, descending, positions] = std::get<ArgsortAttributes>(call.attributes);
  const SortTask task{Lines(shape, axis), descending, threads};
  return positions == PositionDtype::i64 ? argsort_task<T, std::int64_t>(task)
                                         : argsort_task<T, std::int32_t>(task);
}

}  // namespace

HostTask sort_task(const CallStep& call, std::int64_t threads) {
  return visit_dtype(call.operands[0].dtype, [&]<class T>() -> HostTask {
    if constexpr (std::is_integral_v<T> || is_float_storage<T>) {
      return sort_task_of<T>(call, threads);
    } else {
      throw InternalError("link", "a sort of " + to_string(call.operands[0]));
    }
  });
}

}  // namespace anabranch::host
