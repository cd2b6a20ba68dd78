// gather, scatter, take and their kin, by hand.
#include "tests/support/values.h"

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

ab::Array grid() { return ab::reshape(ab::arange(12, ab::f32), {3, 4}); }

template <class Function>
std::string refusal(Function function) {
  try {
    function();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

const ab::GatherDimensions rows{
    .offset_dims = {1}, .collapsed_slice_dims = {0}, .start_index_map = {0}, .index_vector_dim = 1};
const ab::ScatterDimensions into_rows{.update_window_dims = {1},
                                      .inserted_window_dims = {0},
                                      .scatter_dims_to_operand_dims = {0},
                                      .index_vector_dim = 1};
const ab::ScatterDimensions elements{
    .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1};

TEST(Gather, OfEveryIntegerDtype) {
  for (ab::Dtype dtype : {ab::i8, ab::i16, ab::i32, ab::i64, ab::u8, ab::u16, ab::u32, ab::u64}) {
    expect_values(
        [&] {
          return ab::gather(grid(), ab::array({2, 0, 100}).astype(dtype), rows, {1, 4});
        },
        {ab::f32, {3, 4}}, {8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11});
  }
  // Beyond the greatest i64.
  const std::vector<std::uint64_t> far = {UINT64_MAX, 1};
  expect_values(
      [&] {
        return ab::gather(grid(), ab::array(far), rows, {1, 4});
      },
      {ab::f32, {2, 4}}, {8, 9, 10, 11, 4, 5, 6, 7});
}

TEST(Gather, OfNoElementsIsZeros) {
  expect_values(
      [] {
        return ab::gather(ab::zeros({0, 2}), ab::array({1, 2, 3}), rows, {0, 2});
      },
      {ab::f32, {3, 2}}, {0, 0, 0, 0, 0, 0});
}

TEST(Gather, SaysWhatIsWrong) {
  EXPECT_NE(refusal([] {
              return ab::gather(grid(), ab::array({1.0f}), rows, {1, 4});
            }).find("gather: the indices are f32[1]; give integers"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              return ab::gather(grid(), ab::array({1}), rows, {1, 5});
            }).find("gather: a window does not fit on axis 1"),
            std::string::npos);
}

// And not the op's.
TEST(Gather, SaysWhatIsWrongInItsOwnNames) {
  const auto refused = [](const ab::GatherDimensions& dimensions, const ab::Sizes& sizes) {
    return refusal([&] { return ab::gather(grid(), ab::array({1, 0, 2}), dimensions, sizes); });
  };
  ab::GatherDimensions wrong = rows;
  wrong.index_vector_dim = 5;
  EXPECT_NE(refused(wrong, {1, 4}).find("gather: index_vector_dim is none of the indices' axes"),
            std::string::npos);
  wrong = rows;
  wrong.start_index_map = {0, 1};
  EXPECT_NE(refused(wrong, {1, 4}).find("gather: needs one of start_index_map per component"),
            std::string::npos);
  wrong = rows;
  wrong.operand_batching_dims = wrong.start_indices_batching_dims = {0};
  EXPECT_NE(
      refused(wrong, {1, 4})
          .find("gather: axis 0 is among both collapsed_slice_dims and operand_batching_dims"),
      std::string::npos);
  wrong.start_indices_batching_dims = {};
  EXPECT_NE(refused(wrong, {1, 4})
                .find("operand_batching_dims and start_indices_batching_dims go in pairs"),
            std::string::npos);
  wrong = rows;
  wrong.offset_dims = {};
  EXPECT_NE(refused(wrong, {1, 4}).find("gather: offset_dims needs one entry per axis of a window"),
            std::string::npos);
  EXPECT_NE(refused(rows, {1}).find("gather: slice_sizes needs one entry per axis"),
            std::string::npos);
  ab::ScatterDimensions into = into_rows;
  into.update_window_dims = {0, 1};
  EXPECT_NE(refusal([&] {
              return ab::scatter(grid(), ab::array({1}), ab::ones({1, 4}), into);
            }).find("scatter: update_window_dims needs one entry per axis of a window"),
            std::string::npos);
}

TEST(Scatter, CombinesInOrder) {
  const auto by = [](ab::Update update) {
    return [update] {
      return ab::scatter(ab::array({1.0f, 2.0f, 3.0f}), ab::array({2, 0, 2, 5}),
                         ab::array({4.0f, -5.0f, 0.5f, 9.0f}), elements, update);
    };
  };
  expect_values(by(ab::Update::replace), {ab::f32, {3}}, {-5, 2, 0.5});
  expect_values(by(ab::Update::add), {ab::f32, {3}}, {-4, 2, 7.5});
  expect_values(by(ab::Update::multiply), {ab::f32, {3}}, {-5, 2, 6});
  expect_values(by(ab::Update::minimum), {ab::f32, {3}}, {-5, 2, 0.5});
  expect_values(by(ab::Update::maximum), {ab::f32, {3}}, {1, 2, 4});
}

TEST(Scatter, TakesTheArraysDtype) {
  expect_values(
      [] {
        return ab::scatter(ab::zeros({2, 3}, ab::f16), ab::array({1}), ab::ones({1, 3}, ab::f16),
                           into_rows, ab::Update::add);
      },
      {ab::f16, {2, 3}}, {0, 0, 0, 1, 1, 1});
  EXPECT_NE(refusal([] {
              return ab::scatter(ab::zeros({2}, ab::i32), ab::array({1}), ab::ones({1}), elements);
            }).find("scatter: operand dtypes differ"),
            std::string::npos);
}

// The ops that a graph comes to.
std::string ops_of(const ab::Graph& graph) {
  std::string ops;
  const std::string text = to_string(graph);
  for (const char* op : {"scatter", "while"}) {
    for (std::size_t at = 0; (at = text.find(std::string("= ") + op, at)) != std::string::npos;
         ++at) {
      ops += std::string(ops.empty() ? "" : " ") + op;
    }
  }
  return ops;
}

template <class Body>
ab::Graph traced(ab::Dtype dtype, Body body) {
  return ab::trace(
      [&](ab::Array x, ab::Array at, ab::Array u) {
        return ab::scatter({x}, at, {u}, elements, ab::ScatterBody(body))[0];
      },
      ab::spec(dtype, {5}), ab::spec(ab::i32, {3}), ab::spec(dtype, {3}));
}
using Scalars = std::vector<ab::Array>;

TEST(Scatter, RecognisesBodies) {
  const auto sum = [](const Scalars& s) { return Scalars{s[0] + s[1]}; };
  const auto turned = [](const Scalars& s) { return Scalars{ab::maximum(s[1], s[0])}; };
  const auto update = [](const Scalars& s) { return Scalars{s[1]}; };
  const auto element = [](const Scalars& s) { return Scalars{s[0]}; };
  const auto in_f32 = [](const Scalars& s) {
    return Scalars{(s[0].astype(ab::f32) + s[1].astype(ab::f32)).astype(s[0].dtype())};
  };
  EXPECT_NE(to_string(traced(ab::f32, sum)).find("combiner=add"), std::string::npos);
  EXPECT_NE(to_string(traced(ab::f32, turned)).find("combiner=maximum"), std::string::npos);
  EXPECT_NE(to_string(traced(ab::u8, update)).find("combiner=replace"), std::string::npos);
  EXPECT_NE(to_string(traced(ab::bf16, in_f32)).find("combiner=add"), std::string::npos);
  EXPECT_EQ(ops_of(traced(ab::f32, element)), "");
  EXPECT_EQ(ops_of(traced(ab::f32, [](const Scalars& s) { return Scalars{s[0] - s[1]}; })),
            "while");
  EXPECT_EQ(ops_of(traced(ab::f32, [](const Scalars& s) { return Scalars{s[1] + s[1]}; })),
            "while");
}

// 2 * element + update, one after the other; updates outside count for nothing.
TEST(Scatter, OfAnyBody) {
  expect_values(
      [] {
        return ab::scatter({ab::array({1.0f, 2.0f, 3.0f})}, ab::array({2, 0, 2, 7, -1}),
                           {ab::array({10.0f, 20.0f, 30.0f, 40.0f, 50.0f})}, elements,
                           [](const Scalars& s) { return Scalars{s[0] * 2.0f + s[1]}; })[0];
      },
      {ab::f32, {3}}, {22, 2, 62});
}

// The greatest value so far, and where it came from: the second array's body reads the first's.
TEST(Scatter, OfSeveralArraysThatDependOnEachOther) {
  const auto both = [] {
    return ab::scatter(
        {ab::zeros({3}), ab::full({3}, -1)}, ab::array({1, 1, 2, 1}),
        {ab::array({4.0f, 9.0f, 2.0f, 9.0f}), ab::array({0, 1, 2, 3})}, elements,
        [](const Scalars& s) {
          const ab::Array is_greater = s[2] > s[0];
          return Scalars{ab::where(is_greater, s[2], s[0]), ab::where(is_greater, s[3], s[1])};
        });
  };
  expect_values([&] { return both()[0]; }, {ab::f32, {3}}, {0, 9, 2});
  expect_values([&] { return both()[1]; }, {ab::i32, {3}}, {-1, 1, 2});
}

// Windows, batches and vectors in a loop, against the op itself.
TEST(Scatter, LoopsOverWindows) {
  const ab::ScatterDimensions batched{.update_window_dims = {2},
                                      .inserted_window_dims = {1},
                                      .input_batching_dims = {0},
                                      .scatter_indices_batching_dims = {1},
                                      .scatter_dims_to_operand_dims = {1},
                                      .index_vector_dim = 2};
  const auto scattered = [&](bool by_loop) {
    return [&batched, by_loop] {
      const ab::Array x = ab::reshape(ab::arange(24, ab::f32), {2, 3, 4});
      const ab::Array at = ab::array({{0, 2}, {5, 1}, {0, -1}});
      const ab::Array u = ab::reshape(ab::arange(18, ab::f32), {3, 2, 3}) * 10.0f;
      if (!by_loop) return ab::scatter(x, at, u, batched, ab::Update::add);
      return ab::scatter({x}, at, {u}, batched,
                         [](const Scalars& s) { return Scalars{s[0] + 2.0f * s[1] - s[1]}; })[0];
    };
  };
  const std::vector<double> wanted = doubles(scattered(false)());
  expect_values(scattered(true), {ab::f32, {2, 3, 4}}, wanted);
  expect_values(scattered(false), {ab::f32, {2, 3, 4}}, wanted);
}

TEST(Scatter, SaysWhatABodyLacks) {
  const auto of = [](const ab::ScatterBody& body) {
    return refusal([&] {
      return ab::scatter({grid()}, ab::array({1}), {ab::ones({1, 4})}, into_rows, body);
    });
  };
  EXPECT_NE(of([](const Scalars&) { return Scalars{}; }).find("the body gives 0 scalars for 1"),
            std::string::npos);
  EXPECT_NE(of([](const Scalars& s) {
              return Scalars{s[0].astype(ab::i32)};
            }).find("result 0 of the body is i32[], and has to be f32[]"),
            std::string::npos);
}

TEST(Take, AlongAnAxis) {
  expect_values(
      [] {
        return ab::take(grid(), ab::array({2, 0}), 0);
      },
      {ab::f32, {2, 4}}, {8, 9, 10, 11, 0, 1, 2, 3});
  expect_values(
      [] {
        return ab::take(grid(), ab::array({{3, -1}, {0, -4}}), 1);
      },
      {ab::f32, {3, 2, 2}}, {3, 3, 0, 0, 7, 7, 4, 4, 11, 11, 8, 8});
  expect_values([] { return ab::take(grid(), 1, 0); }, {ab::f32, {4}}, {4, 5, 6, 7});
  expect_values([] { return ab::take(grid(), ab::array({5, -1})); }, {ab::f32, {2}}, {5, 11});
}

TEST(Take, OutOfRange) {
  const auto at = [] { return ab::array({1, 3, -4, -1}); };
  const auto x = [] { return ab::array({10.0f, 20.0f, 30.0f}); };
  expect_values([&] { return ab::take(x(), at(), 0); }, {ab::f32, {4}}, {20, nan, nan, 30});
  expect_values([&] { return ab::take(x(), at(), 0, ab::OutOfRange::clip); }, {ab::f32, {4}},
                {20, 30, 10, 30});
  expect_values([&] { return ab::take(x(), at(), 0, ab::OutOfRange::wrap); }, {ab::f32, {4}},
                {20, 10, 30, 30});
  expect_values([&] { return ab::take(x().astype(ab::i8), at(), 0); }, {ab::i8, {4}},
                {20, -128, -128, 30});
  expect_values([&] { return ab::take(x().astype(ab::u8), at(), 0); }, {ab::u8, {4}},
                {20, 255, 255, 30});
  expect_values([&] { return ab::take(ab::zeros({0}), at(), 0); }, {ab::f32, {4}},
                {nan, nan, nan, nan});
  EXPECT_NE(refusal([&] {
              return ab::take(ab::zeros({0}), at(), 0, ab::OutOfRange::clip);
            }).find("has no elements to take"),
            std::string::npos);
}

TEST(TakeAlongAxis, PicksInEachRow) {
  expect_values(
      [] {
        return ab::take_along_axis(grid(), ab::array({{3, 0}, {1, 1}, {-1, 9}}));
      },
      {ab::f32, {3, 2}}, {3, 0, 5, 5, 11, nan});
  expect_values(
      [] {
        return ab::take_along_axis(grid(), ab::array({{2, 0, 1, 1}}), 0);
      },
      {ab::f32, {1, 4}}, {8, 1, 6, 7});
  expect_values(
      [] {
        return ab::take_along_axis(ab::array({{7.0f, 8.0f}}), ab::array({{1}, {0}}));
      },
      {ab::f32, {2, 1}}, {8, 7});
  EXPECT_NE(refusal([] {
              return ab::take_along_axis(grid(), ab::array({1}));
            }).find("have to have as many axes"),
            std::string::npos);
}

TEST(PutAlongAxis, WritesInEachRow) {
  expect_values(
      [] {
        return ab::put_along_axis(grid(), ab::array({{0}, {-1}, {7}}), 50.0f);
      },
      {ab::f32, {3, 4}}, {50, 1, 2, 3, 4, 5, 6, 50, 8, 9, 10, 11});
  expect_values(
      [] {
        return ab::put_along_axis(grid(), ab::array({{1, 1}, {0, 0}, {2, 3}}),
                                  ab::array({{10.0f, 20.0f}}), 1, ab::Update::add);
      },
      {ab::f32, {3, 4}}, {0, 31, 2, 3, 34, 5, 6, 7, 8, 9, 20, 31});
}

// A carry that a scatter updates: in place, turn by turn.
TEST(Scatter, InALoop) {
  expect_values(
      [] {
        return ab::fori_loop(
            0, 6,
            [](const ab::Array& i, const ab::Array& x) {
              return ab::scatter(x, ab::reshape(i % 4, {1}), ab::array({1.0f}), elements,
                                 ab::Update::add) *
                     2.0f;
            },
            ab::zeros({3}));
      },
      {ab::f32, {3}}, {68, 34, 16});
  expect_values(
      [] {
        return ab::fori_loop(
            0, 5,
            [](const ab::Array& i, const ab::Array& x) {
              return ab::scatter(x, ab::reshape(i, {1}), ab::reshape(i, {1}), elements);
            },
            ab::zeros({4}, ab::i32));
      },
      {ab::i32, {4}}, {0, 1, 2, 3});
}

TEST(Take, OfNoBoolsIsFilled) {
  expect_values(
      [] {
        return ab::take(ab::zeros({0}, ab::bool_), ab::array({0, 1}), 0);
      },
      {ab::bool_, {2}}, {1, 1});
}

}  // namespace
