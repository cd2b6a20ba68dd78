// libcublasLt.so on the GPU of gpu.h, as far as Anabranch calls it: products in plain loops, as
// work on streams. It refuses what the real one would, and more: whatever its documentation leaves
// open.
//
// An algorithm that takes a workspace uses it in two pieces of work, so that two streams which
// share one spoil each other's results.
#include <cublasLt.h>
#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "product.h"

struct cublasLtContext {};

namespace {

using namespace fake_cuda;

struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t a = 256, b = 256, c = 256, d = 256;  // alignment in bytes
  std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
};

Desc& of(cublasLtMatmulDesc_t desc) { return *reinterpret_cast<Desc*>(desc); }
Layout& of(cublasLtMatrixLayout_t layout) { return *reinterpret_cast<Layout*>(layout); }
Preference& of(cublasLtMatmulPreference_t preference) {
  return *reinterpret_cast<Preference*>(preference);
}

template <class T>
cublasStatus_t set(T& to, const void* from, std::size_t bytes) {
  if (!from || bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

/// What is kept in the opaque algorithm: for which problem it is, and what it needs.
struct Algorithm {
  std::uint64_t problem;
  std::uint64_t workspace;
  std::uint32_t a, b, d;  // alignment in bytes
  bool rounds_parts;      // of a sum, to the type of the result
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

std::uint64_t hash(const Problem& problem) {
  std::uint64_t sum = 14695981039346656037u;
  const auto add = [&](auto value) {
    sum = (sum ^ static_cast<std::uint64_t>(value)) * 1099511628211u;
  };
  add(problem.desc.compute);
  add(problem.desc.scale);
  add(problem.desc.transposes_a);
  add(problem.desc.transposes_b);
  add(problem.desc.epilogue);
  for (const Layout& layout : {problem.a, problem.b, problem.d}) {
    add(layout.type);
    add(layout.rows);
    add(layout.columns);
    add(layout.leading);
    add(layout.batch);
    add(layout.batch_stride);
  }
  return sum;
}

bool has_types(const Problem& problem) {
  const cudaDataType_t type = problem.d.type;
  if (problem.a.type != type || problem.b.type != type) return false;
  switch (problem.desc.compute) {
    case CUBLAS_COMPUTE_64F:
      return type == CUDA_R_64F && problem.desc.scale == CUDA_R_64F;
    case CUBLAS_COMPUTE_32F:
      return (type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF) &&
             problem.desc.scale == CUDA_R_32F;
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return type == CUDA_R_32F && problem.desc.scale == CUDA_R_32F;
    default:
      return false;
  }
}

bool has_epilogue(std::uint32_t epilogue) {
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
      return true;
    default:
      return false;
  }
}

cublasStatus_t check(const Problem& problem) {
  const auto& [desc, a, b, d] = problem;
  const bool ta = desc.transposes_a == CUBLAS_OP_T, tb = desc.transposes_b == CUBLAS_OP_T;
  const bool fits = (ta ? a.columns : a.rows) == d.rows && (tb ? b.rows : b.columns) == d.columns &&
                    (ta ? a.rows : a.columns) == (tb ? b.columns : b.rows);
  if (!fits || a.batch != d.batch || b.batch != d.batch) return CUBLAS_STATUS_INVALID_VALUE;
  for (const Layout& layout : {a, b, d}) {
    const bool is_matrix = layout.rows > 0 && layout.columns > 0 && layout.batch > 0 &&
                           layout.leading >= static_cast<std::int64_t>(layout.rows);
    if (!is_matrix) return CUBLAS_STATUS_INVALID_VALUE;
  }
  const std::int64_t result = d.leading * (problem.columns() - 1) + problem.rows();
  if (d.batch > 1 && d.batch_stride < result) return CUBLAS_STATUS_INVALID_VALUE;
  if (!has_types(problem) || !has_epilogue(desc.epilogue)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (problem.has_bias() && !desc.bias) return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

bool is_aligned(const void* pointer, std::uint64_t bytes) {
  return pointer && reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  static cublasLtContext context;
  *handle = &context;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
  }
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *desc = reinterpret_cast<cublasLtMatmulDesc_t>(new Desc{.compute = compute, .scale = scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete &of(desc);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(of(desc).transposes_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return set(of(desc).transposes_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(of(desc).epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return set(of(desc).bias, value, bytes);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Layout{.type = type, .rows = rows, .columns = columns, .leading = leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &of(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, std::size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return set(of(layout).batch, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return set(of(layout).batch_stride, value, bytes);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete &of(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, std::size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return set(of(preference).workspace, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return set(of(preference).a, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return set(of(preference).b, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return set(of(preference).c, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return set(of(preference).d, value, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return set(of(preference).reductions, value, bytes);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

// Has an algorithm that splits long sums, where the workspace is large enough, and one that does
// not.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
  *found = 0;
  if (!handle || wanted < 1 || of(c) != of(d)) return CUBLAS_STATUS_INVALID_VALUE;
  const Problem problem{of(desc), of(a), of(b), of(d)};
  const cublasStatus_t status = check(problem);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const Preference& limits = of(preference);
  const auto elements =
      problem.d.rows * problem.d.columns * static_cast<std::uint64_t>(of(d).batch);
  const std::uint64_t bytes = elements * sizeof(double);
  const bool splits = problem.inner() >= 16 && bytes <= limits.workspace;
  const bool rounds_parts = limits.reductions & CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
  const Algorithm algorithm{hash(problem), splits ? bytes : 0,           limits.a,
                            limits.b,      std::min(limits.c, limits.d), rounds_parts};
  results[0] = {};
  std::memcpy(&results[0].algo, &algorithm, sizeof algorithm);
  results[0].workspaceSize = algorithm.workspace;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo,
                              void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
  if (!handle || !alpha || !beta || !algo || c != d || of(c_layout) != of(d_layout)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Problem problem{of(desc), of(a_layout), of(b_layout), of(d_layout)};
  const cublasStatus_t status = check(problem);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (load(problem.desc.scale, alpha, 0) != 1 || load(problem.desc.scale, beta, 0) != 0) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  Algorithm algorithm{};
  std::memcpy(&algorithm, algo, sizeof algorithm);
  if (algorithm.problem != hash(problem)) return CUBLAS_STATUS_INVALID_VALUE;
  if (!is_aligned(a, algorithm.a) || !is_aligned(b, algorithm.b) || !is_aligned(d, algorithm.d)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (problem.has_bias() && !is_aligned(problem.desc.bias, 16)) return CUBLAS_STATUS_INVALID_VALUE;
  const bool needs_room = algorithm.workspace > 0;
  if (workspace_bytes < algorithm.workspace) return CUBLAS_STATUS_INVALID_VALUE;
  if (needs_room && !is_aligned(workspace, 256)) return CUBLAS_STATUS_INVALID_VALUE;
  const CUresult result = put(stream, {problem, a, b, d, algorithm.rounds_parts},
                              needs_room ? static_cast<double*>(workspace) : nullptr);
  return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
