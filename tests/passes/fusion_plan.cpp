#include "ir/fusion_plan.h"

#include <gtest/gtest.h>

namespace anabranch {
namespace {

TEST(FusionPlan, SoftmaxIsOneGroupOfThreeStages) {
  GraphBuilder b("softmax");
  const Type full{f32, Shape{64, 128}};
  Value x = b.parameter(full);
  Value max = b.add(Op::reduce_max, {x}, AxesAttributes{{1}});
  Value rows = b.add(Op::broadcast_in_dim, {max}, AxesAttributes{{0}}, full);
  Value exp = b.add(Op::exponential, {b.add(Op::subtract, {x, rows})});
  Value sum = b.add(Op::reduce_sum, {exp}, AxesAttributes{{1}});
  Value sums = b.add(Op::broadcast_in_dim, {sum}, AxesAttributes{{0}}, full);
  Value result = b.add(Op::divide, {exp, sums});
  auto plan = std::get<FusionPlan>(plan_fusion(b.build({result})));
  EXPECT_EQ(plan.kind, FusionKind::reduction);
  EXPECT_EQ(plan.domain, (Shape{64, 128}));
  EXPECT_EQ(plan.reduced_axes, std::vector<int>{1});
  EXPECT_EQ(plan.stage, (std::vector<int>{0, 0, 1, 1, 1, 1, 2, 2}));
  EXPECT_EQ(plan.stages, 3);
  EXPECT_EQ(plan.recompute, 1);
  EXPECT_EQ(plan.operations, 64 * 128 * (1 + 1 + 10 + 1 + 1));
}

}  // namespace
}  // namespace anabranch
