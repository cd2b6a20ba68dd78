// Memory that ends in the midst of compilation, at one allocation after the other, those of LLVM
// included: an Error each time, and what is compiled afterwards works.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <new>
#include <string_view>
#include <thread>

#include "anabranch/anabranch.h"
#include "failing_malloc.h"
#include "frontend/run/program_cache.h"
#include "ir/interpret/interpret.h"

namespace anabranch::testing {
namespace {

constexpr std::int64_t count = 100;

/// Programs of one kind; each number makes another.
using Family = std::function<Array(Array x, float number)>;

const Family families[] = {
    [](Array x, float n) { return exp(x * n) + 1.0f / (x + n); },
    [](Array x, float n) { return sum(sin(x) * n) + tanh(x * n + 1.0f); },
    [](Array x, float n) {
      return fori_loop(
          0, 4, [n](Array, Array y) { return y * n - floor(y * n); }, x);
    },
    [](Array x, float n) {
      const Array y = reshape(x, {10, 10});
      return ravel(matmul(y, y * n) + n);
    },
    [](Array x, float n) {
      return softmax(concat({x * n, roll(x, 3)}));
    },
};

Graph graph_of(const Family& family, float number) {
  return trace([&](Array x) { return family(x, number); }, spec(f32, {count}));
}

bool is_unstarted(std::string_view what) {
  return what.find("no memory left when LLVM was started") != std::string_view::npos;
}

/// In a child: the parent never uses the library, which would start threads.
class Sweep {
 public:
  /// `is_first`: LLVM may be left unused.
  explicit Sweep(bool is_first = false) : is_first_(is_first) { set_default_device(Device::cpu()); }

  /// Compiles another program of a family with that shortage; the later ones come from another
  /// thread, which waits for ever where this one has left something locked.
  void compile(const Family& family, const Shortage& shortage) {
    const Graph graph = graph_of(family, number_ += 0.01f);
    char what[500] = "";  // to write there takes no memory
    {
      const OutOfMemory out_of_memory(shortage);
      try {
        compile_once(graph, {});
      } catch (const Error& error) {
        std::snprintf(what, sizeof what, "%s", error.what());
      } catch (const std::exception& error) {
        std::snprintf(what, sizeof what, "no Error but %s", error.what());
      }
    }
    const bool is_right =
        std::string_view(what).starts_with("compile: main: the machine has no ") &&
        std::string_view(what).find("let go of arrays") != std::string_view::npos;
    errors_ += is_right;
    if (*what && !is_right) fail(shortage, what);
  }

  /// Compiles, runs and compares with the interpreter, on another thread.
  void check(const Family& family, const Shortage& shortage) {
    std::thread([&] {
      try {
        const float number = number_ += 0.01f;
        const std::vector<float> values(count, 0.25f);
        const std::vector<float> got =
            jit([&](Array x) { return family(x, number); })(array(values)).to_vector<float>();
        std::vector<std::byte> bytes(count * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        const Literal input(Type{f32, {count}}, std::move(bytes));
        const auto wanted = interpret(graph_of(family, number), std::span(&input, 1));
        for (std::size_t i = 0; i < got.size(); ++i) {
          const float right = wanted[0].values<float>()[i];
          const bool is_close = std::abs(got[i] - right) <= 1e-4f * std::max(1.0f, std::abs(right));
          if (!is_close) return fail(shortage, "a wrong result of a later program");
        }
      } catch (const std::exception& error) {
        if (!is_first_ || !is_unstarted(error.what())) fail(shortage, error.what());
      }
    }).join();
  }

  /// Ends the child: 0 if all was right.
  [[noreturn]] void leave(int least_errors) {
    if (errors_ < least_errors) std::fprintf(stderr, "only %d errors\n", errors_);
    std::fflush(nullptr);
    _exit(failures_ == 0 && errors_ >= least_errors ? 0 : 1);
  }

 private:
  void fail(const Shortage& shortage, const char* what) {
    if (++failures_ > 10) return;
    std::fprintf(stderr, "after %ld allocations of at least %zu bytes%s: %.200s\n", shortage.after,
                 shortage.least, shortage.lasts ? ", for good" : "", what);
  }

  const bool is_first_;
  float number_ = 1.5f;
  int errors_ = 0, failures_ = 0;
};

// What a compilation of the family allocates.
long allocations(Sweep& sweep, const Family& family, const Shortage& kind) {
  Shortage none = kind;
  none.after = 1'000'000'000;
  sweep.compile(family, none);
  return OutOfMemory::asked();
}

/// Every `steps`-th part of a compilation; LLVM has compiled before.
[[noreturn]] void sweep_family(const Family& family, Shortage shortage, int steps) {
  alarm(120);  // instead of a deadlock
  Sweep sweep;
  allocations(sweep, family, shortage);
  const long all = allocations(sweep, family, shortage);
  for (int i = 0; i < steps; ++i) {
    shortage.after = all * i / steps + i % 5;
    sweep.compile(family, shortage);
    if (i % 8 == 0) sweep.check(family, shortage);
  }
  sweep.check(family, shortage);
  sweep.leave(steps * 9 / 10);
}

class NoMemory : public ::testing::TestWithParam<int> {};

TEST_P(NoMemory, ForOneAllocation) {
  const Family& family = families[GetParam()];
  EXPECT_EXIT(sweep_family(family, {}, 60), ::testing::ExitedWithCode(0), "");
}

// Small ones are still granted: a message must fit somewhere.
TEST_P(NoMemory, ForAnyFurtherAllocation) {
  const Family& family = families[GetParam()];
  EXPECT_EXIT(sweep_family(family, {.lasts = true, .least = 256}, 60), ::testing::ExitedWithCode(0),
              "");
}

// LLVM is started once in a process, and cannot be again: then all later compilations say so.
[[noreturn]] void end_first_compilation(const Shortage& shortage) {
  alarm(60);
  Sweep sweep(true);
  sweep.compile(families[2], shortage);
  sweep.check(families[2], shortage);
  sweep.leave(0);
}

TEST(NoMemoryAtFirst, IsAnErrorOrLeavesLlvmUnused) {
  for (long after = 0; after < 29'000; after += after < 20 ? 1 : 1'450) {
    EXPECT_EXIT(end_first_compilation({.after = after}), ::testing::ExitedWithCode(0), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Families, NoMemory, ::testing::Range(0, 5));

}  // namespace
}  // namespace anabranch::testing
