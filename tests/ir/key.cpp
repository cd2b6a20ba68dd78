// Keys: equal only where all their parts are.
#include "anabranch/detail/key.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace anabranch {
namespace {

TEST(Key, PartsDoNotRunTogether) {
  const Key keys[] = {
      Key(),
      Key().text(""),
      Key().text("").text(""),
      Key().text("abc"),
      Key().text("a").text("bc"),
      Key().text("ab").text("c"),
      Key().text(std::string("\0", 1)),
      Key().text(std::string("\0\0", 2)),
      Key().list(2).text("a").text("b"),
      Key().list(1).text("a").text("b"),
      Key().list(2).list(1).text("a").list(0),
      Key().list(2).list(0).list(1).text("a"),
      Key().list(0),
      // What another key's bytes say is a text all the same.
      Key().text(Key().text("a").bytes()),
      Key().text(Key().text("a").text("bc").bytes()),
  };
  std::set<Key> different(std::begin(keys), std::end(keys));
  EXPECT_EQ(different.size(), std::size(keys));
  EXPECT_EQ(Key().text("a").list(1).value(2.5), Key().text("a").list(1).value(2.5));
}

TEST(Key, KindsDiffer) {
  const std::uint64_t three = 3;
  const std::string bytes(reinterpret_cast<const char*>(&three), sizeof three);
  EXPECT_NE(Key().value(three), Key().text(bytes));
  EXPECT_NE(Key().value(three), Key().list(three));
  EXPECT_NE(Key().text(bytes), Key().list(three));
  EXPECT_NE(Key().value(three), Key().value(std::uint32_t{3}));
  EXPECT_NE(Key().value(0.0), Key().value(-0.0));
}

struct Padded {
  char a;
  int b;
};
struct Plain {
  int a, b;
};
enum class Side { left };

static_assert(Key::is_value<int> && Key::is_value<bool> && Key::is_value<double>);
static_assert(Key::is_value<Plain> && Key::is_value<Side> && Key::is_value<int (*)(int)>);
static_assert(!Key::is_value<Padded> && !Key::is_value<const int*> && !Key::is_value<std::string>);
static_assert(!Key::is_value<long double>);  // has padding of its own

}  // namespace
}  // namespace anabranch
