// Prints docs/ir.md: every op from ops.def, and what the text form and the numbers mean.
//
//   ir_reference                prints the page
//   ir_reference --check FILE   fails unless FILE is the page
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>

#include "anabranch/error.h"
#include "ir/infer/infer.h"

namespace {

using namespace anabranch;

constexpr std::string_view head = R"(# The graph and its ops

<!-- Written by tools/ir_reference.cpp from ir/ops.def. Do not edit: build the target ir_docs. -->

A graph is what a traced function becomes: nodes in the order in which they may run, each an op applied
to values that stand above it. Its text is the same in logs, tests, bug reports and the input of the
command `anabranch`, and reads back to an equal graph.

## The text form

    graph layer(%0: f32[64,128], %1: f32[128,32]) {
      %2: f32[64,32] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]    # model.cpp:12
      %3: f32[64,32] = tanh %2
      return %3
    }

- One line a node: its results with their types, `=`, the op, the operands, the attributes. An op with
  several results names each: `%4: f32[8], %5: i32[8] = reduce ...`.
- A value is `%` and a name of letters, digits, underscores and dots. Printing numbers the values anew.
- A graph's name may be left out, and is in quotes where it is not such a name (`\"`, `\\` and `\xHH`
  stand for what cannot be written).
- A type is a dtype and the sizes of the axes, outermost first; `f32[]` is a scalar.
- Attributes are `name=value`. Lists that are empty are left out; everything else must be there.
- A region (the body of `reduce`, the group of `fusion`) is a graph of its own after the attributes:
  `graph(%0: f32[]) {...}`. It sees its own values alone and numbers them from 0. The condition and the body of
  `while`, and the branches of `case`, follow one another.
- From `#` to the end of the line is a comment. Spaces and line ends separate, and mean nothing else.
- Types are inferred again when a text is read and must be what the text says.
- Graphs nest at most 64 deep, types have at most 64 axes, constants of one text take at most 2^30 bytes together.

### Constants

`constant 1.5`, `constant [[1, 2], [3, 4]]`: brackets nest as the axes do. An array of equal elements is
written as one element (`f32[1000] = constant 0`), one without elements as `[]`. A `bool` is `true` or
`false`. Floats are the shortest decimal that reads back to the same bits, `inf`, `-inf`, `-0`, `nan` for the
positive quiet NaN without payload, and `nan(0xffc00000)`, all bits in hexadecimal, for every other NaN. A
complex number is both parts in parentheses: `(1, -2.5)`.

## Numbers

| dtype | what it holds |
|---|---|
| `bool` | false or true, one byte in memory; where an op takes integers and bool, a one-bit integer |
| `i8 i16 i32 i64` | two's complement |
| `u8 u16 u32 u64` | unsigned |
| `f16` | IEEE 754 binary16 |
| `bf16` | the upper half of an `f32` |
| `f32 f64` | IEEE 754 binary32 and binary64 |
| `c64 c128` | complex numbers of two `f32` or two `f64`, the real part first in memory |

What follows holds on every device.

- **Operands of one op have one type.** Nothing is broadcast or converted silently: `broadcast_in_dim` and
  `convert` do that, and the functions of the library write them for you.
- **Integers wrap** around on overflow, in every op and in sums and products.
- **Integer division** truncates toward zero. `x / 0` has all bits set (-1, or the greatest unsigned
  number); the least integer divided by -1 is itself. `x remainder 0` is `x`; `x remainder -1` is 0.
- **Shifts** take the amount as unsigned. By the width or more, left and logical right shifts give 0, the
  arithmetic right shift gives copies of the highest bit.
- **convert**: float to integer truncates toward zero, saturates at the ends of the integer's range and
  takes NaN to 0; integer to integer keeps the low bits; anything to `bool` is "differs from zero" (so NaN is
  true); `bool` to a number is 0 or 1; to a float rounds once, to nearest, ties to even.
- **Floats** follow IEEE 754 with rounding to nearest, ties to even. Subnormal numbers are kept, but
  for the operands of a `dot` of `bf16`, which the instructions of CPUs take for 0. A multiply and an add may be
  contracted to one fused multiply-add; no other reordering happens unless fast math is on.
- **f16 and bf16** compute in `f32` and round after each op; sums, products and `dot` accumulate in `f32` and
  round once.
- **Approximate ops** are within 2 units in the last place of the exact value for `f32` and `f64`, on a GPU,
  where they are CUDA's, within 5, as NVIDIA states; all other ops are correctly rounded.
- **Complex numbers**: add, subtract, negate and multiply work part by part, (a + bi)(c + di) being
  (ac - bd) + (ad + bc)i, each part rounded as the same ops of floats are. The pass `expand` writes all of them as
  arithmetic on parts; a kernel only moves complex numbers, takes them apart and puts them together. Functions are
  computed in `f64`: of `c64` both parts are within 1 unit in the last place; of `c128` both are within 12, but for
  parts that cancel (of `log` near 1, `exponential_minus_one`, `log_plus_one`, `logistic`, `divide`), where that
  holds for the units of the greater part, and `power`, whose relative error grows with |y log x|. Infinities, NaN,
  zeros of both signs and branch cuts are as ISO C, Annex G, has them. x^y is 1 where y is 0; 0^y is 0 for a positive
  real part of y, else NaN. There is no order: `maximum`, `reduce_max`, `argmax` and the like refuse them.
- **NaN**: `maximum`, `minimum`, `clamp`, `reduce_max` and `reduce_min` give NaN where an operand is NaN; `argmax`
  and `argmin` give the first NaN's position. `compare` is false for NaN, but for `ne`. -0 and 0 are equal
  to `compare`, and -0 is below 0 to `maximum` and `minimum`. Which NaN an op gives is not specified.
- **Reductions** over no elements give the identity: 0, 1, the lowest or highest value, false or true. `argmax`
  and `argmin` refuse an axis of size 0. The order in which a sum is taken depends on the shapes and on
  the kind of device (the width of its vectors) alone, not on the number of threads or streams.
- **Sums of floats** are taken in blocks: few terms make a sum, few of those a larger one, and so on. A sum of
  n terms over d axes is within (64 (d + 1) + 3 log2 n) u of the exact one, times the sum of their magnitudes,
  where u is 2^-24 for `f32` (and for `f16` and `bf16` before they are rounded) and 2^-53 for `f64`. Errors in
  practice are a few u. A product of n factors is within n u of itself, in any order.
- **Order**: `sort` and `argsort` are stable, also where they descend, which is the exact reverse order but for
  equal elements. -0 equals 0; NaNs of either sign and any bits equal each other and are above all else.
- **Running sums of floats**: element i of n is within (i + 1) u of the exact one, times the sum of the magnitudes of
  what it combines, and a running product within (i + 1) u of itself, where the products of neighbours that make it
  stay in range. A running sum of numbers that are not negative can fall by a few u. The order depends on the shape alone: lines of
  neighbouring elements are combined in blocks of 32 KiB, others one element after the other.
- **random_bits** is Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011):
  the counter's block is (low and high word of counter / 4, 0, 0), the key its low and high word.
)";

struct Section {
  OpKind kind;
  std::string_view title;
  int operands = OpInfo::variadic;  // of those of its kind, the ones that take so many; any
};
constexpr Section sections[] = {
    {OpKind::leaf, "Leaves"},
    {OpKind::elementwise, "Elementwise, one operand", 1},
    {OpKind::elementwise, "Elementwise, two operands", 2},
    {OpKind::elementwise, "Elementwise, three operands", 3},
    {OpKind::index, "Index maps"},
    {OpKind::reduction, "Reductions"},
    {OpKind::library, "Library calls"},
    {OpKind::call, "Run by the host as a whole"},
    {OpKind::control, "Loops and branches"},
    {OpKind::function, "Functions"},
    {OpKind::region, "Made by passes"},
};

bool is_in(const Section& section, const OpInfo& row) {
  if (section.operands == OpInfo::variadic) return row.kind == section.kind;
  return is_elementwise(row) && row.arity == section.operands;
}

constexpr std::string_view kind_of_field(const std::vector<std::int64_t>&) { return "list"; }
constexpr std::string_view kind_of_field(std::int64_t) { return "integer"; }
constexpr std::string_view kind_of_field(std::optional<std::int64_t>) { return "integer or none"; }
constexpr std::string_view kind_of_field(const Device&) { return "device"; }
constexpr std::string_view kind_of_field(const std::string&) { return "name"; }
constexpr std::string_view kind_of_field(const CustomFunctionHandle&) { return "number"; }
constexpr std::string_view kind_of_field(const std::vector<Type>&) { return "types"; }
constexpr std::string_view kind_of_field(const std::vector<std::string>&) { return "texts"; }
constexpr std::string_view kind_of_field(bool) { return "true or false"; }
// "eq, ne, lt, le, gt or ge"
template <HasWords Enum>
std::string kind_of_field(Enum) {
  std::string text;
  for (std::size_t i = 0; i < words<Enum>.size(); ++i) {
    const bool is_last = i + 1 == words<Enum>.size();
    text += (i == 0 ? "" : is_last ? " or " : ", ") + std::string(words<Enum>[i]);
  }
  return text;
}

std::string attributes_text(Op op) {
  if (op == Op::constant) return "the value";
  std::string text;
  const Attributes all = default_attributes(op);
  std::visit(
      [&](const auto& attributes) {
        fields(attributes, [&](const char* name, const auto& field) {
          text += (text.empty() ? "`" : ", `") + std::string(name) + "` (" +
                  std::string(kind_of_field(field)) + ")";
        });
      },
      all);
  return text;
}

// Whether infer takes operands of this dtype: the table says what the code does.
bool takes(Op op, Dtype dtype) {
  const OpInfo& row = info(op);
  const bool reduces = row.kind == OpKind::reduction;
  std::vector<Type> operands(static_cast<std::size_t>(row.arity), Type{dtype, {}});
  Attributes attributes = default_attributes(op);
  if (reduces) operands[0].shape = Shape{1};
  if (row.kind == OpKind::call) operands[0].shape = Shape{1, 1};
  if (op == Op::fft)
    attributes = FftAttributes{is_complex(dtype) ? FftKind::fft : FftKind::rfft, {1}};
  if (op == Op::triangular_solve) operands[1].shape = Shape{1, 1};
  if (op == Op::tridiagonal_solve) {
    for (Type& operand : operands) operand.shape = Shape{1};
    operands[3].shape = Shape{1, 1};
  }
  if (op == Op::qr_pivoted) operands[1] = {Dtype::i32, Shape{1}};
  if (op == Op::householder_product) operands[1].shape = Shape{1};
  if (op == Op::select) operands[0].dtype = Dtype::bool_;
  if (op == Op::scatter) {
    operands[0].shape = {};
    operands[1] = {Dtype::i32, Shape{0}};
  }
  std::optional<Type> stated;
  if (row.has(OpInfo::typed)) stated = Type{reduces ? Dtype::i64 : dtype, {}};
  try {
    infer(op, operands, attributes, stated, {}, {});
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string dtypes_text(Op op) {
  const OpInfo& row = info(op);
  if (row.arity <= 0 || row.kind == OpKind::index) return "any";
  std::set<Dtype> taken;
  for (int i = 0; i < dtype_count; ++i) {
    if (takes(op, static_cast<Dtype>(i))) taken.insert(static_cast<Dtype>(i));
  }
  if (taken.size() == dtype_count) return "any";
  if (taken.size() + 1 == dtype_count && !taken.contains(Dtype::bool_)) return "any but `bool`";
  struct Kind {
    std::string_view name;
    bool (*belongs)(Dtype);
  };
  constexpr Kind kinds[] = {{"integers", is_integer},
                            {"floats", is_float},
                            {"complex numbers", is_complex},
                            {"`bool`", [](Dtype d) { return d == Dtype::bool_; }}};
  std::string text;
  const auto add = [&](std::string_view word) {
    text += (text.empty() ? "" : ", ") + std::string(word);
  };
  for (const Kind& kind : kinds) {
    std::vector<std::string> some;
    bool all = true;
    for (int i = 0; i < dtype_count; ++i) {
      const auto dtype = static_cast<Dtype>(i);
      if (!kind.belongs(dtype)) continue;
      all = all && taken.contains(dtype);
      if (taken.contains(dtype)) some.push_back("`" + std::string(name(dtype)) + "`");
    }
    if (all) some = {std::string(kind.name)};
    for (const std::string& word : some) add(word);
  }
  return text;
}

std::string flags_text(const OpInfo& row) {
  std::string text;
  auto add = [&](OpInfo::Flags flag, std::string_view word) {
    if (row.has(flag)) text += (text.empty() ? "" : ", ") + std::string(word);
  };
  add(OpInfo::commutative, "commutative");
  add(OpInfo::approximate, "approximate");
  add(OpInfo::typed, "typed");
  add(OpInfo::has_region, "region");
  add(OpInfo::has_regions, "regions");
  return text;
}

std::string page() {
  std::string text(head);
  text += R"(
## Ops

"Takes" is what the operands may hold. A `typed` op's result type is the writer's choice, within what the
op allows; the types of all others follow from their operands.
)";
  for (const Section& section : sections) {
    text += "\n### " + std::string(section.title) + "\n\n";
    text += "| op | operands | takes | attributes | flags | meaning |\n|---|---|---|---|---|---|\n";
    for (std::size_t i = 0; i < all_ops().size(); ++i) {
      const OpInfo& row = all_ops()[i];
      if (!is_in(section, row)) continue;
      const auto op = static_cast<Op>(i);
      const std::string arity = row.arity == OpInfo::variadic ? "n" : std::to_string(row.arity);
      std::string meaning;
      for (char c : row.meaning) meaning += c == '|' ? std::string("\\|") : std::string(1, c);
      text += "| `" + std::string(row.name) + "` | " + arity + " | " + dtypes_text(op) + " | " +
              attributes_text(op) + " | " + flags_text(row) + " | " + meaning + " |\n";
    }
  }
  return text;
}

int check(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string found(std::istreambuf_iterator<char>(file), {});
  if (found == page()) return 0;
  std::cerr << path << " is not what ir/ops.def and tools/ir_reference.cpp say.\n"
            << "Write it anew: cmake --build --preset dev --target ir_docs\n";
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::string_view(arguments[1]) == "--check") return check(arguments[2]);
  if (count != 1) {
    std::cerr << "usage: ir_reference [--check FILE]\n";
    return 2;
  }
  std::cout << page();
}
