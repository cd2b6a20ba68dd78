// Op: what a node does, and the table of what every op is (from ops.def).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace anabranch {

enum class Op : std::uint8_t {
#define OP(name, arity, kind, attributes, flags, meaning) name,
#include "ir/ops.def"
#undef OP
};

enum class OpKind : std::uint8_t {
  leaf,
  elementwise,
  composed,
  index,
  reduction,
  library,
  call,
  control,
  function,
  region
};

/// One row of ops.def.
struct OpInfo {
  enum Flags : std::uint16_t {
    none = 0,
    commutative = 1,
    typed = 2,
    floats_only = 4,
    integers_only = 8,  // bool counts as a one-bit integer
    approximate = 16,
    has_region = 32,
    has_regions = 64,
    no_bools = 128,
    gives_bool = 256,
    takes_complex = 512,
    complex_only = 1024,
  };
  static constexpr int variadic = -1;

  std::string_view name;
  int arity;
  OpKind kind;
  std::uint16_t flags;
  std::string_view attributes;  // the name of the attributes' struct
  std::string_view meaning;

  bool has(Flags flag) const { return (flags & flag) != 0; }
  bool takes_regions() const { return has(has_region) || has(has_regions); }
};

/// The rows of ops.def, in its order.
std::span<const OpInfo> all_ops();

const OpInfo& info(Op op);
inline std::string_view name(Op op) { return info(op).name; }
std::optional<Op> parse_op(std::string_view name);

/// Whether each element of the result depends on the operands' elements at the same place alone.
inline bool is_elementwise(const OpInfo& row) {
  return row.kind == OpKind::elementwise || row.kind == OpKind::composed;
}
inline bool is_elementwise(Op op) { return is_elementwise(info(op)); }
inline bool is_reduction(Op op) { return info(op).kind == OpKind::reduction; }
inline bool is_index(Op op) { return info(op).kind == OpKind::index; }
/// Whether it sums products of two arrays in memory, as a library of the device may: `dot` and
/// `convolution`.
inline bool is_library(Op op) { return info(op).kind == OpKind::library; }
/// Whether its regions are programs of their own: `while` and `case`.
inline bool is_control(Op op) { return info(op).kind == OpKind::control; }
/// Whether the compiler does not look into it, but has the host compute it as a whole:
/// `custom_call`, `cholesky` ...
inline bool is_call(Op op) { return info(op).kind == OpKind::call; }

}  // namespace anabranch
