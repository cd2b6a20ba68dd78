#include "codegen/lower/combiner.h"

#include <cstring>
#include <limits>

#include "anabranch/error.h"
#include "codegen/kernel/combine_op.h"
#include "ir/scalar.h"

namespace anabranch {
namespace {

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// The least or greatest value of a dtype: infinite for floats.
std::uint64_t extreme(Dtype dtype, bool greatest) {
  return visit_dtype(dtype, [greatest]<class T>() -> std::uint64_t {
    if constexpr (is_float_storage<T>) {
      const float infinity = std::numeric_limits<float>::infinity();
      return bits_of(convert_scalar<T>(greatest ? infinity : -infinity));
    } else {
      using Limits = std::numeric_limits<T>;
      return bits_of(greatest ? Limits::max() : Limits::min());
    }
  });
}

std::uint64_t one(Dtype dtype) {
  return visit_dtype(dtype, []<class T>() { return bits_of(convert_scalar<T>(1.0f)); });
}

Combine combine_of(Op op, Dtype dtype) {
  const bool logical = dtype == bool_;
  switch (op) {
    case Op::reduce_sum:
      return logical ? Combine::any : Combine::sum;
    case Op::reduce_product:
      return logical ? Combine::all : Combine::product;
    case Op::reduce_max:
      return logical ? Combine::any : Combine::maximum;
    case Op::reduce_min:
      return logical ? Combine::all : Combine::minimum;
    case Op::reduce_any:
      return Combine::any;
    case Op::reduce_all:
      return Combine::all;
    case Op::argmax:
      return Combine::argmax;
    case Op::argmin:
      return Combine::argmin;
    case Op::reduce:
      return Combine::carry;
    case Op::dot:
      return logical ? Combine::any : Combine::sum;
    default:
      throw InternalError("lower", std::string(name(op)) + " does not reduce");
  }
}

}  // namespace

Combiner combiner_of(const Node& reduction, const Graph& graph) {
  Combiner combiner;
  const Dtype dtype = graph.type(reduction.inputs[0]).dtype;
  combiner.combine = combine_of(reduction.op, dtype);
  if (combiner.combine == Combine::carry) {
    for (const Type& type : reduction.types) combiner.dtypes.push_back(type.dtype);
    return combiner;
  }
  const bool accumulates = combiner.combine == Combine::sum || combiner.combine == Combine::product;
  combiner.dtypes.push_back(accumulates ? accumulates_in(dtype) : dtype);
  if (has_position(combiner.combine)) {
    const Shape& shape = graph.type(reduction.inputs[0]).shape;
    const bool is_narrow = shape.size() <= std::numeric_limits<std::int32_t>::max();
    combiner.dtypes.push_back(is_narrow ? i32 : i64);
  }
  return combiner;
}

std::uint64_t identity(Combine combine, Dtype dtype) {
  switch (combine) {
    case Combine::sum:
    case Combine::any:
      return 0;
    case Combine::product:
    case Combine::all:
      return one(dtype);
    case Combine::maximum:
    case Combine::argmax:
      return extreme(dtype, false);
    case Combine::minimum:
    case Combine::argmin:
      return extreme(dtype, true);
    case Combine::carry:
    case Combine::while_:
      break;
  }
  throw InternalError("lower", "what a loop carries has no known identity");
}

}  // namespace anabranch
