// NVRTC that makes shared libraries for this machine's CPU (../cuda/on_cpu.h) instead of cubins.
#include <nvrtc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

struct _nvrtcProgram {
  std::string source, log, image;
};

namespace {

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// What calls a kernel whose arguments lie anywhere.
constexpr const char* glue = R"(
#include <utility>
namespace fake_cuda {
template <class... A, std::size_t... i>
const char* launch(void (*kernel)(A...), void** arguments, unsigned blocks, unsigned threads,
                   bool meet, std::index_sequence<i...>) {
  return on_cpu::launch(blocks, threads, meet,
                        [=] { kernel(*static_cast<A*>(arguments[i])...); });
}
template <class... A>
const char* launch(void (*kernel)(A...), void** arguments, unsigned blocks, unsigned threads,
                   bool meet) {
  return launch(kernel, arguments, blocks, threads, meet, std::index_sequence_for<A...>());
}
template <class... A>
struct Sizes {
  unsigned sizes[sizeof...(A) + 1] = {sizeof(A)..., 0};
};
template <class... A>
constexpr Sizes<A...> sizes_of(void (*)(A...)) {
  return {};
}
}  // namespace fake_cuda
)";

// What a GPU's driver finds for kernels that call it: the pretend driver sets the pointer.
constexpr const char* conditional_glue = R"(
extern "C" void (*set_conditional)(u64 condition, u32 value) = nullptr;
extern "C" void cudaGraphSetConditional(u64 condition, u32 value) {
  set_conditional(condition, value);
}
)";

// What every source begins with is compiled beforehand.
std::string without_prefix(const std::string& source) {
  const std::string device = content(DEVICE_HEADER);
  if (!source.starts_with(device)) return "#include \"" ON_CPU_HEADER "\"\n" + source;
  return "#include \"" PREFIX_HEADER "\"\n" + source.substr(device.size());
}

// In what the threads of a block come to the same point.
const std::regex threads_meet("of_group|of_lane|__sync");

std::string glued(const std::string& source) {
  std::string text = without_prefix(source) + glue;
  if (source.find("cudaGraphSetConditional") != std::string::npos) text += conditional_glue;
  const std::regex kernel(R"(extern "C" __global__ void [^{]*?(\w+)\([^)]*\) \{)");
  for (std::sregex_iterator it(source.begin(), source.end(), kernel), end; it != end; ++it) {
    const std::string name = (*it)[1];
    const auto begin = static_cast<std::size_t>(it->position());
    const std::string body = source.substr(begin, source.find("\n}\n", begin) - begin);
    const bool meet = std::regex_search(body, threads_meet);
    text += "extern \"C\" const char* launch_" + name +
            "(void** arguments, unsigned blocks, unsigned threads) {\n  return fake_cuda::launch(" +
            name + ", arguments, blocks, threads, " + (meet ? "true" : "false") +
            ");\n}\nextern \"C\" constexpr auto sizes_" + name + " = fake_cuda::sizes_of(" + name +
            ");\n";
  }
  return text;
}

nvrtcResult give(const std::string& from, char* to) {
  std::memcpy(to, from.data(), from.size());
  return NVRTC_SUCCESS;
}

}  // namespace

extern "C" {

nvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = 1;
  *minor = 0;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char*, int,
                               const char* const*, const char* const*) {
  *program = new _nvrtcProgram{source, {}, {}};
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int, const char* const*) {
  std::string folder = (std::filesystem::temp_directory_path() / "fake_nvrtc_XXXXXX").string();
  if (!mkdtemp(folder.data())) return NVRTC_ERROR_INTERNAL_ERROR;
  const std::string base = folder + "/kernels";
  std::ofstream(base + ".cpp") << glued(program->source);
  const std::string command = HOST_COMPILER " " HOST_FLAGS " -shared '" + base + ".cpp' -o '" +
                              base + ".so' > '" + base + ".log' 2>&1";
  const bool good = std::system(command.c_str()) == 0;
  program->log = content(base + ".log");
  const std::string library = good ? content(base + ".so") : "";
  std::filesystem::remove_all(folder);
  if (!good) return NVRTC_ERROR_COMPILATION;
  const std::uint64_t bytes = library.size();
  program->image.assign(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  program->image += library;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, std::size_t* bytes) {
  *bytes = program->log.size();
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) { return give(program->log, log); }
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* bytes) {
  *bytes = program->image.size();
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) { return give(program->image, cubin); }
const char* nvrtcGetErrorString(nvrtcResult result) {
  return result == NVRTC_SUCCESS ? "success" : "the C++ compiler refused the program";
}

}  // extern "C"
