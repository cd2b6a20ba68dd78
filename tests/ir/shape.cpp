#include "anabranch/shape.h"

#include <gtest/gtest.h>

#include "anabranch/error.h"
#include "anabranch/type.h"

namespace anabranch {
namespace {

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape{}.size(), 1);
  EXPECT_EQ((Shape{3, 4}).size(), 12);
  EXPECT_EQ((Shape{3, 0, 4}).size(), 0);
  EXPECT_EQ((Shape{2, 3, 4}).strides(), (std::vector<std::int64_t>{12, 4, 1}));
}

std::string refusal(std::vector<std::int64_t> sizes) {
  try {
    Shape shape(std::move(sizes));
    return "taken: " + to_string(shape);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Shape, RefusesNegativeAndHugeSizes) {
  EXPECT_EQ(refusal({2, -1}), "shape [2,-1]: a size is negative; sizes are 0 or more");
  EXPECT_EQ(refusal({1 << 30, 1 << 30}),
            "shape [1073741824,1073741824]: more than 2^59 elements, whose bytes no address holds");
  EXPECT_EQ(refusal({INT64_MAX, INT64_MAX, 0}).find("shape"), 0u);
  EXPECT_EQ((Shape{Shape::max_size}).size(), Shape::max_size);
}

TEST(Shape, PrintsAndCompares) {
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Shape{2, 3}), "[2,3]");
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{1}), (Shape{}));
}

TEST(Type, PrintsAndCounts) {
  const Type type{Dtype::bf16, {2, 3}};
  EXPECT_EQ(to_string(type), "bf16[2,3]");
  EXPECT_EQ(type.bytes(), 12u);
  EXPECT_NE(type, (Type{Dtype::f16, {2, 3}}));
}

}  // namespace
}  // namespace anabranch
