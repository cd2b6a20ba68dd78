#include "ir/shape.h"

#include <gtest/gtest.h>

#include "ir/error.h"

namespace anabranch {
namespace {

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape{}.size(), 1);
  EXPECT_EQ((Shape{3, 4}).size(), 12);
  EXPECT_EQ((Shape{3, 0, 4}).size(), 0);
  EXPECT_EQ((Shape{2, 3, 4}).strides(), (std::vector<std::int64_t>{12, 4, 1}));
}

TEST(Shape, RefusesNegativeAndHugeSizes) {
  EXPECT_THROW((Shape{2, -1}), Error);
  EXPECT_THROW((Shape{1 << 30, 1 << 30}), Error);
}

}  // namespace
}  // namespace anabranch
