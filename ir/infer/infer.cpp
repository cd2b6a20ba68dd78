#include "ir/infer/infer.h"

#include "anabranch/error.h"
#include "ir/infer/rules.h"

namespace anabranch {
namespace {

[[noreturn]] void broken(Op op, const std::string& what) {
  throw InternalError("infer", std::string(name(op)) + " " + what);
}

// What only the builder's caller can have got wrong, not the user.
void check_form(const Application& call) {
  const OpInfo& row = info(call.op);
  if (call.attributes.index() != default_attributes(call.op).index()) {
    broken(call.op, "needs " + std::string(row.attributes));
  }
  if (call.stated.has_value() != row.has(OpInfo::typed)) {
    broken(call.op,
           row.has(OpInfo::typed) ? "needs its result's type" : "infers its result's type");
  }
  const bool several = row.has(OpInfo::has_regions);
  if (!several && call.regions.size() != (row.has(OpInfo::has_region) ? 1u : 0u)) {
    broken(call.op, "given " + std::to_string(call.regions.size()) + " regions");
  }
}

void check_arity(const Application& call) {
  const int arity = info(call.op).arity;
  if (arity == OpInfo::variadic || call.operands.size() == static_cast<std::size_t>(arity)) return;
  call.refuse("takes " + std::to_string(arity) + (arity == 1 ? " operand" : " operands") +
              " and was given " + std::to_string(call.operands.size()));
}

bool takes_complex(const OpInfo& row) {
  const bool computes =
      is_elementwise(row) || row.kind == OpKind::reduction || row.kind == OpKind::library;
  return !computes || row.has(OpInfo::takes_complex) || row.has(OpInfo::complex_only);
}

// What the flags of ops.def say of the operands' dtypes.
void check_flags(const Application& call) {
  const OpInfo& row = info(call.op);
  for (const Type& operand : call.operands) {
    if (is_complex(operand.dtype)) {
      if (takes_complex(row)) continue;
      call.refuse("does not take complex numbers", "real, imag and abs make real ones");
    }
    if (row.has(OpInfo::complex_only)) {
      call.refuse("takes complex numbers", "of f32 or f64 the op complex makes one");
    }
    if (row.has(OpInfo::floats_only) && !is_float(operand.dtype)) {
      call.refuse("takes floating-point numbers", "convert to f32 or another float first");
    }
    if (row.has(OpInfo::integers_only) && !is_integer(operand.dtype) &&
        operand.dtype != Dtype::bool_) {
      call.refuse("takes integers or bool", "convert or bitcast_convert to an integer first");
    }
    if (row.has(OpInfo::no_bools) && operand.dtype == Dtype::bool_) {
      call.refuse("does not take bool", "convert to i32 first");
    }
  }
}

Type same_type(const Application& call) {
  call.demand_equal_types();
  return call.operands[0];
}

Type convert(const Application& call) {
  if (call.stated->shape != call.operands[0].shape) {
    call.refuse("the shape cannot change", "to " + to_string(*call.stated));
  }
  return *call.stated;
}

Type bitcast_convert(const Application& call) {
  const Dtype from = call.operands[0].dtype;
  const Dtype to = call.stated->dtype;
  if (is_complex(to)) {
    call.refuse("a complex number is no other's bits", "complex makes one of two floats");
  }
  if (from == Dtype::bool_ || to == Dtype::bool_) {
    call.refuse("bool has no bits to read as another dtype",
                "to " + to_string(*call.stated) + "; convert does that");
  }
  if (byte_size(from) != byte_size(to)) {
    call.refuse("element widths differ", std::to_string(byte_size(from)) + " bytes against " +
                                             std::to_string(byte_size(to)) + " of " +
                                             to_string(*call.stated));
  }
  return convert(call);
}

Type random_bits(const Application& call) {
  const Type& key = call.operands[0];
  if (key.dtype != Dtype::u64 || call.operands[1].dtype != Dtype::u64) {
    call.refuse("key and counter must be u64", "convert them first");
  }
  call.demand_equal_types();
  return Type{Dtype::u32, key.shape};
}

Type select(const Application& call) {
  const Type& condition = call.operands[0];
  const Type& on_true = call.operands[1];
  const Type& on_false = call.operands[2];
  if (condition.dtype != Dtype::bool_) {
    call.refuse("the first operand must be bool", "compare makes one");
  }
  if (on_true.dtype != on_false.dtype) {
    call.refuse("the second and third operand have different dtypes",
                std::string(name(on_true.dtype)) + " against " + std::string(name(on_false.dtype)) +
                    "; convert one of them first");
  }
  call.demand_equal_shapes(on_true, on_false, "broadcast_in_dim them to one shape first");
  call.demand_equal_shapes(condition, on_true, "broadcast_in_dim them to one shape first");
  return on_true;
}

Type complex(const Application& call) {
  call.demand_equal_types();
  const Type& part = call.operands[0];
  if (part.dtype != Dtype::f32 && part.dtype != Dtype::f64) {
    call.refuse("the parts must be f32 or f64", "convert them first");
  }
  return Type{complex_dtype(part.dtype), part.shape};
}

ResultTypes dispatch(const Application& call) {
  switch (call.op) {
#define ELEMENTWISE_OP(name) \
  case Op::name:             \
    return type_rules::elementwise(call);
#define COMPOSED_OP ELEMENTWISE_OP
#define REDUCTION_OP(name) \
  case Op::name:           \
    return type_rules::reduction(call);
#define OTHER_OP(name) \
  case Op::name:       \
    return type_rules::name(call);
#include "ir/ops_by_kind.def"
  }
  throw InternalError("infer", "an op that ops.def does not have");
}

}  // namespace

namespace type_rules {

ResultTypes parameter(const Application& call) { return *call.stated; }

ResultTypes constant(const Application& call) {
  const Type& type = call.as<ConstantAttributes>().value.type();
  if (type != *call.stated) {
    broken(call.op, "of " + to_string(type) + " stated as " + to_string(*call.stated));
  }
  return type;
}

// Operands of one type, which is the result's, or bool of that shape, but for a few.
ResultTypes elementwise(const Application& call) {
  switch (call.op) {
    case Op::convert:
      return convert(call);
    case Op::bitcast_convert:
      return bitcast_convert(call);
    case Op::random_bits:
      return random_bits(call);
    case Op::select:
      return select(call);
    case Op::complex:
      return complex(call);
    case Op::abs:
    case Op::real:
    case Op::imag:
      return Type{part_dtype(call.operands[0].dtype), call.operands[0].shape};
    default:
      break;
  }
  const Type type = same_type(call);
  if (call.op == Op::compare && is_complex(type.dtype)) {
    const Comparison direction = call.as<CompareAttributes>().direction;
    if (direction != Comparison::eq && direction != Comparison::ne) {
      call.refuse("complex numbers have no order", "only eq and ne take them");
    }
  }
  return info(call.op).has(OpInfo::gives_bool) ? Type{Dtype::bool_, type.shape} : type;
}

ResultTypes transfer(const Application& call) { return call.operands[0]; }

ResultTypes custom_call(const Application& call) {
  const auto& attributes = call.as<CustomCallAttributes>();
  if (attributes.name.empty()) call.refuse("needs the name of a function");
  if (attributes.results.empty()) {
    call.refuse(attributes.name + " gives no result", "what nothing reads is never called");
  }
  return attributes.results;
}

ResultTypes check(const Application& call) {
  if (call.operands.size() < 2) call.refuse("takes a state and at least one array that it guards");
  if (call.operands[0].dtype != i32)
    call.refuse("the state is i32, not " + to_string(call.operands[0]));
  if (call.as<CheckAttributes>().messages.empty()) call.refuse("needs a message");
  return std::vector<Type>(call.operands.begin() + 1, call.operands.end());
}

}  // namespace type_rules

Attributes default_attributes(Op op) {
  switch (op) {
#define OP(name, arity, kind, attributes, flags, meaning) \
  case Op::name:                                          \
    return attributes{};
#include "ir/ops.def"
#undef OP
  }
  throw InternalError("infer", "an op that ops.def does not have");
}

std::vector<Type> infer(Op op, std::span<const Type> operands, const Attributes& attributes,
                        const std::optional<Type>& stated, std::span<const Graph> regions,
                        SourceLocation location) {
  const Application call{op, operands, attributes, stated, regions, location};
  check_form(call);
  check_arity(call);
  check_flags(call);
  return dispatch(call).types;
}

}  // namespace anabranch
