#include "codegen/cuda/dot/dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "anabranch/error.h"
#include "codegen/cuda/dot/cublaslt.h"
#include "codegen/cuda/dot/products.h"
#include "ir/text/print.h"
#include "runtime/cuda/gpu.h"

namespace anabranch::cuda {
namespace {

// Where arrays begin, and where the library wants its workspace to begin.
constexpr std::int64_t array_alignment = 64;
constexpr std::int64_t workspace_alignment = 256;

// As NVIDIA recommends for cublasSetWorkspace.
std::uint64_t most_workspace_bytes(int architecture) {
  return std::uint64_t{architecture >= 90 ? 32u : 4u} << 20;
}

cudaDataType_t data_type(Dtype dtype) {
  switch (dtype) {
    case f64:
      return CUDA_R_64F;
    case f32:
      return CUDA_R_32F;
    case f16:
      return CUDA_R_16F;
    case bf16:
      return CUDA_R_16BF;
    default:
      throw InternalError("cuBLASLt", "products of " + std::string(name(dtype)));
  }
}

cublasComputeType_t compute_type(const DotStep& dot) {
  if (dot.lhs.dtype == f64) return CUBLAS_COMPUTE_64F;
  return dot.lhs.dtype == f32 && dot.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

cublasLtEpilogue_t epilogue_of(const DotStep& dot) {
  switch (dot.activation) {
    case Activation::relu:
      return dot.has_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::gelu:
      return dot.has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    case Activation::none:
      break;
  }
  return dot.has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

template <class T>
void set(const MatmulDesc& desc, cublasLtMatmulDescAttributes_t attribute, T value) {
  check(cublaslt().cublasLtMatmulDescSetAttribute(desc.get(), attribute, &value, sizeof value),
        "describing a dot");
}

template <class T>
void set(const MatrixLayout& layout, cublasLtMatrixLayoutAttribute_t attribute, T value) {
  check(cublaslt().cublasLtMatrixLayoutSetAttribute(layout.get(), attribute, &value, sizeof value),
        "describing a matrix");
}

template <class T>
void set(const MatmulPreference& preference, cublasLtMatmulPreferenceAttributes_t attribute,
         T value) {
  check(cublaslt().cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value,
                                                        sizeof value),
        "looking for an algorithm");
}

MatmulDesc make_desc(const DotStep& dot, const DotProducts& products, const void* bias) {
  cublasLtMatmulDesc_t made = nullptr;
  check(cublaslt().cublasLtMatmulDescCreate(&made, compute_type(dot),
                                            dot.lhs.dtype == f64 ? CUDA_R_64F : CUDA_R_32F),
        "describing a dot");
  MatmulDesc desc(made);
  const auto operation = [](const Matrix& matrix) -> std::int32_t {
    return matrix.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  set(desc, CUBLASLT_MATMUL_DESC_TRANSA, operation(products.a));
  set(desc, CUBLASLT_MATMUL_DESC_TRANSB, operation(products.b));
  set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(epilogue_of(dot)));
  if (dot.has_bias) set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  return desc;
}

// Of a matrix that is [rows, columns] once it is transposed, if it is.
MatrixLayout make_layout(Dtype dtype, const Matrix& matrix, std::int64_t rows, std::int64_t columns,
                         std::int64_t batch) {
  if (matrix.is_transposed) std::swap(rows, columns);
  cublasLtMatrixLayout_t made = nullptr;
  check(cublaslt().cublasLtMatrixLayoutCreate(&made, data_type(dtype),
                                              static_cast<std::uint64_t>(rows),
                                              static_cast<std::uint64_t>(columns), matrix.leading),
        "describing a matrix");
  MatrixLayout layout(made);
  if (batch > 1) {
    set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
    set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.batch_stride);
  }
  return layout;
}

// What every call of the library for one dot shares.
struct Description {
  DotProducts products;
  MatmulDesc desc;  // without the address of a bias
  MatrixLayout a, b, d;
};

// An address like that of any array.
const void* some_array() { return reinterpret_cast<const void*>(array_alignment); }

Description describe(const DotStep& dot) {
  auto products = dot_products(dot.lhs, dot.rhs, dot.attributes);
  if (!products) throw InternalError("dot", "the operands are not laid out for cuBLASLt");
  const Dtype dtype = dot.lhs.dtype;
  const auto [rows, columns, inner, batch] =
      std::array{products->rows, products->columns, products->inner, products->batch};
  return {.products = *products,
          .desc = make_desc(dot, *products, some_array()),
          .a = make_layout(dtype, products->a, rows, inner, batch),
          .b = make_layout(dtype, products->b, inner, columns, batch),
          .d = make_layout(dtype, products->d, rows, columns, batch)};
}

// The most bytes that all addresses base + offset are multiples of.
std::uint32_t alignment(const DotProducts& products, std::int64_t DotProducts::Call::*matrix,
                        Dtype dtype) {
  std::int64_t alignment = array_alignment;
  for (const DotProducts::Call& call : products.calls) {
    const std::int64_t offset = call.*matrix * static_cast<std::int64_t>(byte_size(dtype));
    while (offset % alignment != 0) alignment /= 2;
  }
  return static_cast<std::uint32_t>(alignment);
}

struct Algorithm {
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace = 0;  // bytes
};

std::optional<Algorithm> choose(const DotStep& dot, const Description& description, int gpu) {
  cublasLtMatmulPreference_t made = nullptr;
  check(cublaslt().cublasLtMatmulPreferenceCreate(&made), "looking for an algorithm");
  const MatmulPreference preference(made);
  const DotProducts& products = description.products;
  const auto aligned = [&](auto matrix) { return alignment(products, matrix, dot.lhs.dtype); };
  using Call = DotProducts::Call;
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
      most_workspace_bytes(Gpu::of(gpu).architecture()));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, aligned(&Call::a));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, aligned(&Call::b));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, aligned(&Call::d));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, aligned(&Call::d));

  // Parts of a sum stay in the type that is computed in: no result is rounded twice.
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});

  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  Gpu::of(gpu).enter();
  const cublasStatus_t status = cublaslt().cublasLtMatmulAlgoGetHeuristic(
      cublaslt_handle(gpu), description.desc.get(), description.a.get(), description.b.get(),
      description.d.get(), description.d.get(), preference.get(), 1, &best, &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return std::nullopt;
  check(status, "looking for an algorithm");
  if (found == 0 || best.state != CUBLAS_STATUS_SUCCESS) return std::nullopt;
  return Algorithm{best.algo, best.workspaceSize};
}

/// The library's choices, by all that they depend on.
class Choices {
 public:
  std::optional<Algorithm> operator()(const DotStep& dot, const Description& description, int gpu) {
    const Key key = key_of(dot, description.products, gpu);
    {
      std::lock_guard lock(mutex_);
      if (const auto known = known_.find(key); known != known_.end()) return known->second;
    }
    const std::optional<Algorithm> chosen = choose(dot, description, gpu);
    std::lock_guard lock(mutex_);
    if (known_.size() >= most) known_.clear();
    return known_.emplace(key, chosen).first->second;
  }

 private:
  using Key = std::vector<std::int64_t>;
  static constexpr std::size_t most = 4096;

  static Key key_of(const DotStep& dot, const DotProducts& products, int gpu) {
    Key key = {gpu,
               static_cast<std::int64_t>(dot.lhs.dtype),
               compute_type(dot),
               epilogue_of(dot),
               products.rows,
               products.columns,
               products.inner,
               products.batch,
               alignment(products, &DotProducts::Call::a, dot.lhs.dtype),
               alignment(products, &DotProducts::Call::b, dot.lhs.dtype),
               alignment(products, &DotProducts::Call::d, dot.lhs.dtype)};
    for (const Matrix& matrix : {products.a, products.b, products.d}) {
      key.insert(key.end(), {matrix.is_transposed, matrix.leading, matrix.batch_stride});
    }
    return key;
  }

  std::mutex mutex_;
  std::map<Key, std::optional<Algorithm>> known_;
};

Choices& choices() {
  static auto* choices = new Choices;
  return *choices;
}

/// A dot that has its algorithm.
struct ReadyDot {
  DotStep dot;
  Description description;
  Algorithm algorithm;
  Gpu& gpu;
  cublasLtHandle_t handle;

  void enqueue(void* const* buffers, DeviceStream& stream) const;

 private:
  void call(const DotProducts::Call& from, const MatmulDesc& desc, void* const* buffers,
            DeviceStream& stream) const;
  std::size_t result_buffer() const { return dot.has_bias ? 3 : 2; }
};

void ReadyDot::enqueue(void* const* buffers, DeviceStream& stream) const {
  gpu.enter();
  // Where there is a bias its address is part of the description.
  MatmulDesc with_bias;
  if (dot.has_bias) with_bias = make_desc(dot, description.products, buffers[2]);
  for (const DotProducts::Call& from : description.products.calls) {
    call(from, dot.has_bias ? with_bias : description.desc, buffers, stream);
  }
}

void ReadyDot::call(const DotProducts::Call& from, const MatmulDesc& desc, void* const* buffers,
                    DeviceStream& stream) const {
  const auto at = [&](std::size_t buffer, std::int64_t element) -> void* {
    const auto bytes = element * static_cast<std::int64_t>(byte_size(dot.lhs.dtype));
    return static_cast<std::byte*>(buffers[buffer]) + bytes;
  };
  void* workspace = nullptr;
  if (algorithm.workspace > 0) {
    auto address = reinterpret_cast<std::uintptr_t>(buffers[result_buffer() + 1]);
    address += (workspace_alignment - address % workspace_alignment) % workspace_alignment;
    workspace = reinterpret_cast<void*>(address);
  }
  // D = alpha A B + beta D, with both numbers of the type that it computes in.
  constexpr double doubles[] = {1, 0};
  constexpr float floats[] = {1, 0};
  const bool is_double = dot.lhs.dtype == f64;
  const void* alpha = is_double ? static_cast<const void*>(&doubles[0]) : &floats[0];
  const void* beta = is_double ? static_cast<const void*>(&doubles[1]) : &floats[1];
  void* result = at(result_buffer(), from.d);
  // With a beta of 0 what was in the result is not read. The left operand is B.
  check(cublaslt().cublasLtMatmul(handle, desc.get(), alpha, at(1, from.a), description.a.get(),
                                  at(0, from.b), description.b.get(), beta, result,
                                  description.d.get(), result, description.d.get(),
                                  &algorithm.algorithm, workspace, algorithm.workspace,
                                  static_cast<cudaStream_t>(stream.native())),
        "dot");
}

}  // namespace

std::optional<std::int64_t> dot_workspace(const DotStep& dot, int gpu) {
  cublaslt_handle(gpu);  // which says what is missing
  const auto algorithm = choices()(dot, describe(dot), gpu);
  if (!algorithm) return std::nullopt;
  if (algorithm->workspace == 0) return 0;
  return static_cast<std::int64_t>(algorithm->workspace) + workspace_alignment - array_alignment;
}

DeviceTask make_dot(const DotStep& dot, int gpu) {
  const cublasLtHandle_t handle = cublaslt_handle(gpu);
  Description description = describe(dot);
  const auto algorithm = choices()(dot, description, gpu);
  if (!algorithm) {
    throw Error(fmt::format("dot: cuBLASLt has no algorithm for {} x {}", to_string(dot.lhs),
                            to_string(dot.rhs)));
  }
  const auto enqueue = [](const void* context, void* const* buffers, DeviceStream& stream) {
    static_cast<const ReadyDot*>(context)->enqueue(buffers, stream);
  };
  return {enqueue, std::make_shared<const ReadyDot>(
                       ReadyDot{dot, std::move(description), *algorithm, Gpu::of(gpu), handle})};
}

}  // namespace anabranch::cuda
