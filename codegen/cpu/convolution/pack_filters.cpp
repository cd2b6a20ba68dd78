// Filters in the library's layout, copied in pieces that several threads share: some of the filters
// each, one spatial position after the other where they are turned round on the way.
#include <algorithm>
#include <memory>
#include <utility>

#include "anabranch/error.h"
#include "codegen/cpu/convolution/convolution.h"
#include "codegen/cpu/convolution/layouts.h"
#include "codegen/cpu/dot/design.h"
#include "codegen/cpu/dot/one_thread.h"
#include "codegen/cpu/dot/packed_right.h"
#include "codegen/host/aligned_bytes.h"

namespace anabranch::cpu {
namespace {

using Dims = dnnl::memory::dims;

constexpr double bytes_per_ns = 10;

// How many filters the layout keeps together, along the first axis of all of them.
std::int64_t together(const dnnl::memory::desc& layout) {
  const dnnl_blocking_desc_t& blocking = layout.data.format_desc.blocking;
  std::int64_t filters = 1;
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    if (blocking.inner_idxs[i] == 0) filters *= blocking.inner_blks[i];
  }
  return filters;
}

class FilterPacking {
 public:
  FilterPacking(const ConvolutionForm& form, const dnnl::memory::desc& layout)
      : form_(form), layout_(layout), first_spatial_(form.rhs.sizes.size() - form.strides.size()) {
    counts_.assign(form.rhs.sizes.size(), 1);
    piece_ = form.rhs.sizes;
    const auto cut = [&](std::size_t axis, std::int64_t size) {
      counts_[axis] = form.rhs.sizes[axis] / size;
      piece_[axis] = size;
    };
    const std::int64_t filters = together(layout);
    if (form.rhs.sizes[0] % filters == 0) cut(0, filters);
    for (std::size_t i = 0; i < form.turned.size(); ++i) {
      if (form.turned[i]) cut(first_spatial_ + i, 1);
    }
    for (const std::int64_t count : counts_) pieces_ *= count;
    const OneThread alone;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc copy(cpu_engine(), from(), cpu_engine(), to(0), attributes);
    scratchpad_ = copy.scratchpad_desc();
    copy_ = dnnl::reorder(copy);
  }

  std::int64_t pieces() const { return pieces_; }
  std::size_t bytes() const { return layout_.get_size(); }

  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    const OneThread alone;
    try {
      dnnl::stream stream(cpu_engine());
      const host::AlignedBytes room(scratchpad_.get_size());
      for (std::int64_t i = begin; i < end; ++i) {
        // Every piece is copied alike: only where it begins differs.
        dnnl::memory source(from(), cpu_engine(),
                            static_cast<float*>(buffers[0]) + first_element(i));
        dnnl::memory target(to(0), cpu_engine(), static_cast<float*>(buffers[1]) + first_place(i));
        dnnl::memory scratchpad(scratchpad_, cpu_engine(), room.get());
        copy_.execute(
            stream,
            {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}, {DNNL_ARG_SCRATCHPAD, scratchpad}});
      }
    } catch (const dnnl::error& error) {
      throw InternalError("convolution", error.what());
    }
  }

 private:
  // Where a piece begins, along each axis.
  Dims place(std::int64_t index) const {
    Dims at(counts_.size());
    for (std::size_t i = at.size(); i-- > 0; index /= counts_[i]) {
      at[i] = index % counts_[i] * piece_[i];
    }
    return at;
  }

  dnnl::memory::desc from() const {
    return {piece_, dnnl::memory::data_type::f32, form_.rhs.strides};
  }
  dnnl::memory::desc to(std::int64_t index) const {
    return layout_.submemory_desc(piece_, place(index));
  }

  // Where a piece begins in the layout, from the first one on.
  std::int64_t first_place(std::int64_t index) const {
    return to(index).data.offset0 - to(0).data.offset0;
  }

  // The element that it is filled from first.
  std::int64_t first_element(std::int64_t index) const {
    const Dims at = place(index);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const bool is_turned = i >= first_spatial_ && form_.turned[i - first_spatial_];
      offset += (is_turned ? form_.rhs.sizes[i] - 1 - at[i] : at[i]) * form_.rhs.strides[i];
    }
    return offset;
  }

  const ConvolutionForm form_;
  const dnnl::memory::desc layout_;
  const std::size_t first_spatial_;
  Dims counts_, piece_;  ///< pieces along each axis, and the sizes of one
  std::int64_t pieces_ = 1;
  dnnl::memory::desc scratchpad_;
  dnnl::reorder copy_;
};

}  // namespace

std::size_t packed_filter_bytes(const ConvolutionStep& step) {
  const ConvolutionForm form = form_of(step).value();
  const ConvolutionLayouts layouts = layouts_of(form).value();
  if (!layouts.filters) return 0;
  const bool is_turned = std::ranges::count(form.turned, true) > 0;
  if (!is_turned && *layouts.filters == form.rhs.desc()) return 0;
  return layouts.filters->get_size();
}

HostTask pack_filters(const ConvolutionStep& step) {
  const ConvolutionForm form = form_of(step).value();
  auto packing =
      std::make_shared<const FilterPacking>(form, layouts_of(form).value().filters.value());
  HostTask task;
  task.function = [](const void* context, void* const* buffers, std::int64_t begin,
                     std::int64_t end) {
    static_cast<const FilterPacking*>(context)->run(buffers, begin, end);
  };
  task.extent = packing->pieces();
  const double piece_ns =
      static_cast<double>(packing->bytes()) / static_cast<double>(packing->pieces()) / bytes_per_ns;
  task.grain = 1 + static_cast<std::int64_t>(worthwhile_ns / piece_ns);
  task.context = std::move(packing);
  return task;
}

}  // namespace anabranch::cpu
