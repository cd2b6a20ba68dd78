#include "codegen/cpu/dot/pack.h"

#include <algorithm>
#include <ranges>

#include "ir/kernel/builder.h"

namespace anabranch::cpu {
namespace {

constexpr int width = 16;

// Where element `position` of the axes is: offset_of, as an expression.
Index offset(IndexTable& table, const StridedAxes& axes, Index position) {
  if (auto axis = folded(axes)) return table.scale(position, axis->stride);
  Index sum = table.constant(0), rest = position;
  for (const StridedAxis& axis : std::views::reverse(axes)) {
    sum = table.add(sum, table.scale(table.remainder(rest, axis.size), axis.stride));
    rest = table.divide(rest, axis.size);
  }
  return sum;
}

std::int64_t span_of(const StridedAxes& axes) {
  std::int64_t last = 0;
  for (const StridedAxis& axis : axes) last += (axis.size - 1) * axis.stride;
  return last;
}

}  // namespace

Kernel pack_kernel(const StridedAxes& rows, const StridedAxes& columns, Dtype from, Dtype to) {
  KernelBuilder builder("pack");
  const std::int64_t size = size_of(columns);
  builder.add_buffer({"from", from, span_of(rows) + span_of(columns) + 1, Access::read});
  builder.add_buffer({"to", to, size_of(rows) * size, Access::write});
  const Ref outer = builder.open_loop(size_of(rows));
  const Ref inner = builder.open_loop(size);
  const Index row = builder.index_of(outer), column = builder.index_of(inner);
  IndexTable& table = builder.indices();
  Ref value = builder.load(0, table.add(offset(table, rows, row), offset(table, columns, column)));
  if (from != to) value = builder.compute(Op::convert, to, {value});
  builder.store(1, table.add(table.scale(row, size), column), value);
  builder.close_loop();
  builder.close_loop();
  Kernel kernel = builder.take();
  std::get<Loop>(kernel[outer].operation).parallel = true;
  std::get<Loop>(kernel[inner].operation).vector_width = width;
  return kernel;
}

Kernel convert_kernel(std::int64_t size, Dtype from, Dtype to) {
  KernelBuilder builder("convert");
  builder.add_buffer({"from", from, size, Access::read});
  builder.add_buffer({"to", to, size, Access::write});
  const Ref loop = builder.open_loop(size);
  const Index place = builder.index_of(loop);
  builder.store(1, place, builder.compute(Op::convert, to, {builder.load(0, place)}));
  builder.close_loop();
  Kernel kernel = builder.take();
  std::get<Loop>(kernel[loop].operation).parallel = true;
  std::get<Loop>(kernel[loop].operation).vector_width = width;
  return kernel;
}

}  // namespace anabranch::cpu
