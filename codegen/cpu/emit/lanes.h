// What the lanes of a vector loop share: which values differ between iterations, by how much, and
// in which forms (one scalar, one vector) each is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/kernel/expand_indices.h"

namespace anabranch::cpu {

/// Multiplications whose only use, in the same block, is an addition, a subtraction or a sum of f32
/// or f64: they become one fused multiply-add there. Decided once per kernel, so that main loops
/// and tails agree to the bit. Indexed by instruction.
std::vector<bool> contracted_products(const ExpandedKernel& kernel);

/// Facts about every instruction inside one vector loop.
class Lanes {
 public:
  Lanes(const ExpandedKernel& kernel, Ref loop, const std::vector<bool>& contracted);

  /// Whether iterations of the loop may see different values.
  bool varying(Ref ref) const { return facts_[ref.index].varying; }
  /// By how much an i64 grows from one iteration to the next, where that is one number; its scalar
  /// form is then the first lane's.
  std::optional<std::int64_t> stride(Ref ref) const;
  /// An i64 that grows in steps: by `stride` from one iteration to the next, and by multiples of
  /// the quotient and the remainder by a constant of a dividend that grows by one number. The
  /// scalar form is the first lane's, from which all lanes follow.
  struct Steps {
    Ref dividend;
    std::int64_t by = 0;  ///< 0: none
    std::int64_t quotient = 0, remainder = 0, stride = 0;
  };
  std::optional<Steps> steps(Ref ref) const;
  bool needs_scalar(Ref ref) const { return facts_[ref.index].needs_scalar; }
  bool needs_vector(Ref ref) const { return facts_[ref.index].needs_vector; }
  bool is_needed(Ref ref) const { return needs_scalar(ref) || needs_vector(ref); }

 private:
  struct Fact {
    bool varying = false;
    bool affine = true;  ///< of the loop's index, or in steps of it
    bool needs_scalar = false;
    bool needs_vector = false;
    Steps steps = {};  ///< with `by` 0 and a `stride` alone, where affine
  };

  void vary(const Block& block);
  void vary(Ref ref, const Compute& compute);
  std::optional<Steps> steps_of(Ref ref, const Compute& compute) const;
  static std::optional<Steps> sum(const Steps& a, std::int64_t factor, const Steps& b);
  std::optional<Steps> division(Ref ref, const Compute& compute) const;
  void vary(const Loop& loop);
  void need(const Block& block);
  void need(Ref ref, const Compute& compute);
  void need(const Loop& loop);
  void need_index(Ref index);
  void need_value(Ref ref, bool as_vector);
  std::optional<std::int64_t> constant(Ref ref) const;

  const ExpandedKernel& expanded_;
  const Kernel& kernel_;
  const std::vector<bool>& contracted_;
  std::vector<Fact> facts_;
};

}  // namespace anabranch::cpu
