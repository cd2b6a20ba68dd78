// What the pretended driver (tests/support/fake_cuda) lets a test ask and order beyond CUDA.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>

namespace anabranch::testing {
namespace fake {

inline void* look_up(const char* name) {
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return dlsym(driver, name);
}

template <class Function>
Function* find(const char* name) {
  void* found = look_up(name);
  if (!found)
    throw std::runtime_error(std::string("only the driver of tests/support/fake_cuda has ") + name);
  return reinterpret_cast<Function*>(found);
}

}  // namespace fake

/// Whether the driver is the one of tests/support/fake_cuda.
inline bool is_pretended() { return fake::look_up("fake_cuda_fail") != nullptr; }

/// For tests that order things of the pretended driver, or know what the pretended libraries do.
/// The names of their suites begin with Pretended: tools/gpu_suite leaves those out, since a real
/// driver has nothing of the kind.
class PretendedDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(is_pretended()) << "this test needs the driver of tests/support/fake_cuda: add its "
                                   "folder to LD_LIBRARY_PATH";
  }
};

/// Of the calls of a driver's function, the one after `after` more fails.
inline void fail_driver_call(const std::string& name, std::uint64_t after) {
  fake::find<void(const char*, std::uint64_t)>("fake_cuda_fail")(name.c_str(), after);
}
/// How often a driver's function has been called.
inline std::int64_t driver_calls(const char* name) {
  return fake::find<std::int64_t(const char*)>("fake_cuda_calls")(name);
}
/// Has freed memory be given out again, as a real pool does.
inline void reuse_memory(bool reuse) { fake::find<void(bool)>("fake_cuda_reuse")(reuse); }
/// Whether that call is still to come.
inline bool will_fail() { return fake::find<bool()>("fake_cuda_will_fail")(); }
/// How many "modules", "pools", "contexts", "streams", "events", "graphs", "launchable graphs",
/// "blocks" of memory and "host blocks" there are that nobody has given back.
inline std::int64_t alive(const char* what) {
  return fake::find<std::int64_t(const char*)>("fake_cuda_alive")(what);
}

/// Has the pretended GPU stand still once it comes to this point of a stream (a CUstream of a
/// context that the thread has entered), until the returned function is called.
inline std::function<void()> stop_at(void* stream) {
  auto go_on = std::make_shared<std::promise<void>>();
  fake::find<int(void*, const std::function<void()>&)>("fake_cuda_put")(
      stream, [stopped = go_on->get_future().share()] { stopped.wait(); });
  return [go_on] { go_on->set_value(); };
}

}  // namespace anabranch::testing
