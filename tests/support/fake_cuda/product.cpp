#include "product.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "gpu.h"

extern "C" CUresult fake_cuda_put(CUstream stream, const fake_cuda::Work& work);

namespace fake_cuda {
namespace {

// The nearest float with so many bits of mantissa fewer; a tie goes to the even one.
float rounded(float value, int bits_fewer) {
  if (!std::isfinite(value)) return value;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t last = (bits >> bits_fewer) & 1;
  bits += (1u << (bits_fewer - 1)) - 1 + last;
  bits &= ~((1u << bits_fewer) - 1);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void store(cudaDataType_t type, void* matrix, std::int64_t element, double value) {
  switch (type) {
    case CUDA_R_64F:
      static_cast<double*>(matrix)[element] = value;
      break;
    case CUDA_R_32F:
      static_cast<float*>(matrix)[element] = static_cast<float>(value);
      break;
    case CUDA_R_16F:
      static_cast<_Float16*>(matrix)[element] = static_cast<_Float16>(static_cast<float>(value));
      break;
    default: {
      const float near = rounded(static_cast<float>(value), 16);
      std::uint32_t bits = 0;
      std::memcpy(&bits, &near, sizeof bits);
      static_cast<std::uint16_t*>(matrix)[element] = static_cast<std::uint16_t>(bits >> 16);
    }
  }
}

double nearest(cudaDataType_t type, double value) {
  double room = 0;
  store(type, &room, 0, value);
  return load(type, &room, 0);
}

class Elements : Product {
 public:
  explicit Elements(const Product& product) : Product(product) {}

  double operand(const Layout& layout, const void* matrix, bool transposes, std::int64_t batch,
                 std::int64_t row, std::int64_t column) const {
    if (transposes) std::swap(row, column);
    const double value =
        load(layout.type, matrix, batch * layout.batch_stride + column * layout.leading + row);
    const bool rounds = problem.desc.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    return rounds ? rounded(static_cast<float>(value), 13) : value;
  }

  // Of the inner range [begin, end), rounded to the type that is computed in.
  double sum(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t begin,
             std::int64_t end) const {
    double sum = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      sum += operand(problem.a, a, problem.desc.transposes_a == CUBLAS_OP_T, batch, row, k) *
             operand(problem.b, b, problem.desc.transposes_b == CUBLAS_OP_T, batch, k, column);
      if (problem.desc.compute != CUBLAS_COMPUTE_64F) sum = static_cast<float>(sum);
    }
    return sum;
  }

  void finish(std::int64_t batch, std::int64_t row, std::int64_t column, double x) const {
    if (problem.has_bias()) x += load(problem.d.type, problem.desc.bias, row);
    const std::uint32_t activation = problem.desc.epilogue & ~std::uint32_t{CUBLASLT_EPILOGUE_BIAS};
    if (activation == CUBLASLT_EPILOGUE_RELU) x = x > 0 ? x : 0;  // 0 for NaN
    if (activation == CUBLASLT_EPILOGUE_GELU) {
      x = 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    }
    store(problem.d.type, d, batch * problem.d.batch_stride + column * problem.d.leading + row, x);
  }

  template <class Visit>
  void for_each(Visit visit) const {
    std::size_t place = 0;
    for (std::int64_t batch = 0; batch < problem.d.batch; ++batch) {
      for (std::int64_t column = 0; column < problem.columns(); ++column) {
        for (std::int64_t row = 0; row < problem.rows(); ++row) visit(batch, row, column, place++);
      }
    }
  }
};

}  // namespace

double load(cudaDataType_t type, const void* matrix, std::int64_t element) {
  switch (type) {
    case CUDA_R_64F:
      return static_cast<const double*>(matrix)[element];
    case CUDA_R_32F:
      return static_cast<const float*>(matrix)[element];
    case CUDA_R_16F:
      return static_cast<float>(static_cast<const _Float16*>(matrix)[element]);
    default: {
      const std::uint32_t bits = std::uint32_t{static_cast<const std::uint16_t*>(matrix)[element]}
                                 << 16;
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
  }
}

CUresult put(CUstream stream, const Product& product, double* workspace) {
  const Elements elements(product);
  const std::int64_t inner = product.problem.inner();
  const std::int64_t half = workspace ? inner / 2 : 0;
  if (workspace) {
    const CUresult result = fake_cuda_put(stream, [=] {
      elements.for_each([&](auto batch, auto row, auto column, std::size_t place) {
        const double part = elements.sum(batch, row, column, 0, half);
        workspace[place] = product.rounds_parts ? nearest(product.problem.d.type, part) : part;
      });
    });
    if (result != CUDA_SUCCESS) return result;
  }
  return fake_cuda_put(stream, [=] {
    elements.for_each([&](auto batch, auto row, auto column, std::size_t place) {
      const double rest = elements.sum(batch, row, column, half, inner);
      elements.finish(batch, row, column, workspace ? workspace[place] + rest : rest);
    });
  });
}

}  // namespace fake_cuda
