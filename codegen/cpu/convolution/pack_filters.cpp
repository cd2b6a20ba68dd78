// Filters in the library's layout, one spatial position of them after the other: each may be turned
// round on the way, and several threads share them.
#include <memory>
#include <utility>

#include "anabranch/error.h"
#include "codegen/cpu/aligned_bytes.h"
#include "codegen/cpu/convolution/convolution.h"
#include "codegen/cpu/convolution/layouts.h"
#include "codegen/cpu/dot/design.h"
#include "codegen/cpu/dot/one_thread.h"
#include "codegen/cpu/dot/packed_right.h"

namespace anabranch::cpu {
namespace {

using Dims = dnnl::memory::dims;

constexpr double bytes_per_ns = 10;

class FilterPacking {
 public:
  FilterPacking(const ConvolutionForm& form, const dnnl::memory::desc& layout)
      : form_(form), layout_(layout), spatial_(form.strides.size()) {
    const std::size_t first = form.rhs.sizes.size() - spatial_;
    for (std::size_t i = first; i < form.rhs.sizes.size(); ++i) positions_ *= form.rhs.sizes[i];
    const OneThread alone;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc copy(cpu_engine(), from(), cpu_engine(), to(0), attributes);
    scratchpad_ = copy.scratchpad_desc();
    copy_ = dnnl::reorder(copy);
  }

  std::int64_t positions() const { return positions_; }
  std::size_t bytes() const { return layout_.get_size(); }

  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    const OneThread alone;
    try {
      dnnl::stream stream(cpu_engine());
      const AlignedBytes room(scratchpad_.get_size());
      for (std::int64_t i = begin; i < end; ++i) {
        // Every position is copied alike: only where it begins differs.
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
  // Coordinates of a position, as offsets of a filter.
  Dims place(std::int64_t position) const {
    Dims at(form_.rhs.sizes.size(), 0);
    for (std::size_t i = at.size(); i-- > at.size() - spatial_;) {
      at[i] = position % form_.rhs.sizes[i];
      position /= form_.rhs.sizes[i];
    }
    return at;
  }

  Dims one_position() const {
    Dims sizes = form_.rhs.sizes;
    for (std::size_t i = sizes.size() - spatial_; i < sizes.size(); ++i) sizes[i] = 1;
    return sizes;
  }

  dnnl::memory::desc from() const {
    return {one_position(), dnnl::memory::data_type::f32, form_.rhs.strides};
  }
  dnnl::memory::desc to(std::int64_t position) const {
    return layout_.submemory_desc(one_position(), place(position));
  }

  // Where a position of the layout begins, from its first one on.
  std::int64_t first_place(std::int64_t position) const {
    return to(position).data.offset0 - to(0).data.offset0;
  }

  // The element that it is filled from first.
  std::int64_t first_element(std::int64_t position) const {
    const Dims at = place(turns_filters(form_) ? positions_ - 1 - position : position);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < at.size(); ++i) offset += at[i] * form_.rhs.strides[i];
    return offset;
  }

  const ConvolutionForm form_;
  const dnnl::memory::desc layout_;
  const std::size_t spatial_;
  std::int64_t positions_ = 1;
  dnnl::memory::desc scratchpad_;
  dnnl::reorder copy_;
};

}  // namespace

std::size_t packed_filter_bytes(const ConvolutionStep& step) {
  const ConvolutionForm form = form_of(step).value();
  const ConvolutionLayouts layouts = layouts_of(form).value();
  if (!layouts.filters) return 0;
  if (!turns_filters(form) && *layouts.filters == form.rhs.desc()) return 0;
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
  task.extent = packing->positions();
  const double piece_ns = static_cast<double>(packing->bytes()) /
                          static_cast<double>(packing->positions()) / bytes_per_ns;
  task.grain = 1 + static_cast<std::int64_t>(worthwhile_ns / piece_ns);
  task.context = std::move(packing);
  return task;
}

}  // namespace anabranch::cpu
