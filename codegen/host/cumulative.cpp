#include "codegen/host/cumulative.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <type_traits>

#include "anabranch/error.h"
#include "codegen/host/lines.h"
#include "codegen/host/scan_block.h"
#include "ir/attributes.h"
#include "ir/scalar.h"

namespace anabranch::host {
namespace {

// Its elements are read twice, the second time from the first cache.
constexpr std::int64_t block_bytes = 1 << 15;
// A result of more bytes than caches hold is written past them.
constexpr std::int64_t streamed_bytes = 1 << 24;
// Lines of fewer bytes together are not worth a second thread.
constexpr std::int64_t shared_bytes = 16 * block_bytes;
constexpr std::int64_t scan_grain = 1 << 15;
// Lines side by side that are combined together.
constexpr std::int64_t narrowest_band = 1 << 8, widest_band = 1 << 10;

// --- one block
// -----------------------------------------------------------------------------------

template <class T>
constexpr bool has_vectors = (sizeof(T) == 4 || sizeof(T) == 8) && !std::is_same_v<T, bool> &&
                             !is_complex_storage<T>;

template <class T>
struct Block {
  T (*scan)(const T* from, T* to, std::int64_t count, T so_far, bool streams, std::int64_t ahead);
  T (*total)(const T* from, std::int64_t count);
};

template <class T, Running of, bool reverse>
T scan_anywhere(const T* from, T* to, std::int64_t count, T so_far, bool streams,
                std::int64_t ahead) {
  return BlockScan<T, of, 16>::template scan<reverse>(from, to, count, so_far, streams, ahead);
}
template <class T, Running of>
T total_anywhere(const T* from, std::int64_t count) {
  return BlockScan<T, of, 16>::total(from, count);
}

#if defined(__x86_64__)
#define ANABRANCH_TARGET(name, features, width)                                                 \
  template <class T, Running of, bool reverse>                                                  \
  __attribute__((target(features))) T scan_##name(const T* from, T* to, std::int64_t count,     \
                                                  T so_far, bool streams, std::int64_t ahead) { \
    return BlockScan<T, of, width>::template scan<reverse>(from, to, count, so_far, streams,    \
                                                           ahead);                              \
  }                                                                                             \
  template <class T, Running of>                                                                \
  __attribute__((target(features))) T total_##name(const T* from, std::int64_t count) {         \
    return BlockScan<T, of, width>::total(from, count);                                         \
  }
ANABRANCH_TARGET(avx2, "avx2", 32)
ANABRANCH_TARGET(avx512, "avx512f,avx512dq", 64)
#undef ANABRANCH_TARGET
#endif

// The same bits, whichever it is.
template <class T, Running of, bool reverse>
Block<T> fastest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq")) {
    return {scan_avx512<T, of, reverse>, total_avx512<T, of>};
  }
  if (__builtin_cpu_supports("avx2")) return {scan_avx2<T, of, reverse>, total_avx2<T, of>};
#endif
  return {scan_anywhere<T, of, reverse>, total_anywhere<T, of>};
}

// --- lines
// ---------------------------------------------------------------------------------------

struct RunningTask {
  Lines lines;
  std::int64_t threads = 1;
  bool streams = false;          // the result past the caches
  bool together = false;         // each range works on all lines
  const void* shared = nullptr;  // only where several threads do: a SharedScan
};

// What one block comes to, and what is before it, once they are known: as in the decoupled
// look-back of Merrill and Garland ("Single-pass parallel prefix scan with decoupled look-back",
// NVIDIA, 2016). Whoever sets them sets the same.
template <class T>
struct alignas(64) BlockState {
  std::atomic<T> total, start;
  std::atomic<bool> has_total{false}, has_start{false};

  void set_total(T given) {
    total.store(given, std::memory_order_relaxed);
    has_total.store(true, std::memory_order_release);
  }
  void set_start(T given) {
    start.store(given, std::memory_order_relaxed);
    has_start.store(true, std::memory_order_release);
  }
  // Whether the total is known in a moment.
  bool has_total_soon() const {
    for (int spins = 0; spins < 4'000; ++spins) {
      if (has_total.load(std::memory_order_acquire)) return true;
    }
    return false;
  }
};

template <class T>
struct SharedScan : RunningTask {
  std::int64_t blocks;                        // of each line
  mutable std::atomic<std::int64_t> next{0};  // of all blocks, in order
  std::unique_ptr<BlockState<T>[]> states;

  SharedScan(const RunningTask& task, std::int64_t blocks)
      : RunningTask(task),
        blocks(blocks),
        states(std::make_unique<BlockState<T>[]>(
            static_cast<std::size_t>(blocks * task.lines.count))) {
    shared = this;
  }
};

template <class T, Running of, bool reverse>
class LineScan {
 public:
  static constexpr std::int64_t block_size = block_bytes / static_cast<std::int64_t>(sizeof(T));

  static std::int64_t blocks_of(const Lines& lines) {
    return (lines.extent + block_size - 1) / block_size;
  }

  LineScan(const RunningTask& task, void* const* buffers)
      : lines_(task.lines),
        streams_(task.streams),
        ahead_(task.shared ? task.threads : 1),
        block_(fastest<T, of, reverse>()),
        from_(static_cast<const T*>(buffers[0])),
        to_(static_cast<T*>(buffers[1])) {}

  void scan_line(std::int64_t line) const {
    const std::int64_t blocks = blocks_of(lines_);
    T start = identity<T, of>();
    for (std::int64_t block = 0; block < blocks; ++block) {
      const T next = block + 1 < blocks ? combined<T, of>(start, total(line, block)) : start;
      scan(line, block, start);
      start = next;
    }
  }

  // Blocks are taken in order, so that those before have been taken.
  void scan_blocks(const SharedScan<T>& shared) const {
    const std::int64_t all = shared.blocks * lines_.count;
    std::int64_t number;
    while ((number = shared.next.fetch_add(1, std::memory_order_relaxed)) < all) {
      const std::int64_t line = number / shared.blocks, block = number % shared.blocks;
      BlockState<T>* state = shared.states.get() + number;
      const bool is_last = block + 1 == shared.blocks;
      const T own = is_last ? identity<T, of>() : total(line, block);
      if (!is_last) state->set_total(own);
      const T start = start_of(state, line, block);
      if (!is_last) state[1].set_start(combined<T, of>(start, own));
      scan(line, block, start);
    }
  }

 private:
  std::int64_t count_of(std::int64_t block) const {
    return std::min(block_size, lines_.extent - block * block_size);
  }
  std::int64_t begin_of(std::int64_t line, std::int64_t block) const {
    const std::int64_t before = block * block_size;
    return lines_.first(line) + (reverse ? lines_.extent - before - count_of(block) : before);
  }
  T total(std::int64_t line, std::int64_t block) const {
    return block_.total(from_ + begin_of(line, block), count_of(block));
  }
  // From the nearest block before whose start is known, by the totals since. A thread that does not
  // run now has not said yet what its block comes to: then that is computed once more.
  T start_of(BlockState<T>* state, std::int64_t line, std::int64_t block) const {
    BlockState<T>* known = state;
    for (; !known->has_start.load(std::memory_order_acquire);) {
      --known;
      --block;
      if (!known->has_total_soon()) known->set_total(total(line, block));
    }
    T start = known->start.load(std::memory_order_relaxed);
    for (; known != state; ++known) {
      start = combined<T, of>(start, known->total.load(std::memory_order_relaxed));
    }
    return start;
  }
  void scan(std::int64_t line, std::int64_t block, T start) const {
    const std::int64_t begin = begin_of(line, block), count = count_of(block);
    // In reverse, groups are aligned with the end.
    const std::int64_t first = reverse ? begin + count % (64 / static_cast<int>(sizeof(T))) : begin;
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(to_ + first) % 16 == 0;
    // What this thread is likely to take next: the next block, or the one after those of the
    // others.
    const std::int64_t ahead = block_size * ahead_;
    block_.scan(from_ + begin, to_ + begin, count, start, streams_ && is_aligned,
                reverse ? -ahead : ahead);
  }

  const Lines lines_;
  const bool streams_;
  const std::int64_t ahead_;  // blocks
  const Block<T> block_;
  const T* const from_;
  T* const to_;
};

template <class T, Running of, bool reverse>
std::shared_ptr<const void> share_scan(const void* context, void* const*) {
  const auto& task = *static_cast<const RunningTask*>(context);
  const std::int64_t blocks = LineScan<T, of, reverse>::blocks_of(task.lines);
  auto shared = std::make_shared<SharedScan<T>>(task, blocks);
  // Before any thread looks back for it.
  for (std::int64_t line = 0; line < task.lines.count; ++line) {
    shared->states[static_cast<std::size_t>(line * blocks)].set_start(identity<T, of>());
  }
  return shared;
}

template <class T, Running of, bool reverse>
void run_lines(const void* context, void* const* buffers, std::int64_t begin, std::int64_t end) {
  const auto& task = *static_cast<const RunningTask*>(context);
  const LineScan<T, of, reverse> lines(task, buffers);
  if (task.shared) {
    lines.scan_blocks(*static_cast<const SharedScan<T>*>(task.shared));
  } else {
    if (task.together) begin = 0, end = task.lines.count;
    for (std::int64_t line = begin; line < end; ++line) lines.scan_line(line);
  }
#if defined(__SSE2__)
  if (task.streams) _mm_sfence();  // such stores are not ordered with the release of an atomic
#endif
}

template <class T, class Sum, Running of, std::int64_t count>
[[gnu::always_inline]] inline void add_some(Sum* so_far, const T* from, T* to) {
  Sum next[count];
  for (std::int64_t k = 0; k < count; ++k) {
    next[k] = combined<Sum, of>(so_far[k], static_cast<Sum>(from[k]));
  }
  for (std::int64_t k = 0; k < count; ++k) so_far[k] = next[k];
  for (std::int64_t k = 0; k < count; ++k) to[k] = convert_scalar<T>(next[k]);
}

// An element of each line. So many at a time as a cache line has: compilers turn them into vector
// instructions.
template <class T, class Sum, Running of>
void add_elements(Sum* so_far, const T* from, T* to, std::int64_t width) {
  constexpr std::int64_t group = 64 / std::int64_t{sizeof(T)};
  std::int64_t k = 0;
  for (; k + group <= width; k += group) {
    add_some<T, Sum, of, group>(so_far + k, from + k, to + k);
  }
  for (; k < width; ++k) add_some<T, Sum, of, 1>(so_far + k, from + k, to + k);
}

// Bands of neighbouring lines, element by element.
template <class T, Running of>
void run_bands(const void* context, void* const* buffers, std::int64_t begin, std::int64_t end,
               bool reverse) {
  using Sum = std::conditional_t<is_narrow_float<T>, float, T>;
  const Lines& lines = static_cast<const RunningTask*>(context)->lines;
  const auto* from = static_cast<const T*>(buffers[0]);
  auto* to = static_cast<T*>(buffers[1]);
  const auto totals = std::make_unique_for_overwrite<Sum[]>(
      static_cast<std::size_t>(std::min(widest_band, end - begin)));
  Sum* so_far = totals.get();
  while (begin < end) {
    const std::int64_t neighbours = lines.stride - begin % lines.stride;
    const std::int64_t width = std::min({neighbours, end - begin, widest_band});
    std::fill_n(so_far, width, identity<Sum, of>());
    for (std::int64_t i = 0; i < lines.extent; ++i) {
      const std::int64_t place = reverse ? lines.extent - 1 - i : i;
      const std::int64_t first = lines.first(begin) + place * lines.stride;
      add_elements<T, Sum, of>(so_far, from + first, to + first, width);
    }
    begin += width;
  }
}

template <class T, Running of, bool reverse>
void run_bands_one_way(const void* context, void* const* buffers, std::int64_t begin,
                       std::int64_t end) {
  run_bands<T, of>(context, buffers, begin, end, reverse);
}

// --- tasks
// ---------------------------------------------------------------------------------------

template <class T, Running of, bool reverse>
HostTask task_of(RunningTask task) {
  const Lines& lines = task.lines;
  const std::int64_t extent = std::max<std::int64_t>(lines.extent, 1);
  const auto bytes = lines.count * extent * static_cast<std::int64_t>(sizeof(T));
  HostTask made;
  made.extent = lines.count;
  made.grain = std::max<std::int64_t>(scan_grain / extent, 1);
  if constexpr (has_vectors<T>) {
    if (lines.stride == 1) {
      task.streams = bytes >= streamed_bytes;
      task.together = lines.count < task.threads && bytes >= shared_bytes;
      if (task.together) {
        made.share = share_scan<T, of, reverse>;
        made.extent = task.threads;
        made.grain = 1;
      }
      made.function = run_lines<T, of, reverse>;
      made.context = std::make_shared<RunningTask>(task);
      return made;
    }
  }
  made.cut = std::min(lines.stride, narrowest_band);
  made.grain = std::max(made.grain, made.cut);
  made.function = run_bands_one_way<T, of, reverse>;
  made.context = std::make_shared<RunningTask>(task);
  return made;
}

template <class T, Running of>
HostTask task_of(const RunningTask& task, bool reverse) {
  return reverse ? task_of<T, of, true>(task) : task_of<T, of, false>(task);
}

template <class T>
HostTask task_of(const RunningTask& task, Running of, bool reverse) {
  // Integers wrap, as unsigned ones do.
  using Summed = typename std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>,
                                             std::make_unsigned<T>, std::type_identity<T>>::type;
  switch (of) {
    case Running::sum:
      return task_of<Summed, Running::sum>(task, reverse);
    case Running::product:
      return task_of<Summed, Running::product>(task, reverse);
    case Running::maximum:
      if constexpr (!is_complex_storage<T>) return task_of<T, Running::maximum>(task, reverse);
      break;
    case Running::minimum:
      if constexpr (!is_complex_storage<T>) return task_of<T, Running::minimum>(task, reverse);
      break;
  }
  throw InternalError("link", "a running maximum or minimum of complex numbers");
}

}  // namespace

HostTask cumulative_task(const CallStep& call, std::int64_t threads) {
  const auto& [axis, of, reverse] = std::get<CumulativeAttributes>(call.attributes);
  const Type& type = call.operands[0];
  const RunningTask task{Lines(type.shape, axis), threads};
  const Running how = of;
  const bool from_end = reverse;
  return visit_any_dtype(type.dtype, [&]<class T>() -> HostTask {
    if constexpr (std::is_integral_v<T> || is_float_storage<T> || is_complex_storage<T>) {
      return task_of<T>(task, how, from_end);
    } else {
      throw InternalError("link", "a running combination of " + to_string(type));
    }
  });
}

}  // namespace anabranch::host
