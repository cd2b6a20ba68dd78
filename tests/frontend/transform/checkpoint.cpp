// What checkpoints keep: gradients are the same whatever it is, memory is not.
#include <functional>
#include <set>
#include <stdexcept>
#include <string>

#include "tests/support/values.h"

namespace {

using ab::Array;
using Candidate = ab::CheckpointCandidate;
using Policy = std::function<bool(const Candidate&)>;

const std::vector<std::pair<const char*, Policy>> policies = {
    {"nothing", ab::save_nothing},
    {"everything", ab::save_everything},
    {"dots", ab::save_dots},
    {"names", ab::save_only_names({"inner"})},
    {"small", [](const Candidate& value) { return value.type.size() <= 8; }},
};

Array layer(const Array& w, const Array& x) {
  const Array inner = ab::checkpoint_name(ab::tanh(ab::matmul(x, w)), "inner");
  return ab::sin(inner + 0.1f) * inner;
}

const Array weights() { return ab::reshape(ab::linspace(-0.4, 0.7, 16), {4, 4}); }
const Array rows() { return ab::reshape(ab::linspace(-1.0, 1.0, 8), {2, 4}); }

void expect_same(const Array& found, const Array& wanted, const char* what) {
  expect_close(doubles(found), doubles(wanted), 2e-5, what);
}

TEST(Checkpoint, ChangesNoGradient) {
  const auto three = [](auto function) {
    return [=](Array w, Array x) { return ab::sum(function(w, function(w, function(w, x)))); };
  };
  const auto scanned = [](auto function) {
    return [=](Array w, Array x) {
      const auto step = [&](Array& carry) { return std::pair(function(w, carry), ab::sum(carry)); };
      const auto [last, sums] = ab::scan(step, x, 3);
      return ab::sum(last) + ab::sum(sums);
    };
  };
  const auto second = [](auto f) {
    return [=](Array w, Array x) { return ab::sum(ab::square(ab::grad(f)(w, x))); };
  };
  const Array w = weights(), x = rows(), many = ab::stack({x, 2 * x, 3 * x});
  const auto check = [&](auto shape) {
    const auto plain = shape(layer);
    const auto of_rows = [&](auto f) { return ab::vmap(f, ab::in_axes(ab::unmapped, 0)); };
    for (const auto& [name, policy] : policies) {
      const auto f = shape(ab::checkpoint(layer, policy));
      expect_same(ab::grad(f)(w, x), ab::grad(plain)(w, x), name);
      expect_same(ab::jit(ab::grad(f))(w, x), ab::grad(plain)(w, x), name);
      expect_same(ab::jit(ab::grad(second(f)))(w, x), ab::jit(ab::grad(second(plain)))(w, x), name);
      expect_same(ab::jit(of_rows(ab::grad(f)))(w, many),
                  ab::jit(of_rows(ab::grad(plain)))(w, many), name);
      const auto summed = [&](auto g) {
        return [&, g](Array v) { return ab::sum(of_rows(g)(v, many)); };
      };
      expect_same(ab::jit(ab::grad(summed(f)))(w), ab::jit(ab::grad(summed(plain)))(w), name);
      // All of it once more.
      const auto around = ab::checkpoint(f, policy);
      expect_same(ab::jit(ab::grad(around))(w, x), ab::grad(plain)(w, x), name);
    }
  };
  check(three);
  check(scanned);
}

TEST(Checkpoint, RunsAsItIsOutsideOfATrace) {
  const Array y = ab::checkpoint(layer, ab::save_dots)(weights(), rows());
  expect_same(y, layer(weights(), rows()), "recorded");
}

TEST(Checkpoint, AsksThePolicyOncePerTrace) {
  std::vector<std::string> asked;
  const auto policy = [&](const Candidate& value) {
    asked.push_back(std::string(value.op) + " " + to_string(value.type) + " " +
                    std::string(value.name));
    EXPECT_NE(to_string(value.where).find("checkpoint.cpp:"), std::string::npos);
    return true;
  };
  const auto f = [&](Array x) {
    const Array y = ab::checkpoint_name(ab::exp(x), "y");
    return ab::checkpoint([](Array z) { return ab::sum(ab::tanh(z)); }, policy)(y);
  };
  const auto compiled = ab::jit(ab::grad(f));
  compiled(rows());
  compiled(rows());
  EXPECT_EQ(asked, (std::vector<std::string>{"tanh f32[2,4] ", "reduce_sum f32[] "}));
}

// Sums that the compiler does not fuse with what follows.
Array deep(Array x) {
  for (int i = 0; i < 8; ++i) {
    x = ab::cumsum(ab::sin(x));
    if (i % 4 == 3) x = ab::checkpoint_name(x, "fourth");
  }
  return x;
}

std::int64_t peak(const std::function<Array(Array)>& block) {
  const auto chain = [&](Array x) {
    for (int i = 0; i < 4; ++i) x = block(x);
    return ab::sum(x);
  };
  ab::Options options;
  options.streams = 1;  // what is computed side by side takes more
  const auto compiled = ab::jit(ab::grad(chain), options);
  return static_cast<std::int64_t>(compiled.memory(ab::spec(ab::f32, {1 << 16})).temporaries);
}

TEST(Checkpoint, TakesLessMemoryTheLessItKeeps) {
  const std::int64_t plain = peak(deep), none = peak(ab::checkpoint(deep));
  const std::int64_t few = peak(ab::checkpoint(deep, ab::save_only_names({"fourth"})));
  const std::int64_t all = peak(ab::checkpoint(deep, ab::save_everything));
  EXPECT_LT(10 * none, 6 * plain);
  EXPECT_LT(none, few);
  EXPECT_LT(few, all);
  EXPECT_LE(10 * all, 11 * plain);
}

// The state that each turn begins with, of 4 sines.
TEST(Checkpoint, KeepsNamesInALoopOfItsFunction) {
  const auto f = [](Array x) {
    const auto step = [](Array& carry) {
      Array y = ab::checkpoint_name(carry, "state");
      for (int i = 0; i < 4; ++i) y = ab::cumsum(ab::sin(y));
      return std::pair(y, std::tuple<>());
    };
    return ab::sum(ab::scan(step, x, 6).first);
  };
  const auto sorted_sines = [](const ab::Graph& graph) {
    std::vector<int> found;
    const std::function<int(const ab::Graph&)> count = [&](const ab::Graph& inside) {
      int sum = 0;
      for (const ab::Node& node : inside.nodes()) {
        sum += node.op == ab::Op::cumulative;
        for (const ab::Graph& region : node.regions) sum += count(region);
      }
      return sum;
    };
    return count(graph);
  };
  const ab::Spec x = ab::spec(ab::f32, {8});
  const auto graph = [&](const Policy& policy) {
    return ab::trace(ab::value_and_grad(ab::checkpoint(f, policy)), x);
  };
  // Forward, again, and backward; what comes of the last turn is not computed again.
  const int nothing = sorted_sines(graph(ab::save_nothing));
  const int states = sorted_sines(graph(ab::save_only_names({"state"})));
  const int everything = sorted_sines(graph(ab::save_everything));
  EXPECT_LT(everything, states);
  EXPECT_LT(states, nothing);
  const Array at = ab::linspace(0.1, 0.9, 8);
  for (const auto& policy : {Policy(ab::save_everything), Policy(ab::save_only_names({"state"}))}) {
    expect_same(ab::grad(ab::checkpoint(f, policy))(at), ab::grad(f)(at), "states");
  }
}

TEST(Checkpoint, APolicyThatThrowsIsHeard) {
  const auto policy = [](const Candidate& value) -> bool {
    throw std::runtime_error("asked about " + std::string(value.op));
  };
  const auto f =
      ab::grad([&](Array w) { return ab::sum(ab::checkpoint(layer, policy)(w, rows())); });
  for (int i = 0; i < 2; ++i) {
    try {
      f(weights());
      FAIL() << "nothing is thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "asked about dot");
    }
  }
  // What comes after is traced as ever.
  EXPECT_EQ(ab::grad([](Array w) { return ab::sum(w * w); })(weights()).shape(), (ab::Shape{4, 4}));
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Checkpoint, ErrorsNameTheNamesThatThereAre) {
  const auto run = [](auto function, std::vector<std::string> names) {
    return error_of([&] {
      ab::trace(ab::checkpoint(function, ab::save_only_names(names)), ab::spec(ab::f32, {4, 4}),
                ab::spec(ab::f32, {2, 4}));
    });
  };
  EXPECT_EQ(run(layer, {"inner"}), "no error");
  EXPECT_EQ(run(layer, {}), "no error");
  const std::string unknown = run(layer, {"inner", "iner"});
  EXPECT_EQ(
      unknown.find("checkpoint: no value that the function computes of its arguments is named "
                   "\"iner\"; there are \"inner\", at checkpoint.cpp:"),
      0u)
      << unknown;
  const std::string none = run([](Array w, Array x) { return ab::matmul(x, w); }, {"inner"});
  EXPECT_NE(none.find("none has a name: give it one with checkpoint_name"), std::string::npos)
      << none;
  const std::string empty = error_of([] { ab::checkpoint_name(ab::ones({2}), ""); });
  EXPECT_EQ(empty.find("checkpoint_name: the name is empty"), 0u) << empty;
}

TEST(CheckpointName, IsAnIdentityOfTrees) {
  struct Pair {
    Array a, b;
  };
  const auto f = [](const Pair& p) {
    const Pair named = ab::checkpoint_name(p, "both");
    return ab::sum(named.a * named.b);
  };
  const Pair p{rows(), 2 * rows()};
  expect_same(ab::jit(f)(p), ab::sum(p.a * p.b), "jitted");
  expect_same(f(p), ab::sum(p.a * p.b), "recorded");
  expect_same(ab::grad(f)(p).a, p.b, "gradient");
  const auto [y, dy] = ab::jvp(f, std::tuple{p}, std::tuple{p});
  expect_same(dy, 2 * ab::sum(p.a * p.b), "tangent");
  EXPECT_EQ(ab::jit(ab::grad(f)).cost(p).kernels, 0) << "the operands are the gradients";
}

}  // namespace
