// Processes that fork, before and after they have run programs.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "tests/support/values.h"

namespace {

bool is_child = false;

}  // namespace

#if defined(__SANITIZE_ADDRESS__)
// A child has none of the threads whose stacks a search for leaks looks at.
extern "C" int __lsan_is_turned_off() { return is_child; }
#endif

namespace {

// The status of a child that runs `body` and leaves as a process does; killed where it hangs.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    is_child = true;
    ::alarm(60);
    std::exit(body());
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

ab::Array wave(ab::Array x) { return ab::sin(x) + 1; }

bool fails(const std::function<void()>& call) {
  try {
    call();
  } catch (const ab::Error& error) {
    return std::string(error.what())
               .find(
                   "this process was forked from one in which Anabranch "
                   "runs") != std::string::npos;
  }
  return false;
}

TEST(Fork, AfterAProgramHasRunGivesErrorsAndReadsWhatIsThere) {
  const auto f = ab::jit(wave);
  const ab::Array x = ab::zeros(ab::f32, {100'000}), recorded = ab::cos(x);
  const ab::Array ready = f(x);
  ready.wait();
  const int status = in_child([&] {
    const auto read = [&] { return ready.to_vector<float>(); };
    if (ready.device().kind() == ab::DeviceKind::cuda) {  // no child has what is there
      if (!fails(read)) return 1;
    } else if (read() != std::vector<float>(100'000, 1.0f)) {
      return 1;
    } else if (ready.to_vector_async<float>().get() != read()) {
      return 8;
    }
    if (!fails([&] { f(x); })) return 2;
    if (!fails([&] { (void)(x + 1); })) return 3;
    if (!fails([&] { recorded.wait(); })) return 4;
    ab::Array kept = ready;  // a call that throws consumes nothing
    if (!fails([&] { f(ab::donate(kept)); })) return 9;
    if (kept.to_vector<float>() != ready.to_vector<float>()) return 10;
    if (!fails([&] { ab::wait_all(); })) return 5;
    if (!fails([&] { ab::array({1.0f, 2.0f}); })) return 6;
    if (!fails([&] { ab::jit([](ab::Array y) { return y * 3; })(x); })) return 7;
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(f(x).to_vector<float>(), ready.to_vector<float>());
}

[[noreturn]] void fork_first() {
  const auto run = [] {
    const ab::Array x = ab::zeros(ab::f32, {100'000});
    return ab::jit(wave)(x).to_vector<float>() == std::vector<float>(100'000, 1.0f) ? 5 : 1;
  };
  const int child = in_child(run);
  std::exit(child == 5 && run() == 5 ? 5 : 1);
}

TEST(ForkDeathTest, BeforeTheFirstProgramTheChildRunsItsOwn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fork_first(), testing::ExitedWithCode(5), "");
}

}  // namespace
