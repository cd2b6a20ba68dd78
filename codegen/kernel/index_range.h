// IndexRange: between which values a kernel's integers are while loops are held to parts of their
// iterations, and where conditions on them change.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/bounds.h"
#include "ir/kernel/kernel.h"

namespace anabranch {

class IndexRange {
 public:
  explicit IndexRange(const Kernel& kernel);

  /// Holds a loop to iterations `first` to `first + count - 1`.
  void hold(Ref loop, std::int64_t first, std::int64_t count);

  /// The least and the greatest value of an integer, if it is arithmetic of loop indices and
  /// constants.
  std::optional<Bounds> bounds(Ref ref);
  /// A condition's value, where it is the same in all iterations.
  std::optional<bool> condition(Ref ref);

  /// The iterations of `loop`, ascending, from which on the comparison `ref` gives another value
  /// than before; none unless it compares what depends on that loop alone, and rises or falls with
  /// it, with a constant.
  std::vector<std::int64_t> seams(Ref ref, Ref loop);

 private:
  /// How an integer hangs on loops: it rises (1) or falls (-1) with one, or is a
  /// constant (no loop, 0).
  struct Slope {
    Ref loop;
    int sign = 0;
  };

  template <class T>
  struct Known {
    std::uint64_t turn = 0;
    std::optional<T> value;
  };

  Bounds bounds(const IndexTable::Atom& atom) const;
  std::optional<Bounds> bounds(Index index) const;
  std::optional<Slope> slope(Index index) const;
  std::optional<Bounds> compute_bounds(const Compute& compute, Dtype dtype);
  std::optional<bool> compute_condition(const Compute& compute);
  std::optional<Slope> slope(Ref ref);
  std::optional<Slope> compute_slope(const Compute& compute);
  std::optional<std::int64_t> constant(Ref ref) const;
  bool is_shallow(Ref ref) const;

  const Kernel& kernel_;
  std::uint64_t turn_ = 1;    // grows whenever a loop is held to other iterations
  std::vector<Bounds> held_;  // per instruction that is a loop
  std::vector<int> height_;   // per instruction: of the arithmetic below it
  std::vector<Known<Bounds>> bounds_;
  std::vector<Known<bool>> conditions_;
  std::vector<Known<Slope>> slopes_;
};

}  // namespace anabranch
