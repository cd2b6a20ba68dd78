#include "codegen/cpu/jit.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <cstdlib>
#include <mutex>
#include <new>

#include "anabranch/error.h"
#include "codegen/cpu/emit/memory.h"
#include "codegen/cpu/emit/table.h"
#include "codegen/cpu/leaked_on_error.h"
#include "codegen/cpu/math/value.h"
#include "runtime/fork.h"
#include "runtime/gate.h"

namespace anabranch::cpu {
namespace {

// Where malloc gives it nothing, LLVM ends the process unless a handler throws. Where operator new
// gives it nothing, the exception passes through it anyhow.
void throw_bad_alloc(void*, const char*, bool) { throw std::bad_alloc(); }

void install_bad_alloc_handler() {
  [[maybe_unused]] static const bool once = [] {
    llvm::install_bad_alloc_error_handler(&throw_bad_alloc);
    return true;
  }();
}

// What LLVM does once in a process, partly under locks that an exception leaves held.
class Start {
 public:
  /// Throws Error where memory ended in the midst of it before.
  template <class Work>
  void once(const Work& work) {
    std::lock_guard lock(mutex_);
    if (done_) return;
    if (begun_) {
      throw Error(
          "compile: the machine had no memory left when LLVM was started, which a process can do "
          "once; start the program again");
    }
    begun_ = true;
    work();
    done_ = true;
  }

 private:
  std::mutex mutex_;
  bool begun_ = false, done_ = false;
};

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

// Code generators that are not in use; never destroyed, like the JIT.
struct GeneratorPool {
  std::mutex mutex;
  std::vector<std::unique_ptr<CodeGenerator>> idle;
};

GeneratorPool& pool() {
  static GeneratorPool& pool = *new GeneratorPool;
  return pool;
}

/// Threads that use LLVM, which makes static objects as it needs them.
constinit Gate gate;

// Of handlers of leaving the latest is called first: before what LLVM has made until now goes.
void watch_leaving() {
  std::atexit([] {
    if (!is_orphan()) gate.close();
  });
}

CodeGenerator* take_generator(const CpuModel& cpu) {
  if (&cpu == &host_cpu()) {
    std::lock_guard lock(pool().mutex);
    if (!pool().idle.empty()) {
      CodeGenerator* generator = pool().idle.back().release();
      pool().idle.pop_back();
      return generator;
    }
  }
  return new CodeGenerator(cpu);
}

}  // namespace

const CpuModel& host_cpu() {
  static const CpuModel* host = [] {
    install_bad_alloc_handler();
    auto* model = new CpuModel{llvm::sys::getHostCPUName().str(), {}};
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
      model->features += (feature.getValue() ? "+" : "-") + feature.getKey().str() + ",";
    }
    return model;
  }();
  return *host;
}

LentCodeGenerator::Stay::Stay() {
  // Also for the first time: what that makes until the process leaves goes before, and the rest
  // after it.
  [[maybe_unused]] static const bool once = (watch_leaving(), true);
  if (gate.enter()) return;
  throw Error(
      "compile: this process is leaving main, and nothing new is compiled any more; call what a "
      "handler of leaving calls once before");
}

LentCodeGenerator::Stay::~Stay() { gate.leave(); }

LentCodeGenerator::LentCodeGenerator(const CpuModel& cpu)
    : is_pooled_(&cpu == &host_cpu()), generator_(take_generator(cpu)) {}

// What LLVM may have been changing when an exception came is not used again.
LentCodeGenerator::~LentCodeGenerator() {
  if (std::uncaught_exceptions() > exceptions_) {
    give_up(generator_);
    return;
  }
  std::unique_ptr<CodeGenerator> generator(generator_);
  if (!is_pooled_) return;
  std::lock_guard lock(pool().mutex);
  try {
    pool().idle.push_back(std::move(generator));
  } catch (const std::bad_alloc&) {  // which leaves it to be destroyed
  }
}

void set_target(llvm::Module& module, const llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  const llvm::StringRef features = machine.getTargetFeatureString();
  if (features.contains("+avx512f,") && features.contains("+avx512dq,")) {
    module.addModuleFlag(llvm::Module::Warning, math::avx512_flag, 1);
  }
  if (features.contains("+avx512vbmi,")) {
    module.addModuleFlag(llvm::Module::Warning, narrow_tables_flag, 1);
  }
  if (is_zen(machine.getTargetCPU())) {
    module.addModuleFlag(llvm::Module::Warning, slow_gathers_flag, 1);
    module.addModuleFlag(llvm::Module::Warning, math::fast_root_flag, 1);
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

namespace {

// Has what LLVM makes at its first run: the list of its passes (under a lock), and the tables of
// the functions that it knows, of operands that can be loaded and of constants that can be spread.
constexpr const char* first_function = R"(
declare float @expf(float)
define void @first(ptr %x, i64 %count) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr <4 x float>, ptr %x, i64 %i
  %old = load <4 x float>, ptr %at
  %new = fmul <4 x float> %old, <float 1.25, float 1.25, float 1.25, float 1.25>
  store <4 x float> %new, ptr %at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  %first = load float, ptr %x
  %last = call float @expf(float %first)
  store float %last, ptr %x
  ret void
})";

}  // namespace

CodeGenerator::CodeGenerator(const CpuModel& cpu) : machine_(make_target_machine(cpu)) {}

std::string CodeGenerator::object(llvm::Module& module) {
  start();
  std::string code = run_object_passes(module);
  watch_leaving();
  return code;
}

std::string CodeGenerator::assembly(llvm::Module& module) {
  start();
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  const LeakedOnError<llvm::legacy::PassManager> passes;
  add_passes(*passes, stream, llvm::CodeGenFileType::AssemblyFile);
  passes->run(module);
  watch_leaving();
  return std::string(bytes.data(), bytes.size());
}

void CodeGenerator::start() {
  static Start start;
  start.once([this] {
    const LeakedOnError<llvm::LLVMContext> context;
    llvm::SMDiagnostic problem;
    const LeakedOnError<std::unique_ptr<llvm::Module>> module(
        llvm::parseAssemblyString(first_function, problem, *context));
    if (!*module) throw InternalError("jit", problem.getMessage().str());
    set_target(**module, *machine_);
    run_object_passes(**module);
  });
}

void CodeGenerator::add_passes(llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& stream,
                               llvm::CodeGenFileType type) {
  if (machine_->addPassesToEmitFile(passes, stream, nullptr, type)) {
    throw InternalError("jit", "no code generator for " + machine_->getTargetTriple().str());
  }
}

std::string CodeGenerator::run_object_passes(llvm::Module& module) {
  if (!object_passes_) {
    object_passes_ = std::make_unique<llvm::legacy::PassManager>();
    add_passes(*object_passes_, object_stream_, llvm::CodeGenFileType::ObjectFile);
  }
  object_bytes_.clear();
  object_passes_->run(module);
  return std::string(object_bytes_.data(), object_bytes_.size());
}

void initialize_native_target() {
  static Start start;
  start.once([] {
    install_bad_alloc_handler();
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

}  // namespace anabranch::cpu
