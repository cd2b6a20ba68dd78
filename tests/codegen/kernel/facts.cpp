#include "codegen/kernel/facts.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

#include "ir/kernel/builder.h"

namespace anabranch {
namespace {

// By how much the only load moves with the only loop, of 24 iterations.
template <class Place>
std::optional<std::int64_t> stride_of(Place&& place) {
  KernelBuilder builder("strides");
  const std::uint32_t in = builder.add_buffer({"in", f32, 1000, Access::read});
  const std::uint32_t out = builder.add_buffer({"out", f32, 24, Access::write});
  const Ref loop = builder.open_loop(24);
  const Index index = builder.index_of(loop);
  builder.store(out, index, builder.load(in, place(builder.indices(), index)));
  builder.close_loop();
  const Kernel kernel = builder.take();
  const KernelFacts facts(kernel);
  for (const KernelFacts::Access& access : facts.accesses()) {
    if (!access.is_store) return facts.stride(access, access.loops.back());
  }
  throw std::logic_error("no load");
}

TEST(KernelFacts, HaveAStrideWhereTheIndexIsLinear) {
  using Table = IndexTable;
  EXPECT_EQ(stride_of([](Table&, Index i) { return i; }), 1);
  EXPECT_EQ(stride_of([](Table& t, Index i) { return t.add(t.scale(i, 3), 7); }), 3);
  EXPECT_EQ(stride_of([](Table& t, Index i) { return t.divide(i, 4); }), std::nullopt);
  EXPECT_EQ(stride_of([](Table& t, Index i) { return t.remainder(i, 5); }), std::nullopt);
  EXPECT_EQ(stride_of([](Table& t, Index i) { return t.add(i, t.remainder(i, 5)); }), std::nullopt);
}

}  // namespace
}  // namespace anabranch
