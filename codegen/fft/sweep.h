// Sweep: the transforms of all lines along one axis, cut into blocks that any thread may do.
//
// A transform of several axes is a sweep for each of them; a long one of one axis is two sweeps, by
// the four-step method. A sweep begins when the one before it is done.
#pragma once

#include <array>

#include "codegen/fft/instruction_set.h"
#include "codegen/fft/lines.h"

namespace anabranch::fft {

template <class T>
struct Sweep {
  enum class Form { complex_to_complex, real_to_complex, complex_to_real };
  enum class Array { operand, result, workspace };
  /// Where the arrays are, in that order.
  using Arrays = std::array<void*, 3>;

  Form form = Form::complex_to_complex;
  bool is_forward = true;
  T scale = 1;
  Array from = Array::operand, to = Array::result;
  std::int64_t from_begin = 0, to_begin = 0;  ///< elements before the first line
  Lines lines;
  /// What the results are multiplied by, of a table with a row per point of a line and `coarse`
  /// factors for each block of `block` lines. Null for no factors.
  const std::complex<T>* fine = nullptr;
  const std::complex<T>* coarse = nullptr;

  /// Lines that are neighbours in memory are transformed together: so many fill 256 bytes.
  static constexpr std::int64_t block = 256 / sizeof(std::complex<T>);

  std::int64_t blocks() const;
  /// The bits depend neither on the set nor on who does which block. Throws std::bad_alloc.
  void run(InstructionSet set, const Arrays& arrays, std::int64_t block) const;
  /// All blocks at once.
  void run(InstructionSet set, const Arrays& arrays) const;
};

extern template struct Sweep<float>;
extern template struct Sweep<double>;

}  // namespace anabranch::fft
