// Threads that the system does not grant: a pool goes on with fewer, and where there is none, the
// call is an error that leaves nothing behind.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "anabranch/devices.h"
#include "anabranch/error.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/executor/run.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::buffer_of;
using testing::counting;
using testing::FakeProgram;
using testing::values_of;

/// Whether new threads are refused: their stacks would be larger than any address space.
void refuse_threads(bool is_refused) {
  static const std::size_t usual = [] {
    pthread_attr_t attributes;
    std::size_t bytes = 0;
    pthread_getattr_default_np(&attributes);
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
    return bytes;
  }();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, is_refused ? std::size_t{1} << 50 : usual);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

std::vector<Buffer> start() {
  FakeProgram program(4);
  const SlotId in = program.input();
  program.step({in}, program.output());
  program.last_task().function = [](const void*, void* const* buffers, std::int64_t begin,
                                    std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) static_cast<std::int64_t*>(buffers[1])[i] = i;
  };
  return run(program.in_order(), {buffer_of(Device::cpu(), counting(4, 1))});
}

void exit_unless(bool is_so, int code) {
  if (!is_so) _exit(code);
}

[[noreturn]] void run_without_threads() {
  alarm(30);  // in place of a deadlock
  refuse_threads(true);
  try {
    start();
    _exit(1);
  } catch (const Error& error) {
    exit_unless(std::string_view(error.what()).starts_with("cpu:0: the system grants no thread"),
                2);
  }
  wait_for_devices();
  refuse_threads(false);
  exit_unless(values_of(start()[0]) == counting(4), 3);
  exit_unless(cpu::ThreadPool::of(Device::cpu()).size() == cores(Device::cpu()).count, 4);
  std::exit(7);
}

[[noreturn]] void run_with_fewer_threads() {
  alarm(30);
  set_cpu_devices(2);
  cpu::ThreadPool& pool = cpu::ThreadPool::of(Device::cpu());
  const int before = pool.size();
  exit_unless(values_of(start()[0]) == counting(4), 1);
  refuse_threads(true);
  set_cpu_devices(1);  // it shall have more threads
  exit_unless(pool.size() == before, 2);
  exit_unless(values_of(start()[0]) == counting(4), 3);
  refuse_threads(false);
  set_cpu_devices(1);
  exit_unless(pool.size() == cores(Device::cpu()).count, 4);
  exit_unless(values_of(start()[0]) == counting(4), 5);
  std::exit(7);
}

class RefusedThreadsDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(RefusedThreadsDeathTest, AreAnErrorWhereThereIsNone) {
  EXPECT_EXIT(run_without_threads(), ::testing::ExitedWithCode(7), "");
}

TEST_F(RefusedThreadsDeathTest, AreDoneWithout) {
  EXPECT_EXIT(run_with_fewer_threads(), ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace anabranch
