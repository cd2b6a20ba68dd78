// What every function of the pretend driver goes through, and what it counts.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "gpu.h"

struct CUstream_st : fake_cuda::Stream {};
struct CUevent_st : fake_cuda::Event {};
struct CUctx_st {};

namespace fake_cuda {

/// All of it by the names of functions, or of what they make.
struct Calls {
  struct Failing {
    std::string name;
    std::uint64_t after = 0;
  };
  Failing failing;                            ///< which is to fail, after how many more
  std::map<std::string, std::int64_t> made;   ///< how often each has been called
  std::map<std::string, std::int64_t> alive;  ///< what was made and not given back
};
Calls& calls();
CUctx_st& context();

inline thread_local bool has_context = false;
/// Whether the process has left main, and what a driver destroys then is gone.
inline std::atomic<bool> has_ended = false;

/// Every call goes through here: `call`, with the GPU's mutex held, unless something has failed.
template <class Call>
CUresult guarded(const char* name, bool needs_context, Call call) {
  if (has_ended) {  // a real driver may crash
    std::printf("%s is called after the driver's end\n", name);
    std::fflush(stdout);
    std::_Exit(1);
  }
  std::unique_lock lock(gpu().mutex);
  Calls::Failing& failing = calls().failing;
  // cuda.h renames some functions to their newest versions.
  const std::string_view plain =
      std::string_view(name).substr(0, std::string_view(name).find("_v"));
  ++calls().made[std::string(plain)];
  if (failing.name == plain && failing.after-- == 0) {
    failing.name.clear();
    return CUDA_ERROR_UNKNOWN;
  }
  if (needs_context && !has_context) return CUDA_ERROR_INVALID_CONTEXT;
  if (needs_context && !gpu().failure.empty()) return CUDA_ERROR_LAUNCH_FAILED;
  return call(lock);
}

#define GUARDED_IN(needs_context, ...)                                           \
  guarded(__func__, needs_context,                                               \
          [&]([[maybe_unused]] std::unique_lock<std::mutex>& lock) -> CUresult { \
            __VA_ARGS__                                                          \
            return CUDA_SUCCESS;                                                 \
          })
#define GUARDED(...) GUARDED_IN(true, __VA_ARGS__)
#define GUARDED_ANYWHERE(...) GUARDED_IN(false, __VA_ARGS__)

}  // namespace fake_cuda
