#include "codegen/kernel/key.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "ir/kernel/builder.h"

namespace anabranch {
namespace {

using Place = std::function<Index(IndexTable&, Index, Index)>;

/// out[i * 16 + j] = in[place(i, j)]; its table holds what `before` makes, too.
Kernel kernel_of(const Place& place, const Place& before = {}, const std::string& name = "copy") {
  KernelBuilder builder(name);
  const std::uint32_t in = builder.add_buffer({"in", f32, 4096, Access::read});
  const std::uint32_t out = builder.add_buffer({"out", f32, 128, Access::write});
  IndexTable& table = builder.indices();
  const Index i = builder.index_of(builder.open_loop(8));
  const Index j = builder.index_of(builder.open_loop(16));
  if (before) before(table, i, j);
  builder.store(out, table.add(table.scale(i, 16), j), builder.load(in, place(table, i, j)));
  builder.close_loop();
  builder.close_loop();
  return builder.take();
}

Index shuffled(IndexTable& table, Index i, Index j) {
  return table.remainder(table.add(table.scale(i, 37), table.scale(j, 3)), 100);
}

TEST(CodeKey, DoesNotDependOnWhatElseTheTableHolds) {
  const std::string key = code_key(kernel_of(shuffled));
  EXPECT_EQ(code_key(kernel_of(shuffled, {}, "of another name")), key);
  EXPECT_EQ(code_key(kernel_of(shuffled,
                               [](IndexTable& table, Index i, Index j) {
                                 table.add(table.scale(i, 5), 1234);
                                 return table.divide(table.add(i, j), 3);
                               })),
            key);
  // The expression of the store before that of the load
  EXPECT_EQ(code_key(kernel_of(shuffled, [](IndexTable& table, Index i,
                                            Index j) { return table.add(table.scale(i, 16), j); })),
            key);
}

TEST(CodeKey, TellsIndicesApart) {
  using T = IndexTable;
  const Place places[] = {
      [](T& t, Index, Index) { return t.constant(0); },
      [](T& t, Index, Index) { return t.constant(1); },
      [](T&, Index i, Index) { return i; },
      [](T&, Index, Index j) { return j; },
      [](T& t, Index, Index j) { return t.add(j, 1); },
      [](T& t, Index, Index j) { return t.scale(j, 2); },
      [](T& t, Index i, Index j) { return t.add(i, j); },
      [](T& t, Index i, Index j) { return t.add(t.scale(i, 16), j); },
      [](T& t, Index i, Index j) { return t.add(t.scale(i, 17), j); },
      [](T& t, Index i, Index j) { return t.add(t.scale(i, 16), t.scale(j, 2)); },
      [](T& t, Index i, Index j) { return t.remainder(t.add(i, j), 5); },
      [](T& t, Index i, Index j) { return t.divide(t.add(i, j), 5); },
      [](T& t, Index i, Index j) { return t.least(t.add(i, j), 5); },
      [](T& t, Index i, Index j) { return t.remainder(t.add(i, j), 6); },
      [](T& t, Index i, Index j) { return t.remainder(t.add(i, t.scale(j, 3)), 5); },
      [](T& t, Index i, Index j) { return t.remainder(t.add(t.add(i, j), 1), 5); },
      [](T& t, Index i, Index j) { return t.add(t.remainder(t.add(i, j), 5), 1); },
      [](T& t, Index i, Index j) { return t.add(t.remainder(t.add(i, j), 5), i); },
      [](T& t, Index i, Index j) { return t.add(t.remainder(t.add(i, j), 5), j); },
      [](T& t, Index i, Index j) { return t.scale(t.remainder(t.add(i, j), 5), 3); },
  };
  std::set<std::string> keys;
  for (const Place& place : places) keys.insert(code_key(kernel_of(place)));
  EXPECT_EQ(keys.size(), std::size(places));
}

// out[0] = in[start], and the value of an index
Kernel with_scalar(std::int64_t high, std::int64_t shift, std::int64_t asked) {
  KernelBuilder builder("scalar");
  const std::uint32_t starts = builder.add_buffer({"starts", i64, 2, Access::read});
  const std::uint32_t in = builder.add_buffer({"in", i64, 64, Access::read});
  const std::uint32_t out = builder.add_buffer({"out", i64, 2, Access::write});
  IndexTable& table = builder.indices();
  // Of other bounds, by the same arithmetic
  const Ref start = builder.load(starts, table.constant(0));
  const Index at = table.add(table.scalar(start.index, 0, high), shift);
  builder.store(out, table.constant(0), builder.load(in, at));
  const Index i = builder.index_of(builder.open_loop(4));
  builder.store(out, table.constant(1), builder.scalar(table.scale(i, asked)));
  builder.close_loop();
  return builder.take();
}

TEST(CodeKey, TellsScalarsAndValuesApart) {
  const std::string key = code_key(with_scalar(9, 1, 2));
  EXPECT_EQ(code_key(with_scalar(9, 1, 2)), key);
  EXPECT_NE(code_key(with_scalar(8, 1, 2)), key) << "code may rely on the bounds";
  EXPECT_NE(code_key(with_scalar(9, 2, 2)), key);
  EXPECT_NE(code_key(with_scalar(9, 1, 3)), key);
}

}  // namespace
}  // namespace anabranch
