#include "codegen/cpu/dot/pack.h"

#include <algorithm>
#include <ranges>

namespace anabranch::cpu {
namespace {

constexpr int width = 16;

Ref define(Kernel& kernel, Dtype dtype, Operation operation) {
  kernel.instructions.push_back({std::move(operation), dtype, {}});
  return Ref{static_cast<std::uint32_t>(kernel.instructions.size() - 1)};
}

Ref append(Kernel& kernel, Block& block, Dtype dtype, Operation operation) {
  block.push_back(define(kernel, dtype, std::move(operation)));
  return block.back();
}

Ref arithmetic(Kernel& kernel, Block& block, Op op, Ref x, std::int64_t y) {
  Ref constant = append(kernel, block, i64, ConstantInstruction{static_cast<std::uint64_t>(y)});
  return append(kernel, block, i64, Compute{op, {x, constant}});
}

// Where element `position` of the axes lies: offset_of, as instructions.
Ref offset(Kernel& kernel, Block& block, const StridedAxes& axes, Ref position) {
  if (auto axis = folded(axes)) {
    return arithmetic(kernel, block, Op::multiply, position, axis->stride);
  }
  Ref sum;
  Ref rest = position;
  for (const StridedAxis& axis : std::views::reverse(axes)) {
    Ref digit = arithmetic(kernel, block, Op::remainder, rest, axis.size);
    Ref part = arithmetic(kernel, block, Op::multiply, digit, axis.stride);
    sum = sum ? append(kernel, block, i64, Compute{Op::add, {sum, part}}) : part;
    rest = arithmetic(kernel, block, Op::divide, rest, axis.size);
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
  Kernel kernel;
  kernel.name = "pack";
  const std::int64_t size = size_of(columns);
  kernel.buffers = {{"from", from, span_of(rows) + span_of(columns) + 1, Access::read},
                    {"to", to, size_of(rows) * size, Access::write}};
  Loop outer, inner;
  outer.extent = size_of(rows);
  outer.parallel = true;
  outer.index = define(kernel, i64, LoopIndex{});
  inner.extent = size;
  inner.vector_width = width;
  inner.index = define(kernel, i64, LoopIndex{});

  Ref row_from = offset(kernel, outer.body, rows, outer.index);
  Ref row_to = arithmetic(kernel, outer.body, Op::multiply, outer.index, size);
  Ref column = offset(kernel, inner.body, columns, inner.index);
  Ref read = append(kernel, inner.body, i64, Compute{Op::add, {row_from, column}});
  Ref write = append(kernel, inner.body, i64, Compute{Op::add, {row_to, inner.index}});
  Ref value = append(kernel, inner.body, from, Load{0, read, {}});
  if (from != to) value = append(kernel, inner.body, to, Compute{Op::convert, {value}});
  append(kernel, inner.body, i64, Store{1, write, value});
  append(kernel, outer.body, i64, std::move(inner));
  append(kernel, kernel.body, i64, std::move(outer));
  return kernel;
}

Kernel convert_kernel(std::int64_t size, Dtype from, Dtype to) {
  Kernel kernel;
  kernel.name = "convert";
  kernel.buffers = {{"from", from, size, Access::read}, {"to", to, size, Access::write}};
  Loop loop;
  loop.extent = size;
  loop.parallel = true;
  loop.vector_width = width;
  loop.index = define(kernel, i64, LoopIndex{});
  Ref value = append(kernel, loop.body, from, Load{0, loop.index, {}});
  value = append(kernel, loop.body, to, Compute{Op::convert, {value}});
  append(kernel, loop.body, i64, Store{1, loop.index, value});
  append(kernel, kernel.body, i64, std::move(loop));
  return kernel;
}

}  // namespace anabranch::cpu
