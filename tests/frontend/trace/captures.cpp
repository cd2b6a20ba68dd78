// What a jitted function captures: the value of the first call, which its dump explains.
#include <optional>

#include "anabranch/device_memory.h"
#include "codegen/compile.h"
#include "ir/text/parse.h"
#include "tests/support/values.h"

namespace {

int notes_in(const std::string& text) {
  int count = 0;
  for (auto at = text.find("# %"); at != text.npos; at = text.find("# %", at + 1)) ++count;
  return count;
}

TEST(Captures, KeepTheValueOfTheTrace) {
  ab::Array w = ab::array({1.0f, 2.0f});
  auto f = ab::jit([&](ab::Array x) { return x * w; });
  const ab::Array x = ab::ones(ab::f32, {2});
  f(x);
  w = ab::array({5.0f, 6.0f});
  EXPECT_EQ(f(x).to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(f(ab::ones(ab::f32, {1})).to_vector<float>(), (std::vector<float>{5, 6}));
}

// Neither when the function is traced nor when its program is made: both read it where it lies.
TEST(Captures, AreNotCopied) {
  constexpr std::int64_t n = std::int64_t{1} << 20;
  const ab::Device device;
  std::optional<ab::Array> w = ab::arange(n, ab::f32);
  w->wait();
  const ab::Array x = ab::ones(ab::f32, {1});
  x.wait();
  auto f = ab::jit([&](ab::Array x) { return ab::sum(ab::where(x > 0, ab::sqrt(*w), *w)); });
  const std::size_t before = ab::memory_use(device).in_use;
  ab::reset_peak_memory(device);
  const float first = f(x).item<float>();
  EXPECT_LT(ab::memory_use(device).peak, before + n);
  w.reset();  // the program keeps it
  EXPECT_EQ(f(x).item<float>(), first);
}

TEST(Captures, OfMemoryOfTheUserAreCopied) {
  std::vector<float> mine(100, 2);
  bool is_returned = false;
  std::optional<ab::Array> w = ab::borrow(mine.data(), {100}, [&] { is_returned = true; });
  auto g = ab::jit([&](ab::Array x) { return x * *w; });
  const ab::Array x = ab::ones(ab::f32, {100});
  EXPECT_EQ(g(x).to_vector<float>(), mine);
  ab::wait_all();
  w.reset();
  EXPECT_TRUE(is_returned);
  mine.assign(100, 3);
  EXPECT_EQ(g(x).to_vector<float>(), std::vector<float>(100, 2));
}

// A captured array that is then given away is kept by the program, so that nothing lies over it.
TEST(Captures, StayAsTheyAreWhereTheArrayIsDonated) {
  ab::Array w = ab::full({100}, 2.0f);
  w.wait();
  auto f = ab::jit([&](ab::Array x) { return x * w; });
  const ab::Array x = ab::ones(ab::f32, {100});
  EXPECT_EQ(f(x).to_vector<float>(), std::vector<float>(100, 2));
  auto step = ab::jit([](ab::Array w) { return w + 1; });
  EXPECT_EQ(step(ab::donate(w)).to_vector<float>(), std::vector<float>(100, 3));
  EXPECT_EQ(f(x).to_vector<float>(), std::vector<float>(100, 2));
}

TEST(Captures, AreExplainedInTheDump) {
  const ab::Array w = ab::array({1.0f, 2.0f}), made = ab::arange(2, ab::f32) * w;
  auto f = ab::jit([w, made](ab::Array x) {
    return x * w + ab::array({3.0f, 4.0f}) + 0.5f + made;  // three constants, one of them captured
  });
  const std::string text = f.dump(ab::Stage::trace, ab::spec(ab::f32, {2}));
  const std::string note =
      " is an array that the function captures, f32[2]: the program keeps the value that it had "
      "when it was traced; pass it as an argument to change it\n";
  const auto at = text.find(note);
  ASSERT_NE(at, text.npos) << text;
  EXPECT_EQ(notes_in(text), 1) << text;
  const std::string constant = text.substr(2, at - 2) + ": f32[2] = constant [1, 2]";
  EXPECT_NE(text.find(constant), text.npos) << constant << " is not in\n" << text;
  EXPECT_EQ(ab::parse(text), f.compilation(ab::spec(ab::f32, {2}))->traced);
  EXPECT_EQ(notes_in(f.dump(ab::Stage::optimized, ab::spec(ab::f32, {2}))), 0);
}

TEST(Captures, AreExplainedWhereTheyAreTheResult) {
  const ab::Array w = ab::array({1.0f, 2.0f});
  auto f = ab::jit([&](ab::Array) { return std::pair{w, ab::array({3.0f})}; });
  EXPECT_EQ(notes_in(f.dump(ab::Stage::trace, ab::spec(ab::f32, {2}))), 1);
}

TEST(Captures, AreNotWhatIsAnArgument) {
  const ab::Array w = ab::array({1.0f, 2.0f});
  auto f = ab::jit([](ab::Array x, ab::Array w) {
    return x * w + ab::array({1, 2}).astype(ab::f32);
  });
  EXPECT_EQ(notes_in(f.dump(ab::Stage::trace, w, w)), 0);
}

}  // namespace
