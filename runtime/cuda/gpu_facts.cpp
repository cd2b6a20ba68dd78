#include "runtime/cuda/gpu_facts.h"

#include <algorithm>
#include <iterator>

namespace anabranch::cuda {
namespace {

/// Of one multiprocessor, a cycle.
struct Throughput {
  int architecture;
  double f32, f64, integer;
  double tensor_half, tensor_tf32, tensor_f64;  // 0: there are no such tensor cores
};

// clang-format off
constexpr Throughput known[] = {
    //    f32 f64 i32  f16   tf32  f64
    {75,   64,  2, 64,  512,    0,   0},
    {80,   64, 32, 64, 1024,  512,  64},
    {86,  128,  2, 64,  512,  256,   0},
    {89,  128,  2, 64,  512,  256,   0},
    {90,  128, 64, 64, 2048, 1024, 128},
    {100, 128, 64, 64, 4096, 2048,  64},
    {103, 128,  2, 64, 4096, 2048,   0},
    {120, 128,  2, 64,  512,  256,   0},
};
// clang-format on

const Throughput& throughput(int architecture) {
  const auto later =
      std::upper_bound(std::begin(known), std::end(known), architecture,
                       [](int wanted, const Throughput& row) { return wanted < row.architecture; });
  return later == std::begin(known) ? *later : *std::prev(later);
}

}  // namespace

double results_per_cycle(int architecture, Dtype dtype) {
  const Throughput& row = throughput(architecture);
  if (dtype == f64) return row.f64;
  return is_float(dtype) ? row.f32 : row.integer;
}

double dot_results_per_cycle(int architecture, Dtype dtype, bool tf32) {
  const Throughput& row = throughput(architecture);
  double tensor = 0;
  if (dtype == f16 || dtype == bf16) tensor = row.tensor_half;
  if (dtype == f32 && tf32) tensor = row.tensor_tf32;
  if (dtype == f64) tensor = row.tensor_f64;
  return std::max(tensor, results_per_cycle(architecture, dtype));
}

}  // namespace anabranch::cuda
