#include "codegen/cpu/math/math.h"

#include <algorithm>
#include <iterator>

#include "anabranch/error.h"
#include "codegen/cpu/math/functions.h"

namespace anabranch::cpu {
namespace {

using Unary = math::Simd (*)(math::Simd);
using Binary = math::Simd (*)(math::Simd, math::Simd);

struct Row {
  Op op;
  Unary unary = nullptr;
  Binary binary = nullptr;
};

constexpr Row table[] = {
    {Op::rsqrt, math::rsqrt},
    {Op::cbrt, math::cbrt},
    {Op::exponential, math::exponential},
    {Op::exponential_minus_one, math::exponential_minus_one},
    {Op::log, math::log},
    {Op::log_plus_one, math::log_plus_one},
    {Op::logistic, math::logistic},
    {Op::sine, math::sine},
    {Op::cosine, math::cosine},
    {Op::tan, math::tan},
    {Op::asin, math::asin},
    {Op::acos, math::acos},
    {Op::atan, math::atan},
    {Op::sinh, math::sinh},
    {Op::cosh, math::cosh},
    {Op::tanh, math::tanh},
    {Op::asinh, math::asinh},
    {Op::acosh, math::acosh},
    {Op::atanh, math::atanh},
    {Op::erf, math::erf},
    {Op::erf_inv, math::erf_inv},
    {Op::power, nullptr, math::power},
    {Op::atan2, nullptr, math::atan2},
};

constexpr const Row* find(Op op) {
  const Row* row = std::ranges::find(table, op, &Row::op);
  return row == std::end(table) ? nullptr : row;
}

// Every approximate op of ops.def has its row.
constexpr bool complete() {
  using enum OpInfo::Flags;
#define OP(name, arity, kind, attributes, flags, meaning) \
  if (((flags)&approximate) && !find(Op::name)) return false;
#include "ir/ops.def"
#undef OP
  return true;
}
static_assert(complete(), "an approximate op of ops.def has no row in the table of inline math");

bool is_supported(llvm::Type* type) {
  llvm::Type* scalar = type->getScalarType();
  return (scalar->isFloatTy() || scalar->isDoubleTy()) &&
         !llvm::isa<llvm::ScalableVectorType>(type);
}

}  // namespace

llvm::Value* emit_math(llvm::IRBuilderBase& builder, Op op, llvm::ArrayRef<llvm::Value*> operands) {
  const Row* row = find(op);
  if (!row) throw InternalError("emit_math", std::string(name(op)) + " is not an approximate op");
  const std::size_t arity = row->unary ? 1 : 2;
  if (operands.size() != arity || !is_supported(operands[0]->getType()) ||
      operands.back()->getType() != operands[0]->getType()) {
    throw InternalError("emit_math", std::string(name(op)) + " wants " + std::to_string(arity) +
                                         " operands, all float, double or fixed vectors of them");
  }
  // The steps rely on the rounding of each operation.
  llvm::IRBuilderBase::FastMathFlagGuard guard(builder);
  builder.clearFastMathFlags();
  math::Simd first(builder, operands[0]);
  math::Simd result = row->unary ? row->unary(first) : row->binary(first, {builder, operands[1]});
  return result.value();
}

llvm::Value* emit_math_call(llvm::IRBuilderBase& builder, Op op,
                            llvm::ArrayRef<llvm::Value*> operands) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::Type* type = operands[0]->getType();
  std::string symbol = "anabranch." + std::string(name(op)) + ".";
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    symbol += "v" + std::to_string(vector->getNumElements());
  }
  symbol += "f" + std::to_string(type->getScalarSizeInBits());
  llvm::Function* function = module.getFunction(symbol);
  if (!function) {
    const llvm::SmallVector<llvm::Type*, 2> types(operands.size(), type);
    function = llvm::Function::Create(llvm::FunctionType::get(type, types, false),
                                      llvm::GlobalValue::InternalLinkage, symbol, module);
    function->addFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr("prefer-vector-width", "512");
    llvm::IRBuilder<> inside(llvm::BasicBlock::Create(module.getContext(), "entry", function));
    llvm::SmallVector<llvm::Value*, 2> arguments;
    for (llvm::Argument& argument : function->args()) arguments.push_back(&argument);
    inside.CreateRet(emit_math(inside, op, arguments));
  }
  return builder.CreateCall(function, operands);
}

}  // namespace anabranch::cpu
