#include "codegen/cpu/math/angle.h"

#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <array>
#include <numbers>
#include <string>

#include "codegen/cpu/math/functions.h"

namespace anabranch::cpu::math {
namespace {

// pi as a sum of numbers of 24 and of 53 bits.
constexpr double pi_f32[] = {0x1.921fb6p+1, -0x1.777a5cp-24, -0x1.ee59dap-49};
constexpr double pi_f64[] = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53, -0x1.f1976b7ed8fbcp-109};

// 64 zeros, then the bits of 2 / pi.
constexpr std::uint64_t two_over_pi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

// log2 of the turns that make a circle.
int turn_bits(Turn turn) { return turn == Turn::quarter ? 2 : 1; }

// x (f64, at least 2^-9 in magnitude, finite) times 2 / pi as a 128-bit fraction of the circle. For
// x = m 2^(e - 1075) only 192 bits of 2 / pi count: those above make whole circles, those below are
// less than 2^-128 of one. That leaves 64 good bits where x is as close to a multiple of pi/2 as
// any double can be.
llvm::Value* circle_fraction(llvm::IRBuilderBase& b, llvm::Module& module, llvm::Value* bits) {
  auto* i64 = b.getInt64Ty();
  auto* table = llvm::ConstantDataArray::get(module.getContext(), llvm::ArrayRef(two_over_pi));
  llvm::GlobalVariable* words = module.getGlobalVariable("anabranch.two_over_pi", true);
  if (!words) {
    words =
        new llvm::GlobalVariable(module, table->getType(), true, llvm::GlobalValue::InternalLinkage,
                                 table, "anabranch.two_over_pi");
  }
  auto* exponent = b.CreateAnd(b.CreateLShr(bits, 52), 0x7ff);
  auto* mantissa =
      b.CreateOr(b.CreateAnd(bits, (std::uint64_t{1} << 52) - 1), std::uint64_t{1} << 52);
  auto* start = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax,
                                        b.CreateSub(exponent, b.getInt64(1013)), b.getInt64(0));
  auto* first = b.CreateLShr(start, 6);
  auto* shift = b.CreateAnd(start, 63);
  llvm::Value* word[4];
  for (int i = 0; i < 4; ++i) {
    auto* at = b.CreateInBoundsGEP(i64, words, b.CreateAdd(first, b.getInt64(i)));
    word[i] = b.CreateLoad(i64, at);
  }
  // The mantissa times the window, modulo 2^192, without its lowest word.
  auto* i128 = b.getInt128Ty();
  auto* wide_mantissa = b.CreateZExt(mantissa, i128);
  auto product = [&](int i) {
    auto* window = b.CreateIntrinsic(llvm::Intrinsic::fshl, {i64}, {word[i], word[i + 1], shift});
    return b.CreateMul(wide_mantissa, b.CreateZExt(window, i128));
  };
  auto* low = b.CreateLShr(product(2), 64);
  auto* middle = b.CreateAdd(product(1), low);
  return b.CreateAdd(b.CreateShl(product(0), 64), middle);
}

/// An angle of one lane and what it misses.
struct Radians {
  llvm::Value *r, *low;
};

// fraction / 2^128 * 2 pi, for a signed 128-bit fraction of a circle.
Radians to_radians(llvm::IRBuilderBase& b, llvm::Value* fraction, int bits) {
  auto* f64 = b.getDoubleTy();
  auto* i64 = b.getInt64Ty();
  auto* negative = b.CreateICmpSLT(fraction, llvm::ConstantInt::get(fraction->getType(), 0));
  auto* magnitude = b.CreateSelect(negative, b.CreateNeg(fraction), fraction);
  auto* zeros =
      b.CreateIntrinsic(llvm::Intrinsic::ctlz, {magnitude->getType()}, {magnitude, b.getFalse()});
  auto* normal = b.CreateShl(magnitude, zeros);
  // The first 53 bits, and the next 53.
  auto part = [&](int shift) {
    auto* piece = b.CreateTrunc(b.CreateLShr(normal, shift), i64);
    return b.CreateSIToFP(b.CreateAnd(piece, (std::uint64_t{1} << 53) - 1), f64);
  };
  Simd high{b, part(75)}, low{b, b.CreateFMul(part(22), llvm::ConstantFP::get(f64, 0x1p-53))};
  Simd head = high * pi_f64[0];
  Simd tail = fma(high, pi_f64[0], -head);
  tail = fma(low, pi_f64[0], fma(high, pi_f64[1], tail));
  // 53 bits of integer, the leading zeros, and 2 pi against pi.
  auto* exponent = b.CreateSub(b.getInt64(1023 - 53 + 1 - bits), b.CreateTrunc(zeros, i64));
  auto* scale = b.CreateBitCast(b.CreateShl(exponent, 52), f64);
  const Simd sum = head + tail, lost = (head - sum) + tail;
  const auto scaled = [&](Simd value) {
    auto* of_magnitude = b.CreateFMul(value.value(), scale);
    return b.CreateSelect(negative, b.CreateFNeg(of_magnitude), of_magnitude);
  };
  return {scaled(sum), scaled(lost)};
}

// The function of the module that reduces one f64 of any size: {double r, double low, i64 n}.
llvm::Function* slow_reduction(llvm::Module& module, Turn turn) {
  static constexpr const char* names[] = {
      "anabranch.angle.half", "anabranch.angle.half_from_quarter", "anabranch.angle.quarter"};
  const char* name = names[static_cast<int>(turn)];
  if (auto* found = module.getFunction(name)) return found;
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> b(context);
  auto* i64 = b.getInt64Ty();
  auto* f64 = b.getDoubleTy();
  auto* result = llvm::StructType::get(f64, f64, i64);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result, {f64}, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::Cold);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  auto* x = function->getArg(0);
  auto* fraction = circle_fraction(b, module, b.CreateBitCast(x, i64));
  auto* i128 = fraction->getType();
  if (turn == Turn::half_from_quarter)
    fraction = b.CreateSub(fraction, b.CreateShl(llvm::ConstantInt::get(i128, 1), 126));
  int bits = turn_bits(turn);
  auto* rest = b.CreateShl(fraction, bits);  // of one turn, signed: within half a turn of 0
  auto* n = b.CreateAdd(b.CreateLShr(fraction, 128 - bits), b.CreateLShr(rest, 127));
  const Radians of_magnitude = to_radians(b, rest, bits);
  auto* negative = b.CreateICmpSLT(b.CreateBitCast(x, i64), b.getInt64(0));
  llvm::Value* angle = llvm::PoisonValue::get(result);
  unsigned place = 0;
  for (llvm::Value* part : {of_magnitude.r, of_magnitude.low}) {
    auto* with_sign = b.CreateSelect(negative, b.CreateFNeg(part), part);
    angle = b.CreateInsertValue(angle, with_sign, place++);
  }
  b.CreateRet(b.CreateInsertValue(angle, b.CreateTrunc(n, i64), place));
  return function;
}

// {r, low, n} of one lane, as wide as the lane.
std::array<llvm::Value*, 3> reduce_lane(llvm::IRBuilderBase& b, llvm::Function* reduction,
                                        llvm::Value* x, Simd like) {
  if (!like.is_wide()) x = b.CreateFPExt(x, b.getDoubleTy());
  auto* angle = b.CreateCall(reduction, {x});
  llvm::Value* r = b.CreateExtractValue(angle, 0);
  llvm::Value* low = b.CreateExtractValue(angle, 1);
  if (!like.is_wide()) {
    llvm::Value* narrow = b.CreateFPTrunc(r, b.getFloatTy());
    low = b.CreateFPTrunc(b.CreateFSub(r, b.CreateFPExt(narrow, b.getDoubleTy())), b.getFloatTy());
    r = narrow;
  }
  llvm::Type* integer = like.bits().type()->getScalarType();
  return {r, low, b.CreateTrunc(b.CreateExtractValue(angle, 2), integer)};
}

std::string lanes_name(Simd x, Turn turn) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(x.type())->getNumElements();
  return "anabranch.angle." + std::to_string(static_cast<int>(turn)) + ".v" +
         std::to_string(lanes) + x.pick("f32", "f64");
}

// The function of the module that does the same for every lane, one after the other. Each use is a
// call of it alone, since what is hardly ever run is not worth compiling more than once.
llvm::Function* slow_lanes(Simd x, Turn turn) {
  llvm::Module& module = *x.builder().GetInsertBlock()->getModule();
  const std::string name = lanes_name(x, turn);
  if (auto* found = module.getFunction(name)) return found;
  llvm::Function* one = slow_reduction(module, turn);
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* floats = x.type();
  llvm::Type* integers = x.bits().type();
  auto* result = llvm::StructType::get(floats, floats, integers);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result, {floats}, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::Cold);
  function->addFnAttr("prefer-vector-width", "512");
  auto* entry = llvm::BasicBlock::Create(context, "entry", function);
  auto* loop = llvm::BasicBlock::Create(context, "lane", function);
  auto* after = llvm::BasicBlock::Create(context, "lanes_done", function);
  llvm::IRBuilder<> b(entry);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  auto* i = b.CreatePHI(b.getInt64Ty(), 2);
  llvm::PHINode* so_far[3];
  for (unsigned k = 0; k < 3; ++k) so_far[k] = b.CreatePHI(result->getElementType(k), 2);
  const auto reduced = reduce_lane(b, one, b.CreateExtractElement(function->getArg(0), i), x);
  llvm::Value* all = llvm::PoisonValue::get(result);
  for (unsigned k = 0; k < 3; ++k) {
    llvm::Value* next = b.CreateInsertElement(so_far[k], reduced[k], i);
    so_far[k]->addIncoming(llvm::PoisonValue::get(next->getType()), entry);
    so_far[k]->addIncoming(next, loop);
    all = b.CreateInsertValue(all, next, k);
  }
  auto* next_i = b.CreateAdd(i, b.getInt64(1));
  i->addIncoming(b.getInt64(0), entry);
  i->addIncoming(next_i, loop);
  const auto lanes = llvm::cast<llvm::FixedVectorType>(floats)->getNumElements();
  b.CreateCondBr(b.CreateICmpEQ(next_i, b.getInt64(lanes)), after, loop);
  b.SetInsertPoint(after);
  b.CreateRet(all);
  return function;
}

Angle reduce_slowly(Simd x, Turn turn) {
  llvm::IRBuilderBase& b = x.builder();
  if (x.type()->isVectorTy()) {
    auto* angles = b.CreateCall(slow_lanes(x, turn), {x.value()});
    const auto part = [&](unsigned k) { return x.with(b.CreateExtractValue(angles, k)); };
    const Simd r = part(0), low = part(1);
    return {r, part(2), low};
  }
  llvm::Function* reduction = slow_reduction(*b.GetInsertBlock()->getModule(), turn);
  const auto [r, low, n] = reduce_lane(b, reduction, x.value(), x);
  return {x.with(r), x.with(n), x.with(low)};
}

Angle reduce_fast(Simd x, Turn turn) {
  const double unit = turn == Turn::quarter ? 0.5 : 1;  // of pi
  const double magic = x.pick(0x1.8p23, 0x1.8p52);
  const double* pi = x.pick(pi_f32, pi_f64);
  Simd shifted = turn == Turn::half_from_quarter ? fma(x, std::numbers::inv_pi, -0.5) + magic
                                                 : fma(x, std::numbers::inv_pi / unit, magic);
  Simd n = shifted - magic;
  // The first step is exact: all of x, n pi[0] and their difference are multiples of one small
  // number.
  Simd turns = turn == Turn::half_from_quarter ? n + 0.5 : n;
  const Simd first = fma(turns, -pi[0] * unit, x);
  const Simd r = fma(turns, -pi[1] * unit, first);
  if (turn != Turn::quarter) {
    return {fma(turns, -pi[2] * unit, r), shifted.bits(), x.constant(0)};
  }
  // What the second step rounded off, twice of which shows where the tangent is 1. The difference
  // is exact away from 0.
  const Simd rest = turns * (-pi[2] * unit);
  const Simd lost = fma(turns, -pi[1] * unit, first - r);
  return {r, shifted.bits(), select(abs(r) > 0.25, lost + rest, rest)};
}

}  // namespace

Angle reduce_angle(Simd x, Turn turn) {
  llvm::IRBuilderBase& b = x.builder();
  Angle fast = reduce_fast(x, turn);
  Simd a = abs(x);
  Simd huge = (a >= x.pick(0x1p16, 0x1p28)) & (a < infinity);
  llvm::Value* any = huge.value();
  if (x.type()->isVectorTy()) any = b.CreateOrReduce(any);

  llvm::BasicBlock* entry = b.GetInsertBlock();
  llvm::Function* function = entry->getParent();
  auto* slow = llvm::BasicBlock::Create(b.getContext(), "angle.huge", function);
  auto* done = llvm::BasicBlock::Create(b.getContext(), "angle.done", function);
  b.CreateCondBr(any, slow, done, llvm::MDBuilder(b.getContext()).createBranchWeights(1, 1 << 20));
  b.SetInsertPoint(slow);
  Angle exact = reduce_slowly(x, turn);
  exact = {select(huge, exact.r, fast.r), select(huge, exact.n, fast.n),
           select(huge, exact.low, fast.low)};
  llvm::BasicBlock* slow_end = b.GetInsertBlock();
  b.CreateBr(done);

  b.SetInsertPoint(done);
  auto join = [&](Simd quick, Simd careful) {
    auto* phi = b.CreatePHI(quick.type(), 2);
    phi->addIncoming(quick.value(), entry);
    phi->addIncoming(careful.value(), slow_end);
    return x.with(phi);
  };
  // All phis before anything else.
  Simd r = join(fast.r, exact.r), n = join(fast.n, exact.n);
  return {r, n, turn == Turn::quarter ? join(fast.low, exact.low) : fast.low};
}

}  // namespace anabranch::cpu::math
