// What a jitted function captures: the value of the first call, which its dump explains.
#include "ir/parse.h"
#include "values.h"

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
