#include "codegen/fft/task.h"

#include <cmath>
#include <memory>

#include "codegen/fft/ducc.h"

namespace anabranch {
namespace fft {
namespace {

struct Task {
  FftKind kind = FftKind::fft;
  std::vector<std::int64_t> lengths;
  std::int64_t count = 1;                   // transforms
  std::int64_t from_size = 1, to_size = 1;  // elements of one on each side
  double scale = 1;

  Task(const Type& from, const FftAttributes& attributes, const Type& to)
      : kind(attributes.type), lengths(attributes.lengths) {
    const int batch_rank = from.rank() - static_cast<int>(lengths.size());
    for (int axis = 0; axis < from.rank(); ++axis) {
      if (axis < batch_rank) {
        count *= from.shape[axis];
      } else {
        from_size *= from.shape[axis], to_size *= to.shape[axis];
      }
    }
    const bool inverse = kind == FftKind::ifft || kind == FftKind::irfft;
    for (std::int64_t length : lengths) {
      if (inverse && length > 0) scale /= static_cast<double>(length);
    }
    if (from_size == 0 || to_size == 0) count = 0;
  }

  // A single transform has no axis that counts it: it is vectorised inside then.
  Layout layout(std::int64_t transforms) const {
    Layout layout{lengths, static_cast<int>(lengths.size())};
    if (count > 1) layout.sizes.insert(layout.sizes.begin(), transforms);
    return layout;
  }

  double operations() const {
    const auto size = static_cast<double>(std::max(from_size, to_size));
    return 5 * size * std::log2(size + 1);
  }
};

template <class T>
void run(const void* context, void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Task& task = *static_cast<const Task*>(context);
  if (begin >= end) return;
  using C = std::complex<T>;
  const Layout layout = task.layout(end - begin);
  const std::int64_t from = begin * task.from_size, to = begin * task.to_size;
  const auto scale = static_cast<T>(task.scale);
  switch (task.kind) {
    case FftKind::fft:
    case FftKind::ifft:
      return complex_to_complex(layout, static_cast<const C*>(buffers[0]) + from,
                                static_cast<C*>(buffers[1]) + to, task.kind == FftKind::fft, scale);
    case FftKind::rfft:
      return real_to_complex(layout, static_cast<const T*>(buffers[0]) + from,
                             static_cast<C*>(buffers[1]) + to);
    case FftKind::irfft:
      return complex_to_real(layout, static_cast<const C*>(buffers[0]) + from,
                             static_cast<T*>(buffers[1]) + to, scale);
  }
}

// A thread of its own is worth as many operations as a few microseconds hold.
constexpr double operations_of_a_range = 100'000;

}  // namespace
}  // namespace fft

HostTask fft_task(const CallStep& call) {
  const Type to = result_types(call)[0];
  auto task =
      std::make_shared<fft::Task>(call.operands[0], std::get<FftAttributes>(call.attributes), to);
  const auto grain =
      static_cast<std::int64_t>(std::max(fft::operations_of_a_range / task->operations(), 1.0));
  const std::int64_t extent = task->count;
  const bool is_narrow = part_dtype(to.dtype) == f32;
  return {is_narrow ? fft::run<float> : fft::run<double>, std::move(task), extent, grain};
}

}  // namespace anabranch
