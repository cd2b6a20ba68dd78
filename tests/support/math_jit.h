// Compiles one approximate op alone: a loop over an array, with full vectors of this machine.
#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "codegen/cpu/math/math.h"
#include "codegen/cpu/math/value.h"

namespace anabranch::test {

/// out[i] = op(a[i], b[i]) for i < count, `width` lanes at once; `count` is a multiple of it. `b`
/// is not read where the op has one operand.
template <class T>
class MathLoop {
 public:
  using Function = void (*)(const T* a, const T* b, T* out, std::int64_t count);

  /// Without `avx512`, the code that any CPU can run; with `fast_root`, that for a CPU whose
  /// instruction for square roots is fast.
  explicit MathLoop(Op op, unsigned width = 64 / sizeof(T), bool avx512 = true,
                    bool fast_root = false) {
    static const bool initialized = [] {
      llvm::InitializeNativeTarget();
      llvm::InitializeNativeTargetAsmPrinter();
      return true;
    }();
    (void)initialized;
    auto target = check(llvm::orc::JITTargetMachineBuilder::detectHost());
    target.addFeatures({"-prefer-256-bit"});
    jit_ = check(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target).create());
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("math", *context);
    module->setDataLayout(jit_->getDataLayout());
    const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    if (avx512 && features.lookup("avx512f") && features.lookup("avx512dq")) {
      module->addModuleFlag(llvm::Module::Warning, cpu::math::avx512_flag, 1);
    }
    if (fast_root) module->addModuleFlag(llvm::Module::Warning, cpu::math::fast_root_flag, 1);
    emit(*module, op, width);
    if (llvm::verifyModule(*module, &llvm::errs())) throw std::runtime_error("invalid module");
    if (auto error = jit_->addIRModule({std::move(module), std::move(context)}))
      throw std::runtime_error(llvm::toString(std::move(error)));
    function_ = check(jit_->lookup("loop")).template toPtr<Function>();
  }

  void operator()(const T* a, const T* b, T* out, std::int64_t count) const {
    function_(a, b, out, count);
  }

 private:
  template <class V>
  static V check(llvm::Expected<V> value) {
    if (!value) throw std::runtime_error(llvm::toString(value.takeError()));
    return std::move(*value);
  }

  static void emit(llvm::Module& module, Op op, unsigned width) {
    llvm::IRBuilder<> b(module.getContext());
    auto* pointer = b.getPtrTy();
    auto* type =
        llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, pointer, b.getInt64Ty()}, false);
    auto* function =
        llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "loop", module);
    function->addFnAttr("prefer-vector-width", "512");
    auto* entry = llvm::BasicBlock::Create(module.getContext(), "entry", function);
    auto* body = llvm::BasicBlock::Create(module.getContext(), "body", function);
    auto* done = llvm::BasicBlock::Create(module.getContext(), "done", function);
    b.SetInsertPoint(entry);
    b.CreateBr(body);
    b.SetInsertPoint(body);
    auto* i = b.CreatePHI(b.getInt64Ty(), 2);
    auto* scalar = std::is_same_v<T, float> ? b.getFloatTy() : b.getDoubleTy();
    auto* lanes = width == 1 ? scalar : llvm::FixedVectorType::get(scalar, width);
    auto load = [&](unsigned argument) -> llvm::Value* {
      auto* address = b.CreateInBoundsGEP(scalar, function->getArg(argument), i);
      return b.CreateAlignedLoad(lanes, address, llvm::Align(sizeof(T)));
    };
    llvm::SmallVector<llvm::Value*, 2> operands = {load(0)};
    if (info(op).arity == 2) operands.push_back(load(1));
    auto* value = cpu::emit_math(b, op, operands);
    b.CreateAlignedStore(value, b.CreateInBoundsGEP(scalar, function->getArg(2), i),
                         llvm::Align(sizeof(T)));
    auto* next = b.CreateAdd(i, b.getInt64(width));
    i->addIncoming(b.getInt64(0), entry);
    i->addIncoming(next, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpSLT(next, function->getArg(3)), body, done);
    b.SetInsertPoint(done);
    b.CreateRetVoid();
  }

  std::unique_ptr<llvm::orc::LLJIT> jit_;
  Function function_ = nullptr;
};

}  // namespace anabranch::test
