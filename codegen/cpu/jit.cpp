#include "codegen/cpu/jit.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include "codegen/cpu/emit_kernel.h"
#include "codegen/cpu/math_value.h"
#include "ir/error.h"

namespace anabranch::cpu {
namespace {

template <class T>
T expect(llvm::Expected<T> value) {
  if (!value) throw InternalError("jit", llvm::toString(value.takeError()));
  return std::move(*value);
}

void expect(llvm::Error error) {
  if (error) throw InternalError("jit", llvm::toString(std::move(error)));
}

void initialize_native_target() {
  static const bool done = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  static_cast<void>(done);
}

void* allocate_scratch(std::size_t bytes) { return ::operator new (bytes, std::align_val_t{64}); }
void release_scratch(void* memory) { ::operator delete (memory, std::align_val_t{64}); }

std::unique_ptr<llvm::orc::LLJIT> make_jit() {
  initialize_native_target();
  auto jit = expect(llvm::orc::LLJITBuilder().create());
  llvm::orc::SymbolMap runtime;
  auto add = [&](const char* name, auto* function) {
    runtime[jit->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                           llvm::JITSymbolFlags::Exported};
  };
  add(allocate_scratch_name, &allocate_scratch);
  add(release_scratch_name, &release_scratch);
  expect(jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(runtime))));
  return jit;
}

// Never destroyed: code may still run, and handles may still be dropped, while the process ends.
llvm::orc::LLJIT& process_jit() {
  static llvm::orc::LLJIT& jit = *make_jit().release();
  return jit;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const CpuModel& cpu) {
  initialize_native_target();
  const std::string triple = llvm::sys::getProcessTriple();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) throw InternalError("jit", error);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu.name, cpu.features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
}

// Target machines that nobody uses at the moment; never destroyed, like the JIT.
struct TargetMachinePool {
  std::mutex mutex;
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle;
};

TargetMachinePool& pool() {
  static TargetMachinePool& pool = *new TargetMachinePool;
  return pool;
}

void give_back(llvm::TargetMachine* machine) {
  std::lock_guard lock(pool().mutex);
  pool().idle.emplace_back(machine);
}

}  // namespace

const CpuModel& host_cpu() {
  static const CpuModel* host = [] {
    auto* model = new CpuModel{llvm::sys::getHostCPUName().str(), {}};
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
      model->features += (feature.getValue() ? "+" : "-") + feature.getKey().str() + ",";
    }
    return model;
  }();
  return *host;
}

LentTargetMachine lend_target_machine(const CpuModel& cpu) {
  if (&cpu != &host_cpu()) {
    return LentTargetMachine(make_target_machine(cpu).release(),
                             [](llvm::TargetMachine* machine) { delete machine; });
  }
  {
    std::lock_guard lock(pool().mutex);
    if (!pool().idle.empty()) {
      LentTargetMachine machine(pool().idle.back().release(), &give_back);
      pool().idle.pop_back();
      return machine;
    }
  }
  return LentTargetMachine(make_target_machine(cpu).release(), &give_back);
}

void set_target(llvm::Module& module, const llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  if (machine.getTargetFeatureString().contains("+avx512f,")) {
    module.addModuleFlag(llvm::Module::Warning, math::avx512_flag, 1);
  }
}

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

void verify(const llvm::Module& module) {
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(module, &stream)) {
    throw InternalError("llvm", stream.str(), text_of(module));
  }
}

std::string generate(llvm::Module& module, llvm::TargetMachine& machine,
                     llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type)) {
    throw InternalError("jit", "no code generator for " + machine.getTargetTriple().str());
  }
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

LoadedCode load(const std::string& object, const std::vector<std::string>& symbols) {
  llvm::orc::LLJIT& jit = process_jit();
  // A namespace of its own, so that equal names in two object files never meet.
  static std::atomic<std::uint64_t> objects{0};
  llvm::orc::JITDylib* space =
      &jit.getExecutionSession().createBareJITDylib("object" + std::to_string(objects++));
  // From here on, dropping the last handle takes the code out again.
  std::shared_ptr<const void> handle(space, [&jit, space](const void*) {
    llvm::consumeError(jit.getExecutionSession().removeJITDylib(*space));
  });
  space->addToLinkOrder(jit.getMainJITDylib());  // scratch memory
  space->addToLinkOrder(*jit.getProcessSymbolsJITDylib());
  expect(jit.addObjectFile(*space, llvm::MemoryBuffer::getMemBufferCopy(object, symbols[0])));
  LoadedCode code{.addresses = {}, .keep_alive = std::move(handle)};
  for (const std::string& symbol : symbols) {
    code.addresses.push_back(expect(jit.lookup(*space, symbol)).toPtr<void*>());
  }
  return code;
}

}  // namespace anabranch::cpu
