// operand_index against the interpreter, on all small shapes.
#include "ir/operand_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "anabranch/error.h"
#include "ir/graph/builder.h"
#include "ir/interpret/interpret.h"
#include "ir/text/print.h"
#include "tests/support/random_windows.h"

namespace anabranch {
namespace {

using Sizes = std::vector<std::int64_t>;

/// Every shape of these many axes, each of 0 to 3 elements.
std::vector<Shape> shapes(int rank) {
  std::vector<Sizes> all = {{}};
  for (int axis = 0; axis < rank; ++axis) {
    std::vector<Sizes> longer;
    for (const Sizes& sizes : all) {
      for (std::int64_t size = 0; size <= 3; ++size) {
        longer.push_back(sizes);
        longer.back().push_back(size);
      }
    }
    all = std::move(longer);
  }
  return {all.begin(), all.end()};
}

std::vector<Shape> small_shapes() {
  std::vector<Shape> all;
  for (int rank = 0; rank <= 2; ++rank) {
    for (const Shape& shape : shapes(rank)) all.push_back(shape);
  }
  return all;
}

/// Every element is another number.
Literal numbered(const Shape& shape, int first) {
  std::vector<int> values(static_cast<std::size_t>(shape.size()));
  std::iota(values.begin(), values.end(), first);
  return Literal::of<int>(values, shape);
}

std::vector<Sizes> places(const Shape& shape) {
  std::vector<Sizes> all;
  for (std::int64_t flat = 0; flat < shape.size(); ++flat) {
    Sizes place(static_cast<std::size_t>(shape.rank()));
    std::int64_t rest = flat;
    for (int axis = shape.rank(); axis-- > 0; rest /= shape[axis]) {
      place[static_cast<std::size_t>(axis)] = rest % shape[axis];
    }
    all.push_back(std::move(place));
  }
  return all;
}

/// One op on arrays; what its starts are, if it has any, is known.
class OneOp {
 public:
  OneOp(Op op, std::vector<Literal> operands, Attributes attributes,
        std::optional<Type> type = std::nullopt)
      : operands_(std::move(operands)) {
    GraphBuilder builder;
    std::vector<Value> inputs;
    for (const Literal& operand : operands_) inputs.push_back(builder.parameter(operand.type()));
    const Value made = builder.add(op, inputs, std::move(attributes), type);
    graph_ = builder.build({made});
    if (graph_.node(made.node).op == op) node_ = made.node;  // else nothing was there to do
  }

  void check() const {
    if (!node_) return;
    const Node& node = graph_.node(*node_);
    const Literal expected = interpret(graph_, operands_)[0];
    const std::span<const int> elements = expected.values<int>();
    std::size_t next = 0;
    for (const Sizes& place : places(node.types[0].shape)) {
      ASSERT_EQ(element(node, place), elements[next++]) << to_string(graph_);
    }
  }

 private:
  // Expressions of loops' indices, which then become numbers.
  int element(const Node& node, const Sizes& place) const {
    IndexTable symbols, numbers;
    IndexCopier at(symbols, numbers);
    std::vector<Index> result;
    for (std::uint32_t axis = 0; axis < place.size(); ++axis) {
      result.push_back(symbols.loop(axis, node.types[0].shape[static_cast<int>(axis)]));
      at.set_loop(axis, numbers.constant(place[axis]));
    }
    const auto number = [&](Index index) { return numbers[at(index)].constant; };
    const std::vector<Index> starts = this->starts(node, result, number, symbols);
    for (std::size_t operand : order(node)) {
      const OperandIndex from = operand_index(graph_, node, operand, result, starts, symbols);
      const bool is_read = std::all_of(from.within.begin(), from.within.end(), [&](auto& bound) {
        const std::int64_t index = number(bound.index);
        return bound.low <= index && index < bound.high && (index - bound.low) % bound.step == 0;
      });
      if (!is_read) continue;
      const Shape& shape = operands_[operand].type().shape;
      EXPECT_EQ(from.at.size(), static_cast<std::size_t>(shape.rank()));
      std::int64_t flat = 0;
      for (int axis = 0; axis < shape.rank(); ++axis) {
        const std::int64_t index = number(from.at[static_cast<std::size_t>(axis)]);
        EXPECT_TRUE(0 <= index && index < shape[axis]) << to_string(graph_);
        flat = flat * shape[axis] + index;
      }
      return operands_[operand].values<int>()[static_cast<std::size_t>(flat)];
    }
    return -1;
  }

  // Those that are read where their bounds hold come before what is read everywhere.
  static std::vector<std::size_t> order(const Node& node) {
    if (node.op == Op::dynamic_update_slice) return {1, 0};
    if (node.op == Op::dynamic_slice || node.op == Op::gather) return {0};
    std::vector<std::size_t> all(node.inputs.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  template <class Number>
  std::vector<Index> starts(const Node& node, std::span<const Index> result, const Number& number,
                            IndexTable& table) const {
    std::vector<Index> made;
    for (const Start& start : starts_of(graph_, node, result, table)) {
      const Literal& from = operands_[start.operand];
      const Index flat = table.flatten(start.at, from.type().shape.sizes());
      const std::int64_t asked = from.values<int>()[static_cast<std::size_t>(number(flat))];
      made.push_back(table.constant(std::clamp<std::int64_t>(asked, 0, start.room)));
    }
    return made;
  }

  std::vector<Literal> operands_;
  Graph graph_;
  std::optional<std::uint32_t> node_;
};

TEST(OperandIndex, OfReshape) {
  for (const Shape& from : small_shapes()) {
    for (int rank = 0; rank <= 3; ++rank) {
      for (const Shape& to : shapes(rank)) {
        if (to.size() != from.size()) continue;
        OneOp(Op::reshape, {numbered(from, 1)}, NoAttributes{}, Type{i32, to}).check();
      }
    }
  }
  OneOp(Op::reshape, {numbered({4, 6}, 1)}, NoAttributes{}, Type{i32, {3, 8}}).check();
  OneOp(Op::reshape, {numbered({2, 3, 4}, 1)}, NoAttributes{}, Type{i32, {6, 1, 4}}).check();
}

TEST(OperandIndex, OfBroadcast) {
  for (const Shape& to : shapes(2)) {
    for (std::int64_t axis : {0, 1}) {
      for (std::int64_t size : {std::int64_t{1}, to[static_cast<int>(axis)]}) {
        OneOp(Op::broadcast_in_dim, {numbered({size}, 1)}, AxesAttributes{{axis}}, Type{i32, to})
            .check();
      }
    }
    OneOp(Op::broadcast_in_dim, {numbered({to[1], to[0]}, 1)}, AxesAttributes{{1, 0}},
          Type{i32, to})
        .check();
  }
}

TEST(OperandIndex, OfTranspose) {
  Sizes axes = {0, 1, 2};
  do {
    for (const Shape& shape : shapes(3)) {
      OneOp(Op::transpose, {numbered(shape, 1)}, AxesAttributes{axes}).check();
    }
  } while (std::next_permutation(axes.begin(), axes.end()));
}

TEST(OperandIndex, OfSlice) {
  for (std::int64_t size = 0; size <= 5; ++size) {
    for (std::int64_t start = 0; start <= size; ++start) {
      for (std::int64_t limit = start; limit <= size; ++limit) {
        for (std::int64_t stride : {1, 2, 3}) {
          const SliceAttributes slice{{0, start}, {2, limit}, {1, stride}};
          OneOp(Op::slice, {numbered({2, size}, 1)}, slice).check();
        }
      }
    }
  }
  const std::int64_t most = std::int64_t{1} << 62;
  OneOp(Op::slice, {numbered({5}, 1)}, SliceAttributes{{3}, {4}, {most}}).check();
}

TEST(OperandIndex, OfReverse) {
  for (const Shape& shape : shapes(2)) {
    for (const Sizes& axes : {Sizes{0}, Sizes{1}, Sizes{0, 1}}) {
      OneOp(Op::reverse, {numbered(shape, 1)}, AxesAttributes{axes}).check();
    }
  }
}

TEST(OperandIndex, OfPad) {
  for (std::int64_t size = 0; size <= 3; ++size) {
    for (std::int64_t low = -3; low <= 3; ++low) {
      for (std::int64_t high = -3; high <= 3; ++high) {
        for (std::int64_t interior : {0, 1, 2}) {
          const std::int64_t whole = size + std::max<std::int64_t>(size - 1, 0) * interior;
          if (whole + low + high < 0 || whole + low < 0 || whole + high < 0) continue;
          const PadAttributes pad{{1, low}, {0, high}, {0, interior}};
          OneOp(Op::pad, {numbered({2, size}, 1), numbered({}, 100)}, pad).check();
        }
      }
    }
  }
}

TEST(OperandIndex, OfSlidingWindows) {
  for (std::int64_t size = 0; size <= 6; ++size) {
    for (std::int64_t window : {1, 2, 3}) {
      for (std::int64_t stride : {1, 2, 7}) {
        for (std::int64_t dilation : {1, 2, 3}) {
          const WindowsAttributes windows{{2, window}, {1, stride}, {1, dilation}};
          OneOp(Op::sliding_windows, {numbered({3, size}, 1)}, windows).check();
        }
      }
    }
  }
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  OneOp(Op::sliding_windows, {numbered({5}, 1)}, WindowsAttributes{{1}, {most}, {most}}).check();
  OneOp(Op::sliding_windows, {numbered({5}, 1)}, WindowsAttributes{{5}, {most}, {1}}).check();
  OneOp(Op::sliding_windows, {numbered({5}, 1)}, WindowsAttributes{{2}, {1}, {most}}).check();
}

TEST(OperandIndex, OfConcatenate) {
  for (std::int64_t axis : {0, 1}) {
    for (std::int64_t a = 0; a <= 3; ++a) {
      for (std::int64_t b = 0; b <= 3; ++b) {
        const auto part = [&](std::int64_t size, int first) {
          return numbered(axis == 0 ? Shape{size, 2} : Shape{2, size}, first);
        };
        OneOp(Op::concatenate, {part(a, 1), part(b, 20), part(1, 40)}, AxisAttributes{axis})
            .check();
      }
    }
  }
}

TEST(OperandIndex, OfDynamicBlocks) {
  for (const Shape& whole : shapes(2)) {
    for (const Shape& block : shapes(2)) {
      if (block[0] > whole[0] || block[1] > whole[1]) continue;
      for (int start : {-1, 0, 1, 2}) {
        const Literal at = Literal::scalar(start), end = Literal::scalar(9);
        const SizesAttributes sizes{{block[0], block[1]}};
        OneOp(Op::dynamic_slice, {numbered(whole, 1), at, end}, sizes).check();
        OneOp(Op::dynamic_update_slice, {numbered(whole, 1), numbered(block, 50), end, at},
              NoAttributes{})
            .check();
      }
    }
  }
}

TEST(OperandIndex, OfGather) {
  Random random(1);
  for (int rank = 0; rank <= 4; ++rank) {
    for (int turn = 0; turn < 400; ++turn) {
      Sizes sizes;
      for (int axis = 0; axis < rank; ++axis)
        sizes.push_back(random.below(random.percent(90) ? 4 : 1));
      const auto [attributes, indices] = random_gather(random, Shape(sizes), 60);
      OneOp(Op::gather, {numbered(Shape(sizes), 1), random_indices(random, i32, indices, 3)},
            attributes)
          .check();
    }
  }
}

TEST(OperandIndex, IsForOpsThatMoveElements) {
  GraphBuilder builder;
  const Value x = builder.parameter({f32, {2}});
  const Graph graph = builder.build({builder.add(Op::negate, {x}, NoAttributes{})});
  IndexTable table;
  const Index zero = table.constant(0);
  EXPECT_THROW(operand_index(graph, graph.node(1), 0, {&zero, 1}, {}, table), InternalError);
}

}  // namespace
}  // namespace anabranch
