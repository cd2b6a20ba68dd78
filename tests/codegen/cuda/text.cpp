#include "codegen/cuda/emit/text.h"

#include <gtest/gtest.h>

namespace anabranch::cuda {
namespace {

TEST(CudaText, CommentsEndWithTheirLine) {
  EXPECT_EQ(comment_of("a.cpp:8 in layer"), "a.cpp:8 in layer");
  EXPECT_EQ(comment_of("in layer\\"), "in layer\\.");
  EXPECT_EQ(comment_of("two\nlines\r"), "two lines ");
}

}  // namespace
}  // namespace anabranch::cuda
