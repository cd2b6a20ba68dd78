// cuBLASLt, opened when the first dot is compiled for a GPU: the library runs on machines without
// it. The names and types are those of cublasLt.h.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>

#include "runtime/cuda/driver.h"

namespace anabranch::cuda {

// clang-format off
#define ANABRANCH_CUBLASLT(X)                                                              \
  X(cublasLtCreate) X(cublasLtGetStatusName)                                               \
  X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy) X(cublasLtMatmulDescSetAttribute) \
  X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy)                             \
  X(cublasLtMatrixLayoutSetAttribute)                                                      \
  X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy)                     \
  X(cublasLtMatmulPreferenceSetAttribute)                                                  \
  X(cublasLtMatmulAlgoGetHeuristic) X(cublasLtMatmul)
// clang-format on

template <>
inline constexpr cublasStatus_t closed_status<cublasStatus_t> = CUBLAS_STATUS_NOT_INITIALIZED;
template <>
inline constexpr const char* closed_status<const char*> = "the process is leaving main";

struct CublasLt {
  /// Why there is none that can be used, and what to do about it; empty where there is one.
  std::string missing;
#define ANABRANCH_CUBLASLT_MEMBER(name) Entry<decltype(&::name)> name;
  ANABRANCH_CUBLASLT(ANABRANCH_CUBLASLT_MEMBER)
#undef ANABRANCH_CUBLASLT_MEMBER
};

/// Opened at the first call.
const CublasLt& cublaslt();

/// Throws Error, "WHAT: CUBLAS_STATUS_...", unless `status` is success.
void check(cublasStatus_t status, const char* what);

/// The library's handle for a GPU, made at the first call for it and never destroyed. Throws Error
/// where there is no such GPU or no library. Thread-safe, as is what is done with it.
cublasLtHandle_t cublaslt_handle(int gpu);

/// What the library's descriptors go back through.
struct DestroyDescriptor {
  void operator()(cublasLtMatmulDesc_t desc) const { cublaslt().cublasLtMatmulDescDestroy(desc); }
  void operator()(cublasLtMatrixLayout_t layout) const {
    cublaslt().cublasLtMatrixLayoutDestroy(layout);
  }
  void operator()(cublasLtMatmulPreference_t preference) const {
    cublaslt().cublasLtMatmulPreferenceDestroy(preference);
  }
};
using MatmulDesc = std::unique_ptr<cublasLtMatmulDescOpaque_t, DestroyDescriptor>;
using MatrixLayout = std::unique_ptr<cublasLtMatrixLayoutOpaque_t, DestroyDescriptor>;
using MatmulPreference = std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, DestroyDescriptor>;

}  // namespace anabranch::cuda
