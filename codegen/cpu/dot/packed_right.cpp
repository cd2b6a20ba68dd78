#include "codegen/cpu/dot/packed_right.h"

#include <algorithm>
#include <utility>

#include "anabranch/error.h"
#include "codegen/cpu/dot/one_thread.h"

namespace anabranch::cpu {
namespace {

constexpr double bytes_per_ns = 10;

// How many columns the layout keeps together; 0 where that is not all there is to it. Padding would
// be written anew whenever the library is shown the matrix, by several threads at once.
std::int64_t columns_together(const dnnl::memory::desc& layout) {
  if (layout.data.format_kind != dnnl_blocked) return 0;
  const auto& blocking = layout.data.format_desc.blocking;
  if (blocking.inner_nblks == 0) return 0;
  std::int64_t columns = 1;
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    if (blocking.inner_idxs[i] == 1) columns *= blocking.inner_blks[i];
  }
  const bool is_padded =
      !std::equal(layout.data.dims, layout.data.dims + layout.data.ndims, layout.data.padded_dims);
  return is_padded || layout.data.dims[1] % columns != 0 ? 0 : columns;
}

dnnl::memory::desc columns_of(const dnnl::memory::desc& matrix, std::int64_t first,
                              std::int64_t count) {
  return matrix.submemory_desc({matrix.data.dims[0], count}, {0, first});
}

// Where the second piece begins, in bytes.
std::int64_t step(const dnnl::memory::desc& matrix, std::int64_t columns) {
  if (matrix.data.dims[1] == columns) return 0;
  return columns_of(matrix, columns, columns).data.offset0 *
         static_cast<std::int64_t>(dnnl::memory::data_type_size(matrix.data_type()));
}

}  // namespace

std::shared_ptr<const PackedRight> PackedRight::make(const dnnl::memory::desc& plain,
                                                     const dnnl::memory::desc& packed,
                                                     const dnnl::engine& engine) {
  const std::int64_t columns = columns_together(packed);
  if (columns == 0) return nullptr;
  std::shared_ptr<PackedRight> right(new PackedRight);
  right->packed_ = packed;
  right->engine_ = engine;
  right->pieces_ = packed.data.dims[1] / columns;
  right->from_ = columns_of(plain, 0, columns);
  right->to_ = columns_of(packed, 0, columns);
  right->from_step_ = step(plain, columns);
  right->to_step_ = step(packed, columns);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::reorder::primitive_desc copy(engine, right->from_, engine, right->to_, attributes);
  if (copy.scratchpad_desc().get_size() > 0) return nullptr;
  right->copy_ = dnnl::reorder(copy);
  return right;
}

HostTask PackedRight::task(std::shared_ptr<const PackedRight> self) {
  HostTask task;
  task.function = [](const void* context, void* const* buffers, std::int64_t begin,
                     std::int64_t end) {
    static_cast<const PackedRight*>(context)->run(buffers, begin, end);
  };
  task.extent = self->pieces_;
  const double piece_ns = static_cast<double>(self->to_.get_size()) / bytes_per_ns;
  task.grain = 1 + static_cast<std::int64_t>(worthwhile_ns / piece_ns);
  task.context = std::move(self);
  return task;
}

void PackedRight::run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
  const OneThread alone;
  try {
    dnnl::stream stream(engine_);
    dnnl::memory from(from_, engine_, nullptr), to(to_, engine_, nullptr);
    for (std::int64_t i = begin; i < end; ++i) {
      from.set_data_handle(static_cast<std::byte*>(buffers[0]) + i * from_step_);
      to.set_data_handle(static_cast<std::byte*>(buffers[1]) + i * to_step_);
      copy_.execute(stream, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    }
  } catch (const dnnl::error& error) {
    throw InternalError("dot", error.what());
  }
}

}  // namespace anabranch::cpu
