// cuBLASLt called directly: y = epilogue(x w + bias), with the algorithm that it names first.
#pragma once

#include <cublasLt.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/gpu_driver.h"

namespace bench {

// clang-format off
#define BENCH_BLASLT(X)                                                                   \
  X(cublasLtCreate) X(cublasLtMatmul) X(cublasLtMatmulDescCreate)                         \
  X(cublasLtMatmulDescSetAttribute) X(cublasLtMatrixLayoutCreate)                         \
  X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceSetAttribute)               \
  X(cublasLtMatmulAlgoGetHeuristic)
// clang-format on

/// The library, opened when it is made; throws where it is not there.
class BlasLt {
 public:
#define BENCH_MEMBER(name) decltype(&::name) name = nullptr;
  BENCH_BLASLT(BENCH_MEMBER)
#undef BENCH_MEMBER
  cublasLtHandle_t handle = nullptr;

  BlasLt() {
    const std::string file = "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(std::string("there is no cuBLASLt: ") + dlerror());
#define BENCH_FIND(name)                                             \
  name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  if (!name) throw std::runtime_error(file + " has no " #name);
    BENCH_BLASLT(BENCH_FIND)
#undef BENCH_FIND
    check(cublasLtCreate(&handle), "cublasLtCreate");
  }

  static void check(cublasStatus_t status, const char* what) {
    if (status != CUBLAS_STATUS_SUCCESS) {
      throw std::runtime_error(std::string(what) + ": status " + std::to_string(status));
    }
  }
};

enum class Epilogue { none, bias_relu, bias_gelu };

/// A product of random square matrices, rows first as in C++. f32 is f32 throughout, without TF32;
/// bf16 adds in f32. Descriptors live as long as the process.
class BlasLtProduct {
 public:
  BlasLtProduct(BlasLt& library, Gpu& gpu, bool is_bf16, std::uint64_t size, Epilogue epilogue)
      : library_(library),
        gpu_(gpu),
        x_(gpu, size * size * (is_bf16 ? 2 : 4)),
        w_(gpu, size * size * (is_bf16 ? 2 : 4)),
        y_(gpu, size * size * (is_bf16 ? 2 : 4)),
        bias_(gpu, size * (is_bf16 ? 2 : 4)),
        workspace_(gpu, workspace_bytes) {
    fill(x_, size * size, is_bf16);
    fill(w_, size * size, is_bf16);
    fill(bias_, size, is_bf16);
    const cudaDataType_t type = is_bf16 ? CUDA_R_16BF : CUDA_R_32F;
    check(library.cublasLtMatmulDescCreate(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "product");
    if (epilogue != Epilogue::none) {
      const cublasLtEpilogue_t wanted = epilogue == Epilogue::bias_relu
                                            ? CUBLASLT_EPILOGUE_RELU_BIAS
                                            : CUBLASLT_EPILOGUE_GELU_BIAS;
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, wanted);
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias_.data());
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type);
    }
    // Square and dense: one layout for all three.
    check(library.cublasLtMatrixLayoutCreate(&layout_, type, size, size,
                                             static_cast<std::int64_t>(size)),
          "layout");
    cublasLtMatmulPreference_t preference = nullptr;
    check(library.cublasLtMatmulPreferenceCreate(&preference), "preference");
    const std::size_t most = workspace_bytes;
    check(library.cublasLtMatmulPreferenceSetAttribute(
              preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most),
          "preference");
    int found = 0;
    check(library.cublasLtMatmulAlgoGetHeuristic(library.handle, product_, layout_, layout_,
                                                 layout_, layout_, preference, 1, &chosen_, &found),
          "heuristic");
    if (found == 0) throw std::runtime_error("cuBLASLt has no algorithm");
  }

  /// Puts one product on the GPU's stream.
  void run() {
    const float one = 1, zero = 0;
    // cuBLASLt's matrices have columns first: x w is, to it, the transposes the other way round.
    check(
        library_.cublasLtMatmul(library_.handle, product_, &one, pointer(w_), layout_, pointer(x_),
                                layout_, &zero, pointer(y_), layout_, pointer(y_), layout_,
                                &chosen_.algo, pointer(workspace_), workspace_bytes, gpu_.stream()),
        "cublasLtMatmul");
  }

 private:
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

  static void check(cublasStatus_t status, const char* what) { BlasLt::check(status, what); }
  static void* pointer(const GpuMemory& memory) { return reinterpret_cast<void*>(memory.data()); }

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(library_.cublasLtMatmulDescSetAttribute(product_, attribute, &value, sizeof value),
          "attribute");
  }

  /// Even numbers in [-1, 1): products of zeros would be faster.
  void fill(const GpuMemory& memory, std::size_t count, bool is_bf16) {
    std::minstd_rand random(5);
    std::vector<std::uint32_t> words;
    const std::size_t in_a_word = is_bf16 ? 2 : 1;
    words.reserve(count / in_a_word);
    const auto bits = [&] {
      const float value = static_cast<float>(random()) / static_cast<float>(random.max() / 2) - 1;
      std::uint32_t word;
      std::memcpy(&word, &value, sizeof word);
      return word;
    };
    for (std::size_t i = 0; i < count; i += in_a_word) {
      words.push_back(is_bf16 ? (bits() & 0xffff0000u) | bits() >> 16 : bits());
    }
    gpu_.copy(memory.data(), reinterpret_cast<CUdeviceptr>(words.data()), words.size() * 4);
    gpu_.wait();
  }

  BlasLt& library_;
  Gpu& gpu_;
  GpuMemory x_, w_, y_, bias_, workspace_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t layout_ = nullptr;
  cublasLtMatmulHeuristicResult_t chosen_{};
};

}  // namespace bench
