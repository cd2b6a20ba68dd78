// Sorts by values, keys and any comparator, and what is made of them.
#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/support/random_literal.h"
#include "tests/support/values.h"

namespace {

using ab::Array;
using ab::f32;
using ab::i32;
using ab::i64;
using Scalars = std::vector<Array>;

TEST(Sort, AlongAnyAxisEitherWay) {
  const auto x = [] { return ab::array({3.f, 1.f, 2.f, 0.f, 5.f, -4.f}, {2, 3}); };
  expect_values([&] { return ab::sort(x()); }, {f32, {2, 3}}, {1, 2, 3, -4, 0, 5});
  expect_values([&] { return ab::sort(x(), 0); }, {f32, {2, 3}}, {0, 1, -4, 3, 5, 2});
  expect_values([&] { return ab::sort(x(), 1, {.descending = true}); }, {f32, {2, 3}},
                {3, 2, 1, 5, 0, -4});
  expect_values([&] { return ab::argsort(x()); }, {i64, {2, 3}}, {1, 2, 0, 2, 0, 1});
  expect_values(
      [] {
        return ab::argsort(ab::array({1, 0, 1, 0}), 0, {.descending = true});
      },
      {i64, {4}}, {0, 2, 1, 3});
  expect_values(
      [] {
        return ab::sort(ab::array({NAN, 1.f, -INFINITY, INFINITY}));
      },
      {f32, {4}}, {-INFINITY, 1, INFINITY, NAN});
  EXPECT_EQ(ab::sort(ab::array({true, false, true})).to_vector<bool>(),
            (std::vector<bool>{false, true, true}));
  EXPECT_THROW(ab::sort(ab::scalar(1.f)), ab::Error);
}

TEST(Sort, ComplexNumbersByTheirParts) {
  const Array re = ab::array({1.f, 0.f, 1.f, -1.f}), im = ab::array({2.f, 5.f, -3.f, 0.f});
  const Array z = ab::complex(re, im);
  EXPECT_EQ(ab::argsort(z).to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 1, 2, 0}));
  EXPECT_EQ(ab::imag(ab::sort(z)).to_vector<float>(), (std::vector<float>{0, 5, -3, 2}));
  EXPECT_EQ(ab::imag(ab::cumsum(z)).to_vector<float>(), (std::vector<float>{2, 7, 4, 4}));
  EXPECT_EQ(ab::real(ab::cumprod(z)).to_vector<float>(), (std::vector<float>{1, -10, 5, -5}));
}

TEST(Sort, TopKGivesTheFirstOfEqualOnes) {
  const auto x = [] { return ab::array({1.f, 7.f, 7.f, NAN, 3.f, 9.f, 9.f, 2.f}, {2, 4}); };
  expect_values([&] { return ab::top_k(x(), 2).values; }, {f32, {2, 2}}, {NAN, 7, 9, 9});
  expect_values([&] { return ab::top_k(x(), 2).indices; }, {i64, {2, 2}}, {3, 1, 1, 2});
  expect_values([&] { return ab::top_k(x(), 1, 0).indices; }, {i64, {1, 4}}, {1, 1, 1, 0});
  EXPECT_EQ(ab::top_k(x(), 0).values.size(), 0);
  EXPECT_THROW(ab::top_k(x(), 5), ab::Error);
}

TEST(Sort, Searchsorted) {
  const auto sorted = [] { return ab::array({1.f, 2.f, 2.f, 5.f}); };
  const auto values = [] { return ab::array({0.f, 1.f, 2.f, 3.f, 5.f, 6.f, NAN, -0.f}, {2, 4}); };
  expect_values([&] { return ab::searchsorted(sorted(), values()); }, {i64, {2, 4}},
                {0, 0, 1, 3, 3, 4, 4, 0});
  expect_values([&] { return ab::searchsorted(sorted(), values(), ab::Side::right); },
                {i64, {2, 4}}, {0, 1, 3, 3, 4, 4, 4, 0});
  EXPECT_EQ(ab::searchsorted(ab::zeros({0}), values()).to_vector<std::int64_t>()[7], 0);
  EXPECT_EQ(ab::searchsorted(ab::arange(1000), ab::scalar(700)).item<std::int64_t>(), 700);
}

// --- comparators ---------------------------------------------------------------------------------

struct Columns {
  std::vector<int> a, b, place;
};

Columns random_columns(ab::Random& random, std::int64_t size) {
  Columns columns;
  for (std::int64_t i = 0; i < size; ++i) {
    columns.a.push_back(static_cast<int>(random.below(5)) - 2);
    columns.b.push_back(static_cast<int>(random.below(4)));
    columns.place.push_back(static_cast<int>(i));
  }
  return columns;
}

using Less = std::function<bool(const Columns&, std::size_t, std::size_t)>;

// The three columns, sorted by ours and by std::stable_sort.
void expect_sorted(const ab::Comparator& comparator, const Less& less, const char* what,
                   std::size_t* nodes = nullptr) {
  ab::Random random(3);
  for (const std::int64_t size : {0, 1, 2, 3, 7, 8, 9, 31, 100}) {
    const Columns columns = random_columns(random, size);
    std::vector<std::size_t> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order,
                             [&](std::size_t i, std::size_t j) { return less(columns, i, j); });
    const auto compiled = ab::jit([&](Array a, Array b, Array place) {
      const Scalars sorted = ab::sort({a, b, place}, comparator, 0);
      return std::tuple{sorted[0], sorted[1], sorted[2]};
    });
    const auto [a, b, place] = compiled(ab::array(columns.a, {size}), ab::array(columns.b, {size}),
                                        ab::array(columns.place, {size}));
    const auto as = a.to_vector<int>(), bs = b.to_vector<int>(), places = place.to_vector<int>();
    for (std::size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(as[i], columns.a[order[i]]) << what << " of " << size << ", element " << i;
      EXPECT_EQ(bs[i], columns.b[order[i]]) << what << " of " << size << ", element " << i;
      EXPECT_EQ(places[i], columns.place[order[i]]) << what << " of " << size << ", element " << i;
    }
  }
  if (!nodes) return;
  const ab::Graph graph = ab::trace(
      [&](Array a, Array b) {
        const Scalars sorted = ab::sort({a, b, a}, comparator, 0);
        return sorted[0] + sorted[1] + sorted[2];
      },
      ab::spec(i32, {64}), ab::spec(i32, {64}));
  *nodes = 0;
  std::size_t loops = 0;
  for (const ab::Node& node : graph.nodes()) {
    *nodes += node.op == ab::Op::argsort;
    loops += node.op == ab::Op::while_;
  }
  EXPECT_EQ(loops, 0u) << what;
}

TEST(SortBy, KeysBecomeSortsOfKeys) {
  std::size_t sorts = 0;
  expect_sorted([](const Scalars& s) { return s[0] < s[1]; },
                [](const Columns& c, auto i, auto j) { return c.a[i] < c.a[j]; }, "a", &sorts);
  EXPECT_EQ(sorts, 1u);
  expect_sorted([](const Scalars& s) { return s[1] < s[0]; },
                [](const Columns& c, auto i, auto j) { return c.a[i] > c.a[j]; }, "a down", &sorts);
  EXPECT_EQ(sorts, 1u);
  expect_sorted(
      [](const Scalars& s) { return ab::abs(s[0]) * 3 + s[2] > ab::abs(s[1]) * 3 + s[3]; },
      [](const Columns& c, auto i, auto j) {
        return std::abs(c.a[i]) * 3 + c.b[i] > std::abs(c.a[j]) * 3 + c.b[j];
      },
      "a key of both", &sorts);
  EXPECT_EQ(sorts, 1u);
  expect_sorted([](const Scalars& s) { return !(s[2] >= s[3]); },
                [](const Columns& c, auto i, auto j) { return c.b[i] < c.b[j]; }, "not", &sorts);
  EXPECT_EQ(sorts, 1u);
}

TEST(SortBy, KeysOneAfterTheOther) {
  std::size_t sorts = 0;
  const Less both = [](const Columns& c, auto i, auto j) {
    return c.a[i] != c.a[j] ? c.a[i] < c.a[j] : c.b[i] > c.b[j];
  };
  expect_sorted([](const Scalars& s) { return (s[0] < s[1]) | ((s[0] == s[1]) & (s[2] > s[3])); },
                both, "or", &sorts);
  EXPECT_EQ(sorts, 2u);
  expect_sorted([](const Scalars& s) { return ((s[2] > s[3]) & (s[1] == s[0])) | (s[1] > s[0]); },
                both, "turned or", &sorts);
  EXPECT_EQ(sorts, 2u);
  expect_sorted([](const Scalars& s) { return ab::where(s[0] == s[1], s[2] > s[3], s[0] < s[1]); },
                both, "select", &sorts);
  EXPECT_EQ(sorts, 2u);
  expect_sorted([](const Scalars& s) { return ab::where(s[0] != s[1], s[0]<s[1], s[2]> s[3]); },
                both, "select of ne", &sorts);
  EXPECT_EQ(sorts, 2u);
}

// What JAX writes for floats: zeros and NaNs made alike, then a total order, here of their bits.
TEST(SortBy, KeysOfBits) {
  const auto key = [](const Array& x) {
    const Array zeros = ab::where(x == 0.f, 0.f, x);
    const Array bits = ab::bitcast(ab::where(zeros != zeros, NAN, zeros), i32);
    return ab::where(bits < 0, bits ^ 0x7fffffff, bits);
  };
  const auto by_key = [&](Array x, Array place) {
    return ab::sort({x, place}, [&](const Scalars& s) { return key(s[0]) < key(s[1]); })[1];
  };
  const auto spec = ab::spec(f32, {8});
  const ab::Graph graph = ab::trace(by_key, spec, ab::spec(i32, {8}));
  EXPECT_EQ(std::ranges::count_if(graph.nodes(),
                                  [](const ab::Node& node) { return node.op == ab::Op::argsort; }),
            1);
  const Array x = ab::array({0.f, -0.f, NAN, -INFINITY, -NAN, INFINITY, -1.f, 0.f});
  EXPECT_EQ(by_key(x, ab::arange(8, i32)).to_vector<int>(),
            (std::vector<int>{3, 6, 0, 1, 7, 5, 2, 4}));
}

TEST(SortBy, AnyOtherComparatorIsANetwork) {
  // Even numbers before odd ones, each half in its own direction.
  expect_sorted(
      [](const Scalars& s) {
        const Array even = (s[0] & 1) == 0, other = (s[1] & 1) == 0;
        return ab::where(even & other, s[0] < s[1], ab::where(even == other, s[0] > s[1], even));
      },
      [](const Columns& c, auto i, auto j) {
        const bool even = (c.a[i] & 1) == 0, other = (c.a[j] & 1) == 0;
        return even && other ? c.a[i] < c.a[j] : even == other ? c.a[i] > c.a[j] : even;
      },
      "even first");
  // All alike: nothing moves.
  expect_sorted([](const Scalars& s) { return s[0] != s[0]; },
                [](const Columns&, auto, auto) { return false; }, "none");
}

TEST(SortBy, MatricesAlongTheirFirstAxis) {
  const Array x = ab::array({3, 1, 2, 9, 1, 8, 0, 4, 7}, {3, 3});
  const auto by_pairs = [](const Scalars& s) { return s[0] % 4 < s[1] % 4; };
  const Scalars sorted = ab::sort({x, -x}, by_pairs, 0);
  EXPECT_EQ(sorted[0].to_vector<int>(), (std::vector<int>{0, 4, 8, 9, 1, 2, 3, 1, 7}));
  EXPECT_EQ(sorted[1].to_vector<int>(), (std::vector<int>{0, -4, -8, -9, -1, -2, -3, -1, -7}));
  const auto not_a_key = [](const Scalars& s) { return (s[0] < s[1]) & (s[0] != s[1]); };
  const Scalars again = ab::sort({x}, not_a_key, 0);
  EXPECT_EQ(again[0].to_vector<int>(), (std::vector<int>{0, 1, 2, 3, 1, 7, 9, 4, 8}));
}

TEST(SortBy, ReadsOtherArrays) {
  const Array x = ab::array({3, 1, 2}), centre = ab::scalar(2);
  const auto sorted = ab::sort(
      {x}, [&](const Scalars& s) { return ab::abs(s[0] - centre) < ab::abs(s[1] - centre); });
  EXPECT_EQ(sorted[0].to_vector<int>(), (std::vector<int>{2, 3, 1}));
}

TEST(SortBy, ErrorsNameWhatIsWrong) {
  const auto less = [](const Scalars& s) { return s[0] < s[1]; };
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const ab::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message([&] {
              ab::sort({ab::zeros({2}), ab::zeros({3})}, less);
            }).find("sort: array 1 is f32[3], and array 0 is f32[2]"),
            std::string::npos);
  EXPECT_NE(message([&] {
              ab::sort({ab::zeros({2})}, [](const Scalars& s) { return s[0] - s[1]; });
            }).find("sort: result 0 of the comparator is f32, and not bool"),
            std::string::npos);
  EXPECT_NE(message([&] {
              ab::sort({ab::zeros({2})}, [](const Scalars&) { return ab::zeros({2}); });
            }).find("and not a scalar"),
            std::string::npos);
}

}  // namespace
