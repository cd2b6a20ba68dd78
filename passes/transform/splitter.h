// Splitter: takes a graph apart for `linearize`, node by node.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/counted_loop.h"
#include "ir/graph/builder.h"
#include "ir/graph/copier.h"
#include "ir/graph/value_table.h"
#include "passes/transform/linearized.h"

namespace anabranch {

using Flags = std::vector<bool>;

inline std::uint32_t index_of(std::size_t i) { return static_cast<std::uint32_t>(i); }

/// Loops are in linearize_loops.cpp, branches in linearize_branches.cpp, functions that are
/// computed again in linearize_checkpoints.cpp.
class Splitter {
 public:
  Splitter(const Graph& graph, const Flags& linear);
  Linearized run(const Flags& required);

 private:
  bool is_linear(Value value) const {
    return places_[value] == Place::linear ||
           (is_linear_[value.node] && places_[value] == Place::undecided);
  }
  void take(std::uint32_t index);
  Value in_linear(Value value);
  Value residual(Value known);
  void loop(std::uint32_t index);
  void counted(std::uint32_t index, const Flags& carries, const Linearized& body,
               const KnownTurns& turns);
  void uncounted(std::uint32_t index, const Flags& carries, const Linearized& body);
  void branch(std::uint32_t index);
  void checkpoint(std::uint32_t index);
  void check(std::uint32_t index);
  void place_results(std::uint32_t index, const Flags& linear, Value known, Value of_linear);

  class Counted;

  // Where a result is: loops and branches have some in either graph.
  enum class Place : std::uint8_t { undecided, known, linear };

  const Graph& graph_;
  Flags is_linear_;
  GraphBuilder known_, linear_;
  GraphCopier known_copier_, linear_copier_;
  ValueTable<Place> places_;
  std::vector<Value> residuals_;    // of known_
  std::map<Value, Value> renamed_;  // residuals to their parameters of linear_
};

}  // namespace anabranch
