// Functions that arrange elements anew, against what NumPy gives.
#include "tests/support/values.h"

namespace {

ab::Array x() { return ab::array({{0, 1, 2}, {3, 4, 5}}); }

struct Row {
  const char* name;
  ab::Array (*function)();
  std::vector<std::int64_t> sizes;
  std::vector<double> expected;
};

// clang-format off
const Row rows[] = {
    {"x[1]", [] { return x()[1]; }, {3}, {3, 4, 5}},
    {"x[-1][0]", [] { return x()[-1][0]; }, {}, {3}},
    {"moveaxis", [] { return ab::moveaxis(x(), 0, -1); }, {3, 2}, {0, 3, 1, 4, 2, 5}},
    {"moveaxis of two", [] { return ab::moveaxis(ab::reshape(x(), {1, 2, 3}), {0, 1}, {-1, 0}); },
     {2, 3, 1}, {0, 1, 2, 3, 4, 5}},
    {"swapaxes", [] { return ab::swapaxes(x(), 0, 1); }, {3, 2}, {0, 3, 1, 4, 2, 5}},
    {"slice_in_dim", [] { return ab::slice_in_dim(x(), 1, 3, 1); }, {2, 2}, {1, 2, 4, 5}},
    {"slice_in_dim from the end", [] { return ab::slice_in_dim(x(), -2, -1, -1); }, {2, 1}, {1, 4}},
    {"slice_in_dim in steps", [] { return ab::slice_in_dim(x(), 0, 3, 1, 2); },
     {2, 2}, {0, 2, 3, 5}},
    {"roll", [] { return ab::roll(x(), 1, 1); }, {2, 3}, {2, 0, 1, 5, 3, 4}},
    {"roll back", [] { return ab::roll(x(), -4, -1); }, {2, 3}, {1, 2, 0, 4, 5, 3}},
    {"roll of all", [] { return ab::roll(x(), 2); }, {2, 3}, {4, 5, 0, 1, 2, 3}},
    {"roll not at all", [] { return ab::roll(x(), 6); }, {2, 3}, {0, 1, 2, 3, 4, 5}},
    {"repeat", [] { return ab::repeat(x(), 2, 0); }, {4, 3}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}},
    {"repeat along the last", [] { return ab::repeat(ab::array({1, 2}), 2, -1); },
     {4}, {1, 1, 2, 2}},
    {"repeat of all", [] { return ab::repeat(x(), 2); },
     {12}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}},
    {"repeat no times", [] { return ab::repeat(x(), 0, 1); }, {2, 0}, {}},
    {"tile", [] { return ab::tile(ab::array({1, 2}), 2); }, {4}, {1, 2, 1, 2}},
    {"tile both", [] { return ab::tile(ab::array({{1, 2}}), {2, 2}); },
     {2, 4}, {1, 2, 1, 2, 1, 2, 1, 2}},
    {"tile in front", [] { return ab::tile(ab::array({1, 2}), {2, 1}); }, {2, 2}, {1, 2, 1, 2}},
    {"tile the last", [] { return ab::tile(ab::array({{1}, {2}}), 2); }, {2, 2}, {1, 1, 2, 2}},
    {"split", [] { return ab::split(x(), 3, 1)[2]; }, {2, 1}, {2, 5}},
    {"split at", [] { return ab::split(x(), std::vector<std::int64_t>{1}, 1)[1]; },
     {2, 2}, {1, 2, 4, 5}},
    {"unstack", [] { return ab::unstack(x(), 1)[1]; }, {2}, {1, 4}},
    {"broadcast_arrays", [] { return ab::broadcast_arrays({ab::array({7, 8, 9}), x()})[0]; },
     {2, 3}, {7, 8, 9, 7, 8, 9}},
    {"meshgrid", [] { return ab::meshgrid({ab::array({1, 2, 3}), ab::array({4, 5})})[0]; },
     {2, 3}, {1, 2, 3, 1, 2, 3}},
    {"meshgrid's second", [] { return ab::meshgrid({ab::array({1, 2, 3}), ab::array({4, 5})})[1]; },
     {2, 3}, {4, 4, 4, 5, 5, 5}},
    {"meshgrid ij",
     [] { return ab::meshgrid({ab::array({1, 2}), ab::array({4, 5})}, ab::Indexing::ij)[0]; },
     {2, 2}, {1, 1, 2, 2}},
    {"diff", [] { return ab::diff(ab::array({1, 4, 9, 16})); }, {3}, {3, 5, 7}},
    {"diff twice", [] { return ab::diff(ab::array({1, 4, 9, 16}), 0, 2); }, {2}, {2, 2}},
    {"diff of rows", [] { return ab::diff(x(), 0); }, {1, 3}, {3, 3, 3}},
    {"diagonal", [] { return ab::diagonal(x()); }, {2}, {0, 4}},
    {"diagonal above", [] { return ab::diagonal(x(), 1); }, {2}, {1, 5}},
    {"diagonal below", [] { return ab::diagonal(x(), -1); }, {1}, {3}},
    {"diagonal outside", [] { return ab::diagonal(x(), 3); }, {0}, {}},
    {"diag", [] { return ab::diag(ab::array({7, 8})); }, {2, 2}, {7, 0, 0, 8}},
    {"one_hot", [] { return ab::one_hot(ab::array({1, 0, 9}), 2, ab::i32); },
     {3, 2}, {0, 1, 1, 0, 0, 0}},
    {"the greatest of a diagonal",
     [] { return ab::max(ab::diagonal(ab::reshape(ab::arange(9), {3, 3}))); },
     {}, {8}},
};
// clang-format on

TEST(Arrange, EachFunction) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    expect_values(row.function, {ab::i32, ab::Shape(row.sizes)}, row.expected);
  }
}

TEST(Arrange, ListsHaveTheRightLengths) {
  EXPECT_EQ(ab::split(x(), 3, 1).size(), 3u);
  EXPECT_EQ(ab::split(x(), std::vector<std::int64_t>{1, 1, 2}, 1).size(), 4u);
  EXPECT_EQ(ab::split(x(), {2}, 1)[0].shape(), ab::Shape({2, 2}));  // a position, not a count
  EXPECT_EQ(ab::unstack(x()).size(), 2u);
  EXPECT_EQ(ab::meshgrid({ab::arange(2), ab::arange(3), ab::arange(4)})[2].shape(),
            ab::Shape({3, 2, 4}));
}

TEST(Arrange, CountNonzero) {
  expect_values([] { return ab::count_nonzero(x()); }, {ab::i64, {}}, {5});
  expect_values([] { return ab::count_nonzero(x() > 2, 1); }, {ab::i64, {2}}, {0, 3});
}

}  // namespace
