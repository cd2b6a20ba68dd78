#include "ir/infer/infer.h"

#include "ir/error.h"
#include "ir/infer/rules.h"

namespace anabranch {
namespace {

std::vector<Type> one(Type type) { return {std::move(type)}; }

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

// The flags floats_only and integers_only of ops.def.
void check_flags(const Application& call) {
  const OpInfo& row = info(call.op);
  for (const Type& operand : call.operands) {
    if (row.has(OpInfo::floats_only) && !is_float(operand.dtype)) {
      call.refuse("takes floating-point numbers", "convert to f32 or another float first");
    }
    if (row.has(OpInfo::integers_only) && is_float(operand.dtype)) {
      call.refuse("takes integers or bool", "convert or bitcast_convert to an integer first");
    }
  }
}

void refuse_bool(const Application& call) {
  for (const Type& operand : call.operands) {
    if (operand.dtype == Dtype::bool_) call.refuse("does not take bool", "convert to i32 first");
  }
}

Type constant(const Application& call) {
  const Type& type = call.as<ConstantAttributes>().value.type();
  if (type != *call.stated) {
    broken(call.op, "of " + to_string(type) + " stated as " + to_string(*call.stated));
  }
  return type;
}

Type same_type(const Application& call) {
  call.demand_equal_types();
  return call.operands[0];
}

Type same_type_no_bool(const Application& call) {
  refuse_bool(call);
  return same_type(call);
}

Type predicate(const Application& call) { return Type{Dtype::bool_, same_type(call).shape}; }

Type convert(const Application& call) {
  if (call.stated->shape != call.operands[0].shape) {
    call.refuse("the shape cannot change", "to " + to_string(*call.stated));
  }
  return *call.stated;
}

Type bitcast_convert(const Application& call) {
  const Dtype from = call.operands[0].dtype;
  const Dtype to = call.stated->dtype;
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

std::vector<Type> custom_call(const Application& call) {
  const auto& attributes = call.as<CustomCallAttributes>();
  if (attributes.name.empty()) call.refuse("needs the name of a function");
  if (attributes.results.empty()) {
    call.refuse(attributes.name + " gives no result", "what nobody reads is never called");
  }
  return attributes.results;
}

// No default: an op that is missing here fails the build.
std::vector<Type> dispatch(const Application& call) {
  switch (call.op) {
    case Op::parameter:
      return one(*call.stated);
    case Op::constant:
      return one(constant(call));
    case Op::iota:
      return one(infer_iota(call));

    case Op::abs:
    case Op::negate:
    case Op::sign:
      return one(same_type_no_bool(call));
    case Op::not_:
    case Op::popcnt:
    case Op::count_leading_zeros:
    case Op::floor:
    case Op::ceil:
    case Op::round_nearest_even:
    case Op::round_nearest_afz:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::cbrt:
    case Op::exponential:
    case Op::exponential_minus_one:
    case Op::log:
    case Op::log_plus_one:
    case Op::logistic:
    case Op::sine:
    case Op::cosine:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::asinh:
    case Op::acosh:
    case Op::atanh:
    case Op::erf:
    case Op::erf_inv:
      return one(same_type(call));
    case Op::is_finite:
      return one(predicate(call));
    case Op::convert:
      return one(convert(call));
    case Op::bitcast_convert:
      return one(bitcast_convert(call));

    case Op::subtract:
    case Op::divide:
    case Op::remainder:
    case Op::power:
      return one(same_type_no_bool(call));
    case Op::add:
    case Op::multiply:
    case Op::maximum:
    case Op::minimum:
    case Op::atan2:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::shift_left:
    case Op::shift_right_arithmetic:
    case Op::shift_right_logical:
      return one(same_type(call));
    case Op::compare:
      return one(predicate(call));
    case Op::random_bits:
      return one(random_bits(call));

    case Op::select:
      return one(select(call));
    case Op::clamp:
      return one(same_type(call));

    case Op::reshape:
      return one(infer_reshape(call));
    case Op::broadcast_in_dim:
      return one(infer_broadcast_in_dim(call));
    case Op::transpose:
      return one(infer_transpose(call));
    case Op::slice:
      return one(infer_slice(call));
    case Op::reverse:
      return one(infer_reverse(call));
    case Op::pad:
      return one(infer_pad(call));
    case Op::concatenate:
      return one(infer_concatenate(call));
    case Op::dynamic_slice:
      return one(infer_dynamic_slice(call));
    case Op::dynamic_update_slice:
      return one(infer_dynamic_update_slice(call));

    case Op::reduce_sum:
    case Op::reduce_product:
    case Op::reduce_max:
    case Op::reduce_min:
    case Op::reduce_any:
    case Op::reduce_all:
      return one(infer_named_reduction(call));
    case Op::argmax:
    case Op::argmin:
      return one(infer_arg_reduction(call));
    case Op::reduce:
      return infer_reduce(call);

    case Op::dot:
      return one(infer_dot(call));
    case Op::transfer:
      return one(call.operands[0]);
    case Op::custom_call:
      return custom_call(call);
    case Op::while_:
      return infer_while(call);
    case Op::case_:
      return infer_case(call);
    case Op::fusion:
      return infer_fusion(call);
  }
  throw InternalError("infer", "an op that ops.def does not have");
}

}  // namespace

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
  return dispatch(call);
}

}  // namespace anabranch
