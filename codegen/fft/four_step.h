// FourStep: one long transform as many short ones (Bailey, "FFTs in external or hierarchical
// memory", Journal of Supercomputing 4, 1990).
//
// Let n = n1 n2, w = exp(-+2 pi i / n). With j = n2 j1 + j2 and k = k1 + n1 k2,
//
//   y[k1 + n1 k2] = sum over j2 of  w^(n1 j2 k2)  w^(j2 k1)  sum over j1 of  w^(n2 j1 k1) x[n2 j1 +
//   j2]
//                                       (b)         (a)                        (a)
//
// Two sweeps do it. Both take blocks of lines that fit into a cache, on any thread:
//
//   (a) columns j2 of x as [n1, n2], into a workspace: transforms, then twiddle factors w^(j2 k1);
//   (b) rows k1 of the workspace: transforms; element k2 of row k1 goes to place k1 + n1 k2.
//
// The factor of column j2 = block b + c is w^(c k1) times w^(block b k1). Tables of both have n1
// `block` and n / `block` elements. They are computed in long double, when a task is made.
#pragma once

#include <vector>

#include "codegen/fft/sweep.h"

namespace anabranch::fft {

template <class T>
class FourStep {
 public:
  /// A long transform whose length has two factors of at least 16. It depends on the length alone:
  /// the two ways of computing one have other bits.
  static bool suits(std::int64_t length);

  /// For a length that suits.
  FourStep(std::int64_t length, bool is_forward);

  /// Complex numbers of the workspace.
  std::int64_t workspace_size() const { return rows_ * stride_; }
  /// From the operand to the workspace.
  Sweep<T> columns() const;
  /// From the workspace to the result.
  Sweep<T> rows(double scale) const;

 private:
  std::int64_t rows_, columns_;  // n1 and n2
  std::int64_t stride_;          // of the workspace's rows
  bool is_forward_;
  std::vector<std::complex<T>> fine_, coarse_;
};

extern template class FourStep<float>;
extern template class FourStep<double>;

}  // namespace anabranch::fft
