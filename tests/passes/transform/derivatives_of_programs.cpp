// Random programs of loops, branches and checkpoints in each other: their derivatives are those of
// the program without loops.
#include <gtest/gtest.h>

#include "ir/graph/verify.h"
#include "ir/text/print.h"
#include "loops.h"
#include "passes/transform/keep.h"
#include "tests/support/random_literal.h"

namespace anabranch {
namespace {

using namespace testing;

const Type row_type{f64, {3}};

constexpr std::uint64_t programs = 1000;

// How many of a hundred values of a checkpoint are kept.
constexpr int shares_kept[] = {0, 20, 60, 100};

struct Program {
  std::uint64_t seed = 0;
  std::int64_t inner = 0;  // turns of the loops that an input counts
  bool unrolled = false;

  Turn turn(std::uint64_t salt, int depth) const;
};

// What a region is made of: all that is written into it is f64[3], and stays bounded.
struct Writer {
  const Program& program;
  GraphBuilder& graph;
  Random& random;
  Value number;
  const Values& captures;
  int depth;
  Values pool;

  Value any() { return pool[static_cast<std::size_t>(random.below(std::ssize(pool)))]; }
  Values three() { return {any(), any(), any()}; }
  // Captures of a region within: w, m, the inner number of turns, and one more array.
  Values own_captures() { return {captures[0], captures[1], captures[2], any()}; }

  void statement();
  Value arithmetic();
  void loop();
  void branch();
  void checkpoint();
  // A region of three arrays, the captures and a number.
  Graph region(const Turn& turn, const Values& operands) const;
};

Value Writer::arithmetic() {
  const Value x = any(), y = any();
  switch (random.below(8)) {
    case 0:
      return graph.add(Op::sine, {graph.add(Op::multiply, {x, y})});
    case 1:
      return graph.add(Op::tanh, {graph.add(Op::add, {x, y})});
    case 2:
      return graph.add(Op::maximum, {x, graph.add(Op::cosine, {y})});
    case 3:
      return graph.add(Op::reverse, {x}, AxesAttributes{{0}});
    case 4: {
      const Value less = graph.add(Op::compare, {x, y}, CompareAttributes{Comparison::lt});
      return graph.add(Op::select, {less, any(), y});
    }
    case 5: {  // one element of x in y
      const Value at = graph.add(Op::and_, {number, scalar(graph, 1)});
      const Value block = graph.add(Op::dynamic_slice, {x, at}, SizesAttributes{{1}});
      return graph.add(Op::dynamic_update_slice, {y, block, at});
    }
    case 6:
      return graph.add(Op::floor, {x});  // has no tangent
    default:
      return graph.add(Op::subtract, {graph.add(Op::sine, {x}), graph.add(Op::floor, {y})});
  }
}

void Writer::loop() {
  constexpr Turns kinds[] = {Turns::counted, Turns::bound, Turns::until};
  const Turns kind = random.of(kinds);
  const std::int64_t count = kind == Turns::counted ? random.below(4) : program.inner;
  const std::uint64_t salt = random.bits();
  const Values given = looped(graph, {program.unrolled ? Turns::unrolled : kind, count},
                              captures[2], three(), own_captures(), program.turn(salt, depth - 1));
  pool.insert(pool.end(), given.begin(), given.end());
}

Graph Writer::region(const Turn& turn, const Values& operands) const {
  GraphBuilder inside("inside");
  Values own;
  for (Value operand : operands) own.push_back(inside.parameter(graph.type(operand)));
  const Values outputs =
      turn(inside, own.back(), {own[0], own[1], own[2]}, Values(own.begin() + 3, own.end() - 1));
  return inside.build(outputs);
}

void Writer::branch() {
  const Value rest = graph.add(Op::and_, {number, scalar(graph, 1)});
  const Value which = graph.add(Op::convert, {rest}, NoAttributes{}, Type{i32, {}});
  Values operands = three();
  for (Value capture : own_captures()) operands.push_back(capture);
  operands.push_back(number);
  std::vector<Graph> branches;
  for (int i = 0; i < 2; ++i) {
    branches.push_back(region(program.turn(random.bits(), depth - 1), operands));
  }
  operands.insert(operands.begin(), which);
  const Value made = graph.add(Op::case_, operands, NoAttributes{}, std::nullopt, branches);
  for (std::uint32_t i = 0; i < 3; ++i) pool.push_back({made.node, i});
}

void Writer::checkpoint() {
  Values operands = three();
  for (Value capture : own_captures()) operands.push_back(capture);
  operands.push_back(number);
  const CompositeAttributes attributes{CompositeRule::checkpoint, std::ssize(operands)};
  const Graph function = region(program.turn(random.bits(), depth - 1), operands);
  const int share = random.of(shares_kept);
  Random choice(random.bits());
  const Graph inside =
      mark_kept(function, [&](const KeepCandidate&) { return choice.percent(share); }).graph;
  const Value made = graph.add(Op::composite, operands, attributes, std::nullopt, {inside});
  for (std::uint32_t i = 0; i < 3; ++i) pool.push_back({made.node, i});
}

void Writer::statement() {
  const std::int64_t what = random.below(10);
  if (depth > 0 && what < 3) return loop();
  if (depth > 0 && what == 3) return branch();
  if (depth > 0 && what == 4) return checkpoint();
  pool.push_back(arithmetic());
}

// The same each time that it is written.
Turn Program::turn(std::uint64_t salt, int depth) const {
  return [=, this](GraphBuilder& graph, Value number, const Values& carries,
                   const Values& captures) {
    Random random(seed ^ salt);
    Writer writer{*this, graph, random, number, captures, depth, carries};
    writer.pool.push_back(captures[0]);
    writer.pool.push_back(row_of(graph, captures[1], number));
    if (captures.size() > 3) writer.pool.push_back(captures[3]);
    if (random.percent(30)) {
      const Value half = graph.constant(Literal::scalar(0.5));
      writer.pool.push_back(graph.add(Op::broadcast_in_dim, {half}, AxesAttributes{}, row_type));
    }
    for (std::int64_t count = 1 + random.below(4); count > 0; --count) writer.statement();
    Values next;
    for (std::size_t i = 0; i < 3; ++i) {
      next.push_back(random.percent(15)   ? carries[i]
                     : random.percent(50) ? writer.pool.back()
                                          : writer.any());
    }
    return next;
  };
}

// Each output depends on a parameter that is differentiated by, also where no turn runs.
Graph graph_of(const Program& program, std::int64_t outer) {
  GraphBuilder graph;
  Values carries;
  for (int i = 0; i < 3; ++i) carries.push_back(graph.parameter(row_type));
  const Value w = graph.parameter(row_type), m = graph.parameter({f64, {4, 3}});
  const Value bound = graph.parameter({i64, {}}), inner = graph.parameter({i64, {}});
  const Turns kind = program.unrolled        ? Turns::unrolled
                     : program.seed % 3 == 0 ? Turns::counted
                     : program.seed % 3 == 1 ? Turns::bound
                                             : Turns::until;
  Values outputs = looped(graph, {kind, outer}, bound, carries, {w, m, inner}, program.turn(0, 2));
  for (Value& output : outputs) output = graph.add(Op::multiply, {output, w});
  Graph made = graph.build(outputs);
  verify(made);
  return made;
}

TEST(DerivativesOfPrograms, AreThoseWithoutLoops) {
  constexpr std::int64_t few[] = {0, 1, 2, 3, 5};
  int tested = 0;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    Random random(seed);
    // Now and then more turns than states are kept.
    const bool is_long = random.percent(5);
    const std::int64_t outer = is_long ? 35 : random.of(few), inner = is_long ? 1 : random.of(few);
    const Graph graph = graph_of({seed, inner, false}, outer);
    const Graph unrolled = graph_of({seed, inner, true}, outer);
    if (unrolled.nodes().size() > 3000) continue;
    const std::string what = "seed " + std::to_string(seed) + "\n" + to_string(graph);
    try {
      expect_as_unrolled(graph, unrolled, inputs_of_loops(graph, outer, inner), what);
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\n" << what;
    }
    if (HasFatalFailure()) return;
    ++tested;
  }
  EXPECT_GT(tested, static_cast<int>(programs) * 9 / 10);
}

}  // namespace
}  // namespace anabranch
