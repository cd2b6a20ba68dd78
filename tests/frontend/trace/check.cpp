// check: where a failed one is reported, and what goes on.
#include <string>
#include <utility>

#include "tests/support/values.h"

namespace {

using ab::Array;

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "no error";
}

// What reading the result of a call says.
template <class Function, class... Args>
std::string failure(const Function& function, const Args&... arguments) {
  return message_of([&] { function(arguments...).wait(); });
}

Array positive_root(Array x) {
  ab::check(x > 0, "x is positive");
  ab::check(x < 100, "x is small");
  return ab::sqrt(x);
}

const std::string not_positive = "check failed: x is positive, at check.cpp:28";
const std::string not_small = "check failed: x is small, at check.cpp:29";

TEST(Check, FailsTheCallThatItIsIn) {
  const auto f = ab::jit(positive_root);
  expect_close(doubles(f(ab::array({1.0f, 4.0f}))), {1, 2}, 1e-6, "good");
  EXPECT_EQ(failure(f, ab::array({1.0f, -4.0f})), not_positive);
  EXPECT_EQ(failure(f, ab::array({1.0f, 400.0f})), not_small);
  EXPECT_EQ(failure(f, ab::array({-1.0f, 400.0f})), not_positive) << "the first is reported";
  expect_close(doubles(f(ab::array({9.0f, 4.0f}))), {3, 2}, 1e-6, "the next call");
}

TEST(Check, FailsWhatDependsOnTheResultAndNothingElse) {
  const auto f = ab::jit(positive_root);
  const Array bad = f(ab::array({-1.0f})), good = f(ab::array({4.0f}));
  const Array sum = bad + 1, other = good + 1;
  EXPECT_EQ(message_of([&] { sum.to_vector<float>(); }), not_positive);
  EXPECT_EQ(message_of([&] { bad.to_vector<float>(); }), not_positive);
  expect_close(doubles(other), {3}, 1e-6, "what does not depend on it");
}

TEST(Check, GuardsAllResults) {
  const auto f = ab::jit([](Array x) {
    ab::check(ab::sum(x) > 0, "the sum is positive");
    return std::pair{x, x + 1};
  });
  const auto [same, more] = f(ab::array({1.0f, 2.0f}));
  expect_close(doubles(more), {2, 3}, 1e-6, "good");
  const auto [bad, worse] = f(ab::array({-1.0f, -2.0f}));
  EXPECT_EQ(message_of([&] { worse.wait(); }),
            "check failed: the sum is positive, at check.cpp:56");
}

TEST(Check, OutsideOfTracedFunctionsThrowsAtOnce) {
  ab::check(ab::array({1.0f, 2.0f}) > 0, "positive");
  EXPECT_EQ(message_of([] {
              ab::check(ab::array({1.0f, -2.0f}) > 0, "positive");
            }),
            "check failed: positive, at check.cpp:68");
  EXPECT_EQ(message_of([] { ab::check(ab::array({1.0f}), "x"); }),
            "check: the predicate is f32[1], and has to be bool; compare it with what it should "
            "be, at check.cpp:72");
  EXPECT_EQ(message_of([] { ab::check(Array(), "x"); }),
            "check: the predicate is an empty Array, at check.cpp:75");
}

TEST(Check, IsAskedInEachTurn) {
  const auto f = ab::jit([](Array x) {
    return ab::fori_loop(
        0, 5,
        [](Array i, Array s) {
          ab::check(s + ab::astype(i, ab::f32) < 20, "s stays small");
          return s * 2;
        },
        x);
  });
  expect_close(doubles(f(ab::scalar(0.5f))), {16}, 1e-6, "good");
  EXPECT_EQ(failure(f, ab::scalar(1.0f)), "check failed: s stays small, at check.cpp:84");
  const auto steps = ab::jit([](Array xs) {
    return ab::scan(
               [](Array sum, Array x) {
                 ab::check(x > 0, "x is positive");
                 return std::pair{sum + x, sum};
               },
               ab::scalar(0.0f), xs)
        .second;
  });
  expect_close(doubles(steps(ab::array({1.0f, 2.0f, 3.0f}))), {0, 1, 3}, 1e-6, "good");
  EXPECT_EQ(failure(steps, ab::array({1.0f, 2.0f, -3.0f})),
            "check failed: x is positive, at check.cpp:94");
}

TEST(Check, EndsALoopThatWouldNotEnd) {
  const auto f = ab::jit([](Array x) {
    return ab::while_loop([](std::pair<Array, Array> s) { return s.second > 0; },
                          [](std::pair<Array, Array> s) {
                            ab::check(s.first < 1000, "it converges");
                            return std::pair{s.first + 1, s.second * 1};
                          },
                          std::pair{ab::scalar(0), x})
        .first;
  });
  EXPECT_EQ(f(ab::scalar(-1.0f)).item<int>(), 0);
  EXPECT_EQ(failure(f, ab::scalar(1.0f)), "check failed: it converges, at check.cpp:109");
}

TEST(Check, IsAskedInALoopsCondition) {
  const auto f = ab::jit([](Array n) {
    return ab::while_loop(
               [](std::pair<Array, Array> s) {
                 ab::check(s.first != 7, "7 is not met");
                 return s.first < s.second;
               },
               [](std::pair<Array, Array> s) {
                 return std::pair{s.first + 1, s.second};
               },
               std::pair{ab::scalar(0), n})
        .first;
  });
  EXPECT_EQ(f(ab::scalar(6)).item<int>(), 6);
  EXPECT_EQ(failure(f, ab::scalar(7)), "check failed: 7 is not met, at check.cpp:123") << "last";
  EXPECT_EQ(failure(f, ab::scalar(9)), "check failed: 7 is not met, at check.cpp:123");
}

Array branched(Array x) {
  return ab::cond(
      x > 0,
      [&] {
        ab::check(x < 5, "x is below 5");
        return ab::log(x);
      },
      [&] {
        ab::check(x > -5, "x is above -5");
        return x;
      });
}

TEST(Check, IsAskedOnlyInTheBranchThatIsTaken) {
  const auto f = ab::jit(branched);
  expect_close(doubles(f(ab::scalar(1.0f))), {0}, 1e-6, "good");
  expect_close(doubles(f(ab::scalar(-1.0f))), {-1}, 1e-6, "good");
  EXPECT_EQ(failure(f, ab::scalar(7.0f)), "check failed: x is below 5, at check.cpp:141");
  EXPECT_EQ(failure(f, ab::scalar(-7.0f)), "check failed: x is above -5, at check.cpp:145");
}

TEST(Check, OfABatchLooksAtEachElementsOwnBranchAndTurns) {
  const auto branches = ab::jit(ab::vmap(branched));
  expect_close(doubles(branches(ab::array({1.0f, -2.0f, -3.0f}))), {0, -2, -3}, 1e-6, "good");
  EXPECT_EQ(failure(branches, ab::array({1.0f, 7.0f, -3.0f})),
            "check failed: x is below 5, at check.cpp:141");
  const auto loops = ab::jit(ab::vmap([](Array n) {
    return ab::while_loop([=](Array i) { return i < n; },
                          [=](Array i) {
                            ab::check((i < n) & (i < 6), "i is below n and 6");
                            return i + 1;
                          },
                          ab::scalar(0));
  }));
  EXPECT_EQ(loops(ab::array({1, 5, 3})).to_vector<int>(), (std::vector{1, 5, 3}));
  EXPECT_EQ(failure(loops, ab::array({1, 7, 3})),
            "check failed: i is below n and 6, at check.cpp:166");
}

TEST(Check, IsAskedWhereDerivativesAre) {
  const auto sum = [](Array x) { return ab::sum(positive_root(x)); };
  const Array good = ab::array({1.0f, 4.0f}), bad = ab::array({1.0f, -4.0f});
  const auto first = ab::jit(ab::grad(sum));
  expect_close(doubles(first(good)), {0.5, 0.25}, 1e-6, "grad");
  EXPECT_EQ(failure(first, bad), not_positive);
  const auto again = ab::jit(ab::grad(ab::checkpoint(sum)));
  expect_close(doubles(again(good)), {0.5, 0.25}, 1e-6, "checkpoint");
  EXPECT_EQ(failure(again, bad), not_positive);
  const auto second = ab::jit(ab::hessian(sum));
  expect_close(doubles(second(good)), {-0.25, 0, 0, -1.0 / 32}, 1e-6, "hessian");
  EXPECT_EQ(failure(second, bad), not_positive);
  const auto loop = ab::jit(ab::grad([](Array x) {
    return ab::fori_loop(
        0, 3,
        [](Array, Array s) {
          ab::check(s < 100, "s is small");
          return s * s;
        },
        x);
  }));
  expect_close(doubles(loop(ab::scalar(1.0f))), {8}, 1e-6, "loop");
  EXPECT_EQ(failure(loop, ab::scalar(11.0f)), "check failed: s is small, at check.cpp:192");
  const auto pushed = ab::jit(
      [=](Array x) { return ab::jvp(sum, std::tuple{x}, std::tuple{ab::ones_like(x)}).second; });
  EXPECT_EQ(failure(pushed, bad), not_positive);
}

TEST(Check, HasNoPlaceInAFunctionOfScalars) {
  const std::string text = message_of([] {
    ab::reduce({ab::array({1.0f, 2.0f})}, {0.0f},
               [](const std::vector<Array>& xs) {
                 ab::check(xs[0] > 0, "x is positive");
                 return std::vector{xs[0] + xs[1]};
               },
               {0});
  });
  EXPECT_NE(text.find("holds a check, which has no place"), std::string::npos) << text;
}

TEST(Check, ThatHoldsForConstantsCostsNothing) {
  const auto f = ab::jit([](Array x) {
    ab::check(ab::full({3}, 1.0f) > 0, "one is positive");
    return x + 1;
  });
  EXPECT_EQ(f.dump(ab::Stage::optimized, ab::scalar(1.0f)).find("= check "), std::string::npos);
}

// Up to the line, which the message has to have.
std::string without_line(const std::string& message) {
  const std::size_t end = message.rfind(", at check.cpp:");
  return end == std::string::npos ? "no line: " + message : message.substr(0, end);
}

Array sinking(Array x, const char* message) {
  return ab::fori_loop(
      0, 3,
      [=](Array, Array s) {
        ab::check(s > 0, message);
        return s - 1;
      },
      x);
}

TEST(Check, GuardsResultsThatAreArguments) {
  const auto f = ab::jit([](Array x) {
    ab::check(x > 0, "x is positive");
    return std::pair{x, x + 1};
  });
  EXPECT_EQ(f(ab::scalar(2.0f)).first.item<float>(), 2);
  const Array same = f(ab::scalar(-1.0f)).first;
  EXPECT_EQ(without_line(message_of([&] { same.wait(); })), "check failed: x is positive");
  const Array sum = same + 1;
  EXPECT_EQ(without_line(message_of([&] { sum.wait(); })), "check failed: x is positive");
}

TEST(Check, OfALoopGuardsAllResultsOfTheCall) {
  const auto f = ab::jit([](Array x) {
    const Array y = sinking(x, "in the loop");
    return std::tuple{y, x + 1, x, ab::zeros(ab::f32, {})};
  });
  const auto [last, next, same, zero] = f(ab::scalar(4.0f));
  EXPECT_EQ(last.item<float>() + next.item<float>() + same.item<float>() + zero.item<float>(), 10);
  const auto results = f(ab::scalar(-1.0f));
  for (const Array& result :
       {std::get<0>(results), std::get<1>(results), std::get<2>(results), std::get<3>(results)}) {
    EXPECT_EQ(without_line(message_of([&] { result.wait(); })), "check failed: in the loop");
  }
}

TEST(Check, OfSeveralReportsTheFirstInOrder) {
  const auto f = ab::jit([](Array x) {
    ab::check(x > 0, "before");
    const Array y = sinking(x, "in the loop");
    ab::check(x > 5, "after");
    return y;
  });
  EXPECT_EQ(f(ab::scalar(6.0f)).item<float>(), 3);
  EXPECT_EQ(without_line(failure(f, ab::scalar(-1.0f))), "check failed: before");
  EXPECT_EQ(without_line(failure(f, ab::scalar(1.5f))), "check failed: in the loop");
  EXPECT_EQ(without_line(failure(f, ab::scalar(4.0f))), "check failed: after");
}

TEST(Check, CountsInALoopOrABranchWhoseResultIsNotRead) {
  const auto loop = ab::jit([](Array x) {
    sinking(x, "unread");
    return x + 1;
  });
  EXPECT_EQ(loop(ab::scalar(4.0f)).item<float>(), 5);
  EXPECT_EQ(without_line(failure(loop, ab::scalar(2.0f))), "check failed: unread");
  const auto branch = ab::jit([](Array x) {
    branched(x);
    return x + 1;
  });
  EXPECT_EQ(branch(ab::scalar(4.0f)).item<float>(), 5);
  EXPECT_EQ(without_line(failure(branch, ab::scalar(7.0f))), "check failed: x is below 5");
  const auto within = ab::jit([](Array x) {
    return ab::fori_loop(
        0, 2,
        [](Array, Array s) {
          sinking(s, "unread");
          return s - 1;
        },
        x);
  });
  EXPECT_EQ(within(ab::scalar(5.0f)).item<float>(), 3);
  EXPECT_EQ(without_line(failure(within, ab::scalar(3.0f))), "check failed: unread");
  const auto flat = ab::jit(ab::grad([](Array x) {
    ab::check(x > 0, "flat");
    return ab::floor(x);
  }));
  EXPECT_EQ(flat(ab::scalar(2.0f)).item<float>(), 0);
  EXPECT_EQ(without_line(failure(flat, ab::scalar(-2.0f))), "check failed: flat");
}

// The loop is recorded beside the branch that reads it, since its operands are from outside.
TEST(Check, InALoopOfABranchThatIsNotTakenIsNotAsked) {
  const auto f = ab::jit([](Array x) {
    return ab::cond(
        x > 0, [&] { return sinking(x, "taken"); }, [&] { return x; });
  });
  EXPECT_EQ(f(ab::scalar(-1.0f)).item<float>(), -1);
  EXPECT_EQ(f(ab::scalar(4.0f)).item<float>(), 1);
  EXPECT_EQ(without_line(failure(f, ab::scalar(2.0f))), "check failed: taken");
}

TEST(Check, IsAskedInRulesOfTheUsers) {
  const auto root = [](Array x) {
    ab::check(x > 0, "function");
    return ab::sqrt(x);
  };
  const auto by_jvp =
      ab::custom_jvp(root, [](std::tuple<Array> primals, std::tuple<Array> tangents) {
        const Array x = std::get<0>(primals), y = ab::sqrt(x);
        ab::check(x > 0, "rule");
        return std::pair{y, std::get<0>(tangents) / (2 * y)};
      });
  const auto by_vjp = ab::custom_vjp(
      root,
      [](Array x) {
        ab::check(x > 0, "forward");
        return std::pair{ab::sqrt(x), x};
      },
      [](Array x, Array cotangent) {
        ab::check(x < 100, "backward");
        return cotangent / (2 * ab::sqrt(x));
      });
  const auto value = ab::jit([=](Array x) { return std::pair{by_jvp(x), by_vjp(x)}; });
  EXPECT_EQ(value(ab::scalar(4.0f)).second.item<float>(), 2);
  EXPECT_EQ(without_line(message_of([&] { value(ab::scalar(-4.0f)).first.wait(); })),
            "check failed: function");
  const auto first = ab::jit(ab::grad(by_jvp));
  const auto second = ab::jit(ab::grad(by_vjp));
  EXPECT_EQ(first(ab::scalar(4.0f)).item<float>(), 0.25f);
  EXPECT_EQ(second(ab::scalar(4.0f)).item<float>(), 0.25f);
  EXPECT_EQ(without_line(failure(first, ab::scalar(-4.0f))), "check failed: rule");
  EXPECT_EQ(without_line(failure(second, ab::scalar(-4.0f))), "check failed: forward");
  EXPECT_EQ(without_line(failure(second, ab::scalar(400.0f))), "check failed: backward");
}

class ChecksOnTwoDevices : public testing::Test {
 protected:
  void SetUp() override { ab::set_cpu_devices(2); }
  void TearDown() override {
    ab::wait_all();
    ab::set_cpu_devices(1);
  }
};

TEST_F(ChecksOnTwoDevices, GuardTheResultsOnBoth) {
  const auto f = ab::jit([](Array x) {
    const Array y = x.to(ab::Device::cpu(1));
    ab::check(x > 0, "here");
    ab::check(y < 10, "there");
    return std::pair{x + 1, sinking(y, "in the loop there")};
  });
  const auto [here, there] = f(ab::scalar(4.0f));
  EXPECT_EQ(here.item<float>(), 5);
  EXPECT_EQ(there.item<float>(), 1);
  const std::pair<float, std::string> cases[] = {
      {-1, "here"}, {11, "there"}, {2, "in the loop there"}};
  for (const auto& [x, text] : cases) {
    const auto [first, second] = f(ab::scalar(x));
    for (const Array& result : {first, second}) {
      EXPECT_EQ(without_line(message_of([&] { result.wait(); })), "check failed: " + text);
    }
  }
}

TEST_F(ChecksOnTwoDevices, FailTheCallOfAFunctionWithoutResults) {
  const auto f = ab::jit([](Array x, Array y) {
    ab::check(x > 0, "here");
    ab::check(y > 0, "there");
    return std::tuple<>();
  });
  const auto call = [&](float x, float y) {
    f(ab::scalar(x), ab::scalar(y).to(ab::Device::cpu(1)));
  };
  call(1, 1);
  EXPECT_EQ(without_line(message_of([&] { call(-1, 1); })), "check failed: here");
  EXPECT_EQ(without_line(message_of([&] { call(1, -1); })), "check failed: there");
}

TEST_F(ChecksOnTwoDevices, GuardArgumentsThatAreThere) {
  const auto f = ab::jit([](Array x, Array y) {
    ab::check(y > 0, "y is positive");
    return std::pair{x, y + 1};
  });
  const auto call = [&](float y) {
    return f(ab::scalar(1.0f), ab::scalar(y).to(ab::Device::cpu(1)));
  };
  EXPECT_EQ(call(2).second.item<float>(), 3);
  EXPECT_EQ(without_line(message_of([&] { call(-2).first.wait(); })),
            "check failed: y is positive");
  EXPECT_EQ(call(3).first.item<float>(), 1);
}

TEST(Check, IsAskedInStepsThatGiveNothing) {
  const auto mapped = [](auto step) {
    return ab::jit([step](Array xs) {
      ab::map(
          [step](Array x) {
            step(x);
            return std::tuple<>();
          },
          xs);
      return xs;
    });
  };
  const auto plain = mapped([](Array x) { ab::check(x > 0, "plain"); });
  const Array good = ab::array({4.0f, 3.5f}), bad = ab::array({4.0f, -7.0f});
  expect_close(doubles(plain(good)), {4, 3.5}, 0, "good");
  EXPECT_EQ(without_line(failure(plain, bad)), "check failed: plain");
  expect_close(doubles(plain(ab::zeros(ab::f32, {0}))), {}, 0, "no steps");
  const auto branch = mapped([](Array x) { branched(x); });
  expect_close(doubles(branch(good)), {4, 3.5}, 0, "good");
  EXPECT_EQ(without_line(failure(branch, bad)), "check failed: x is above -5");
  const auto loop = mapped([](Array x) { sinking(x, "in the loop"); });
  expect_close(doubles(loop(good)), {4, 3.5}, 0, "good");
  EXPECT_EQ(without_line(failure(loop, bad)), "check failed: in the loop");
}

// There is nothing to read, so the call waits.
TEST(Check, FailsTheCallOfAFunctionWithoutResults) {
  const auto fails = [](const auto& function, Array x) {
    const std::string message = message_of([&] { function(x); });
    return message == "no error" ? message : without_line(message);
  };
  const Array good = ab::array({4.0f, 3.5f}), bad = ab::array({4.0f, -7.0f});
  const auto f = ab::jit([](Array x) {
    ab::check(x > -5, "first");
    ab::check(x > 0, "second");
    return std::tuple<>();
  });
  EXPECT_EQ(fails(f, good), "no error");
  EXPECT_EQ(fails(f, bad), "check failed: first");
  EXPECT_EQ(fails(f, ab::array({-1.0f})), "check failed: second");
  EXPECT_EQ(fails(f, good), "no error") << "the next call";
  const auto in_loop = ab::jit([](Array x) {
    sinking(x[1], "in the loop");
    return std::tuple<>();
  });
  EXPECT_EQ(fails(in_loop, good), "no error");
  EXPECT_EQ(fails(in_loop, bad), "check failed: in the loop");
  const auto outer = ab::jit([&](Array x) {
    f(x);
    return x;
  });
  EXPECT_EQ(without_line(failure(outer, bad)), "check failed: first");
  EXPECT_EQ(message_of([&] { ab::trace(f, good); }).substr(0, 66),
            "check: the function has no result that it could guard; return one,");
}

}  // namespace
