// Which element of an operand an element of a result is: said here, once, for every op that only
// moves elements.
//
//   transpose axes=[1,0] at (i, j)    reads its operand at (j, i)
//   slice start=[3] stride=[2] at i   reads it at 3 + i * 2
//   pad low=[2] at i                  reads it at i - 2, where 0 <= i - 2 < size
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/index.h"

namespace anabranch {

struct OperandIndex {
  /// `low <= index < high`, and `index - low` a multiple of `step`.
  struct Bound {
    Index index;
    std::int64_t low = 0, high = 0, step = 1;
  };

  std::vector<Index> at;      ///< one per axis of the operand; none for a scalar
  std::vector<Bound> within;  ///< the operand is read only where all of these hold
};

/// An element of an operand that says where another operand is read: one number, held from 0 to
/// `room`.
struct Start {
  std::size_t operand = 0;
  std::vector<Index> at;
  std::int64_t room = 0;
};

/// What an index op reads so for the element of its result at `result`: of dynamic_slice and
/// dynamic_update_slice, where the block begins on each axis; of gather, the components of one
/// vector; nothing of most.
std::vector<Start> starts_of(const Graph& graph, const Node& node, std::span<const Index> result,
                             IndexTable& table);

/// Whether `node`, an index op, reads operand `operand` for nothing but starts.
bool is_start(const Node& node, std::size_t operand);

/// Where `node`, an index op of `graph`, reads operand `operand` for the element of its result at
/// `result`. `starts` are the numbers that `starts_of` asks for, in bounds. Throws Error where
/// index arithmetic leaves 64 bits.
OperandIndex operand_index(const Graph& graph, const Node& node, std::size_t operand,
                           std::span<const Index> result, std::span<const Index> starts,
                           IndexTable& table);

/// Where `node`, a reduction, reads its operand for the `number`-th element, in row-major order of
/// its axes, of what its result at `result` combines.
std::vector<Index> element_index(const Graph& graph, const Node& node, std::int64_t number,
                                 std::span<const Index> result, IndexTable& table);

/// A place in an array, one Index per axis, as a number of the PointTable at hand.
struct Point {
  std::uint32_t id = 0;

  bool operator==(const Point&) const = default;
};

/// Equal places are equal numbers.
class PointTable {
 public:
  Point operator()(std::vector<Index> indices);
  std::span<const Index> operator[](Point point) const { return *points_[point.id]; }

 private:
  std::map<std::vector<std::uint32_t>, std::uint32_t> ids_;
  std::vector<std::unique_ptr<const std::vector<Index>>> points_;
};

/// Where the index ops of a graph read their operands, for results at given points.
class OperandPoints {
 public:
  explicit OperandPoints(const Graph& graph) : graph_(graph) {}

  IndexTable& table() { return table_; }
  PointTable& points() { return points_; }

  /// What `starts_of` asks for, in bounds. Equal where they are read from one place, and can move
  /// as far.
  std::vector<Index> starts(const Node& node, Point result);
  /// Of an operand that is no start.
  Point operand(const Node& node, std::size_t operand, Point result);

 private:
  const Graph& graph_;
  IndexTable table_;
  PointTable points_;
  std::map<std::tuple<Value, std::uint32_t, std::int64_t>, std::uint32_t> starts_;
};

}  // namespace anabranch
