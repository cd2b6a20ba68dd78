#include "codegen/cpu/emit/flow.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>

#include <algorithm>

#include "codegen/cpu/emit/kernel.h"
#include "codegen/cpu/inline_kernels.h"
#include "codegen/cpu/leaked_on_error.h"
#include "codegen/cpu/team_loops.h"
#include "runtime/cpu/hot_team.h"
#include "runtime/executor/loop_run.h"

namespace anabranch::cpu {
namespace {

using llvm::Value;

// What is so small is in the function's own frame, and so in registers where it can.
constexpr std::size_t largest_local = 64;

bool is_local(std::size_t bytes) { return bytes <= largest_local; }

/// `kernel` as one thread runs it from end to end: its vectors are no wider than its arrays, so
/// that no access is masked, and an array in the frame becomes a vector register.
Kernel as_straight_line(Kernel kernel) {
  for (Instruction& instruction : kernel.instructions) {
    auto* loop = std::get_if<Loop>(&instruction.operation);
    if (!loop) continue;
    loop->parallel = false;
    if (loop->extent < loop->vector_width && loop->reductions.empty()) {
      loop->vector_width = static_cast<int>(loop->extent);
      loop->unroll = 1;
    }
  }
  return kernel;
}

llvm::FunctionType* task_type(llvm::LLVMContext& context) {
  auto* pointer = llvm::PointerType::getUnqual(context);
  auto* word = llvm::Type::getInt64Ty(context);
  return llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer, word, word},
                                 false);
}

}  // namespace

FlowEmitter::FlowEmitter(llvm::Module& module, const std::string& symbol)
    : module_(module),
      function_(llvm::Function::Create(task_type(module.getContext()),
                                       llvm::Function::ExternalLinkage, symbol, module)),
      entry_(llvm::BasicBlock::Create(module.getContext(), "entry", function_)),
      builder_(llvm::BasicBlock::Create(module.getContext(), "start", function_)) {
  function_->addFnAttr("prefer-vector-width", "512");
  // What it calls may throw, through this frame.
  function_->setUWTableKind(llvm::UWTableKind::Async);
  entry_.SetInsertPoint(entry_.CreateBr(builder_.GetInsertBlock()));
}

// --- values
// ------------------------------------------------------------------------------------------

Value* FlowEmitter::given(const void* pointer) {
  const auto known = std::find(pointers_.begin(), pointers_.end(), pointer);
  const auto index = static_cast<std::uint64_t>(known - pointers_.begin());
  if (known == pointers_.end()) pointers_.push_back(pointer);
  auto* place = entry_.CreateConstInBoundsGEP1_64(entry_.getPtrTy(), function_->getArg(0), index);
  return entry_.CreateLoad(entry_.getPtrTy(), place);
}

Value* FlowEmitter::buffer(std::size_t index) {
  auto* place = entry_.CreateConstInBoundsGEP1_64(entry_.getPtrTy(), function_->getArg(1), index);
  return entry_.CreateLoad(entry_.getPtrTy(), place);
}

Value* FlowEmitter::local(std::size_t bytes) {
  auto* memory = entry_.CreateAlloca(
      llvm::ArrayType::get(entry_.getInt8Ty(), std::max<std::size_t>(bytes, 1)));
  memory->setAlignment(llvm::Align(64));
  return memory;
}

Value* FlowEmitter::number(std::int64_t value) {
  return builder_.getInt64(static_cast<std::uint64_t>(value));
}

void FlowEmitter::copy(Value* to, Value* from, std::size_t bytes) {
  if (bytes > 0) builder_.CreateMemCpy(to, {}, from, {}, bytes);
}

void FlowEmitter::copy_unless_same(Value* to, Value* from, std::size_t bytes) {
  if (bytes == 0) return;
  auto* copies = llvm::BasicBlock::Create(module_.getContext(), "copy", function_);
  auto* after = llvm::BasicBlock::Create(module_.getContext(), "there", function_);
  builder_.CreateCondBr(builder_.CreateICmpEQ(to, from), after, copies);
  builder_.SetInsertPoint(copies);
  copy(to, from, bytes);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

// --- steps
// -------------------------------------------------------------------------------------------

// Returns where each slot is.
FlowEmitter::Values FlowEmitter::emit_program(const Program& program, const LinkedCode& code,
                                              const Values& inputs, const Values& outputs,
                                              Value* arena, std::span<const Kernel> kernels) {
  Values slots;
  for (const Slot& slot : program.slots) {
    switch (slot.kind) {
      case Slot::Kind::input:
        slots.push_back(inputs[slot.index]);
        break;
      case Slot::Kind::output:
        slots.push_back(outputs[slot.index]);
        break;
      case Slot::Kind::constant:
        slots.push_back(given(code.constants[slot.index].data()));
        break;
      case Slot::Kind::temporary:
        slots.push_back(
            slot.output ? outputs[*slot.output]
            : is_local(slot.type.bytes())
                ? local(slot.type.bytes())
                : builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), arena, slot.offset));
        break;
    }
  }
  for (const Stream& stream : program.streams) {
    for (const Command& command : stream) {
      const auto* launch = std::get_if<Launch>(&command);
      if (!launch) continue;
      emit_step(program, program.steps[launch->step], code.steps[launch->step], slots, kernels);
    }
  }
  return slots;
}

void FlowEmitter::emit_step(const Program& program, const Step& step, const LinkedStep& code,
                            const Values& slots, std::span<const Kernel> kernels) {
  for (auto [read, written] : step.in_place_updates) {
    copy_unless_same(slots[written], slots[read], program.slots[read].type.bytes());
  }
  Value* table = entry_.CreateAlloca(
      llvm::ArrayType::get(entry_.getPtrTy(), std::max<std::size_t>(step.buffers.size(), 1)));
  for (std::size_t i = 0; i < step.buffers.size(); ++i) {
    auto* place = builder_.CreateConstInBoundsGEP1_64(builder_.getPtrTy(), table, i);
    builder_.CreateStore(slots[step.buffers[i]], place);
  }
  const auto* work = std::get_if<KernelStep>(&step.work);
  const Kernel* kernel = work ? &kernels[work->kernel] : nullptr;
  if (!kernel || !may_be_inlined(*kernel)) return emit_call(kernel, *code.host_task(), table);
  auto* none = llvm::ConstantPointerNull::get(builder_.getPtrTy());
  builder_.CreateCall(inlined(*kernel), {none, table, number(0), number(kernel->extent())});
}

// A task of a team that is inside of one runs with the one around it.
void FlowEmitter::emit_call(const Kernel* kernel, const HostTask& task, Value* buffers) {
  if (shares_parts_ && kernel) {
    gains_by_team_ = true;
    auto part = std::make_shared<HostTask>(task);
    part->grain = grain_of_team(*kernel);
    auto* pointer = builder_.getPtrTy();
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer}, false);
    builder_.CreateCall(type, given(reinterpret_cast<const void*>(&HotTeam::run)),
                        {given(part.get()), buffers});
    owners_.push_back(std::move(part));
    return;
  }
  gains_by_team_ |= HotTeam::is_task(task);
  Value* function = given(reinterpret_cast<const void*>(task.function));
  builder_.CreateCall(task_type(module_.getContext()), function,
                      {given(task.context.get()), buffers, number(0), number(task.extent)});
}

llvm::Function* FlowEmitter::inlined(const Kernel& kernel) {
  llvm::Function*& made = inlined_[&kernel];
  if (made) return made;
  emit_kernel(module_, as_straight_line(kernel), kernel.name);
  made = module_.getFunction(kernel.name);
  made->setLinkage(llvm::Function::InternalLinkage);
  made->addFnAttr(llvm::Attribute::AlwaysInline);
  return made;
}

// --- loops and branches
// ------------------------------------------------------------------------------

// Small carries are in the frame, and each step ends with a copy of what it made. The others are in
// the places of the launch, which change hands as the task says.
void FlowEmitter::emit_loop(const LoopStep& loop, const LinkedStep& code,
                            std::span<const Kernel> kernels) {
  const std::size_t carries = loop.carries(), captures = loop.captures();
  const Program& body = loop.body();
  const auto bytes = [&](std::size_t carry) { return body.inputs[carry].bytes(); };
  const auto changes_hands = [&](std::size_t place) {
    const std::uint32_t from = loop.rotation[place];
    return from != place && !is_local(bytes(std::min<std::size_t>(from, place)));
  };
  Values inputs(carries), next(carries), base, places;
  for (std::size_t p = 0; p < loop.rotation.size(); ++p)
    base.push_back(buffer(carries + captures + p));
  Value* workspace = buffer(carries + captures + base.size());
  Value* arena = entry_.CreateConstInBoundsGEP1_64(entry_.getInt8Ty(), workspace, loop_flag_bytes);
  for (std::size_t i = 0; i < carries; ++i) {
    if (is_local(bytes(i))) {
      inputs[i] = local(bytes(i));
      next[i] = local(bytes(i));
      copy(inputs[i], buffer(i), bytes(i));
    } else {
      copy_unless_same(base[i], buffer(i), bytes(i));
    }
  }
  for (std::size_t i = 0; i < captures; ++i) inputs.push_back(buffer(carries + i));

  llvm::BasicBlock* before = builder_.GetInsertBlock();
  auto* test = llvm::BasicBlock::Create(module_.getContext(), "test", function_);
  auto* step = llvm::BasicBlock::Create(module_.getContext(), "step", function_);
  auto* done = llvm::BasicBlock::Create(module_.getContext(), "done", function_);
  builder_.CreateBr(test);
  builder_.SetInsertPoint(test);
  std::vector<llvm::PHINode*> turning;
  for (std::size_t p = 0; p < base.size(); ++p) {
    places.push_back(base[p]);
    if (!changes_hands(p)) continue;
    turning.push_back(builder_.CreatePHI(builder_.getPtrTy(), 2));
    turning.back()->addIncoming(base[p], before);
    places[p] = turning.back();
  }
  for (std::size_t i = 0; i < carries; ++i) {
    if (!is_local(bytes(i))) inputs[i] = places[i];
  }
  const Values tested =
      emit_program(loop.condition(), code.regions[0], inputs, {local(1)}, arena, kernels);
  Value* flag = builder_.CreateLoad(builder_.getInt8Ty(), tested[loop.condition().outputs[0]]);
  builder_.CreateCondBr(builder_.CreateIsNotNull(flag), step, done);

  builder_.SetInsertPoint(step);
  for (std::size_t i = 0; i < carries; ++i) {
    if (!is_local(bytes(i))) next[i] = places[loop.written[i]];
  }
  shares_parts_ = cpu::gains_by_team(body, kernels);
  const Values slots = emit_program(body, code.regions[1], inputs, next, arena, kernels);
  for (std::size_t i = 0; i < carries; ++i) {
    Value* made = slots[body.outputs[i]];
    if (is_local(bytes(i)) && made != next[i]) copy(next[i], made, bytes(i));
  }
  for (std::size_t i = 0; i < carries; ++i) {
    if (is_local(bytes(i))) copy(inputs[i], next[i], bytes(i));
  }
  auto turns = turning.begin();
  for (std::size_t p = 0; p < base.size(); ++p) {
    if (changes_hands(p)) {
      (*turns++)->addIncoming(places[loop.rotation[p]], builder_.GetInsertBlock());
    }
  }
  builder_.CreateBr(test);

  builder_.SetInsertPoint(done);
  copy_back(loop, places, base);
  for (std::size_t i = 0; i < carries; ++i) {
    if (is_local(bytes(i))) copy(base[i], inputs[i], bytes(i));
  }
  builder_.CreateRetVoid();
}

void FlowEmitter::copy_back(const LoopStep& loop, Values places, const Values& base) {
  if (places == base) return;
  auto carries = std::make_shared<const executor::Carries>(loop);
  Value* tables[2];
  for (int i = 0; i < 2; ++i) {
    tables[i] = entry_.CreateAlloca(llvm::ArrayType::get(entry_.getPtrTy(), base.size()));
    for (std::size_t p = 0; p < base.size(); ++p) {
      auto* place = builder_.CreateConstInBoundsGEP1_64(builder_.getPtrTy(), tables[i], p);
      builder_.CreateStore(i == 0 ? base[p] : places[p], place);
    }
  }
  auto* pointer = builder_.getPtrTy();
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, pointer}, false);
  builder_.CreateCall(type, given(reinterpret_cast<const void*>(&executor::copy_back)),
                      {given(carries.get()), tables[0], tables[1]});
  owners_.push_back(std::move(carries));
}

void FlowEmitter::emit_branch(const BranchStep& branch, const LinkedStep& code,
                              std::span<const Kernel> kernels) {
  const std::size_t operands = branch.branches[0].inputs.size();
  const std::size_t results = branch.branches[0].outputs.size();
  Values inputs, outputs;
  for (std::size_t i = 0; i < operands; ++i) inputs.push_back(buffer(1 + i));
  for (std::size_t i = 0; i < results; ++i) outputs.push_back(buffer(1 + operands + i));
  Value* arena = buffer(1 + operands + results);
  Value* number = builder_.CreateLoad(builder_.getInt32Ty(), buffer(0));
  auto* done = llvm::BasicBlock::Create(module_.getContext(), "done", function_);
  const auto last = static_cast<std::uint32_t>(branch.branches.size() - 1);
  auto* otherwise = llvm::BasicBlock::Create(module_.getContext(), "branch", function_);
  auto* choice = builder_.CreateSwitch(number, otherwise, last);
  for (std::uint32_t i = 0; i <= last; ++i) {
    llvm::BasicBlock* block = otherwise;
    if (i < last) {
      block = llvm::BasicBlock::Create(module_.getContext(), "branch", function_);
      choice->addCase(builder_.getInt32(i), block);
    }
    builder_.SetInsertPoint(block);
    emit_program(branch.branches[i], code.regions[i], inputs, outputs, arena, kernels);
    builder_.CreateBr(done);
  }
  builder_.SetInsertPoint(done);
  builder_.CreateRetVoid();
}

namespace {

struct Analyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

}  // namespace

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopUnrolling = false;
  const LeakedOnError<llvm::PassBuilder> builder(&machine, tuning);
  const LeakedOnError<Analyses> analyses;
  builder->registerModuleAnalyses(analyses->modules);
  builder->registerCGSCCAnalyses(analyses->components);
  builder->registerFunctionAnalyses(analyses->functions);
  builder->registerLoopAnalyses(analyses->loops);
  builder->crossRegisterProxies(analyses->loops, analyses->functions, analyses->components,
                                analyses->modules);
  const LeakedOnError<llvm::ModulePassManager> pipeline(
      builder->buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2));
  pipeline->run(module, analyses->modules);
}

}  // namespace anabranch::cpu
