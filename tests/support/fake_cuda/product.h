// A product of matrices as cuBLASLt sees it, column by column, computed in plain loops.
#pragma once

#include <cublasLt.h>
#include <cuda.h>

#include <cstdint>

namespace fake_cuda {

struct Desc {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  std::int32_t transposes_a = CUBLAS_OP_N, transposes_b = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};

struct Layout {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t leading;
  std::int32_t batch = 1;
  std::int64_t batch_stride = 0;

  bool operator==(const Layout&) const = default;
};

/// D = op(A) op(B), all that it depends on but addresses.
struct Problem {
  Desc desc;
  Layout a, b, d;

  std::int64_t rows() const { return static_cast<std::int64_t>(d.rows); }
  std::int64_t columns() const { return static_cast<std::int64_t>(d.columns); }
  std::int64_t inner() const {
    return static_cast<std::int64_t>(desc.transposes_a == CUBLAS_OP_T ? a.rows : a.columns);
  }
  bool has_bias() const { return desc.epilogue & CUBLASLT_EPILOGUE_BIAS; }
};

/// One product of addresses.
struct Product {
  Problem problem;
  const void *a, *b;
  void* d;
  bool rounds_parts = false;  ///< of a sum, to the type of the result
};

/// Puts it on a stream: at once, or in two pieces of work where there is a workspace, which gets
/// the first half of each sum.
CUresult put(CUstream stream, const Product& product, double* workspace);

double load(cudaDataType_t type, const void* matrix, std::int64_t element);

}  // namespace fake_cuda
