#include "codegen/cuda/nvrtc.h"

#include <dlfcn.h>
#include <nvrtc.h>

#include "anabranch/error.h"
#include "runtime/library_call.h"

namespace anabranch::cuda {
namespace {

// NVRTC is opened on first use, so that programs for the CPU need none of it.
struct Nvrtc {
  std::string missing;
  decltype(&nvrtcCreateProgram) create = nullptr;
  decltype(&nvrtcDestroyProgram) destroy = nullptr;
  decltype(&nvrtcCompileProgram) compile = nullptr;
  decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&nvrtcGetProgramLog) log = nullptr;
  decltype(&nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&nvrtcGetCUBIN) cubin = nullptr;
  decltype(&nvrtcGetErrorString) error = nullptr;
  decltype(&nvrtcVersion) version = nullptr;

  Nvrtc() {
    const std::string file = "libnvrtc.so." + std::to_string(CUDART_MAJOR);
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char* why = dlerror();
      missing = "cannot load " + file + (why ? " (" + std::string(why) + ")" : "") +
                "; install NVRTC of CUDA " + std::to_string(CUDART_MAJOR) +
                ", or add its folder to LD_LIBRARY_PATH";
      return;
    }
    const auto find = [&]<class Function>(Function& function, const char* name) {
      function = reinterpret_cast<Function>(dlsym(library, name));
      if (!function && missing.empty()) missing = file + " has no " + name;
    };
    find(create, "nvrtcCreateProgram");
    find(destroy, "nvrtcDestroyProgram");
    find(compile, "nvrtcCompileProgram");
    find(log_size, "nvrtcGetProgramLogSize");
    find(log, "nvrtcGetProgramLog");
    find(cubin_size, "nvrtcGetCUBINSize");
    find(cubin, "nvrtcGetCUBIN");
    find(error, "nvrtcGetErrorString");
    find(version, "nvrtcVersion");
    LibraryCall::end_before_library();
  }
};

const Nvrtc& nvrtc() {
  static const Nvrtc* loaded = new Nvrtc;
  return *loaded;
}

class Program {
 public:
  explicit Program(const std::string& source) : source_(source) {
    check(nvrtc().create(&program_, source.c_str(), "kernels.cu", 0, nullptr, nullptr), "create");
  }
  ~Program() { nvrtc().destroy(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Cubin compile(int architecture) {
    const std::vector<std::string> given = nvrtc_options(architecture);
    std::vector<const char*> options;
    for (const std::string& option : given) options.push_back(option.c_str());
    const nvrtcResult result =
        nvrtc().compile(program_, static_cast<int>(options.size()), options.data());
    Cubin made;
    made.log = text(nvrtc().log_size, nvrtc().log, "log");
    if (result != NVRTC_SUCCESS) {
      throw InternalError("nvrtc", nvrtc().error(result) + (": " + made.log), source_);
    }
    made.code = text(nvrtc().cubin_size, nvrtc().cubin, "cubin");
    return made;
  }

 private:
  template <class Size, class Get>
  std::string text(Size size, Get get, const char* what) {
    std::size_t bytes = 0;
    check(size(program_, &bytes), what);
    std::string content(bytes, '\0');
    check(get(program_, content.data()), what);
    return content;
  }

  void check(nvrtcResult result, const char* doing) const {
    if (result == NVRTC_SUCCESS) return;
    throw InternalError("nvrtc", std::string(doing) + ": " + nvrtc().error(result), source_);
  }

  const std::string& source_;
  nvrtcProgram program_ = nullptr;
};

}  // namespace

std::string nvrtc_missing() { return nvrtc().missing; }

std::string nvrtc_version() {
  int major = 0, minor = 0;
  if (!nvrtc().missing.empty() || nvrtc().version(&major, &minor) != NVRTC_SUCCESS) return {};
  return std::to_string(major) + "." + std::to_string(minor);
}

std::vector<std::string> nvrtc_options(int architecture) {
  return {"--gpu-architecture=sm_" + std::to_string(architecture), "--std=c++17",
          "--disable-warnings", "--ptxas-options=-v"};
}

Cubin compile_cubin(const std::string& source, int architecture) {
  if (!nvrtc().missing.empty()) throw Error("compile for CUDA: " + nvrtc().missing);
  const LibraryCall call(std::nothrow);
  if (!call.is_allowed()) {
    throw Error("compile for CUDA: the process is leaving main, and NVRTC is gone");
  }
  return Program(source).compile(architecture);
}

}  // namespace anabranch::cuda
