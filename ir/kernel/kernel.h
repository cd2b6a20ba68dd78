// Kernel: one fused group as loops over scalars, the form that both emitters print.
//
//   kernel softmax(in a: f32[4096], out b: f32[4096]) {
//     for i < 64 parallel {
//       for j < 64 vector(16) {
//         %3 = load a[%i * 64 + %j]
//         max m = %3
//       }
//       ...
//
// A kernel is a tree of blocks. An instruction defines at most one scalar; it is visible in the
// rest of its block and in the blocks inside. Where memory is touched, and what is asked of a
// loop's index, are expressions of the kernel's IndexTable, which become arithmetic when code is
// emitted. Loops say how they are to be run (parallel, vector, unrolled); what they compute does
// not depend on that, but for the order in which a reduction combines.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "anabranch/cost.h"
#include "anabranch/source_location.h"
#include "anabranch/type.h"
#include "ir/attributes.h"
#include "ir/fields.h"
#include "ir/index.h"
#include "ir/kernel/thread_map.h"
#include "ir/op.h"

namespace anabranch {

/// An instruction of the kernel at hand.
struct Ref {
  std::uint32_t index = UINT32_MAX;

  bool operator==(const Ref&) const = default;
  explicit operator bool() const { return index != UINT32_MAX; }
};

using Block = std::vector<Ref>;

/// How a reduction combines. `argmax` and `argmin` carry a pair (value, position): a NaN wins over
/// a number, then the greater (lesser) value wins, then the lower position. `carry` hands any
/// number of scalars from each iteration to the next one, as the loop's body says, and always runs
/// in order. `while_` hands on one bool: where that is false, no iteration follows. Lanes go on
/// while any of them does; one whose own is false hands on what it began with.
enum class Combine : std::uint8_t {
  sum,
  product,
  maximum,
  minimum,
  any,
  all,
  argmax,
  argmin,
  carry,
  while_
};
template <>
inline constexpr std::array<std::string_view, 10> words<Combine> = {
    "sum", "product", "max", "min", "any", "all", "argmax", "argmin", "carry", "while"};

/// Whether each iteration begins with what the one before it handed on.
constexpr bool runs_in_order(Combine combine) {
  return combine == Combine::carry || combine == Combine::while_;
}

/// Scalars that a loop folds. Before the first iteration they are `initial`; each iteration folds
/// in `values` (defined in the loop's body); after the loop they are `results`. Of one that does
/// not run in order, `initial` is the identity of the combination (argmax: -inf at position 0).
struct Reduction {
  Combine combine = Combine::sum;
  std::vector<Ref> initial;  ///< one, two for argmax and argmin, n for carry
  std::vector<Ref> values;   ///< in order: what the next iteration begins with
  std::vector<Ref> results;  ///< `Result` instructions in the block that holds the loop
  std::vector<Ref> so_far;   ///< in order alone: what an iteration begins with, `Argument`s
};

/// A scalar of the instruction's dtype.
struct ConstantInstruction {
  ElementBits bits;
};

/// An expression of loops' indices, as an i64.
struct IndexValue {
  Index index;
};

/// A scalar that an iteration has from the one before it; the loop's body sees it.
struct Argument {};

/// What a loop's reduction came to; follows the loop in its block.
struct Result {
  Ref loop;
};

/// An elementwise op of ops.def on scalars. Integers wrap; f16 and bf16 operands compute in f32 and
/// round to the instruction's dtype at once.
struct Compute {
  Op op = Op::add;
  std::vector<Ref> operands;
  Comparison direction = Comparison::eq;  ///< of `compare` alone
};

/// Element `index` of a buffer, as the buffer's dtype. With a `mask` (bool), a lane whose
/// mask is false is not read and gives zero. `prefetch` elements further on, the cache is told what
/// will be read next (0: nothing).
struct Load {
  std::uint32_t buffer = 0;
  Index index;
  Ref mask;
  std::int64_t prefetch = 0;
};

/// Sets element `index` of a buffer. Non-temporal stores go past the caches.
struct Store {
  std::uint32_t buffer = 0;
  Index index;
  Ref value;
  bool non_temporal = false;
};

/// `extent` iterations of `body`, from `first` on. Expressions know it by the number of its
/// instruction. A kernel has at most one parallel loop, which is
/// outermost and may be in pieces: parallel loops that follow each other, each beginning where the
/// one before ends, the first at 0. The caller runs it over any ranges that together make all of
/// it. A vector loop runs `vector_width` consecutive iterations at once, its loops inside being
/// uniform; `unroll` groups of them per turn. A loop with a condition, a `while_` among its
/// reductions, has `no_bound`, and its index stands in no expression.
struct Loop {
  /// Whether its iterations are to become lanes, before it is said how wide vectors are.
  enum class Lanes : std::uint8_t {
    unmarked,
    marked,
    unrolled  ///< it is short and goes by remainders, which are constants where it is unrolled
  };

  std::int64_t extent = 0;
  std::int64_t first = 0;
  bool parallel = false;
  Lanes lanes = Lanes::unmarked;
  int vector_width = 1;
  int unroll = 1;
  std::vector<Reduction> reductions;
  Block body;

  static constexpr std::int64_t no_bound = std::int64_t{1} << 62;

  const Reduction* condition() const;  ///< null where it has none
  bool runs_in_order() const;          ///< whether a reduction does
  std::int64_t usual_turns() const;    ///< for costs: the extent, or a guess
};

using Operation =
    std::variant<ConstantInstruction, IndexValue, Argument, Result, Compute, Load, Store, Loop>;

struct Instruction {
  Operation operation;
  Dtype dtype = Dtype::i64;  ///< of the scalar it defines; unused by Store and Loop
  SourceLocation location;
};

template <MaybeConst<Cost> C, class Visitor>
void fields(C& cost, Visitor&& visit) {
  visit("bytes_read", cost.bytes_read);
  visit("bytes_written", cost.bytes_written);
  visit("operations", cost.operations);
}

enum class Access : std::uint8_t { read, write, scratch };
template <>
inline constexpr std::array<std::string_view, 3> words<Access> = {"in", "out", "scratch"};

/// Memory that a kernel touches: an argument, or scratch that each iteration of the parallel loop
/// has to itself.
struct KernelBuffer {
  std::string name;  ///< "in0", "out0", "scratch0"
  Dtype dtype = Dtype::f32;
  std::int64_t size = 0;  ///< in elements
  Access access = Access::read;
};

/// Arguments come first in `buffers`, in the order in which the caller passes pointers; scratch
/// last.
struct Kernel {
  std::string name;
  std::vector<KernelBuffer> buffers;
  std::vector<Instruction> instructions;
  IndexTable indices;  ///< its scalars are instructions, by number
  Block body;
  Cost cost;
  std::optional<ThreadMap> threads;  ///< on a GPU, once its loops are shared out
  std::string graph_text;            ///< the fused group it came from

  const Instruction& operator[](Ref ref) const { return instructions[ref.index]; }
  Instruction& operator[](Ref ref) { return instructions[ref.index]; }

  /// The parallel loop, or its first piece; null where the kernel has none.
  const Loop* parallel_loop() const;
  /// Iterations of the parallel loop, all pieces together; 1 where there is none.
  std::int64_t extent() const;
  /// The index of a loop as an expression.
  Index index_of(Ref loop);
};

/// Calls `visit(ref)` for each scalar that an expression of the kernel depends on.
template <class Visit>
void for_each_scalar(const Kernel& kernel, Index index, Visit&& visit) {
  kernel.indices.for_each_leaf(index, [&](const IndexTable::Atom& atom) {
    if (atom.kind == IndexTable::Atom::Kind::scalar) visit(Ref{atom.loop});
  });
}

/// For each instruction, whether it is a scalar of an expression: it places something.
std::vector<bool> placing_scalars(const Kernel& kernel);

/// The text form, which `parse_kernels` (ir/text/parse.h) reads back. With `comments`, source lines
/// follow as such.
std::string to_string(const Kernel& kernel, bool comments = true);

/// The dtype that a constant at operand `i` has where the text does not say another: that of the
/// first operand that is no constant, and bool for what a select chooses by.
std::optional<Dtype> dtype_of_constants(const Kernel& kernel, const Compute& compute,
                                        std::size_t i);

/// Throws InternalError, with the text, unless every use is in scope, dtypes agree, results follow
/// their loop, only the outermost loop is parallel, and threads have loops to take.
void verify(const Kernel& kernel);

}  // namespace anabranch
