// Loops and branches run: compiled by jit, and on arrays outside every trace.
#include "frontend/run/program_cache.h"
#include "tests/support/default_device.h"
#include "tests/support/values.h"

namespace {

using ab::Array;

TEST(ControlFlowRun, JitCompilesALoopThatCarriesATree) {
  struct State {
    Array position, velocity;
  };
  auto fall = ab::jit([](Array height, Array steps) {
    State start{height, ab::zeros(ab::f32, {})};
    State end = ab::fori_loop(
        0, steps,
        [](Array, const State& s) {
          return State{s.position + s.velocity * 0.5f, s.velocity - 1};
        },
        start);
    return end.position;
  });
  EXPECT_EQ(fall(ab::scalar(100.0f), 4).item<float>(), 97);
  EXPECT_EQ(fall(ab::scalar(100.0f), 0).item<float>(), 100);
  EXPECT_EQ(fall.traces(), 1);
}

// The function of docs/control_flow.md.
Array cube_root(Array x) {
  auto [steps, root] = ab::while_loop(
      [&](auto& state) {
        auto& [i, y] = state;
        return (i < 50) & (ab::abs(y * y * y - x) > 1e-5f);
      },
      [&](auto& state) {
        auto& [i, y] = state;
        return std::tuple{i + 1, y - (y * y * y - x) / (3 * y * y)};
      },
      std::tuple{0, x});
  return root;
}

TEST(ControlFlowRun, StopsWhenTheConditionOnValuesFails) {
  EXPECT_NEAR(cube_root(ab::scalar(27.0f)).item<float>(), 3, 1e-5);
  EXPECT_NEAR(ab::jit(cube_root)(ab::scalar(0.001f)).item<float>(), 0.1, 1e-3);
}

// One function for the loop, besides those of its kernels.
TEST(ControlFlowRun, DumpsTheCodeOfALoop) {
  const ab::testing::DefaultDevice cpu(ab::Device::cpu());
  auto root = ab::jit(cube_root);
  const auto x = ab::spec(ab::f32, {});
  const std::string schedule = root.dump(ab::Stage::schedule, x);
  const std::size_t at = schedule.find("loop ") + 5;
  const std::string name = schedule.substr(at, schedule.find('(', at) - at);
  EXPECT_NE(root.dump(ab::Stage::llvm, x).find("define void @" + name + "("), std::string::npos);
  EXPECT_NE(root.dump(ab::Stage::assembly, x).find("\n" + name + ":"), std::string::npos);
}

TEST(ControlFlowRun, OutsideATraceCapturesAreInputs) {
  const auto before = ab::program_cache_use().misses;
  for (float add : {1.0f, 2.0f}) {
    const Array step = ab::array({add, 2 * add});
    const Array lazily = step * 2;
    const auto [i, x] = ab::while_loop([](auto& c) { return std::get<0>(c) < 3; },
                                       [&](auto& c) {
                                         auto& [i, x] = c;
                                         return std::tuple{i + 1, x + step + lazily};
                                       },
                                       std::tuple{0, ab::zeros(ab::f32, {2})});
    EXPECT_EQ(i.template item<int>(), 3);
    EXPECT_EQ(x.template to_vector<float>(), (std::vector<float>{9 * add, 18 * add}));
  }
  // The loop is one program for both turns; what surrounds it, few more.
  EXPECT_LE(ab::program_cache_use().misses - before, 4u);
}

TEST(ControlFlowRun, ResultsOfLoopsGoOn) {
  const Array xs = ab::arange(4, ab::f32);
  auto [total, sums] = ab::scan([](Array c, Array x) { return std::pair{c + x, c + x}; }, 0, xs);
  EXPECT_EQ((total + 1).item<float>(), 7);
  EXPECT_EQ((sums * 2).to_vector<float>(), (std::vector<float>{0, 2, 6, 12}));
}

TEST(ControlFlowRun, ScanOverMatricesMatchesALoopOnTheHost) {
  auto rnn = ab::jit([](Array w, Array h, Array xs) {
    return ab::scan(
        [&](Array state, Array x) {
          Array next = ab::tanh(ab::matmul(w, state) + x);
          return std::pair{next, next};
        },
        h, xs);
  });
  const Array w = ab::reshape(ab::linspace(-0.5, 0.5, 64).astype(ab::f32), {8, 8});
  const Array xs = ab::reshape(ab::linspace(-1, 1, 40).astype(ab::f32), {5, 8});
  const auto [last, all] = rnn(w, ab::zeros(ab::f32, {8}), xs);
  Array state = ab::zeros(ab::f32, {8});
  for (int t = 0; t < 5; ++t) {
    state = ab::tanh(ab::matmul(w, state) + xs[t]);
    const auto expected = state.to_vector<float>(), found = all[t].to_vector<float>();
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
  }
  EXPECT_EQ(last.to_vector<float>(), all[-1].to_vector<float>());
}

// Whose places have rows in memory, forwards and backwards: each turn reads one element of each.
TEST(ControlFlowRun, ScanAlongTheLastAxisMatchesALoopOnTheHost) {
  const auto smoothed = ab::jit([](Array x, Array y) {
    const auto columns = [](const Array& rows) { return ab::flip(ab::moveaxis(rows, 1, 0), 0); };
    auto [last, all] = ab::scan(
        [](Array& before, auto& row) {
          auto& [a, b] = row;
          const Array next = before * a + b;
          return std::pair{next, next};
        },
        ab::zeros(ab::f64, {x.shape()[0]}), std::pair{columns(x), ab::moveaxis(y, 1, 0)});
    return std::pair{last, ab::moveaxis(all, 0, 1)};
  });
  for (std::int64_t places : {1, 127, 128, 203}) {
    for (std::int64_t turns : {1, 9, 256}) {
      std::vector<double> x, y;
      for (std::int64_t i = 0; i < places * turns; ++i) {
        x.push_back(static_cast<double>(i % 3 - 1) / 2);
        y.push_back(static_cast<double>(i % 17));
      }
      const auto [last, all] =
          smoothed(ab::array(x, {places, turns}), ab::array(y, {places, turns}));
      const std::vector<double> ends = last.to_vector<double>(), rows = all.to_vector<double>();
      for (std::int64_t p = 0; p < places; ++p) {
        double before = 0;
        for (std::int64_t t = 0; t < turns; ++t) {
          const auto at = [&](std::int64_t turn) {
            return static_cast<std::size_t>(p * turns + turn);
          };
          before = before * x[at(turns - 1 - t)] + y[at(t)];
          ASSERT_EQ(rows[at(t)], before) << places << " x " << turns << " at " << p << ", " << t;
        }
        ASSERT_EQ(ends[static_cast<std::size_t>(p)], before);
      }
    }
  }
}

// The mask's one axis is the last one of y.
TEST(ControlFlowRun, ColumnsEndByThemselves) {
  auto f = ab::jit([](Array limit, Array y0) {
    return std::get<2>(
        ab::while_loop([](std::tuple<Array, Array, Array> s) { return ab::any(std::get<0>(s)); },
                       [&](std::tuple<Array, Array, Array> s) {
                         const auto& [on, i, y] = s;
                         const Array next = ab::where(on, i + 1, i);
                         return std::tuple{on & (next < limit), next, ab::where(on, y * 2, y)};
                       },
                       std::tuple{limit > 0, ab::zeros(ab::i32, {2}), y0}));
  });
  EXPECT_EQ(f(ab::array({1, 3}), ab::ones(ab::f32, {2, 2})).to_vector<float>(),
            (std::vector<float>{2, 8, 2, 8}));
}

TEST(ControlFlowRun, BranchesInsideAndOutsideATrace) {
  auto sign = [](Array x) {
    return ab::cond(
        x > 0, [&] { return ab::sqrt(x); }, [&] { return x * x; });
  };
  auto compiled = ab::jit(sign);
  for (float x : {4.0f, -3.0f}) {
    const float expected = x > 0 ? 2.0f : 9.0f;
    EXPECT_EQ(sign(ab::scalar(x)).item<float>(), expected);
    EXPECT_EQ(compiled(ab::scalar(x)).item<float>(), expected);
  }
  EXPECT_EQ(ab::cond(
                true, [](Array a) { return a; }, [](Array a) { return -a; }, 3)
                .item<int>(),
            3);
}

// One step after the other in a loop of a loop, the inner one over what the outer one has reached.
TEST(ControlFlowRun, SortsByNestedLoops) {
  auto sort = ab::jit([](Array x) {
    const std::int64_t n = x.size();
    return ab::fori_loop(
        0, n,
        [&](Array i, Array outer) {
          return ab::fori_loop(
              0, static_cast<int>(n) - 1 - i,
              [](Array j, Array a) {
                Array left = ab::dynamic_index_in_dim(a, j);
                Array right = ab::dynamic_index_in_dim(a, j + 1);
                a = ab::dynamic_update_index_in_dim(a, ab::minimum(left, right), j);
                return ab::dynamic_update_index_in_dim(a, ab::maximum(left, right), j + 1);
              },
              outer);
        },
        x);
  });
  EXPECT_EQ(sort(ab::array({5, 3, 9, -1, 4, 4, 0})).to_vector<int>(),
            (std::vector<int>{-1, 0, 3, 4, 4, 5, 9}));
}

}  // namespace
