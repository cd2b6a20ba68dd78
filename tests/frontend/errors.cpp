// Misuse, one kind per row: what the message names, and that it ends with the user's file and line.
#include <cmath>
#include <functional>

#include "tests/support/values.h"

namespace {

struct Particle {
  ab::Array position, velocity;
};

struct Misuse {
  const char* call;
  std::function<void()> run;
  int line;
  std::vector<std::string> parts;
};

#define MISUSE(expression, ...)                                         \
  Misuse {                                                              \
#expression, [&] { (void)(expression); }, __LINE__, { __VA_ARGS__ } \
  }

ab::Array f32(std::initializer_list<std::int64_t> sizes) { return ab::zeros(ab::f32, sizes); }
ab::Array i32(std::initializer_list<std::int64_t> sizes) { return ab::zeros(ab::i32, sizes); }

void expect_messages(const std::vector<Misuse>& rows) {
  for (const Misuse& row : rows) {
    std::string message;
    try {
      row.run();
    } catch (const ab::Error& error) {
      message = error.what();
    }
    ASSERT_FALSE(message.empty()) << row.call << " is no error";
    for (const std::string& part : row.parts) {
      EXPECT_NE(message.find(part), std::string::npos)
          << row.call << ": no \"" << part << "\" in: " << message;
    }
    std::string place = " at errors.cpp:" + std::to_string(row.line);
    EXPECT_TRUE(message.find("," + place) != std::string::npos ||
                message.find(", in the function made" + place) != std::string::npos)
        << row.call << ": no \"" << place << "\" in: " << message;
  }
}

TEST(Errors, ShapesThatDoNotFit) {
  expect_messages({
      MISUSE(f32({3}) + f32({4}), "add: ", "f32[3] and f32[4]", "3 against 4"),
      MISUSE(ab::where(f32({2}) > 0, f32({3}), 1), "where: ", "do not broadcast"),
      MISUSE(ab::matmul(f32({64, 128}), f32({64, 32})),
             "matmul: inner sizes differ: f32[64,128] x f32[64,32] (128 against 64)"),
      MISUSE(ab::matmul(f32({3}), f32({4})), "matmul: inner sizes differ: f32[3] x f32[4]"),
      MISUSE(ab::matmul(f32({3}), f32({4, 2})), "f32[3] x f32[4,2]", "3 against 4"),
      MISUSE(ab::matmul(f32({}), f32({4})), "f32[] x f32[4]", "multiply instead"),
      MISUSE(ab::matmul(f32({2, 3, 4}), f32({3, 4, 5})), "batch sizes differ", "2 against 3"),
      MISUSE(ab::dot(f32({2, 3}), f32({2})), "dot: inner sizes differ"),
      MISUSE(ab::tensordot(f32({2, 3}), f32({3, 2}), 3), "tensordot: ", "3 axes"),
      MISUSE(ab::outer(f32({2, 3}), f32({2})), "outer: takes two vectors", "f32[2,3]"),
      MISUSE(ab::einsum("ij,jk->ik", f32({2, 3}), f32({4, 5})), "einsum: 'j' is 3 and 4",
             "f32[4,5]"),
      MISUSE(ab::einsum("ij->k", f32({2, 3})), "'k' comes out of no operand"),
      MISUSE(ab::einsum("ijk->k", f32({2, 3})), "\"ijk\" names 3 axes of f32[2,3]"),
      MISUSE(ab::einsum("i?->i", f32({2, 3})), "'?' is not a letter"),
      MISUSE(ab::einsum("i,i", f32({2})), "names 2 operands, and 1 were given"),
      MISUSE(ab::reshape(f32({2, 3}), {4, 2}),
             "reshape: f32[2,3] has 6 elements, and [4,2] needs 8"),
      MISUSE(ab::reshape(f32({2, 3}), {4, -1}), "6 elements of f32[2,3] do not divide by 4"),
      MISUSE(ab::reshape(f32({2, 3}), {-1, -1}), "more than one size is -1"),
      MISUSE(ab::broadcast_to(f32({2, 3}), {3, 2}), "f32[2,3] does not broadcast to [3,2]"),
      MISUSE(ab::concat({f32({2, 3}), f32({2, 4})}), "concat: f32[2,3] and f32[2,4]", "axis 0"),
      MISUSE(ab::stack({f32({2}), f32({3})}), "stack: f32[2] and f32[3] differ"),
      MISUSE(ab::squeeze(f32({2, 1}), 0), "squeeze: axis 0 of f32[2,1] has size 2"),
      MISUSE(ab::matrix_transpose(f32({2})), "f32[2] has fewer than two axes"),
      MISUSE(ab::tril(f32({2})), "tril: f32[2] has fewer than two axes"),
      MISUSE(ab::slice(f32({4}), {2}, {9}), "slice: ", "f32[4]"),
      MISUSE(ab::slice(f32({4}), {2, 0}, {3, 1}), "slice: 2 starts for the 1 axes of f32[4]"),
      MISUSE(ab::pad(f32({4}), {1, 1}, {0}), "pad: 2 low sizes for the 1 axes of f32[4]"),
      MISUSE(ab::slice(f32({4}), {0}, {4}, {-1}), "slice: stride must be", "-1; flip"),
      MISUSE(ab::index(f32({3, 4}), 3),
             "index: position 3 is out of range of axis 0 of f32[3,4]; give -3 to 2"),
      MISUSE(ab::index(f32({3, 0}), 0, 1), "of f32[3,0], which has no elements there"),
      MISUSE(f32({4})[4], "index: position 4 is out of range of axis 0 of f32[4]"),
      MISUSE(f32({3, 4})(0, 4), "position 4 is out of range of axis 1 of [3,4]; give -4 to 3"),
      MISUSE(ab::interp(f32({2}), f32({2}), f32({3, 4})),
             "interp: fp is f32[3,4]; give a vector of at least 1 element"),
      MISUSE(ab::interp(f32({2}), f32({}), f32({2})), "interp: xp is f32[]; give a vector"),
      MISUSE(ab::histogram(f32({4}), f32({1})),
             "histogram: edges is f32[1]; give a vector of at least 2 elements"),
      MISUSE(ab::linalg::tensorinv(f32({3, 4}), 5),
             "tensorinv: f32[3,4] has no first 5 axes; give a count from 1 to 2"),
      MISUSE(ab::linalg::tensorinv(f32({}), 1), "tensorinv: f32[] has no first 1 axes; give an"),
      MISUSE(ab::linalg::cond(f32({0, 3})),
             "cond: f32[0,3] has no singular values; give matrices of at least one row"),
      MISUSE(ab::split(f32({4}), 3), "split: axis 0 of f32[4] does not divide into 3"),
      MISUSE(ab::split(f32({4}), std::vector<std::int64_t>{3, 2}), "split: the positions"),
      MISUSE(ab::repeat(f32({4}), -1, 0), "repeat: the count is -1"),
      MISUSE(ab::meshgrid({f32({2, 2})}), "meshgrid: f32[2,2] is no vector"),
      MISUSE(ab::moveaxis(f32({2, 2}), {0, 1}, 0), "moveaxis: 2 axes of f32[2,2] to 1 places"),
      MISUSE(ab::diag(f32({2, 2})), "diag: f32[2,2] is no vector"),
      MISUSE(ab::diagonal(f32({2})), "diagonal: f32[2] has fewer than two axes"),
      MISUSE(ab::slice_in_dim(f32({4}), 1, 9), "f32[4]"),
      MISUSE(ab::array({{1, 2}, {3}}), "array: a row of 1 values after one of 2"),
      MISUSE(ab::full({2}, f32({3})), "full: f32[3] is not one number"),
  });
}

// --- what does not compile

template <class To, class From>
concept Assigns = requires(To to, From from) {
  std::forward<To>(to) = from;
};

// x[0] = y would change a temporary.
static_assert(Assigns<ab::Array&, ab::Array> && !Assigns<ab::Array, ab::Array>);
static_assert(!std::is_assignable_v<decltype(ab::Array()[0]), ab::Array>);
static_assert(std::is_nothrow_move_assignable_v<ab::Array> && std::is_copy_assignable_v<ab::Array>);

TEST(Errors, AxesThatAreNotThere) {
  expect_messages({
      MISUSE(ab::sum(f32({2, 3}), 2), "sum: no axis 2 in shape [2,3]; its axes are -2 to 1"),
      MISUSE(ab::softmax(f32({2, 3}), -3), "softmax: no axis -3"),
      MISUSE(ab::max(f32({2, 3}), {0, -2}), "max: axis -2 of shape [2,3] is named twice"),
      MISUSE(ab::sum(f32({}), 0), "sum: no axis 0 in shape [], which has none"),
      MISUSE(ab::argmax(f32({2, 3}), {0, 1}), "argmax: takes one axis"),
      MISUSE(ab::permute_dims(f32({2, 3}), {0}), "f32[2,3] needs the order of all its 2 axes"),
      MISUSE(ab::expand_dims(f32({3, 4}), 4),
             "expand_dims: no axis 4 in the result, which has one axis more than [3,4]; its axes "
             "are -3 to 2"),
  });
}

TEST(Errors, DtypesThatDoNotMix) {
  expect_messages({
      MISUSE(f32({2}) + i32({2}), "add: dtypes do not mix: f32[2] and i32[2]", ".astype(ab::f32)"),
      MISUSE(i32({2}) + 0.5, "add: i32 cannot stand for the number 0.5"),
      MISUSE(ab::zeros(ab::u8, {2}) * 300, "multiply: u8 cannot stand for the number 300"),
      MISUSE(ab::one_hot(f32({2}), 3), "one_hot: f32[2]", "integers"),
      MISUSE(ab::signbit(i32({2})), "signbit: i32[2]", "floating-point"),
      MISUSE(ab::exp(i32({2})), "exp: i32[2]", "floating-point", ".astype(ab::f32)"),
      MISUSE(ab::mean(i32({2})), "mean: i32[2]", "floating-point"),
      MISUSE(f32({2}) & f32({2}), "bitwise_and: f32[2] and f32[2]", "integers or bool"),
      MISUSE(ab::logical_not(i32({2})), "logical_not: i32[2]", "bool"),
      MISUSE(ab::where(i32({2}), 1, 2), "where: i32[2]", "bool"),
      MISUSE(ab::sum(ab::zeros(ab::bool_, {2}) + ab::zeros(ab::bool_, {2})), "add: ", "bool[2]"),
      MISUSE(ab::any(f32({2})), "any: f32[2]", "bool"),
      MISUSE(ab::bitcast(f32({3}), ab::f64), "f32[3]", "the 2 parts of an element"),
      MISUSE(ab::linspace(0, 1, 3, ab::i32), "linspace: gives floats, not i32"),
      MISUSE(ab::arange(5, ab::bool_), "arange: bool cannot count"),
      MISUSE(ab::linspace(0, 1e300, 3), "linspace: 1e+300 is beyond f32; give a dtype that can"),
      MISUSE(ab::fft::fftfreq(4, 1, ab::i32), "fftfreq: gives floats, not i32"),
      MISUSE(ab::fft::rfftfreq(4, 1, ab::bool_), "rfftfreq: gives floats, not bool"),
      MISUSE(ab::percentile(f32({3}), 150), "percentile: q is 150, and not from 0 to 100"),
      MISUSE(ab::nanquantile(f32({3}), {0.5, 2.0}), "nanquantile: q is 2, and not from 0 to 1"),
      MISUSE(ab::quantile(f32({3}), std::vector<double>()), "quantile: no q"),
      MISUSE(ab::linalg::pinv(f32({2, 2}), NAN), "pinv: rtol is nan; give a share"),
      MISUSE(ab::linalg::matrix_rank(f32({2, 2}), -5), "matrix_rank: rtol is -5; give a share"),
      MISUSE(ab::fft::rfft(ab::zeros(ab::c64, {4})), "rfft: c64[4]", "real, imag and abs"),
      MISUSE(ab::quantile(ab::zeros(ab::c64, {4}), 0.5), "quantile: c64[4]", "real, imag and abs"),
      MISUSE(ab::finfo(ab::i32), "finfo: i32 is no float; ask iinfo of an integer"),
      MISUSE(ab::finfo(ab::c128), "finfo: c128 is no float; ask finfo of f64"),
      MISUSE(ab::iinfo(ab::f32), "iinfo: f32 is no integer; ask finfo of a float"),
      MISUSE(ab::iinfo(ab::bool_), "iinfo: bool is no integer; bool has only false and true"),
      MISUSE(ab::random::randint(ab::random::key(0), {3}, 0, 1, ab::f32),
             "random::randint: draws integers, not f32; use random::uniform"),
      MISUSE(ab::random::uniform(f32({}), {2}), "random::uniform: the key is f32[]", "u64[]"),
      MISUSE(ab::random::uniform(ab::random::key(0), {2}, ab::i32), "random::randint"),
      MISUSE(ab::random::randint(ab::random::key(0), {2}, 5, 5), "random::randint: i32 in [5, 5)"),
  });
}

TEST(Errors, SizesThatCannotBe) {
  expect_messages({
      MISUSE(ab::zeros(ab::f32, {2, -3}), "zeros: shape [2,-3]: a size is negative"),
      MISUSE(ab::spec(ab::f32, {-1}), "spec: shape [-1]: a size is negative"),
      MISUSE(ab::zeros(ab::f32, {1 << 30, 1 << 30}), "zeros: ", "more than 2^59 elements"),
      MISUSE(ab::broadcast_to(f32({1}), {1 << 30, 1 << 30}), "more than 2^59 elements"),
      MISUSE(ab::array({1.0f, 2.0f}, {3}), "array: shape [3] needs 3 values, and 2 were given"),
      MISUSE(ab::max(f32({0, 3}), 0), "max: f32[0,3] has no elements along the folded axes"),
      MISUSE(ab::argmin(f32({0})), "argmin: f32[0] has no elements"),
      MISUSE(ab::arange(0, 10, 0), "arange: 0, 10 in steps of 0"),
      MISUSE(ab::arange(0, 300, 100, ab::i8), "arange: i8 cannot stand for the number 200"),
      MISUSE(ab::reshape(f32({5}), {-2}), "reshape: shape [-2]: a size is negative"),
      MISUSE(ab::at(f32({5}), 9).set(1), "at: position 9 is out of range of axis 0 of [5]"),
      MISUSE(ab::max_pool(ab::ones({4}, ab::c64), 2), "max_pool: c64[4]"),
      MISUSE(ab::linspace(0, 1, -2), "linspace: a count of -2 is negative"),
      MISUSE(ab::random::split(ab::random::key(0), -1), "random::split: a count of -1 is negative"),
      MISUSE(ab::random::permutation(ab::random::key(0), -1),
             "random::permutation: a count of -1 is negative; give 0 or more"),
      MISUSE(ab::borrow(static_cast<const float*>(nullptr), {2}, [] {}), "borrow: a null pointer",
             "f32[2]"),
  });
}

// And not one that it is made of.
TEST(Errors, TheFunctionThatWasCalled) {
  const ab::Array z = ab::zeros(ab::c64, {2}), key = ab::random::key(0);
  const ab::Array empty = ab::Array();
  expect_messages({
      MISUSE(z < z, "less: complex numbers have no order: c64[2] x c64[2]"),
      MISUSE(ab::searchsorted(z, z), "searchsorted: c64[2] given to what takes real numbers"),
      MISUSE(ab::divmod(f32({3}), f32({4})), "divmod: shapes do not broadcast"),
      MISUSE(ab::allclose(f32({3}), f32({4})), "allclose: shapes do not broadcast"),
      MISUSE(ab::array_equal(f32({2}), i32({2})), "array_equal: dtypes do not mix"),
      MISUSE(ab::vecdot(f32({2, 3}), f32({4, 3})), "vecdot: shapes do not broadcast"),
      MISUSE(ab::norm(f32({2}), 1), "norm: no axis 1"),
      MISUSE(ab::count_nonzero(f32({2}), 1), "count_nonzero: no axis 1"),
      MISUSE(ab::nansum(f32({2}), 1), "nansum: no axis 1"),
      MISUSE(ab::nanprod(f32({2}), 1), "nanprod: no axis 1"),
      MISUSE(ab::nanmean(f32({2}), 1), "nanmean: no axis 1"),
      MISUSE(ab::nanvar(f32({2}), 1), "nanvar: no axis 1"),
      MISUSE(ab::nanstd(f32({2}), 1), "nanstd: no axis 1"),
      MISUSE(ab::average(f32({2}), 1, 1), "average: no axis 1"),
      MISUSE(ab::cosine_similarity(f32({2}), f32({2}), 1), "cosine_similarity: no axis 1"),
      MISUSE(ab::ptp(f32({0})), "ptp: f32[0] has no elements along the folded axes"),
      MISUSE(ab::ptp(z), "ptp: c64[2] given to what takes real numbers"),
      MISUSE(ab::nanmax(f32({0})), "nanmax: f32[0] has no elements along the folded axes"),
      MISUSE(ab::nanmin(z), "nanmin: c64[2] given to what takes real numbers"),
      MISUSE(ab::nanargmax(f32({2, 3}), {0, 1}), "nanargmax: takes one axis"),
      MISUSE(ab::nanargmin(f32({0})), "nanargmin: f32[0] has no elements"),
      MISUSE(ab::corrcoef(f32({2, 2, 2})), "corrcoef: f32[2,2,2] is neither a vector"),
      MISUSE(ab::linalg::vector_norm(f32({0}), {}, false, INFINITY), "vector_norm: f32[0] has no"),
      MISUSE(ab::linalg::vector_norm(f32({2}), 1), "vector_norm: no axis 1"),
      MISUSE(ab::linalg::matrix_norm(f32({0, 3}), 2.0), "matrix_norm: f32[0,3] has no elements"),
      MISUSE(ab::linalg::matrix_norm(f32({3, 0}), 1.0), "matrix_norm: f32[3,0] has no elements"),
      MISUSE(ab::linalg::cond(f32({2, 2}), 3.0), "cond: there is no norm of order 3.000000"),
      MISUSE(ab::linalg::trace(f32({2})), "trace: f32[2] has fewer than two axes"),
      MISUSE(ab::layer_norm(f32({2, 3}), f32({4}), 0), "layer_norm: shapes do not broadcast"),
      MISUSE(ab::layer_norm(f32({2, 3}), 1, 0, 2), "layer_norm: no axis 2"),
      MISUSE(ab::standardize(f32({2, 3}), 2), "standardize: no axis 2"),
      MISUSE(ab::rms_norm(f32({2, 3}), 1, 2), "rms_norm: no axis 2"),
      MISUSE(ab::dropout(f32({}), f32({2}), 0.5), "dropout: the key is f32[]"),
      MISUSE(ab::conv(f32({1, 2, 5}), f32({1, 3, 2})), "conv: input features differ"),
      MISUSE(ab::max_pool(f32({4}), 0), "max_pool: size, stride and dilation must be at least 1"),
      MISUSE(ab::avg_pool(f32({4}), 2, 1, {{-9}, {}}), "avg_pool: "),
      MISUSE(ab::sliding_window_view(f32({4}), 0), "sliding_window_view: size, stride"),
      MISUSE(ab::stack({f32({2}), f32({2})}, 5),
             "stack: no axis 5 in the result, which has one axis more than [2]; its axes are -2"),
      MISUSE(ab::fft::fft(f32({4}), std::int64_t{1} << 62), "fft: shape [4611686018427387904]"),
      MISUSE(ab::fft::rfft(f32({4}), std::int64_t{1} << 62), "rfft: shape [4611686018427387904]"),
      MISUSE(ab::fft::irfft(f32({4}), std::int64_t{1} << 62), "irfft: shape [4611686018427387904]"),
      MISUSE(ab::histogram(f32({4}), 0), "histogram: 0 bins; give 1 or more"),
      MISUSE(ab::histogram(f32({4}), 2, ab::HistogramRange{3, 1}),
             "histogram: the range is 3 to 1; give low <= high, finitely far apart"),
      MISUSE(ab::histogram_bin_edges(f32({4}), 0), "histogram_bin_edges: 0 bins"),
      MISUSE(ab::slice_in_dim(f32({4}), 1, 9), "slice_in_dim: "),
      MISUSE(ab::dynamic_slice_in_dim(f32({4}), 0, 5), "dynamic_slice_in_dim: the block does not"),
      MISUSE(ab::dynamic_index_in_dim(f32({4}), 0, 1), "dynamic_index_in_dim: no axis 1"),
      MISUSE(ab::zeros_like(empty), "zeros_like: an operand is an empty Array"),
      MISUSE(ab::repeat(empty, 2), "repeat: an operand is an empty Array"),
      MISUSE(ab::take(empty, 0, ab::OutOfRange::clip), "take: an operand is an empty Array"),
      MISUSE(ab::random::gumbel(f32({}), {2}), "random::gumbel: the key is f32[]"),
      MISUSE(ab::random::gamma(f32({}), 1, {2}), "random::gamma: the key is f32[]"),
      MISUSE(ab::random::bits(f32({}), {2}), "random::bits: the key is f32[]"),
      MISUSE(ab::random::rademacher(f32({}), {2}), "random::rademacher: the key is f32[]"),
      MISUSE(ab::random::permutation(f32({}), 3), "random::permutation: the key is f32[]"),
      MISUSE(ab::random::choice(f32({}), f32({3}), {2}), "random::choice: the key is f32[]"),
      MISUSE(ab::random::categorical(f32({}), f32({2})), "random::categorical: the key is f32[]"),
      MISUSE(ab::random::categorical(key, f32({2, 0})), "random::categorical: f32[2,0] has no"),
      MISUSE(ab::init::he_normal(f32({}), {2, 3}), "init::he_normal: the key is f32[]"),
  });
}

TEST(Errors, NoArraysAtAll) {
  using Arrays = std::vector<ab::Array>;
  const auto less = [](const Arrays& scalars) { return scalars[0] < scalars[1]; };
  const auto same = [](const Arrays& scalars) { return scalars; };
  expect_messages({
      MISUSE(ab::concat({}), "concat: needs at least one array, and was given none"),
      MISUSE(ab::concat(Arrays()), "concat: needs at least one array"),
      MISUSE(ab::stack({}), "stack: needs at least one array"),
      MISUSE(ab::linalg::multi_dot({}), "multi_dot: takes two arrays or more"),
      MISUSE(ab::sort(Arrays(), less), "sort: no arrays; give one or more"),
      MISUSE(ab::reduce(Arrays(), Arrays(), same), "reduce: no arrays; give one or more"),
      MISUSE(ab::map_elements(Arrays(), same), "map_elements: no arrays; give one or more"),
  });
}

TEST(Errors, ReadingWhatIsNotThere) {
  ab::Array x = ab::array({1.0f, 2.0f});
  std::vector<float> three(3);
  ab::Array empty, escaped;
  ab::trace([&](ab::Array inside) { return escaped = inside + 1; }, ab::spec(ab::f32, {2}));
  const char* reason = ab::devices().size() > 1 ? ", cuda:0" : ", since";
  expect_messages({
      MISUSE(x.to_vector<double>(), "to_vector: f32[2] read as f64", ".astype(ab::f64)"),
      MISUSE(x.item<float>(), "item: f32[2] has 2 elements, not 1"),
      MISUSE(x.copy_to(std::span(three)), "copy_to: f32[2] has 2 elements, not 3"),
      MISUSE(empty.shape(), "shape: the Array is empty"),
      MISUSE(empty + 1, "add: an operand is an empty Array"),
      MISUSE(ab::exp(empty), "exp: an operand is an empty Array"),
      MISUSE(x.to(ab::Device::cuda(63)), "to: f32[2]: there is no device cuda:63", reason,
             "there is cpu:0"),
      MISUSE(x.to(ab::Device::cpu(63)), "to: f32[2]: there is no device cpu:63", "set_cpu_devices"),
      MISUSE(escaped * 2, "multiply: f32[2] was traced in a function that has returned"),
      MISUSE(escaped.to_vector<float>(), "to_vector: f32[2] is being traced and has no value yet"),
      MISUSE(escaped.wait(), "wait: f32[2] is being traced"),
      MISUSE(x + ab::zeros(ab::f32, {2}).to(ab::Device::null()),
             "add: operands live on " + to_string(ab::default_device()) + " and on null:0"),
  });
}

TEST(Errors, ArraysOfTwoTracesDoNotMeet) {
  std::string message;
  ab::trace(
      [&](ab::Array outer) {
        try {
          ab::trace([&](ab::Array inner) { return inner + outer; }, ab::spec(ab::f32, {2}));
        } catch (const ab::Error& error) {
          message = error.what();
        }
        return outer;
      },
      ab::spec(ab::f32, {2}));
  EXPECT_NE(message.find("add: f32[2] belongs to another trace"), std::string::npos) << message;
  EXPECT_NE(message.find(", at errors.cpp:"), std::string::npos) << message;
}

TEST(Errors, JitNamesTheInput) {
  const int made = __LINE__ + 1;
  auto f = ab::jit([](ab::Array x, ab::Array y) { return x + y; });
  auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const ab::Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message([&] { f(f32({2}), ab::Array()); }).find("jit: input 1 is an empty Array"),
            std::string::npos);
  EXPECT_NE(message([&] { f(f32({2}), f32({2}).to(ab::Device::null())); })
                .find("add: operands live on " + to_string(ab::default_device()) +
                      " and on null:0; move one with .to(device)"),
            std::string::npos);
  EXPECT_NE(message([&] {
              f(f32({2}), ab::Array());
            }).find(", in the function made at errors.cpp:" + std::to_string(made)),
            std::string::npos);
  EXPECT_NE(message([&] { f(f32({2}), f32({3})); }).find("add: shapes do not broadcast"),
            std::string::npos);
  auto fixed = ab::compile([](ab::Array x) { return x; }, ab::spec(ab::f32, {2}));
  EXPECT_NE(message([&] { fixed(f32({3})); }).find("argument 0: f32[3] instead of f32[2]"),
            std::string::npos);
  ab::Options options;
  options.device = ab::Device::cuda(3);
  EXPECT_NE(message([&] {
              ab::jit([](ab::Array x) { return x; }, options)(f32({2}));
            }).find("there is no device cuda:3"),
            std::string::npos);
  options = {};
  options.disabled = {"frobnicate"};
  EXPECT_NE(message([&] {
              ab::jit([](ab::Array x) { return x; }, options)(f32({2}));
            }).find("there is no pass frobnicate"),
            std::string::npos);
}

// What only the compiler finds out names the line of the function.
TEST(Errors, CompilersNameTheFunction) {
  const auto same = [](ab::Array x) { return x; };
  const auto two = [](ab::Array x, ab::Array y) { return std::pair{ab::sum(ab::sin(x), 0), y}; };
  const auto large = [](ab::Array x) { return ab::matmul(ab::matmul(x, x), x); };
  ab::Options away, small, crowded;
  away.device = ab::Device::cuda(63);
  small.memory_limit = 1;
  crowded.device = ab::Device::cuda(63);
  crowded.in_flight = 3;
  expect_messages({
      MISUSE(ab::jit(same, away)(f32({2})), "there is no device cuda:63"),
      MISUSE(ab::jit(same, crowded), "there is no device cuda:63"),
      MISUSE(ab::jit(large, small)(f32({64, 64})), "Options::memory_limit"),
      MISUSE(ab::jit([](ab::Array) { return ab::Array(); })(f32({2})),
             "trace: the function's result is an empty Array"),
      MISUSE(ab::trace(
                 [](ab::Array x) {
                   return Particle{x, {}};
                 },
                 ab::spec(ab::f32, {2})),
             "trace: the function's result.velocity is an empty Array"),
      MISUSE(ab::compile(same, ab::spec(ab::f32, {2}))(f32({3})),
             "compile: called with arguments of other types than it was compiled for: argument 0: "
             "f32[3] instead of f32[2]; use jit for several"),
      MISUSE(ab::compile(same, ab::array({1.0f}))(i32({1})), "i32[1] instead of f32[1]"),
      MISUSE(ab::compile(two, ab::spec(ab::f32, {2}), ab::spec(ab::f32, {2}))(f32({3}), f32({3})),
             "argument 0: f32[3] instead of f32[2], argument 1: f32[3] instead of f32[2]; use"),
      MISUSE(ab::compile(same, ab::spec(ab::f64, {}))(1.0),
             "argument 0: f64[] (weak: from C++ numbers) instead of f64[]; use"),
  });
}

TEST(Errors, AThrowInATracedFunctionEndsItsTrace) {
  ab::Array escaped;
  auto broken = [&](ab::Array x) -> ab::Array {
    escaped = x;
    throw std::runtime_error("mine");
  };
  EXPECT_THROW(ab::trace(broken, ab::spec(ab::f32, {2})), std::runtime_error);
  EXPECT_THROW(escaped + 1, ab::Error);
}

TEST(Errors, ValuesOfALoopStayInIt) {
  std::string message;
  ab::trace(
      [&](ab::Array x) {
        ab::Array kept;
        ab::Array last = ab::fori_loop(
            0, 3, [&](ab::Array, ab::Array c) { return kept = c + 1; }, x);
        try {
          return last + kept;
        } catch (const ab::Error& error) {
          message = error.what();
        }
        return last;
      },
      ab::spec(ab::f32, {2}));
  EXPECT_NE(message.find("add: f32[2] was traced in a function that has returned"),
            std::string::npos)
      << message;
}

TEST(Errors, CarriesThatChange) {
  const auto holds = [](const auto&) { return true; };
  const Particle p{f32({3}), f32({3})};
  const auto drift = [](const Particle& c) {
    return Particle{c.position, c.velocity.astype(ab::f64)};
  };
  const auto grow = [](const Particle& c) { return Particle{c.position, f32({4})}; };
  const std::vector<ab::Array> list = {f32({})};
  const auto longer = [](std::vector<ab::Array> c) {
    c.push_back(c[0]);
    return c;
  };
  expect_messages({
      MISUSE(ab::while_loop(holds, drift, p),
             "while_loop: carry.velocity changes its type: f32[3] goes in and f64[3] comes back; "
             "convert it with .astype(ab::f32)"),
      MISUSE(ab::while_loop(holds, grow, p), "carry.velocity", "f32[3] goes in and f32[4] comes",
             "reshape or broadcast"),
      MISUSE(ab::fori_loop(
                 0, 3, [&](ab::Array, const Particle& c) { return drift(c); }, p),
             "fori_loop: carry.velocity changes its type"),
      MISUSE(ab::scan(
                 [&](const Particle& c) {
                   return std::pair{drift(c), c.position};
                 },
                 p, 3),
             "scan: carry.velocity changes its type"),
      MISUSE(ab::while_loop(holds, longer, list),
             "while_loop: carry.size(): 1 goes in, and carry.size(): 2 comes back"),
      MISUSE(ab::while_loop(
                 holds, [](ab::Array) { return 0.5; }, i32({})),
             "while_loop: carry changes its type: i32[] goes in and f64[] comes back"),
      MISUSE(ab::while_loop([](ab::Array x) { return x; }, [](ab::Array x) { return x; }, f32({})),
             "while_loop: the condition gives f32[], and not bool[]"),
      MISUSE(ab::while_loop(
                 holds, [](ab::Array x) { return x; }, ab::Array()),
             "while_loop: carry is an empty Array"),
  });
}

TEST(Errors, BranchesAndSlicesThatDoNotFit) {
  const auto same = [](ab::Array x) { return x; };
  const auto doubled = [](ab::Array x) { return Particle{x, x.astype(ab::f64)}; };
  const auto single = [](ab::Array x) { return Particle{x, x}; };
  expect_messages({
      MISUSE(ab::cond(f32({}), same, same, f32({})), "cond: the predicate is f32[]"),
      MISUSE(ab::cond(true, single, doubled, f32({2})),
             "cond: result.velocity is f64[2] in the false branch and f32[2] in the true branch"),
      MISUSE(ab::switch_(f32({}), std::tuple{same}, f32({})), "switch_: f32[]", "integers"),
      MISUSE(ab::switch_(i32({2}), std::tuple{same}, f32({})), "switch_: the index is i32[2]"),
      MISUSE(ab::fori_loop(
                 0, i32({2}), [](ab::Array, ab::Array x) { return x; }, f32({})),
             "fori_loop: a bound is i32[2]"),
      MISUSE(ab::scan(
                 [](ab::Array c, Particle) {
                   return std::pair{c, c};
                 },
                 f32({}), Particle{f32({3}), f32({4})}),
             "scan: xs.velocity, f32[4], has 4 slabs, and xs.position has 3"),
      MISUSE(ab::scan(
                 [](ab::Array c, ab::Array) {
                   return std::pair{c, c};
                 },
                 f32({}), f32({})),
             "scan: xs, f32[], has no axis to step along"),
      MISUSE(ab::dynamic_slice(f32({4}), {i32({2})}, {2}), "dynamic_slice: a start is i32[2]"),
      MISUSE(ab::dynamic_slice(f32({4}), {0}, {5}),
             "dynamic_slice: the block does not fit on axis 0"),
      MISUSE(ab::dynamic_update_slice(f32({4}), f32({5}), {0}),
             "dynamic_update_slice: the update does not fit on axis 0"),
      MISUSE(ab::dynamic_index_in_dim(f32({4}), 0, 1), "axis 1"),
  });
}

}  // namespace
