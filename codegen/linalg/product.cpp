#include "codegen/linalg/product.h"

#include "codegen/linalg/lapack.h"

namespace anabranch {
namespace {

struct Operand {
  CBLAS_TRANSPOSE op;
  lapack_int stride;

  explicit Operand(const StridedMatrix& matrix)
      : op(matrix.column_stride == 1 ? CblasNoTrans : CblasTrans),
        stride(static_cast<lapack_int>(op == CblasNoTrans ? matrix.row_stride
                                                          : matrix.column_stride)) {}
};

}  // namespace

void multiply(const StridedMatrix& left, const StridedMatrix& right, std::int64_t rows,
              std::int64_t inner, std::int64_t columns, double* result,
              std::int64_t result_stride) {
  const lapack::LapackCall call;
  const Operand a(left), b(right);
  cblas_dgemm(CblasRowMajor, a.op, b.op, static_cast<lapack_int>(rows),
              static_cast<lapack_int>(columns), static_cast<lapack_int>(inner), 1, left.elements,
              a.stride, right.elements, b.stride, 0, result,
              static_cast<lapack_int>(result_stride));
}

}  // namespace anabranch
