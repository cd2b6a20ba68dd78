#include "ir/infer.h"

#include <gtest/gtest.h>

#include "ir/error.h"

namespace anabranch {
namespace {

TEST(Infer, GivesTheTypesOfADotLayer) {
  GraphBuilder builder("layer");
  Value x = builder.parameter({f32, {64, 128}});
  Value w = builder.parameter({f32, {128, 32}});
  Value y = builder.add(Op::dot, {x, w}, DotAttributes{{}, {}, {1}, {0}});
  Value z = builder.add(Op::tanh, {y});
  EXPECT_EQ(builder.type(z), (Type{f32, {64, 32}}));
}

TEST(Infer, NamesWhatDiffersAndWhere) {
  GraphBuilder builder;
  Value x = builder.parameter({f32, {64, 128}});
  Value w = builder.parameter({f32, {64, 32}});
  try {
    builder.add(Op::dot, {x, w}, DotAttributes{{}, {}, {1}, {0}}, {}, {}, {"src/model.cpp", 12});
    FAIL() << "inner sizes differ";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "dot: inner sizes differ: f32[64,128] x f32[64,32] (128 against 64), at model.cpp:12");
  }
}

}  // namespace
}  // namespace anabranch
