// What a program that is linked to the library finds in its process at the start of main, and after
// the first use of a device.
#include <dlfcn.h>

#include <cstdio>
#include <filesystem>
#include <iterator>

#include "anabranch/anabranch.h"

namespace {

void report(const char* when) {
  const bool has_driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY) != nullptr;
  const auto threads = std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                                     std::filesystem::directory_iterator());
  std::printf("%s: %s driver, %d threads\n", when, has_driver ? "a" : "no",
              static_cast<int>(threads));
}

}  // namespace

int main() {
  report("start");
  anabranch::devices();
  report("devices");
  // The thread that waits does not run it: a worker does.
  anabranch::custom_call(
      "write", [](const anabranch::CustomCall&) {}, anabranch::spec(anabranch::f32, {3}))
      .wait();
  report("result");
}
