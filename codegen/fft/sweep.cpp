#include "codegen/fft/sweep.h"

#include <algorithm>

namespace anabranch::fft {
namespace {

// Places of the first lines of a block, and the block.
struct Part {
  std::int64_t from, to;
  Lines lines;
};

std::int64_t outer_of_block(const Lines& lines, std::int64_t block) {
  return std::max<std::int64_t>(block / lines.inner, 1);
}

std::int64_t inner_blocks(const Lines& lines, std::int64_t block) {
  return (lines.inner + block - 1) / block;
}

// The axis of more than one line, where there is one such.
std::int64_t& counted_axis(Lines& lines) { return lines.inner == 1 ? lines.outer : lines.inner; }

std::int64_t stride_of_counted(const Lines& lines, const Lines::Strides& strides) {
  return lines.inner == 1 ? strides.outer : strides.inner;
}

template <class T>
void transform(const Sweep<T>& sweep, InstructionSet set, const typename Sweep<T>::Arrays& arrays,
               const Part& part) {
  using C = std::complex<T>;
  const Functions<T>& functions = kernels(set).of<T>();
  void* const from = arrays[static_cast<std::size_t>(sweep.from)];
  void* const to = arrays[static_cast<std::size_t>(sweep.to)];
  switch (sweep.form) {
    case Sweep<T>::Form::complex_to_complex:
      return functions.complex_to_complex(part.lines, static_cast<const C*>(from) + part.from,
                                          static_cast<C*>(to) + part.to, sweep.is_forward,
                                          sweep.scale);
    case Sweep<T>::Form::real_to_complex:
      return functions.real_to_complex(part.lines, static_cast<const T*>(from) + part.from,
                                       static_cast<C*>(to) + part.to);
    case Sweep<T>::Form::complex_to_real:
      return functions.complex_to_real(part.lines, static_cast<const C*>(from) + part.from,
                                       static_cast<T*>(to) + part.to, sweep.scale);
  }
}

// Lines are the lanes of vectors: those that fill no wide one are left for narrower ones.
template <class T>
void transform_by_lanes(const Sweep<T>& sweep, InstructionSet set,
                        const typename Sweep<T>::Arrays& arrays, Part part) {
  for (; set != InstructionSet::baseline && !part.lines.is_alone;
       set = static_cast<InstructionSet>(static_cast<int>(set) - 1)) {
    const std::int64_t lanes = vector_size(set) / static_cast<std::int64_t>(sizeof(T));
    if (part.lines.outer > 1 && part.lines.inner > 1) {
      if (part.lines.outer * part.lines.inner >= lanes) break;
      continue;
    }
    const std::int64_t count = counted_axis(part.lines);
    const std::int64_t filled = count / lanes * lanes;
    if (filled == count) break;
    if (filled == 0) continue;
    Part wide = part;
    counted_axis(wide.lines) = filled;
    transform(sweep, set, arrays, wide);
    part.from += filled * stride_of_counted(part.lines, part.lines.from);
    part.to += filled * stride_of_counted(part.lines, part.lines.to);
    counted_axis(part.lines) = count - filled;
  }
  transform(sweep, set, arrays, part);
}

}  // namespace

template <class T>
std::int64_t Sweep<T>::blocks() const {
  const std::int64_t outer = outer_of_block(lines, block);
  return (lines.outer + outer - 1) / outer * inner_blocks(lines, block);
}

template <class T>
void Sweep<T>::run(InstructionSet set, const Arrays& arrays, std::int64_t number) const {
  const std::int64_t per_outer = inner_blocks(lines, block), outers = outer_of_block(lines, block);
  const std::int64_t outer = number / per_outer * outers, inner = number % per_outer * block;
  Part part{from_begin + outer * lines.from.outer + inner * lines.from.inner,
            to_begin + outer * lines.to.outer + inner * lines.to.inner, lines};
  part.lines.outer = std::min(outers, lines.outer - outer);
  part.lines.inner = std::min(block, lines.inner - inner);
  transform_by_lanes(*this, set, arrays, part);
  if (!fine) return;
  auto* const values = static_cast<std::complex<T>*>(arrays[static_cast<std::size_t>(to)]);
  kernels(set).of<T>().multiply(values + part.to, lines.length, part.lines.inner, lines.to.along,
                                {fine, coarse + number * lines.length, block});
}

template <class T>
void Sweep<T>::run(InstructionSet set, const Arrays& arrays) const {
  if (!fine) return transform_by_lanes(*this, set, arrays, Part{from_begin, to_begin, lines});
  for (std::int64_t number = 0; number < blocks(); ++number) run(set, arrays, number);
}

template struct Sweep<float>;
template struct Sweep<double>;

}  // namespace anabranch::fft
