#include "codegen/fft/task.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "codegen/fft/four_step.h"
#include "codegen/fft/sweep.h"
#include "codegen/host/phases.h"
#include "runtime/memory/buffer.h"

namespace anabranch {
namespace fft {
namespace {

// A thread of its own is worth as many operations as a few microseconds hold.
constexpr double operations_of_a_range = 100'000;

struct Together;

template <class T>
struct Task {
  using Form = typename Sweep<T>::Form;
  using Array = typename Sweep<T>::Array;

  FftKind kind = FftKind::fft;
  std::vector<std::int64_t> lengths;
  InstructionSet set;
  std::int64_t count = 1;                   // transforms
  std::int64_t from_size = 1, to_size = 1;  // elements of one on each side
  double scale = 1;
  std::shared_ptr<const FourStep<T>> four_step;
  bool is_shared = false;              // a range works on all transforms
  const Together* together = nullptr;  // only where several threads do

  Task(const Type& from, const FftAttributes& attributes, const Type& to, InstructionSet set)
      : kind(attributes.type), lengths(attributes.lengths), set(set) {
    const int batch_rank = from.rank() - static_cast<int>(lengths.size());
    for (int axis = 0; axis < from.rank(); ++axis) {
      if (axis < batch_rank) {
        count *= from.shape[axis];
      } else {
        from_size *= from.shape[axis], to_size *= to.shape[axis];
      }
    }
    const bool is_inverse = kind == FftKind::ifft || kind == FftKind::irfft;
    for (std::int64_t length : lengths) {
      if (is_inverse && length > 0) scale /= static_cast<double>(length);
    }
    if (from_size == 0 || to_size == 0) count = 0;
    if (count > 0 && is_complex() && lengths.size() == 1 && FourStep<T>::suits(lengths[0])) {
      four_step = std::make_shared<FourStep<T>>(lengths[0], !is_inverse);
    }
  }

  bool is_complex() const { return kind == FftKind::fft || kind == FftKind::ifft; }

  double operations() const {
    const auto size = static_cast<double>(std::max(from_size, to_size));
    return 5 * size * std::log2(size + 1) + 1;
  }

  // Complex numbers.
  std::int64_t workspace_size(std::int64_t transforms) const {
    if (four_step) return four_step->workspace_size();
    return kind == FftKind::irfft && lengths.size() > 1 ? transforms * from_size : 0;
  }

  // Of so many transforms that follow each other.
  std::vector<Sweep<T>> sweeps(std::int64_t transforms) const {
    std::vector<Sweep<T>> made;
    for (std::int64_t i = 0; four_step && i < transforms; ++i) {
      made.push_back(four_step->columns());
      made.back().from_begin = i * from_size;
      made.push_back(four_step->rows(scale));
      made.back().to_begin = i * to_size;
    }
    if (four_step) return made;
    const int rank = static_cast<int>(lengths.size());
    if (kind == FftKind::rfft) made.push_back(along(rank - 1, transforms));
    for (int axis = 0; axis < (is_complex() ? rank : rank - 1); ++axis) {
      made.push_back(along(axis, transforms));
    }
    if (kind == FftKind::irfft) made.push_back(along(rank - 1, transforms));
    place(made);
    return made;
  }

 private:
  Sweep<T> along(int axis, std::int64_t transforms) const {
    const bool is_last = axis == static_cast<int>(lengths.size()) - 1;
    const std::int64_t length = lengths[static_cast<std::size_t>(axis)];
    Sweep<T> sweep;
    sweep.is_forward = kind == FftKind::fft || kind == FftKind::rfft;
    Lines& lines = sweep.lines;
    lines.length = length;
    lines.outer = transforms;
    for (int other = 0; other < static_cast<int>(lengths.size()); ++other) {
      if (other < axis) lines.outer *= lengths[static_cast<std::size_t>(other)];
      if (other > axis) lines.inner *= complex_length(other);
    }
    const std::int64_t half = length / 2 + 1;
    const bool is_real = is_last && !is_complex();
    lines.from = {.outer = length * lines.inner, .inner = 1, .along = lines.inner};
    lines.to = lines.from;
    if (is_real && kind == FftKind::rfft) {
      sweep.form = Form::real_to_complex;
      lines.to.outer = half;
    } else if (is_real) {
      sweep.form = Form::complex_to_real;
      lines.from.outer = half;
    }
    lines.is_alone = count == 1 && lengths.size() == 1;
    return sweep;
  }

  std::int64_t complex_length(int axis) const {
    const std::int64_t length = lengths[static_cast<std::size_t>(axis)];
    const bool is_halved = !is_complex() && axis == static_cast<int>(lengths.size()) - 1;
    return is_halved ? length / 2 + 1 : length;
  }

  // From the operand to the result, by the workspace where the result is of reals.
  void place(std::vector<Sweep<T>>& made) const {
    const Array between = kind == FftKind::irfft ? Array::workspace : Array::result;
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i].from = i == 0 ? Array::operand : between;
      made[i].to = i + 1 == made.size() ? Array::result : between;
    }
    made.back().scale = static_cast<T>(scale);
  }
};

template <class T>
Buffer workspace_of(const Task<T>& task, std::int64_t transforms) {
  const auto size = static_cast<std::size_t>(task.workspace_size(transforms));
  return size == 0 ? Buffer() : Buffer::allocate(Device::cpu(), size * sizeof(std::complex<T>));
}

void* memory_of(const Buffer& workspace) { return workspace ? workspace.data() : nullptr; }

// What the threads of one run share.
struct Together {
  mutable host::Phases phases;
  Buffer workspace;

  Together(std::size_t sweeps, Buffer workspace)
      : phases(static_cast<std::int64_t>(sweeps)), workspace(std::move(workspace)) {}

  template <class T>
  void run(const std::vector<Sweep<T>>& sweeps, InstructionSet set,
           const typename Sweep<T>::Arrays& arrays) const {
    std::int64_t phase = 0;
    for (const Sweep<T>& sweep : sweeps) {
      host::Phases::run(&phases, phase++, sweep.blocks(),
                        [&](std::int64_t block) { sweep.run(set, arrays, block); });
    }
  }
};

template <class T>
struct SharedTask : Task<T> {
  Together own;

  explicit SharedTask(const Task<T>& task)
      : Task<T>(task), own(task.sweeps(task.count).size(), workspace_of(task, task.count)) {
    this->together = &own;
  }
};

template <class T>
std::shared_ptr<const void> share(const void* context, void* const*) {
  return std::make_shared<SharedTask<T>>(*static_cast<const Task<T>*>(context));
}

template <class T>
void run(const void* context, void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Task<T>& task = *static_cast<const Task<T>*>(context);
  if (begin >= end) return;
  if (task.is_shared) begin = 0, end = task.count;
  const std::vector<Sweep<T>> sweeps = task.sweeps(end - begin);
  if (task.together) {
    const Together& together = *task.together;
    return together.run(sweeps, task.set, {buffers[0], buffers[1], memory_of(together.workspace)});
  }
  const Buffer workspace = workspace_of(task, end - begin);
  const auto after = [](void* array, std::int64_t elements, bool is_real) -> void* {
    return static_cast<std::byte*>(array) +
           static_cast<std::size_t>(elements) * (is_real ? sizeof(T) : sizeof(std::complex<T>));
  };
  const typename Sweep<T>::Arrays arrays{
      after(buffers[0], begin * task.from_size, task.kind == FftKind::rfft),
      after(buffers[1], begin * task.to_size, task.kind == FftKind::irfft), memory_of(workspace)};
  for (const Sweep<T>& sweep : sweeps) sweep.run(task.set, arrays);
}

template <class T>
HostTask task_of(Task<T> task, std::int64_t threads) {
  const double ranges = task.operations() * static_cast<double>(task.count) / operations_of_a_range;
  const auto sharers = static_cast<std::int64_t>(std::min(ranges, static_cast<double>(threads)));
  task.is_shared = (task.four_step || task.lengths.size() > 1) && task.count < sharers;
  HostTask made{run<T>, std::make_shared<Task<T>>(task), task.count};
  made.grain = static_cast<std::int64_t>(std::max(operations_of_a_range / task.operations(), 1.0));
  if (task.is_shared) {
    made.share = share<T>;
    made.extent = sharers;
    made.grain = 1;
  }
  return made;
}

}  // namespace
}  // namespace fft

HostTask fft_task(const CallStep& call, std::int64_t threads, fft::InstructionSet set) {
  const Type from = call.operands[0], to = result_types(call)[0];
  const auto& attributes = std::get<FftAttributes>(call.attributes);
  if (part_dtype(to.dtype) == f32) {
    return fft::task_of(fft::Task<float>(from, attributes, to, set), threads);
  }
  return fft::task_of(fft::Task<double>(from, attributes, to, set), threads);
}

}  // namespace anabranch
