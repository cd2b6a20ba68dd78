#include "ir/infer/infer.h"

#include <gtest/gtest.h>

#include "anabranch/error.h"
#include "ir/text/parse.h"

namespace anabranch {
namespace {

Type type(const std::string& text) {
  return parse("graph(%0: " + text + ") {return}").parameter_type(0);
}

// One application of an op; types are written as text.
struct Call {
  Op op;
  std::vector<std::string> operands;
  Attributes attributes = NoAttributes{};
  std::string stated = {};
  std::string region = {};  // or several, one after the other

  std::vector<Type> infer(SourceLocation location = {}) const {
    std::vector<Type> types;
    for (const std::string& operand : operands) types.push_back(type(operand));
    std::optional<Type> result;
    if (!stated.empty()) result = type(stated);
    std::vector<Graph> regions;
    if (!region.empty()) regions = parse_all(region);
    return anabranch::infer(op, types, attributes, result, regions, location);
  }
};

const char* const keep_first =
    "graph(%a: f32[], %b: i32[], %c: f32[], %d: i32[]) { return %a, %b }";

const char* const count_down = R"(
  graph(%a: i32[], %b: f32[3], %c: i32[]) { %d: bool[] = compare %a, %c direction=gt return %d }
  graph(%a: i32[], %b: f32[3], %c: i32[]) { %d: i32[] = subtract %a, %c return %d, %b })";

struct Good {
  Call call;
  std::string results;
};

const Good goods[] = {
    {{Op::add, {"f32[2,3]", "f32[2,3]"}}, "f32[2,3]"},
    {{Op::add, {"bool[]", "bool[]"}}, "bool[]"},
    {{Op::is_finite, {"bf16[4]"}}, "bool[4]"},
    {{Op::popcnt, {"bool[4]"}}, "bool[4]"},
    {{Op::compare, {"u8[4]", "u8[4]"}, CompareAttributes{Comparison::lt}}, "bool[4]"},
    {{Op::convert, {"f32[4]"}, NoAttributes{}, "bool[4]"}, "bool[4]"},
    {{Op::bitcast_convert, {"f32[4]"}, NoAttributes{}, "u32[4]"}, "u32[4]"},
    {{Op::random_bits, {"u64[7]", "u64[7]"}}, "u32[7]"},
    {{Op::select, {"bool[2]", "i8[2]", "i8[2]"}}, "i8[2]"},
    {{Op::clamp, {"f16[2]", "f16[2]", "f16[2]"}}, "f16[2]"},
    {{Op::iota, {}, AxisAttributes{1}, "i32[2,3]"}, "i32[2,3]"},
    {{Op::reshape, {"f32[2,3]"}, NoAttributes{}, "f32[6,1]"}, "f32[6,1]"},
    {{Op::reshape, {"f32[0,3]"}, NoAttributes{}, "f32[7,0]"}, "f32[7,0]"},
    {{Op::broadcast_in_dim, {"f32[]"}, AxesAttributes{}, "f32[2,3]"}, "f32[2,3]"},
    {{Op::broadcast_in_dim, {"f32[3,1]"}, AxesAttributes{{2, 0}}, "f32[5,4,3]"}, "f32[5,4,3]"},
    {{Op::transpose, {"f32[2,3,4]"}, AxesAttributes{{2, 0, 1}}}, "f32[4,2,3]"},
    {{Op::slice, {"f32[10,4]"}, SliceAttributes{{1, 4}, {10, 4}, {4, 1}}}, "f32[3,0]"},
    {{Op::slice, {"f32[4]"}, SliceAttributes{{0}, {4}, {INT64_MAX}}}, "f32[1]"},
    {{Op::reverse, {"f32[2,3]"}, AxesAttributes{{0, 1}}}, "f32[2,3]"},
    {{Op::sliding_windows, {"f32[7]"}, WindowsAttributes{{3}, {1}, {1}}}, "f32[5,3]"},
    {{Op::sliding_windows, {"f32[7]"}, WindowsAttributes{{3}, {2}, {3}}}, "f32[1,3]"},
    {{Op::sliding_windows, {"f32[2]"}, WindowsAttributes{{3}, {1}, {1}}}, "f32[0,3]"},
    {{Op::sliding_windows, {"u8[0,3]"}, WindowsAttributes{{1, 2}, {1, 1}, {1, 1}}}, "u8[0,2,1,2]"},
    {{Op::sliding_windows, {"f32[5]"}, WindowsAttributes{{3}, {INT64_MAX}, {INT64_MAX}}},
     "f32[0,3]"},
    {{Op::pad, {"f32[3]", "f32[]"}, PadAttributes{{1}, {2}, {1}}}, "f32[8]"},
    {{Op::pad, {"f32[3]", "f32[]"}, PadAttributes{{-2}, {-1}, {0}}}, "f32[0]"},
    {{Op::pad, {"f32[0]", "f32[]"}, PadAttributes{{1}, {1}, {5}}}, "f32[2]"},
    {{Op::concatenate, {"f32[2,3]", "f32[2,0]", "f32[2,4]"}, AxisAttributes{1}}, "f32[2,7]"},
    {{Op::dynamic_slice, {"f32[4,3]", "i32[]", "i64[]"}, SizesAttributes{{2, 3}}}, "f32[2,3]"},
    {{Op::dynamic_slice, {"f32[]"}, SizesAttributes{}}, "f32[]"},
    {{Op::dynamic_slice, {"i8[4]", "i64[]"}, SizesAttributes{{0}}}, "i8[0]"},
    {{Op::dynamic_update_slice, {"f32[4,3]", "f32[2,3]", "i32[]", "i32[]"}}, "f32[4,3]"},
    {{Op::gather, {"f32[9,4]", "i32[5]"}, GatherAttributes{{1}, {0}, {}, {}, {0}, 1, {1, 4}}},
     "f32[5,4]"},
    {{Op::gather,
      {"u8[9,4]", "i64[2,5,7]"},
      GatherAttributes{{0, 2}, {}, {}, {}, {1, 0}, 0, {3, 2}}},
     "u8[3,5,2,7]"},
    {{Op::gather,
      {"f32[6,9,4]", "i32[3,6,1]"},
      GatherAttributes{{2}, {1}, {0}, {1}, {1}, 2, {1, 1, 0}}},
     "f32[3,6,0]"},
    {{Op::gather, {"f32[]", "i32[0,2]"}, GatherAttributes{{}, {}, {}, {}, {}, 0, {}}}, "f32[2]"},
    {{Op::scatter,
      {"f32[9,4]", "i32[5]", "f32[5,4]"},
      ScatterAttributes{{1}, {0}, {}, {}, {0}, 1, ScatterCombiner::add}},
     "f32[9,4]"},
    {{Op::scatter,
      {"bool[6,9,4]", "i64[3,6,1]", "bool[3,6,2]"},
      ScatterAttributes{{2}, {1}, {0}, {1}, {1}, 2, ScatterCombiner::xor_}},
     "bool[6,9,4]"},
    {{Op::scatter, {"i8[]", "i32[0]", "i8[]"}, ScatterAttributes{}}, "i8[]"},
    {{Op::while_, {"i32[]", "f32[3]", "i32[]"}, WhileAttributes{}, {}, count_down}, "i32[] f32[3]"},
    {{Op::case_,
      {"i32[]", "f32[3]"},
      NoAttributes{},
      {},
      "graph(%a: f32[3]) { return %a } graph(%a: f32[3]) { %b: f32[3] = tanh %a return %b }"},
     "f32[3]"},
    {{Op::reduce_sum, {"f32[2,3,4]"}, AxesAttributes{{0, 2}}}, "f32[3]"},
    {{Op::reduce_max, {"i8[2]"}, AxesAttributes{}}, "i8[2]"},
    {{Op::reduce_all, {"bool[2]"}, AxesAttributes{{0}}}, "bool[]"},
    {{Op::argmax, {"f32[2,3]"}, AxisAttributes{0}, "i64[3]"}, "i64[3]"},
    {{Op::reduce, {"f32[4,3]", "i32[4,3]", "f32[]", "i32[]"}, AxesAttributes{{1}}, {}, keep_first},
     "f32[4] i32[4]"},
    {{Op::dot, {"f32[5,64,128]", "f32[128,5,32]"}, DotAttributes{{0}, {1}, {2}, {0}}},
     "f32[5,64,32]"},
    {{Op::dot, {"i8[2]", "i8[3]"}, DotAttributes{}}, "i8[2,3]"},
    {{Op::sort, {"bool[2,3]"}, SortAttributes{1, true}}, "bool[2,3]"},
    {{Op::argsort, {"f16[2,0]"}, ArgsortAttributes{1, false, PositionDtype::i32}}, "i32[2,0]"},
    {{Op::argsort, {"f64[3]"}, ArgsortAttributes{}}, "i64[3]"},
    {{Op::cumulative, {"bool[2,3]"}, CumulativeAttributes{1, Running::maximum}}, "bool[2,3]"},
    {{Op::cumulative, {"bf16[2,3]"}, CumulativeAttributes{0, Running::sum, true}}, "bf16[2,3]"},
    {{Op::transfer, {"i8[2,3]"}, DeviceAttributes{Device::cpu(1)}}, "i8[2,3]"},
    {{Op::custom_call,
      {"f32[3]", "i8[]"},
      CustomCallAttributes{"sort", {{Dtype::f32, {3}}, {Dtype::i32, {}}}}},
     "f32[3] i32[]"},
    {{Op::fft, {"c64[2,4]"}, FftAttributes{FftKind::ifft, {4}}}, "c64[2,4]"},
    {{Op::fft, {"f64[2,3,5]"}, FftAttributes{FftKind::rfft, {2, 3, 5}}}, "c128[2,3,3]"},
    {{Op::fft, {"c64[3,4]"}, FftAttributes{FftKind::irfft, {3, 7}}}, "f32[3,7]"},
    {{Op::fft, {"f32[3,0]"}, FftAttributes{FftKind::rfft, {0}}}, "c64[3,0]"},
    {{Op::cholesky, {"f64[2,3,3]"}, TriangleAttributes{true}}, "f64[2,3,3]"},
    {{Op::cholesky, {"f32[0,0]"}, TriangleAttributes{}}, "f32[0,0]"},
    {{Op::triangular_solve, {"f32[5,3,3]", "f32[5,3,2]"}, TriangularSolveAttributes{true}},
     "f32[5,3,2]"},
    {{Op::triangular_solve, {"f32[3,3]", "f32[0,3]"}, TriangularSolveAttributes{}}, "f32[0,3]"},
    {{Op::lu, {"f32[5,4,3]"}}, "f32[5,4,3] i32[5,3] i32[5,4]"},
    {{Op::qr, {"f64[4,3]"}}, "f64[4,3] f64[3]"},
    {{Op::qr, {"f64[3,4]"}}, "f64[3,4] f64[3]"},
    {{Op::qr_pivoted, {"f64[4,3]", "i32[3]"}}, "f64[4,3] f64[3] i32[3]"},
    {{Op::qr_pivoted, {"c64[2,3,4]", "i32[2,4]"}}, "c64[2,3,4] c64[2,3] i32[2,4]"},
    {{Op::householder_product, {"f32[4,3]", "f32[2]"}}, "f32[4,3]"},
    {{Op::svd, {"f32[4,3]"}, SvdAttributes{}}, "f32[3]"},
    {{Op::svd, {"f32[4,3]"}, SvdAttributes{true, false}}, "f32[3] f32[4,3] f32[3,3]"},
    {{Op::svd, {"f32[2,4,3]"}, SvdAttributes{true, true}}, "f32[2,3] f32[2,4,4] f32[2,3,3]"},
    {{Op::eigh, {"f32[3,3]"}, EighAttributes{}}, "f32[3]"},
    {{Op::eigh, {"c64[3,3]"}, EighAttributes{true, true}}, "f32[3] c64[3,3]"},
    {{Op::svd, {"c128[4,3]"}, SvdAttributes{true, false}}, "f64[3] c128[4,3] c128[3,3]"},
    {{Op::qr, {"c64[4,3]"}}, "c64[4,3] c64[3]"},
    {{Op::eigh, {"f32[7,3,3]"}, EighAttributes{true, true}}, "f32[7,3] f32[7,3,3]"},
    {{Op::eig, {"f32[3,3]"}, EigAttributes{}}, "c64[3]"},
    {{Op::eig, {"f64[2,3,3]"}, EigAttributes{true, false}}, "c128[2,3] c128[2,3,3]"},
    {{Op::eig, {"c64[0,0]"}, EigAttributes{true, true}}, "c64[0] c64[0,0] c64[0,0]"},
    {{Op::schur, {"f32[3,3]"}, SchurAttributes{}}, "f32[3,3]"},
    {{Op::schur, {"c128[2,3,3]"}, SchurAttributes{true}}, "c128[2,3,3] c128[2,3,3]"},
    {{Op::tridiagonal_solve, {"f32[3]", "f32[3]", "f32[3]", "f32[3,2]"}}, "f32[3,2]"},
    {{Op::tridiagonal_solve, {"c64[5,3]", "c64[5,3]", "c64[5,3]", "c64[5,3,0]"}}, "c64[5,3,0]"},
    {{Op::cumulative, {"c64[3]"}, CumulativeAttributes{0, Running::product}}, "c64[3]"},
    {{Op::fusion,
      {"f32[3]"},
      FusionAttributes{},
      {},
      "graph(%a: f32[3]) { %b: f32[3] = tanh %a return %b, %b }"},
     "f32[3] f32[3]"},
};

TEST(Infer, GivesResultTypes) {
  for (const Good& good : goods) {
    std::string results;
    for (const Type& type : good.call.infer())
      results += (results.empty() ? "" : " ") + to_string(type);
    EXPECT_EQ(results, good.results) << name(good.call.op);
  }
}

struct Bad {
  Call call;
  std::string message;
};

const Bad bads[] = {
    // Elementwise.
    {{Op::tanh, {"i32[3]"}},
     "tanh: takes floating-point numbers: i32[3] (convert to f32 or another float first)"},
    {{Op::and_, {"f32[3]", "f32[3]"}},
     "and: takes integers or bool: f32[3] x f32[3] (convert or bitcast_convert to an integer "
     "first)"},
    {{Op::add, {"f32[3]", "i32[3]"}},
     "add: operand dtypes differ: f32[3] x i32[3] (f32 against i32; convert one of them first)"},
    {{Op::add, {"f32[3]", "f32[4]"}},
     "add: operand shapes differ: f32[3] x f32[4] ([3] against [4]; broadcast_in_dim them to one "
     "shape "
     "first)"},
    {{Op::add, {"f32[3]"}}, "add: takes 2 operands and was given 1: f32[3]"},
    {{Op::negate, {}}, "negate: takes 1 operand and was given 0"},
    {{Op::abs, {"bool[3]"}}, "abs: does not take bool: bool[3] (convert to i32 first)"},
    {{Op::subtract, {"bool[]", "bool[]"}},
     "subtract: does not take bool: bool[] x bool[] (convert to i32 first)"},
    {{Op::convert, {"f32[3]"}, NoAttributes{}, "f16[4]"},
     "convert: the shape cannot change: f32[3] (to f16[4])"},
    {{Op::bitcast_convert, {"f32[3]"}, NoAttributes{}, "u16[3]"},
     "bitcast_convert: element widths differ: f32[3] (4 bytes against 2 of u16[3])"},
    {{Op::bitcast_convert, {"u8[3]"}, NoAttributes{}, "bool[3]"},
     "bitcast_convert: bool has no bits to read as another dtype: u8[3] (to bool[3]; convert does "
     "that)"},
    {{Op::random_bits, {"u32[3]", "u64[3]"}},
     "random_bits: key and counter must be u64: u32[3] x u64[3] (convert them first)"},
    {{Op::select, {"i8[2]", "f32[2]", "f32[2]"}},
     "select: the first operand must be bool: i8[2] x f32[2] x f32[2] (compare makes one)"},
    {{Op::select, {"bool[]", "f32[2]", "f32[2]"}},
     "select: operand shapes differ: bool[] x f32[2] x f32[2] ([] against [2]; broadcast_in_dim "
     "them to "
     "one shape first)"},
    {{Op::select, {"bool[2]", "f32[2]", "f16[2]"}},
     "select: the second and third operand have different dtypes: bool[2] x f32[2] x f16[2] (f32 "
     "against "
     "f16; convert one of them first)"},
    {{Op::clamp, {"f32[]", "f32[2]", "f32[2]"}},
     "clamp: operand shapes differ: f32[] x f32[2] x f32[2] ([] against [2]; broadcast_in_dim them "
     "to one "
     "shape first)"},
    // Index maps.
    {{Op::iota, {}, AxisAttributes{2}, "i32[2,3]"},
     "iota: axis is out of range (2; the axes are 0 to 1)"},
    {{Op::iota, {}, AxisAttributes{0}, "i32[]"},
     "iota: axis is out of range (0; rank 0 has no axes)"},
    {{Op::iota, {}, AxisAttributes{0}, "bool[2]"},
     "iota: bool cannot count (bool[2]; make it i32 and convert)"},
    {{Op::reshape, {"f32[2,3]"}, NoAttributes{}, "f32[5]"},
     "reshape: element counts differ: f32[2,3] (6 against 5 of f32[5])"},
    {{Op::reshape, {"f32[2]"}, NoAttributes{}, "f16[2]"},
     "reshape: the dtype cannot change: f32[2] (to f16[2]; convert does that)"},
    {{Op::broadcast_in_dim, {"f32[3]"}, AxesAttributes{{1}}, "f32[3,4]"},
     "broadcast_in_dim: size 3 does not broadcast to 4: f32[3] (operand axis 0 to axis 1 of "
     "f32[3,4]; only "
     "size 1 repeats)"},
    {{Op::broadcast_in_dim, {"f32[3]"}, AxesAttributes{}, "f32[3]"},
     "broadcast_in_dim: axes needs one entry per axis: f32[3] (0 entries for rank 1)"},
    {{Op::broadcast_in_dim, {"f32[1,1]"}, AxesAttributes{{1, 1}}, "f32[3,4]"},
     "broadcast_in_dim: an axis appears twice in axes: f32[1,1] (1 in [1,1])"},
    {{Op::transpose, {"f32[2,3]"}, AxesAttributes{{0, 2}}},
     "transpose: an axis of axes is out of range: f32[2,3] (2; the axes are 0 to 1)"},
    {{Op::slice, {"f32[4]"}, SliceAttributes{{1}, {5}, {1}}},
     "slice: bounds leave the operand on axis 0: f32[4] (start 1, limit 5, size 4; 0 <= start <= "
     "limit <= "
     "size must hold)"},
    {{Op::slice, {"f32[4]"}, SliceAttributes{{-1}, {2}, {1}}}, "slice: bounds leave the operand"},
    {{Op::slice, {"f32[4]"}, SliceAttributes{{3}, {2}, {1}}}, "slice: bounds leave the operand"},
    {{Op::slice, {"f32[4]"}, SliceAttributes{{0}, {4}, {0}}},
     "slice: stride must be at least 1 on axis 0: f32[4] (0; flip, the op reverse, turns an axis "
     "round)"},
    {{Op::slice, {"f32[4]"}, SliceAttributes{{0}, {4}, {}}},
     "slice: stride needs one entry per axis: f32[4] (0 entries for rank 1)"},
    {{Op::reverse, {"f32[2,3]"}, AxesAttributes{{1, 0}}},
     "reverse: axes must ascend: f32[2,3] ([1,0]; sort them)"},
    {{Op::sliding_windows, {"f32[3]"}, WindowsAttributes{{0}, {1}, {1}}},
     "sliding_windows: size, stride and dilation must be at least 1 on axis 0: f32[3] (0, 1, 1)"},
    {{Op::sliding_windows, {"f32[3]"}, WindowsAttributes{{1}, {1, 1}, {1}}},
     "sliding_windows: strides needs one entry per axis: f32[3] (2 entries for rank 1)"},
    {{Op::pad, {"f32[3]", "f16[]"}, PadAttributes{{0}, {0}, {0}}},
     "pad: the padding value must be a scalar of the operand's dtype: f32[3] x f16[] (f16[] "
     "instead of "
     "f32[])"},
    {{Op::pad, {"f32[3]", "f32[]"}, PadAttributes{{-2}, {-2}, {0}}},
     "pad: crops more than there is on axis 0: f32[3] x f32[] (size 3, low -2, high -2, interior "
     "0)"},
    {{Op::pad, {"f32[3]", "f32[]"}, PadAttributes{{0}, {0}, {-1}}},
     "pad: interior must be 0 or more on axis 0"},
    {{Op::pad, {"f32[3]", "f32[]"}, PadAttributes{{INT64_MAX}, {0}, {0}}},
     "pad: the padded size overflows on axis 0"},
    {{Op::pad, {"f32[3]", "f32[]"}, PadAttributes{{0}, {0}, {INT64_MAX}}},
     "pad: the padded size overflows on axis 0"},
    {{Op::pad, {"f32[3]", "f32[]"}, PadAttributes{{std::int64_t{1} << 60}, {0}, {0}}},
     "pad: no array can have the result's size: f32[3] x f32[] (shape [1152921504606846979]: more "
     "than "
     "2^59 elements"},
    {{Op::concatenate, {}, AxisAttributes{0}}, "concatenate: needs at least one operand"},
    {{Op::concatenate, {"f32[2,3]", "f32[3,3]"}, AxisAttributes{1}},
     "concatenate: sizes differ on axis 0: f32[2,3] x f32[3,3] (2 against 3; only axis 1 may "
     "differ)"},
    {{Op::concatenate, {"f32[2]", "f32[2,1]"}, AxisAttributes{0}},
     "concatenate: operand ranks differ: f32[2] x f32[2,1] (1 against 2)"},
    {{Op::concatenate, {"f32[2]", "i32[2]"}, AxisAttributes{0}},
     "concatenate: operand dtypes differ: f32[2] x i32[2]"},
    {{Op::concatenate, {"f32[]"}, AxisAttributes{0}},
     "concatenate: axis is out of range: f32[] (0; rank 0 has no axes)"},
    // Reductions.
    {{Op::reduce_sum, {"bool[3]"}, AxesAttributes{{0}}},
     "reduce_sum: does not take bool: bool[3] (convert it to i32 first, or use reduce_any or "
     "reduce_all)"},
    {{Op::reduce_any, {"i32[3]"}, AxesAttributes{{0}}},
     "reduce_any: takes bool: i32[3] (compare with zero, or convert to bool, first)"},
    {{Op::reduce_max, {"f32[3]"}, AxesAttributes{{1}}},
     "reduce_max: an axis of axes is out of range: f32[3] (1; the axes are 0 to 0)"},
    {{Op::reduce_max, {"f32[3,4]"}, AxesAttributes{{0, 0}}},
     "reduce_max: an axis appears twice in axes: f32[3,4] (0 in [0,0])"},
    {{Op::reduce_max, {"f32[3,4]"}, AxesAttributes{{1, 0}}},
     "reduce_max: axes must ascend: f32[3,4] ([1,0]; sort them)"},
    {{Op::argmax, {"f32[3,0]"}, AxisAttributes{1}, "i32[3]"},
     "argmax: axis 1 is empty: f32[3,0] (no element has a position)"},
    {{Op::argmax, {"f32[3]"}, AxisAttributes{0}, "f32[]"},
     "argmax: positions are i32 or i64: f32[3] (not f32[])"},
    {{Op::argmin, {"f32[3]"}, AxisAttributes{0}, "i32[1]"},
     "argmin: the stated type has the wrong shape: f32[3] (i32[1] instead of i32[])"},
    {{Op::argmin, {"bool[4294967296]"}, AxisAttributes{0}, "i32[]"},
     "argmin: i32 does not hold every position: bool[4294967296] (4294967296; ask for i64)"},
    {{Op::sort, {"f32[]"}, SortAttributes{}},
     "sort: axis is out of range: f32[] (0; rank 0 has no axes)"},
    {{Op::sort, {"c64[3]"}, SortAttributes{}},
     "sort: does not take complex numbers: c64[3] (take the real and the imaginary parts)"},
    {{Op::argsort, {"bool[4294967296]"}, ArgsortAttributes{0, false, PositionDtype::i32}},
     "argsort: i32 does not hold every position: bool[4294967296] (4294967296; ask for i64)"},
    {{Op::cumulative, {"bool[3]"}, CumulativeAttributes{}},
     "cumulative: sums and products do not take bool: bool[3] (convert it to i32 first, or take "
     "the "
     "maximum or minimum)"},
    {{Op::cumulative, {"c64[3]"}, CumulativeAttributes{0, Running::maximum}},
     "cumulative: does not take complex numbers: c64[3] (take the real and the imaginary parts)"},
    {{Op::reduce, {"f32[3]"}, AxesAttributes{{0}}, {}, keep_first},
     "reduce: takes n arrays and then n scalars: f32[3] (given 1 in all)"},
    {{Op::reduce, {"f32[3]", "i32[4]", "f32[]", "i32[]"}, AxesAttributes{{0}}, {}, keep_first},
     "reduce: operand shapes differ: f32[3] x i32[4] x f32[] x i32[] ([3] against [4]; the arrays "
     "are "
     "reduced together)"},
    {{Op::reduce, {"f32[3]", "i32[3]", "f32[]", "i64[]"}, AxesAttributes{{0}}, {}, keep_first},
     "reduce: initial value 1 must be a scalar of its array's dtype: f32[3] x i32[3] x f32[] x "
     "i64[] (i64[] "
     "instead of i32[])"},
    {{Op::reduce, {"f32[3]", "f32[]"}, AxesAttributes{{0}}, {}, keep_first},
     "reduce: the body takes 4 parameters, not 2: f32[3] x f32[]"},
    {{Op::reduce,
      {"f32[3]", "f32[]"},
      AxesAttributes{{0}},
      {},
      "graph(%a: f32[], %b: f64[]) { return %a }"},
     "reduce: parameter 1 of the body has the wrong type: f32[3] x f32[] (f64[] instead of f32[])"},
    {{Op::reduce,
      {"f32[3]", "f32[]"},
      AxesAttributes{{0}},
      {},
      "graph(%a: f32[], %b: f32[]) { return %a, %b }"},
     "reduce: the body returns 2 values, not 1: f32[3] x f32[]"},
    {{Op::reduce,
      {"f32[3]", "f32[]"},
      AxesAttributes{{0}},
      {},
      "graph(%a: f32[], %b: f32[]) { %c: bool[] = is_finite %a return %c }"},
     "reduce: result 0 of the body has the wrong type: f32[3] x f32[] (bool[] instead of f32[])"},
    // Dot and fusion.
    {{Op::dot, {"bool[2]", "bool[2]"}, DotAttributes{{}, {}, {0}, {0}}},
     "dot: does not take bool: bool[2] x bool[2] (convert both operands to i32 first)"},
    {{Op::dot, {"f32[2]", "f16[2]"}, DotAttributes{{}, {}, {0}, {0}}},
     "dot: operand dtypes differ: f32[2] x f16[2] (f32 against f16; convert one of them first)"},
    {{Op::dot, {"f32[2,3]", "f32[4,3]"}, DotAttributes{{0}, {0}, {1}, {1}}},
     "dot: batch sizes differ: f32[2,3] x f32[4,3] (2 against 4)"},
    {{Op::dot, {"f32[2,3]", "f32[2]"}, DotAttributes{{}, {}, {0, 1}, {0}}},
     "dot: lhs and rhs name different numbers of contracting axes: f32[2,3] x f32[2] ([0,1] "
     "against [0])"},
    {{Op::dot, {"f32[2,3]", "f32[2,3]"}, DotAttributes{{0}, {0}, {0}, {1}}},
     "dot: an axis appears twice in lhs_batch and lhs_contracting: f32[2,3] x f32[2,3] (0 in "
     "[0,0])"},
    {{Op::dot, {"f32[2]", "f32[2]"}, DotAttributes{{}, {}, {0}, {1}}},
     "dot: an axis of rhs_batch and rhs_contracting is out of range: f32[2] x f32[2] (1; the axes "
     "are 0 to "
     "0)"},
    {{Op::dot, {"f32[1073741824]", "f32[1073741824]"}, DotAttributes{}},
     "dot: no array can have the result's size: f32[1073741824] x f32[1073741824] (shape "
     "[1073741824,1073741824]: more than 2^59 elements"},
    // Slices at places known later.
    {{Op::dynamic_slice, {"f32[4,3]", "i32[]"}, SizesAttributes{{2, 3}}},
     "dynamic_slice: needs one start per axis: f32[4,3] x i32[] (1 for 2 axes, as scalars after "
     "the array)"},
    {{Op::dynamic_slice, {"f32[4]", "f32[]"}, SizesAttributes{{2}}},
     "dynamic_slice: the start on axis 0 must be a scalar of i32 or i64: f32[4] x f32[] (not "
     "f32[])"},
    {{Op::gather, {"f32[9,4]", "f32[5]"}, GatherAttributes{{1}, {0}, {}, {}, {0}, 1, {1, 4}}},
     "gather: the indices must be i32 or i64: f32[9,4] x f32[5] (not f32[5])"},
    {{Op::gather, {"f32[9,4]", "i32[5]"}, GatherAttributes{{1}, {0}, {}, {}, {0}, 2, {1, 4}}},
     "gather: index_vector_axis is none of the indices' axes, nor their number: f32[9,4] x i32[5] "
     "(2)"},
    {{Op::gather, {"f32[9,4]", "i32[5]"}, GatherAttributes{{1}, {0}, {}, {}, {0}, 0, {1, 4}}},
     "gather: needs one of start_axes per component of an index vector: f32[9,4] x i32[5] (1 for "
     "5)"},
    {{Op::gather, {"f32[9,4]", "i32[5]"}, GatherAttributes{{1}, {0}, {}, {}, {2}, 1, {1, 4}}},
     "gather: an axis of start_axes is out of range: f32[9,4] x i32[5] (2; the axes are 0 to 1)"},
    {{Op::gather, {"f32[9,4]", "i32[5]"}, GatherAttributes{{1}, {0}, {}, {}, {0}, 1, {1, 5}}},
     "gather: a window does not fit on axis 1: f32[9,4] x i32[5] (size 5 of 4)"},
    {{Op::gather, {"f32[9,4]", "i32[5]"}, GatherAttributes{{1}, {0}, {}, {}, {0}, 1, {2, 4}}},
     "gather: a window has one element on axis 0, which the result has not: f32[9,4] x i32[5] (not "
     "2)"},
    {{Op::gather, {"f32[9,4]", "i32[5]"}, GatherAttributes{{0, 1}, {0}, {}, {}, {0}, 1, {1, 4}}},
     "gather: offset_axes needs one entry per axis of a window: f32[9,4] x i32[5] (2 for 1)"},
    {{Op::gather, {"f32[9,4]", "i32[9]"}, GatherAttributes{{}, {0, 1}, {0}, {0}, {1}, 1, {1, 1}}},
     "gather: axis 0 is among both collapsed_axes and operand_batch_axes: f32[9,4] x i32[9]"},
    {{Op::gather, {"f32[9,4]", "i32[9]"}, GatherAttributes{{1}, {}, {0}, {0}, {0}, 1, {1, 4}}},
     "gather: axis 0 is among both start_axes and operand_batch_axes: f32[9,4] x i32[9]"},
    {{Op::gather, {"f32[9,4]", "i32[8]"}, GatherAttributes{{}, {1}, {0}, {0}, {1}, 1, {1, 1}}},
     "gather: batch sizes differ: f32[9,4] x i32[8] (9 on axis 0 against 8 on axis 0 of the "
     "indices)"},
    {{Op::gather, {"f32[9,4]", "i32[9]"}, GatherAttributes{{}, {1}, {0}, {}, {1}, 1, {1, 1}}},
     "gather: operand_batch_axes and index_batch_axes go in pairs: f32[9,4] x i32[9] ([0] against "
     "[])"},
    {{Op::scatter,
      {"f32[9,4]", "i32[5]", "f16[5,4]"},
      ScatterAttributes{{1}, {0}, {}, {}, {0}, 1, ScatterCombiner::add}},
     "scatter: operand dtypes differ: f32[9,4] x i32[5] x f16[5,4] (f32 against f16; convert the "
     "updates first)"},
    {{Op::scatter,
      {"f32[9,4]", "i32[5]", "f32[5,4]"},
      ScatterAttributes{{1}, {0}, {}, {}, {0}, 1, ScatterCombiner::or_}},
     "scatter: or combines integers or bool: f32[9,4] x i32[5] x f32[5,4]"},
    {{Op::scatter,
      {"c64[9]", "i32[5]", "c64[5]"},
      ScatterAttributes{{}, {0}, {}, {}, {0}, 1, ScatterCombiner::maximum}},
     "scatter: maximum does not combine complex numbers: c64[9] x i32[5] x c64[5] (which have no "
     "order)"},
    {{Op::scatter,
      {"f32[9,4]", "i32[5]", "f32[5]"},
      ScatterAttributes{{1}, {0}, {}, {}, {0}, 1, ScatterCombiner::add}},
     "scatter: the updates have an axis per axis of a window and per axis of the indices: f32[9,4] "
     "x i32[5] x f32[5] (1 instead of 2)"},
    {{Op::scatter,
      {"f32[9,4]", "i32[5]", "f32[5,5]"},
      ScatterAttributes{{1}, {0}, {}, {}, {0}, 1, ScatterCombiner::add}},
     "scatter: a window does not fit on axis 1 of the updates: f32[9,4] x i32[5] x f32[5,5] (size "
     "5 of 4)"},
    {{Op::scatter,
      {"f32[9,4]", "i32[5]", "f32[6,4]"},
      ScatterAttributes{{1}, {0}, {}, {}, {0}, 1, ScatterCombiner::add}},
     "scatter: not as many windows as index vectors on axis 0 of the updates: f32[9,4] x i32[5] x "
     "f32[6,4] (6 against 5)"},
    {{Op::dynamic_slice, {"f32[4]", "i32[]"}, SizesAttributes{{5}}},
     "dynamic_slice: the block does not fit on axis 0: f32[4] x i32[] (size 5 of 4)"},
    {{Op::dynamic_update_slice, {"f32[4]", "f32[5]", "i32[]"}},
     "dynamic_update_slice: the update does not fit on axis 0: f32[4] x f32[5] x i32[] (size 5 of "
     "4)"},
    {{Op::dynamic_update_slice, {"f32[4]", "f64[2]", "i32[]"}},
     "dynamic_update_slice: operand dtypes differ: f32[4] x f64[2] x i32[] (f32 against f64; "
     "convert one of them first)"},
    {{Op::dynamic_update_slice, {"f32[4,3]", "f32[3]", "i32[]", "i32[]"}},
     "dynamic_update_slice: operand ranks differ: f32[4,3] x f32[3] x i32[] x i32[] (2 against 1; "
     "reshape the update first)"},
    // Loops and branches.
    {{Op::while_,
      {"f32[]"},
      WhileAttributes{},
      {},
      "graph(%a: f32[]) { return %a } graph(%a: f32[]) { return %a }"},
     "while: the condition must return one bool[]: f32[] (it returns f32[])"},
    {{Op::while_,
      {"bool[]", "f32[3]"},
      WhileAttributes{},
      {},
      "graph(%a: bool[], %b: f32[3]) { return %a } graph(%a: bool[], %b: f32[3]) { %c: f16[3] = "
      "convert %b return %a, %c }"},
     "while: carried value 1 changes its type: bool[] x f32[3] (f32[3] goes in and f16[3] comes "
     "back; convert or reshape it in the body)"},
    {{Op::while_,
      {"bool[]"},
      WhileAttributes{},
      {},
      "graph(%a: bool[]) { return %a } graph(%a: bool[]) { return }"},
     "while: the body returns 0 values: bool[] (it must return the next of each carried value, at "
     "least one)"},
    {{Op::while_, {"bool[]"}, WhileAttributes{}, {}, "graph(%a: bool[]) { return %a }"},
     "while: takes a condition and a body: bool[] (given 1 region)"},
    {{Op::while_,
      {"bool[]"},
      WhileAttributes{},
      {},
      "graph(%a: bool[]) { return %a } graph(%a: f32[]) { return %a }"},
     "while: parameter 0 of the body has the wrong type: bool[] (f32[] instead of bool[])"},
    {{Op::while_,
      {"bool[]"},
      WhileAttributes{0},
      {},
      "graph(%a: bool[]) { return %a } graph(%a: bool[]) { return %a }"},
     "while: kept_states is 0: bool[] (at least 1 state is kept)"},
    {{Op::composite,
      {"f32[3]"},
      CompositeAttributes{CompositeRule::named, 1},
      {},
      "graph(%a: f32[3]) { return %a }"},
     "composite: a named says its name: f32[3]"},
    {{Op::composite,
      {"f32[3]"},
      CompositeAttributes{CompositeRule::kept, 1},
      {},
      "graph(%a: f32[3]) { %b: f32[3] = sine %a return %b }"},
     "composite: a kept gives its one operand as it is: f32[3]"},
    {{Op::case_, {"bool[]"}, NoAttributes{}, {}, "graph() { return }"},
     "case: the first operand must be i32[]: bool[] (the number of the branch to take)"},
    {{Op::case_,
      {"i32[]", "f32[3]"},
      NoAttributes{},
      {},
      "graph(%a: f32[3]) { return %a } graph(%a: f32[3]) { %b: f64[3] = convert %a return %b }"},
     "case: result 0 of branch 1 has another type than branch 0's: i32[] x f32[3] (f64[3] against "
     "f32[3]; convert or reshape one of them)"},
    {{Op::case_,
      {"i32[]", "f32[3]"},
      NoAttributes{},
      {},
      "graph(%a: f32[3]) { return %a } graph(%a: f32[3]) { return %a, %a }"},
     "case: branch 1 returns 2 values, and branch 0 returns 1: i32[] x f32[3]"},
    // Calls.
    {{Op::transfer, {"f32[3]", "f32[3]"}, DeviceAttributes{}},
     "transfer: takes 1 operand and was given 2: f32[3] x f32[3]"},
    {{Op::custom_call, {"f32[3]"}, CustomCallAttributes{"", {{Dtype::f32, {}}}}},
     "custom_call: needs the name of a function: f32[3]"},
    {{Op::custom_call, {"f32[3]"}, CustomCallAttributes{"sort", {}}},
     "custom_call: sort gives no result: f32[3] (what nothing reads is never called)"},
    {{Op::fft, {"f32[4]"}, FftAttributes{FftKind::fft, {4}}},
     "fft: fft takes c64 or c128: f32[4] (convert it first)"},
    {{Op::fft, {"c64[4]"}, FftAttributes{FftKind::rfft, {4}}},
     "fft: rfft takes f32 or f64: c64[4] (convert it first)"},
    {{Op::fft, {"c64[4]"}, FftAttributes{FftKind::fft, {}}},
     "fft: transforms 1 to 3 axes: c64[4] (0 lengths)"},
    {{Op::fft, {"c64[4]"}, FftAttributes{FftKind::fft, {1, 4}}},
     "fft: more lengths than axes: c64[4] (2 against 1)"},
    {{Op::fft, {"c64[4]"}, FftAttributes{FftKind::fft, {-4}}},
     "fft: a length is negative: c64[4] ([-4])"},
    {{Op::fft, {"c64[2,4]"}, FftAttributes{FftKind::irfft, {8}}},
     "fft: the length of axis 1 does not fit: c64[2,4] (4 elements, and a transform of 8 takes 5)"},
    // Linear algebra.
    {{Op::cholesky, {"f32[3]"}, TriangleAttributes{}},
     "cholesky: takes matrices, of at least two axes: f32[3] (rank 1)"},
    {{Op::cholesky, {"f32[3,2]"}, TriangleAttributes{}},
     "cholesky: the matrix must be square: f32[3,2] (3 rows and 2 columns)"},
    {{Op::eigh, {"f16[3,3]"}, EighAttributes{}},
     "eigh: takes matrices of f32, f64, c64 or c128: f16[3,3] (convert them first)"},
    {{Op::eig, {"f32[3,2]"}, EigAttributes{}},
     "eig: the matrix must be square: f32[3,2] (3 rows and 2 columns)"},
    {{Op::schur, {"c64[2,3]"}, SchurAttributes{}},
     "schur: the matrix must be square: c64[2,3] (2 rows and 3 columns)"},
    {{Op::qr_pivoted, {"bf16[3,2]", "i32[2]"}},
     "qr_pivoted: takes matrices of f32, f64, c64 or c128: bf16[3,2] x i32[2] (convert them "
     "first)"},
    {{Op::qr_pivoted, {"f32[3,2]", "i32[3]"}},
     "qr_pivoted: the second operand says of each column whether it comes first: f32[3,2] x i32[3] "
     "(i32[3] instead of i32[2])"},
    {{Op::qr_pivoted, {"f32[3,2]", "i64[2]"}},
     "qr_pivoted: the second operand says of each column whether it comes first: f32[3,2] x i64[2] "
     "(i64[2] instead of i32[2])"},
    {{Op::tridiagonal_solve, {"f32[3]", "f32[2]", "f32[3]", "f32[3,1]"}},
     "tridiagonal_solve: a diagonal has an element for each row of the right side: f32[3] x f32[2] "
     "x f32[3] x f32[3,1] ([2] against [3])"},
    {{Op::tridiagonal_solve, {"f32[3]", "f32[3]", "f32[3]", "f64[3,1]"}},
     "tridiagonal_solve: operand dtypes differ: f32[3] x f32[3] x f32[3] x f64[3,1] (f32 against "
     "f64; convert one of them first)"},
    {{Op::lu, {"i32[3,3]"}},
     "lu: takes matrices of f32, f64, c64 or c128: i32[3,3] (convert them first)"},
    {{Op::svd, {"f32[3000000000,0]"}, SvdAttributes{}},
     "svd: a matrix has at most 2147483647 rows and columns: f32[3000000000,0] (LAPACK counts them "
     "in i32)"},
    {{Op::triangular_solve, {"f32[3,3]", "f64[3,3]"}, TriangularSolveAttributes{}},
     "triangular_solve: operand dtypes differ: f32[3,3] x f64[3,3] (f32 against f64; convert one "
     "of them first)"},
    {{Op::triangular_solve, {"f32[3,3]", "f32[2,3]"}, TriangularSolveAttributes{true}},
     "triangular_solve: sizes differ: f32[3,3] x f32[2,3] (3 unknowns against 2 rows)"},
    {{Op::triangular_solve, {"f32[3,3]", "f32[3,2]"}, TriangularSolveAttributes{}},
     "triangular_solve: sizes differ: f32[3,3] x f32[3,2] (3 unknowns against 2 columns)"},
    {{Op::triangular_solve, {"f32[2,3,3]", "f32[3,3,3]"}, TriangularSolveAttributes{}},
     "triangular_solve: batch sizes differ: f32[2,3,3] x f32[3,3,3] ([2] against [3]; "
     "broadcast_in_dim them to one shape first)"},
    {{Op::householder_product, {"f32[2,3]", "f32[2]"}},
     "householder_product: a matrix of more columns than rows has no orthonormal columns: f32[2,3] "
     "x f32[2] (slice it to 2 columns first)"},
    {{Op::householder_product, {"f32[3,2]", "f32[3]"}},
     "householder_product: more factors than columns: f32[3,2] x f32[3] (3 against 2)"},
    {{Op::fusion, {"f32[3]"}, FusionAttributes{}, {}, "graph(%a: f32[4]) { return %a }"},
     "fusion: parameter 0 of the body has the wrong type: f32[3] (f32[4] instead of f32[3])"},
    {{Op::fusion, {}, FusionAttributes{}, {}, "graph() { return }"},
     "fusion: the region returns nothing"},
    {{Op::fusion, {"f32[3]"}, FusionAttributes{}, {}, "graph(%a: f32[3]) { return %a }"},
     "fusion: the region cannot be one kernel: it hands on an operand: f32[3]"},
};

TEST(Infer, RefusesMisuse) {
  for (const Bad& bad : bads) {
    try {
      bad.call.infer();
      ADD_FAILURE() << "taken, instead of: " << bad.message;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(bad.message))
          << error.what() << "\n   instead of " << bad.message;
    }
  }
}

TEST(Infer, NamesTheUsersLine) {
  const Call call{Op::dot, {"f32[64,128]", "f32[64,32]"}, DotAttributes{{}, {}, {1}, {0}}};
  try {
    call.infer({"src/model.cpp", 12});
    FAIL() << "inner sizes differ";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "dot: inner sizes differ: f32[64,128] x f32[64,32] (128 against 64), at model.cpp:12");
  }
}

// What the library itself got wrong is no Error of the user's.
TEST(Infer, TellsItsOwnMistakesApart) {
  EXPECT_THROW((Call{Op::tanh, {"f32[]"}, AxisAttributes{}}.infer()), InternalError);
  EXPECT_THROW((Call{Op::tanh, {"f32[]"}, NoAttributes{}, "f32[]"}.infer()), InternalError);
  EXPECT_THROW((Call{Op::convert, {"f32[]"}}.infer()), InternalError);
  EXPECT_THROW((Call{Op::fusion, {"f32[]"}, FusionAttributes{}}.infer()), InternalError);
  EXPECT_THROW((Call{Op::tanh, {"f32[]"}, NoAttributes{}, {}, "graph() {return}"}.infer()),
               InternalError);
}

TEST(Infer, GivesEveryOpItsAttributes) {
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const bool none = std::holds_alternative<NoAttributes>(default_attributes(static_cast<Op>(i)));
    EXPECT_EQ(none, all_ops()[i].attributes == "NoAttributes") << all_ops()[i].name;
  }
}

}  // namespace
}  // namespace anabranch
