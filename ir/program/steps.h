// Steps: what a program asks of its devices, each kind a plain struct.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "anabranch/type.h"
#include "ir/attributes.h"
#include "ir/fields.h"
#include "ir/op.h"

namespace anabranch {

struct Program;

/// Runs a kernel on the step's buffers, in the order of the kernel's own.
struct KernelStep {
  std::uint32_t kernel = 0;  ///< its number in the outermost program
};

/// What a library computes of a dot's result before that is written, after the bias.
enum class Activation : std::uint8_t { none, relu, gelu };
template <>
inline constexpr std::array<std::string_view, 3> words<Activation> = {"none", "relu", "gelu"};

/// A dot by a library. Its buffers are: lhs, rhs, the bias or the epilogue's further inputs, then
/// what it writes: the result or the epilogue's outputs, and the library's workspace if it takes
/// one.
struct DotStep {
  /// A kernel that is run on each block of the result while it is still in the cache. Its buffers
  /// are the dot's result, `inputs` further ones, and its outputs.
  struct Epilogue {
    std::uint32_t kernel = 0;  ///< its number in the outermost program
    std::size_t inputs = 0, outputs = 0;
    bool in_place = false;  ///< the dot's result is computed into the first output's memory
  };

  Type lhs, rhs, result;
  DotAttributes attributes;
  std::optional<Epilogue> epilogue = {};
  /// The operand (0: lhs, 1: rhs) in whose place it reads what a PackStep has made of it.
  std::optional<std::uint32_t> packed = {};
  bool has_bias = false;  ///< one value for each column of the result
  Activation activation = Activation::none;
  bool tf32 = false;  ///< may round f32 operands to ten bits of mantissa
  /// The operands are one array, read alike, and each matrix of the result is its own transpose:
  /// one half of it is computed, and the other copied.
  bool is_symmetric = false;
};

/// Whether it reads its operands alike: where they are one array, each matrix of the result is its
/// own transpose.
inline bool reads_alike(const DotStep& dot) {
  const DotAttributes& a = dot.attributes;
  return a.lhs_contracting == a.rhs_contracting && a.lhs_batch == a.rhs_batch;
}

/// Lays out the operand `dot.packed` of a dot as its library likes it. Its buffers are the operand
/// and the room for what it makes.
struct PackStep {
  DotStep dot;
};

/// A convolution by a library. Its buffers are: lhs, rhs, the epilogue's further inputs, then the
/// result or the epilogue's outputs.
struct ConvolutionStep {
  Type lhs, rhs, result;
  ConvolutionAttributes attributes;
  std::optional<DotStep::Epilogue> epilogue = {};
  bool packed = false;  ///< in place of rhs it reads what a PackFiltersStep has made of it
};

/// Lays out the right operand of a convolution as its library likes it. Its buffers are the operand
/// and the room for what it makes.
struct PackFiltersStep {
  ConvolutionStep convolution;
};

/// Copies its first buffer to its second, on one device.
struct CopyStep {};

/// Copies its first buffer to its second, on another device.
struct TransferStep {};

/// A node of the graph that a function of the host computes as a whole, on whatever device it is:
/// its buffers are the operands and the results. An op of the kind `call`, such as custom_call,
/// which calls a function of the user's.
struct CallStep {
  Op op = Op::custom_call;
  std::vector<Type> operands;
  Attributes attributes = CustomCallAttributes();  ///< those of `op`
};

/// Of what it writes. Throws Error where the op does not take such operands.
std::vector<Type> result_types(const CallStep& call);

/// Runs its body again and again while its condition holds. The buffers are: the initial carries,
/// the captures, the places (written), and a workspace for a flag and both arenas (written).
///
/// Carry i is in place i, where the initial one is copied first unless it is there already.
/// An iteration reads carry i from place i and writes output i, where the body has a slot for it,
/// to place `written[i]`; then place p becomes what place `rotation[p]` was. So a carry is updated
/// in place (written[i] = i), or alternates between two places, or becomes another carry. In the
/// end carry i is in place i.
struct LoopStep {
  /// The condition, from carries and captures to one bool, and the body, from the same to the next
  /// carries.
  std::vector<Program> regions;
  std::vector<std::uint32_t> written;   ///< one per carry
  std::vector<std::uint32_t> rotation;  ///< one per place; the first are the carries' own
  bool is_whole = false;                ///< it runs as one task, not step by step

  const Program& condition() const;
  const Program& body() const;
  std::size_t carries() const { return written.size(); }
  std::size_t captures() const;
};

/// A loop's flag comes first in its workspace, then its arenas, which begin here.
inline constexpr std::size_t loop_flag_bytes = 64;

/// Runs one of several branches: the one that an i32 names, the last where there is none of that
/// number. The buffers are: that number, the operands, the results (written), and a
/// workspace for any branch's arena (written).
struct BranchStep {
  std::vector<Program> branches;  ///< from the operands to the results
  bool is_whole = false;          ///< as a loop's
};

}  // namespace anabranch
