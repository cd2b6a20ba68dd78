#include "codegen/cpu/link.h"

#include <llvm/ExecutionEngine/JITLink/EHFrameSupport.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "anabranch/error.h"
#include "codegen/cpu/emit/kernel.h"
#include "codegen/cpu/jit.h"
#include "codegen/cpu/leaked_on_error.h"

// Of libgcc.
extern "C" void __register_frame_info(const void* section, void* record);
extern "C" void* __deregister_frame_info(const void* section);

namespace anabranch::cpu {
namespace {

/// What LLVM reports, in words, and whether it is that the machine has no memory left.
struct Problem {
  std::string text;
  bool is_memory = false;

  void add(llvm::Error error) {
    llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase& one) {
      text += (text.empty() ? "" : "; ") + one.message();
      is_memory |= one.convertToErrorCode() == std::errc::not_enough_memory;
    });
  }
  [[noreturn]] void fail() const {
    if (is_memory) throw std::bad_alloc();
    throw InternalError("jit", text);
  }
};

void* allocate_scratch(std::size_t bytes) { return ::operator new (bytes, std::align_val_t{64}); }
void release_scratch(void* memory) { ::operator delete (memory, std::align_val_t{64}); }

/// A session of ORC's, and what it has reported since it was last asked.
struct Session {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Problem reported;
  std::uint64_t objects = 0;

  template <class T>
  T expect(llvm::Expected<T> value) {
    if (!value) expect(value.takeError());
    return std::move(*value);
  }
  void expect(llvm::Error error) {
    if (!error) return;
    reported.add(std::move(error));
    std::exchange(reported, {}).fail();
  }
};

/// Tells the unwinder about the code, as crtbegin.o does for a program's, with a record of our own:
/// LLVM's registrars and __register_frame do not look whether they got memory for theirs.
class UnwindTables final : public llvm::jitlink::EHFrameRegistrar {
 public:
  llvm::Error registerEHFrames(llvm::orc::ExecutorAddrRange section) override {
    __register_frame_info(section.Start.toPtr<void*>(), new Record);
    return llvm::Error::success();
  }
  llvm::Error deregisterEHFrames(llvm::orc::ExecutorAddrRange section) override {
    delete static_cast<Record*>(__deregister_frame_info(section.Start.toPtr<void*>()));
    return llvm::Error::success();
  }

 private:
  /// libgcc's `struct object` (unwind-dw2-fde.h): 6 to 8 words.
  struct Record {
    void* words[16] = {};
  };
};

llvm::Expected<std::unique_ptr<llvm::orc::ObjectLayer>> make_linking_layer(
    llvm::orc::ExecutionSession& session, const llvm::Triple&) {
  auto layer = std::make_unique<llvm::orc::ObjectLinkingLayer>(session);
  layer->addPlugin(std::make_shared<llvm::orc::EHFrameRegistrationPlugin>(
      session, std::make_unique<UnwindTables>()));
  return layer;
}

/// Never destroyed: code may still run, and handles may still be dropped, while the process ends.
Session* make_session() {
  initialize_native_target();
  auto* session = new Session;
  llvm::orc::LLJITBuilder builder;
  builder.setObjectLinkingLayerCreator(&make_linking_layer);
  session->jit = session->expect(builder.create());
  session->jit->getExecutionSession().setErrorReporter(
      [session](llvm::Error error) { session->reported.add(std::move(error)); });
  const LeakedOnError<llvm::orc::SymbolMap> runtime;
  auto add = [&](const char* name, auto* function) {
    (*runtime)[session->jit->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                                       llvm::JITSymbolFlags::Exported};
  };
  add(allocate_scratch_name, &allocate_scratch);
  add(release_scratch_name, &release_scratch);
  session->expect(
      session->jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(*runtime))));
  return session;
}

// LLVM cleans nothing up where memory ends: a session in which that happened may hold locks, and
// half of what it was adding. It is never entered again, what it has loaded stays, and the next
// object gets another one. There is one thread inside at a time, so that none is left in it.
struct Linker {
  std::mutex mutex;
  Session* session = nullptr;
};

Linker& linker() {
  static auto* linker = new Linker;
  return *linker;
}

/// The namespace of an object file, so that equal names in two of them never meet.
struct Space {
  Session* session = nullptr;
  llvm::orc::JITDylib* dylib = nullptr;

  Space() = default;
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;
  ~Space() {
    std::lock_guard lock(linker().mutex);
    if (!dylib || session != linker().session) return;
    try {
      llvm::consumeError(session->jit->getExecutionSession().removeJITDylib(*dylib));
      session->reported = {};
    } catch (const std::bad_alloc&) {
      linker().session = nullptr;
    }
  }
};

std::vector<void*> load_into(Space& space, const std::string& object,
                             const std::vector<std::string>& symbols) {
  Session& session = *space.session;
  llvm::orc::LLJIT& jit = *session.jit;
  space.dylib =
      &jit.getExecutionSession().createBareJITDylib("object" + std::to_string(session.objects++));
  space.dylib->addToLinkOrder(jit.getMainJITDylib());  // scratch memory
  space.dylib->addToLinkOrder(*jit.getProcessSymbolsJITDylib());
  auto copy = llvm::MemoryBuffer::getMemBufferCopy(object, symbols[0]);
  if (!copy) throw std::bad_alloc();
  session.expect(jit.addObjectFile(*space.dylib, std::move(copy)));
  std::vector<void*> addresses;
  for (const std::string& symbol : symbols) {
    addresses.push_back(session.expect(jit.lookup(*space.dylib, symbol)).toPtr<void*>());
  }
  return addresses;
}

}  // namespace

LoadedCode load(const std::string& object, const std::vector<std::string>& symbols) {
  const auto space = std::make_shared<Space>();  // takes the code out again, when it goes
  std::lock_guard lock(linker().mutex);
  try {
    if (!linker().session) linker().session = make_session();
    space->session = linker().session;
    return {.addresses = load_into(*space, object, symbols), .keep_alive = space};
  } catch (const std::bad_alloc&) {
    linker().session = nullptr;
    throw;
  }
}

}  // namespace anabranch::cpu
