// Random graphs with the gradients of their outputs: what is compiled gives what is interpreted,
// and the two modes of differentiation agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <string_view>

#include "anabranch/error.h"
#include "check.h"
#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "ir/text/print.h"
#include "passes/transform/jvp.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_literal.h"
#include "tests/support/random_transform.h"
#include "tests/support/temporary_folder.h"

namespace anabranch {
namespace {

using testing::differentiated_parameters;

constexpr int shards = 10;
constexpr int graphs_per_shard = 200;
// Larger graphs take seconds in the interpreter, and hold nothing that smaller ones do not.
constexpr std::int64_t most_elements = 100'000;

// The sum of products, and that of their magnitudes.
struct Pairing {
  double sum = 0, magnitude = 0;

  void add(std::complex<double> x, std::complex<double> y) {
    sum += (x * y).real();
    magnitude += std::abs(x.real() * y.real()) + std::abs(x.imag() * y.imag());
  }
  void add(const Literal& a, const Literal& b) {
    visit_any_dtype(a.type().dtype, [&]<class T>() {
      const auto number = [](T x) -> std::complex<double> {
        if constexpr (is_complex_storage<T>) return {x.real(), x.imag()};
        return convert_scalar<double>(x);
      };
      if constexpr (!std::is_same_v<T, bool>) {
        for (std::size_t i = 0; i < a.values<T>().size(); ++i) {
          add(number(a.values<T>()[i]), number(b.values<T>()[i]));
        }
      }
    });
  }
};

bool holds_narrow_numbers(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) {
    return std::ranges::any_of(node.regions, holds_narrow_numbers) ||
           std::ranges::any_of(node.types, [](const Type& type) {
             return type.dtype == f16 || type.dtype == bf16;
           });
  });
}

// Whether <c, J t> and <J^T c, t> differ, where these are finite: `tested` is what
// `with_gradients` gives.
std::optional<std::string> modes_differ(const GraphCase& single, const GraphCase& tested,
                                        Random& random, int& compared) {
  const std::vector<bool> active = differentiated_parameters(single.graph);
  const Jvp pushed = jvp(single.graph, active);
  std::vector<Literal> inputs = single.inputs, tangents;
  for (std::size_t i = inputs.size(); i < pushed.graph.parameter_count(); ++i) {
    tangents.push_back(random_literal(random, pushed.graph.parameter_type(i), Flavour::ordinary));
    inputs.push_back(tangents.back());
  }
  const std::size_t outputs = single.graph.outputs().size();
  const auto given = interpret(pushed.graph, inputs);
  const auto gradients = interpret(tested.graph, tested.inputs);
  Pairing ahead, back;
  for (std::size_t i = outputs; i < given.size(); ++i) {
    ahead.add(tested.inputs[single.inputs.size() + i - outputs], given[i]);
  }
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    back.add(gradients[outputs + i], tangents[i]);
  }
  if (!std::isfinite(ahead.sum) || !std::isfinite(back.sum)) return std::nullopt;
  if (ahead.sum != 0) ++compared;
  const double tolerance = holds_narrow_numbers(tested.graph) ? 0.02 : 1e-4;
  if (std::abs(ahead.sum - back.sum) <= tolerance * std::max(ahead.magnitude, back.magnitude)) {
    return std::nullopt;
  }
  return std::to_string(ahead.sum) + " forward, " + std::to_string(back.sum) + " backward";
}

class RandomGradients : public ::testing::TestWithParam<int> {
 protected:
  RandomGradients() { keep_code_in(code_.path()); }
  ~RandomGradients() override { keep_code_in({}); }

 private:
  testing::TemporaryFolder code_;
};

struct Tally {
  int left_out = 0;  // too large, on several devices, or nothing to differentiate by
  int tested = 0, without_derivative = 0;
  int compared = 0;  // the modes, by a number that is not 0
};

void check(std::uint64_t seed, Tally& tally) {
  const GraphCase single = random_graph(seed);
  const std::vector<bool> active = differentiated_parameters(single.graph);
  if (testing::elements_of(single.graph) > most_elements || testing::spans_devices(single) ||
      std::ranges::count(active, true) == 0) {
    ++tally.left_out;
    return;
  }
  Random random(seed);
  GraphCase tested;
  try {
    tested = testing::with_gradients(single, random);
  } catch (const Error& error) {
    const std::string_view what = error.what();
    const bool is_refused =
        what.find("has no derivative") != what.npos || what.find("full_matrices") != what.npos;
    EXPECT_TRUE(is_refused) << "seed " << seed << ": " << what;
    ++tally.without_derivative;
    return;
  }
  ++tally.tested;
  const auto differ = modes_differ(single, tested, random, tally.compared);
  EXPECT_FALSE(differ) << "seed " << seed << ": " << *differ << "\n" << describe(single);
  const std::vector<Bounded> expected = interpret_bounded(tested.graph, tested.inputs);
  for (const std::size_t way : {std::uint64_t{1}, 2 + seed % 2}) {  // for 1 stream or 4
    const auto wrong = problem(ways()[way], tested, expected);
    if (!wrong) continue;
    const GraphCase small = shrink(
        tested, [&](const GraphCase& part) { return problem(ways()[way], part).has_value(); });
    ADD_FAILURE() << "seed " << seed << ", " << ways()[way].name << ": " << *wrong << "\n"
                  << to_string(single.graph) << "\nthe smallest part that fails: "
                  << problem(ways()[way], small).value_or("none, on its own") << "\n"
                  << describe(small);
    break;
  }
}

TEST_P(RandomGradients, GiveWhatTheInterpreterGives) {
  Tally tally;
  for (int k = 0; k < graphs_per_shard; ++k) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * graphs_per_shard + k);
    try {
      check(seed, tally);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n"
                    << describe(random_graph(seed));
    }
  }
  EXPECT_LT(tally.left_out, graphs_per_shard * 2 / 5);
  EXPECT_LT(tally.without_derivative, graphs_per_shard / 10);
  EXPECT_GT(tally.compared, tally.tested / 4);
  RecordProperty("tested", tally.tested);
  RecordProperty("without_derivative", tally.without_derivative);
  RecordProperty("compared", tally.compared);
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomGradients, ::testing::Range(0, shards));

}  // namespace
}  // namespace anabranch
