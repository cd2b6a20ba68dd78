// GpuFacts: what the costs on a GPU follow from. Without CUDA headers: for machines without a GPU
// too.
#pragma once

#include "anabranch/dtype.h"

namespace anabranch::cuda {

/// One GPU. As it stands it is an H100 SXM by its data sheet (132 multiprocessors, 3.35 TB/s, and a
/// clock at which their f32 units make up its 67 TFLOP/s), which serves where there is no GPU.
struct GpuFacts {
  int architecture = 90;  ///< its compute capability: 90 for 9.0
  int multiprocessors = 132;
  int threads = 2048;           ///< that one multiprocessor holds at once
  double cycles_per_ns = 1.98;  ///< of the multiprocessors, at most
  double bytes_per_ns = 3350;   ///< of its memory, at most
};

/// Additions, multiplications or fused multiply-adds that one multiprocessor ends in a cycle, as
/// our kernels compute them, f16 and bf16 in f32: "Throughput of Native Arithmetic Instructions" in
/// the CUDA C++ Programming Guide. A capability that it does not know is taken for the next lower
/// one.
double results_per_cycle(int architecture, Dtype dtype);

/// Multiply-adds that one multiprocessor ends in a cycle in matrix products whose operands are not
/// sparse: the tensor cores' by NVIDIA's architecture white papers (Turing, A100, GA102, Ada, H100,
/// Blackwell), for f32 with `tf32` alone; otherwise those of `results_per_cycle`.
double dot_results_per_cycle(int architecture, Dtype dtype, bool tf32);

}  // namespace anabranch::cuda
