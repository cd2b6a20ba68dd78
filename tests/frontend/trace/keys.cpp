// What a program is found again by: a change of any part of a call is another program, and what is
// no change is none.
#include <set>
#include <string>

#include "anabranch/devices.h"
#include "tests/support/values.h"

namespace {

using Texts = std::vector<std::string>;

// Calls with texts whose joined bytes are the same must not share a program.
TEST(Keys, TextsOfAStaticListDoNotRunTogether) {
  auto f = ab::jit(
      [](ab::Array x, const Texts& names) { return x + static_cast<float>(names[0].size()); });
  const ab::Array x = ab::scalar(0.0f);
  EXPECT_EQ(f(x, ab::static_arg(Texts{"a", "bc"})).item<float>(), 1);
  EXPECT_EQ(f(x, ab::static_arg(Texts{"ab", "c"})).item<float>(), 2);
  EXPECT_EQ(f.traces(), 2);
  EXPECT_EQ(f.last_retrace(), R"(argument 1: static ["ab", "c"] instead of static ["a", "bc"])");
}

struct Named {
  ab::Array x;
  ab::static_arg<Texts> names;
};

TEST(Keys, NorDoThoseOfACarry) {
  const auto rename = [](const Named& carry) { return Named{carry.x + 1, {{"ab", "c"}}}; };
  std::string message;
  try {
    ab::while_loop([](const Named& carry) { return carry.x < 1; }, rename,
                   Named{ab::scalar(0.0f), {{"a", "bc"}}});
  } catch (const ab::Error& error) {
    message = error.what();
  }
  EXPECT_NE(message.find(R"(carry.names: static ["a", "bc"] goes in, and )"
                         R"(carry.names: static ["ab", "c"] comes back)"),
            std::string::npos)
      << message;
}

// All lists of lists of up to two texts of up to two letters, some of which look like lengths.
TEST(Keys, EveryTreeOfStaticTextsHasAKeyOfItsOwn) {
  Texts texts = {""};
  for (char a : std::string("a1:")) {
    texts.push_back({a});
    for (char b : std::string("a1:")) texts.push_back({a, b});
  }
  std::vector<Texts> lists = {{}};
  for (const std::string& first : texts) {
    lists.push_back({first});
    for (const std::string& second : texts) lists.push_back({first, second});
  }
  auto traced = ab::jit([](ab::Array x, const std::vector<Texts>&) { return x; });
  std::set<decltype(ab::Signature::statics)> keys;
  std::size_t count = 0;
  for (const Texts& first : lists) {
    keys.insert(ab::signature_of(ab::static_arg(std::vector<Texts>{first})).statics);
    ++count;
    for (const Texts& second : {Texts{}, Texts{""}, Texts{"a"}, Texts{"1:a"}, Texts{"", "a"}}) {
      keys.insert(ab::signature_of(ab::static_arg(std::vector<Texts>{first, second})).statics);
      ++count;
    }
  }
  EXPECT_EQ(keys.size(), count);
}

TEST(Keys, WeaknessIsAPart) {
  auto f = ab::jit([](ab::Array x, ab::Array rate) { return x * rate; });
  const ab::Array x = ab::ones(ab::f32, {2});
  EXPECT_EQ(f(x, 0.5).dtype(), ab::f32);
  EXPECT_EQ(f(x, ab::scalar(0.5, ab::f64)).dtype(), ab::f64);
  EXPECT_EQ(f.traces(), 2);
  EXPECT_EQ(f.last_retrace(), "argument 1: f64[] instead of f64[] (weak: from C++ numbers)");
  EXPECT_EQ(f(x, 0.25).dtype(), ab::f32);
  EXPECT_EQ(f(x, ab::minimum(1.0, 2.0)).dtype(), ab::f32);  // weak as well
  EXPECT_EQ(f.traces(), 2);
}

TEST(Keys, AnExplanationNamesWhatCameAndWhatWent) {
  auto first = ab::jit([](auto&&... arrays) { return (arrays + ...); });
  const ab::Array x = ab::ones(ab::f32, {2});
  first(x, x);
  first(x, x, x);
  EXPECT_EQ(first.last_retrace(), "argument 2: f32[2], which was not there before");
  first(x);
  EXPECT_EQ(first.last_retrace(), "argument 1: f32[2] is not there any more");
}

// --- a scalar carried through calls
// ---------------------------------------------------------------

TEST(Keys, AScalarOfTheHostThatIsCarriedIsTracedOnce) {
  auto f = ab::jit([](ab::Array x) { return x * 2 + 1; });
  ab::Array x = ab::scalar(1.0f);
  for (int i = 0; i < 4; ++i) x = f(x);
  EXPECT_EQ(x.item<float>(), 31);
  EXPECT_EQ(f.traces(), 1) << f.last_retrace();
}

TEST(Keys, SoIsACarriedNumber) {
  auto f = ab::jit([](ab::Array x) { return x * 2 + 1; });
  ab::Array x = f(1.0);
  for (int i = 0; i < 3; ++i) x = f(x);
  EXPECT_EQ(x.item<double>(), 31);
  EXPECT_EQ(f.traces(), 1) << f.last_retrace();
}

TEST(Keys, SoIsACarriedScalarAmongArraysElsewhere) {
  ab::set_cpu_devices(2);
  const ab::Array w = ab::ones(ab::f32, {3}).to(ab::Device::cpu(1));
  auto f = ab::jit([](ab::Array x, ab::Array w) { return ab::sum(x * w); });
  ab::Array x = ab::scalar(1.0f);
  for (int i = 0; i < 4; ++i) x = f(x, w);
  EXPECT_EQ(x.item<float>(), 81);
  EXPECT_EQ(x.device(), ab::Device::cpu(1));
  EXPECT_EQ(f.traces(), 1) << f.last_retrace();
  // What lives where the program does not take it is another call.
  EXPECT_THROW(f(ab::scalar(1.0f).to(ab::Device::cpu(0)), w), ab::Error);
  ab::wait_all();
  ab::set_cpu_devices(1);
}

// As without jit: what is made from numbers alone takes the dtype of what it meets.
TEST(Keys, ResultsMadeFromNumbersStayWeak) {
  const auto f = [](ab::Array t) { return std::pair{t * 2, ab::zeros({2}) + t}; };
  auto [weak, strong] = ab::jit(f)(0.5);
  EXPECT_EQ((weak + ab::ones(ab::f32, {2})).dtype(), ab::f32);
  EXPECT_EQ((weak + ab::ones(ab::f64, {2})).dtype(), ab::f64);
  EXPECT_EQ((strong + ab::ones(ab::f64, {2})).dtype(), ab::f64);
  EXPECT_EQ(strong.dtype(), ab::f32);
}

}  // namespace
