// Every rule of `simplify`, held to the interpreter on all values of the small dtypes and on
// special and random ones of the others; and the check itself, on rules that are wrong.
#include <gtest/gtest.h>

#include <set>

#include "ir/graph/builder.h"
#include "ir/interpret/interpret.h"
#include "passes/simplify.h"
#include "tests/passes/inputs.h"
#include "tests/passes/rule_check.h"

namespace anabranch {
namespace {

// Complex numbers are taken apart before any of these rules is tried.
std::vector<Dtype> all_dtypes() {
  std::vector<Dtype> dtypes;
  for (int i = 0; i < dtype_count; ++i) {
    if (!is_complex(static_cast<Dtype>(i))) dtypes.push_back(static_cast<Dtype>(i));
  }
  return dtypes;
}

constexpr Comparison directions[] = {Comparison::eq, Comparison::ne, Comparison::lt,
                                     Comparison::le, Comparison::gt, Comparison::ge};

Literal scalar_of(Dtype dtype, std::uint64_t bits) {
  std::vector<std::byte> bytes(byte_size(dtype));
  std::memcpy(bytes.data(), &bits, bytes.size());
  return Literal({dtype, {}}, std::move(bytes));
}

// --- graphs for the rules that are functions ---------------------------------------------------

void divides_by_constants(RuleCheck& check, Closeness closeness, bool tame) {
  for (Dtype dtype : {f16, bf16, f32, f64}) {
    Bits divisors = tame ? tame_values(dtype) : powers_of_two(dtype);
    const Bits more = tame ? Bits{} : sample_values(dtype);
    divisors.insert(divisors.end(), more.begin(), more.end());
    const Bits numbers = tame           ? tame_values(dtype)
                         : dtype == f16 ? every_value(dtype)
                                        : special_values(dtype);
    for (std::uint64_t divisor : divisors) {
      auto left = [&](std::int64_t count) {
        GraphBuilder builder;
        const Value x = builder.parameter({dtype, Shape{count}});
        const Value c = builder.constant(scalar_of(dtype, divisor));
        const Value all =
            builder.add(Op::broadcast_in_dim, {c}, AxesAttributes{}, Type{dtype, Shape{count}});
        return builder.build({builder.add(Op::divide, {x, all})});
      };
      check.run(left, std::span(&numbers, 1), closeness);
    }
  }
}

std::string pair_of(Dtype from, Dtype to) {
  return std::string(name(from)) + " to " + std::string(name(to));
}

void conversions(RuleCheck& check) {
  std::set<std::pair<Dtype, Dtype>> fired;
  for (Dtype from : all_dtypes()) {
    const bool few = byte_size(from) == 1 || from == f16;
    const Bits numbers = few ? every_value(from) : sample_values(from);
    for (Dtype middle : all_dtypes()) {
      for (Dtype to : all_dtypes()) {
        auto left = [&](std::int64_t count) {
          GraphBuilder builder;
          const Value x = builder.parameter({from, Shape{count}});
          const Value y = builder.add(Op::convert, {x}, NoAttributes{}, Type{middle, Shape{count}});
          return builder.build(
              {builder.add(Op::convert, {y}, NoAttributes{}, Type{to, Shape{count}})});
        };
        if (check.run(left, std::span(&numbers, 1))) fired.insert({from, to});
      }
    }
  }
  for (Dtype from : all_dtypes()) {
    for (Dtype to : all_dtypes()) {
      if (!fired.contains({from, to})) check.fail("never from " + pair_of(from, to));
    }
  }
}

Graph comparison(Dtype dtype, Comparison direction, std::int64_t count, bool with_itself,
                 bool inverted) {
  GraphBuilder builder;
  const Value x = builder.parameter({dtype, Shape{count}});
  const Value y = with_itself ? x : builder.parameter({dtype, Shape{count}});
  Value result = builder.add(Op::compare, {x, y}, CompareAttributes{direction});
  if (inverted) result = builder.add(Op::not_, {result});
  return builder.build({result});
}

void comparisons_with_itself(RuleCheck& check) {
  for (Dtype dtype : all_dtypes()) {
    const Bits numbers = every_value(dtype);
    for (Comparison direction : directions) {
      auto left = [&](std::int64_t count) {
        return comparison(dtype, direction, count, true, false);
      };
      const bool fires = check.run(left, std::span(&numbers, 1));
      if (fires == is_float(dtype)) check.fail("fires or not on " + std::string(name(dtype)));
    }
  }
}

void inverted_comparisons(RuleCheck& check) {
  for (Dtype dtype : all_dtypes()) {
    const bool few = byte_size(dtype) == 1;
    const Bits second = few ? every_value(dtype) : special_values(dtype);
    const Bits first = few || dtype == f16 ? every_value(dtype) : sample_values(dtype);
    for (Comparison direction : directions) {
      auto left = [&](std::int64_t count) {
        return comparison(dtype, direction, count, false, true);
      };
      const bool is_equality = direction == Comparison::eq || direction == Comparison::ne;
      const bool fires = check.run(left, std::vector<Bits>{first, second});
      if (fires == (!is_float(dtype) || is_equality)) continue;
      check.fail("fires or not on " + std::string(name(dtype)) + " " +
                 std::string(name(direction)));
    }
  }
}

const std::map<std::string_view, Cases>& cases() {
  static const std::map<std::string_view, Cases> listed = {
      {"x / 2^k = x * 2^-k",
       [](RuleCheck& check) { divides_by_constants(check, Closeness::same_bits, false); }},
      {"convert(convert(x)) = convert(x), if nothing is lost", conversions},
      {"x < x = false, x <= x = true, for integers", comparisons_with_itself},
      {"~(x < y) = x >= y, for integers", inverted_comparisons},
  };
  return listed;
}

// --- the table -----------------------------------------------------------------------------------

const std::vector<Rule>& rules() { return simplify_rules().rules(); }

std::vector<Rule> rules_with_patterns() {
  std::vector<Rule> found;
  for (const Rule& rule : rules()) {
    if (rule.sides) found.push_back(rule);
  }
  return found;
}

using Failures = std::vector<std::string>;

class SimplifyRules : public testing::TestWithParam<Dtype> {};

TEST_P(SimplifyRules, OfPatternsHoldForEveryValue) {
  for (const Rule& rule : rules_with_patterns()) {
    RuleCheck check(rule, rule.sides->when == When::fast_math);
    check.run_sides(GetParam());
    EXPECT_EQ(check.report().failures, Failures{}) << rule.equation;
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, SimplifyRules, testing::ValuesIn(all_dtypes()),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST(SimplifyRules, ThatAreFunctionsHoldForEveryValue) {
  for (const Rule& rule : rules()) {
    if (rule.sides) continue;
    EXPECT_EQ(wrong_rules({&rule, 1}, cases(), {}), Failures{});
  }
}

TEST(SimplifyRules, OfFastMathDivideAsMuchAsRoundingDoes) {
  for (const Rule& rule : rules()) {
    if (rule.equation != "x / 2^k = x * 2^-k") continue;
    RuleCheck check(rule, true);
    divides_by_constants(check, Closeness::rounding, true);
    EXPECT_EQ(check.report().fired, 4 * 20);
    EXPECT_EQ(check.report().failures, Failures{});
  }
}

TEST(SimplifyRules, AllHaveSomethingToCheckThemAndFire) {
  std::vector<Dtype> every = all_dtypes();
  for (const Rule& rule : rules()) {
    if (!rule.sides) {
      EXPECT_TRUE(cases().contains(rule.equation))
          << rule.equation << " has no patterns: list graphs that it fires on in `cases`";
      continue;
    }
    bool fires = false;
    for (Dtype dtype : {f32, i32, bool_}) {
      RuleCheck check(rule, rule.sides->when == When::fast_math);
      check.run_sides(dtype);
      fires = fires || check.report().fired > 0;
    }
    EXPECT_TRUE(fires) << rule.equation;
  }
  for (const auto& [equation, list] : cases()) {
    EXPECT_TRUE(std::any_of(rules().begin(), rules().end(),
                            [&](const Rule& rule) { return rule.equation == equation; }))
        << "no rule is called " << equation;
  }
}

// What patterns match in both orders.
TEST(SimplifyRules, RestOnOpsThatCommute) {
  for (std::size_t k = 0; k < all_ops().size(); ++k) {
    if (!all_ops()[k].has(OpInfo::commutative)) continue;
    for (Dtype dtype : all_dtypes()) {
      const bool few = byte_size(dtype) == 1;
      const Bits numbers = few ? every_value(dtype) : sample_values(dtype);
      const std::vector<Literal> pairs =
          combinations(std::vector<Bits>{numbers, numbers}, std::vector<Dtype>{dtype, dtype});
      GraphBuilder builder;
      const Value a = builder.parameter(pairs[0].type()), b = builder.parameter(pairs[1].type());
      const auto op = static_cast<Op>(k);
      try {
        const Value forth = builder.add(op, {a, b}), back = builder.add(op, {b, a});
        const Graph both = builder.build({forth, back});
        const std::vector<Literal> found = interpret(both, pairs);
        EXPECT_TRUE(agree({found[0]}, {found[1]})) << name(op) << " of " << name(dtype);
      } catch (const Error&) {
        continue;  // it does not take the dtype
      }
    }
  }
}

// --- the check itself ----------------------------------------------------------------------------

const Pattern x(Pattern::Kind::variable, 0), y(Pattern::Kind::variable, 1);

Pattern abs_of(Pattern of) { return {Op::abs, {std::move(of)}}; }

/// What `convert_of_convert` was: it took every conversion from integers through floats for none.
std::optional<Value> merge_through_floats(Rewriter& graph, const Node& node) {
  const Node& inner = graph.node(node.inputs[0]);
  if (inner.op != Op::convert || inner.types[0].dtype != f64) return std::nullopt;
  const Value source = inner.inputs[0];
  if (graph.type(source).dtype != i32) return std::nullopt;
  return graph.add(Op::convert, {source}, NoAttributes{}, node.types[0]);
}

std::optional<Value> invert_float_comparison(Rewriter& graph, const Node& node) {
  const Node& inner = graph.node(node.inputs[0]);
  if (inner.op != Op::compare || inner.as<CompareAttributes>().direction != Comparison::lt) {
    return std::nullopt;
  }
  return graph.add(Op::compare, std::vector<Value>(inner.inputs),
                   CompareAttributes{Comparison::ge});
}

std::vector<Rule> wrong_on_purpose() {
  const Pattern c(Pattern::Kind::constant_variable, 2), d(Pattern::Kind::constant_variable, 3);
  return {
      rule("abs(-x) = abs(x)", abs_of(-x), abs_of(x)),
      rule("-(x - y) = y - x", -(x - y), y - x),
      rule("x + 0 = x", x + 0.0, x),
      rule("x - x = 0", x - x, 0.0),
      rule("x * 0 = 0", x * 0.0, 0.0),
      rule("(x + c) + d = x + (c + d)", (x + c) + d, x + (c + d)),
      rule("x / x = 1", x / x, 1.0, When::integers),
      rule("max(x, -x) = abs(x)", Pattern(Op::maximum, {x, -x}), abs_of(x), When::integers),
      rule("x * y + x = x * (y + 2)", x * y + x, x * (y + 2.0), When::fast_math),
      {"convert(convert(x)) = convert(x), if nothing is lost", {Op::convert}, merge_through_floats},
      {"~(x < y) = x >= y, for integers", {Op::not_}, invert_float_comparison},
      {"a rule of which no graph is listed", {Op::not_}, invert_float_comparison},
      rule("x + x = x << 2, which no dtype has", Pattern(Op::tanh, {x & y}), x),
  };
}

TEST(RuleCheck, FindsWhatIsWrong) {
  const std::vector<Dtype> dtypes = {bool_, i8, u8, u16, bf16, f32};
  for (const Rule& rule : wrong_on_purpose()) {
    EXPECT_NE(wrong_rules({&rule, 1}, cases(), dtypes), Failures{}) << rule.equation;
  }
}

}  // namespace
}  // namespace anabranch
