// Gradients through loops, batched, and gradients of batches of loops: those of each element, which
// takes a number of turns of its own.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ir/graph/verify.h"
#include "ir/interpret/interpret.h"
#include "ir/text/print.h"
#include "loops.h"
#include "passes/transform/batch.h"
#include "passes/transform/quantity.h"
#include "passes/transform/vjp.h"
#include "tests/support/batch_check.h"
#include "tests/support/random_transform.h"

namespace anabranch {
namespace {

using namespace testing;

constexpr Turns kinds[] = {Turns::bound, Turns::until};
// Of the outer loop and of the inner one, per element; more than there are checkpoints.
constexpr std::pair<int, int> turns[] = {{0, 3}, {5, 0}, {34, 1}, {1, 33}};

Values dense(GraphBuilder& g, Value number, const Values& c, const Values& captures) {
  const Quantity x = {&g, c[0]}, y = {&g, c[1]}, z = {&g, c[2]}, w = {&g, captures[0]};
  const Quantity row = {&g, row_of(g, captures[1], number)};
  const Quantity next = (x * w + row).op(Op::sine);
  return {next.value, (z + next * 0.5).op(Op::tanh).value, (y * 0.9).value};
}

// One loop, one in another, or one in the first branch of two.
enum class Form : std::uint8_t { alone, nested, in_branch };

Values in_branch(GraphBuilder& g, Turns kind, Value number, const Values& c,
                 const Values& captures) {
  Values operands = {
      g.add(Op::convert, {g.add(Op::and_, {number, scalar(g, 1)})}, NoAttributes{}, Type{i32, {}})};
  operands.insert(operands.end(), c.begin(), c.end());
  operands.insert(operands.end(), captures.begin(), captures.end());
  std::vector<Graph> branches;
  for (bool has_loop : {true, false}) {
    GraphBuilder branch("branch");
    Values own;
    for (std::size_t i = 1; i < operands.size(); ++i) {
      own.push_back(branch.parameter(g.type(operands[i])));
    }
    Values carries(own.begin(), own.begin() + 3);
    if (has_loop) {
      carries = looped(branch, {kind, 0}, own[5], carries, {own[3], own[4], own[5]}, dense);
    }
    branches.push_back(branch.build(carries));
  }
  const Value made = g.add(Op::case_, operands, NoAttributes{}, std::nullopt, std::move(branches));
  return {{made.node, 0}, {made.node, 1}, {made.node, 2}};
}

Graph program(Form form, Turns outer, Turns inner) {
  GraphBuilder graph;
  Values carries;
  for (int i = 0; i < 3; ++i) carries.push_back(graph.parameter({f64, {3}}));
  const Value w = graph.parameter({f64, {3}}), m = graph.parameter({f64, {4, 3}});
  const Value bound = graph.parameter({i64, {}}), inner_bound = graph.parameter({i64, {}});
  const Turn turn = [=](GraphBuilder& g, Value number, const Values& c, const Values& captures) {
    if (form == Form::alone) return dense(g, number, c, captures);
    if (form == Form::in_branch) return in_branch(g, inner, number, c, captures);
    return looped(g, {inner, 0}, captures[2], c, captures, dense);
  };
  return graph.build(looped(graph, {outer, 0}, bound, carries, {w, m, inner_bound}, turn));
}

template <class Check>
void for_each_program(Check check) {
  for (Form form : {Form::alone, Form::nested, Form::in_branch}) {
    for (Turns outer : kinds) {
      for (Turns inner : kinds) {
        if (form != Form::nested && inner != outer) continue;
        check(program(form, outer, inner), "form " + std::to_string(int(form)) + ", kinds " +
                                               std::to_string(int(outer)) + " and " +
                                               std::to_string(int(inner)));
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

// The inputs of each element, cotangents behind them.
std::vector<std::vector<Literal>> elements(const Graph& graph, std::size_t count) {
  std::vector<std::vector<Literal>> all;
  Random random(5);
  for (const auto& [outer, inner] : turns) {
    std::vector<Literal> own;
    for (std::size_t i = 0; i < count; ++i) {
      own.push_back(i == 5   ? Literal::scalar(std::int64_t{outer})
                    : i == 6 ? Literal::scalar(std::int64_t{inner})
                             : random_literal(random, graph.parameter_type(i), Flavour::positive));
    }
    all.push_back(std::move(own));
  }
  return all;
}

std::vector<Literal> whole(const Graph& graph, const std::vector<std::vector<Literal>>& elements) {
  std::vector<Literal> all;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    std::vector<Literal> own;
    for (const auto& element : elements) own.push_back(element[i]);
    all.push_back(stacked(graph.parameter_type(i), own));
  }
  return all;
}

TEST(BatchesOfGradients, ThroughLoopsAreThoseOfTheirElements) {
  for_each_program([](const Graph& single, const std::string& what) {
    Random random(3);
    const Graph graph = with_gradients({single, elements(single, 7)[0]}, random).graph;
    BatchCase tested{graph,
                     std::ssize(turns),
                     std::vector<bool>(graph.parameter_count(), true),
                     elements(graph, graph.parameter_count()),
                     {}};
    tested.whole = whole(graph, tested.inputs);
    const auto wrong = batch_problem(tested);
    EXPECT_FALSE(wrong) << what << ": " << wrong->substr(0, 3000);
  });
}

TEST(GradientsOfBatches, ThroughLoopsAreThoseOfTheirElements) {
  for_each_program([](const Graph& single, const std::string& what) {
    Random random(3);
    const Graph graph = with_gradients({single, elements(single, 7)[0]}, random).graph;
    const auto inputs = elements(graph, graph.parameter_count());
    const Graph batched =
        batch(single, std::ssize(turns), std::vector<bool>(7, true), {true, true, true}).graph;
    const std::vector<Literal> all = whole(graph, inputs);
    const Graph of_batch = with_gradients({batched, {all.begin(), all.begin() + 7}}, random).graph;
    verify(of_batch);
    const std::vector<Literal> found = interpret(of_batch, all);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const std::vector<Literal> wanted = interpret(graph, inputs[k]);
      ASSERT_EQ(found.size(), wanted.size()) << what;
      for (std::size_t i = 0; i < found.size(); ++i) {
        const Literal own = element_of(found[i], static_cast<std::int64_t>(k));
        ASSERT_EQ(own.type(), wanted[i].type()) << what;
        for (std::size_t e = 0; e < own.values<double>().size(); ++e) {
          const double x = own.values<double>()[e], y = wanted[i].values<double>()[e];
          ASSERT_LE(std::abs(x - y), 1e-12 * std::max(1.0, std::abs(y)))
              << what << ": element " << k << ", result " << i << ": " << x << " for " << y;
        }
      }
    }
  });
}

}  // namespace
}  // namespace anabranch
