#include "tests/passes/rule_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "anabranch/error.h"
#include "ir/graph/builder.h"
#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

struct Variable {
  int number = 0;
  Dtype dtype = f32;
  bool is_constant = false;
};

// What operand `i` of a pattern's op holds, where the op gives `whole`: a condition, or the same.
Dtype operand_dtype(const Pattern& pattern, std::size_t i, Dtype whole) {
  return pattern.op == Op::select && i == 0 ? bool_ : whole;
}

void collect(const Pattern& pattern, Dtype whole, std::vector<Variable>& variables) {
  for (std::size_t i = 0; i < pattern.operands.size(); ++i) {
    collect(pattern.operands[i], operand_dtype(pattern, i, whole), variables);
  }
  const bool is_constant = pattern.kind == Pattern::Kind::constant_variable;
  if (!is_constant && pattern.kind != Pattern::Kind::variable) return;
  for (const Variable& known : variables) {
    if (known.number == pattern.variable) return;
  }
  variables.push_back({pattern.variable, whole, is_constant});
}

bool holds_op(const Pattern& pattern, bool (*wanted)(Op)) {
  if (pattern.kind == Pattern::Kind::op && wanted(pattern.op)) return true;
  return std::any_of(pattern.operands.begin(), pattern.operands.end(),
                     [&](const Pattern& operand) { return holds_op(operand, wanted); });
}

bool is_approximate(Op op) { return info(op).has(OpInfo::approximate); }

// One side of an equation as a graph over arrays of `count` elements.
class Side {
 public:
  Side(std::span<const Variable> variables, const std::map<int, Literal>& constants,
       std::int64_t count)
      : shape_{count}, constants_(constants) {
    for (const Variable& variable : variables) {
      if (constants.contains(variable.number)) continue;
      values_[variable.number] = builder_.parameter({variable.dtype, shape_});
    }
  }

  Graph build(const Pattern& pattern, Dtype whole) {
    const Value root = value(pattern, whole);
    return builder_.build({root});
  }

 private:
  Value value(const Pattern& pattern, Dtype whole) {
    switch (pattern.kind) {
      case Pattern::Kind::variable:
      case Pattern::Kind::constant_variable: {
        auto known = constants_.find(pattern.variable);
        return known == constants_.end() ? values_.at(pattern.variable) : splat(known->second);
      }
      case Pattern::Kind::number:
        return splat(Literal::scalar(whole, pattern.value));
      case Pattern::Kind::all_ones:
        return splat(visit_dtype(whole, [&]<class T>() {
          if constexpr (std::is_same_v<T, bool>)
            return Literal::scalar(true);
          else
            return Literal::scalar(convert_scalar<T>(std::int64_t{-1}));
        }));
      case Pattern::Kind::op: {
        std::vector<Value> operands;
        for (std::size_t i = 0; i < pattern.operands.size(); ++i) {
          operands.push_back(value(pattern.operands[i], operand_dtype(pattern, i, whole)));
        }
        return builder_.add(pattern.op, std::move(operands));
      }
    }
    throw std::logic_error("a pattern of no kind");
  }

  Value splat(const Literal& scalar) {
    const Value value = builder_.constant(scalar);
    return builder_.add(Op::broadcast_in_dim, {value}, AxesAttributes{},
                        Type{scalar.type().dtype, shape_});
  }

  Shape shape_;
  const std::map<int, Literal>& constants_;
  GraphBuilder builder_;
  std::map<int, Value> values_;
};

std::optional<Graph> side(const Pattern& pattern, Dtype whole, std::span<const Variable> variables,
                          const std::map<int, Literal>& constants, std::int64_t count) {
  try {
    return Side(variables, constants, count).build(pattern, whole);
  } catch (const Error&) {
    return std::nullopt;  // an op does not take the dtype
  }
}

// What variable `index` of `count` takes: all of it where the combinations stay few.
Bits values_for(const Variable& variable, std::size_t index, std::size_t count, bool fast_math) {
  const Dtype dtype = variable.dtype;
  if (fast_math && is_float(dtype)) return tame_values(dtype);
  if (count == 1) return every_value(dtype);
  if (byte_size(dtype) == 1) return index < 2 ? every_value(dtype) : special_values(dtype);
  if (dtype == f16) return index == 0 ? every_value(dtype) : special_values(dtype);
  return index < 2 ? sample_values(dtype) : special_values(dtype);
}

std::int64_t product_of_sizes(std::span<const Bits> sets) {
  std::int64_t count = 1;
  for (const Bits& set : sets) count *= static_cast<std::int64_t>(set.size());
  return count;
}

// Floats in their order, NaN aside: next to each other where they are next to each other.
std::int64_t rank(Dtype dtype, std::uint64_t bits) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * byte_size(dtype) - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

double as_double(const Literal& literal, std::size_t i) {
  return visit_dtype(literal.type().dtype,
                     [&]<class T>() { return convert_scalar<double>(literal.values<T>()[i]); });
}

bool are_close(const Literal& a, const Literal& b, std::int64_t i, Closeness closeness,
               double largest) {
  const Dtype dtype = a.type().dtype;
  if (a.bits(i) == b.bits(i)) return true;
  if (!is_float(dtype)) return false;
  const double x = as_double(a, static_cast<std::size_t>(i));
  const double y = as_double(b, static_cast<std::size_t>(i));
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (closeness == Closeness::one_ulp) {
    return std::signbit(x) == std::signbit(y) &&
           std::abs(rank(dtype, a.bits(i).low) - rank(dtype, b.bits(i).low)) <= 1;
  }
  const int digits = dtype == f16 ? 11 : dtype == bf16 ? 8 : dtype == f32 ? 24 : 53;
  return closeness == Closeness::rounding && std::fabs(x - y) <= std::ldexp(32 * largest, -digits);
}

// The same graph, which gives every array that it computes on the way.
Graph with_all_outputs(const Graph& graph) {
  GraphBuilder builder;
  std::vector<Value> outputs;
  const Type& type = graph.type(graph.outputs()[0]);
  for (const Node& node : graph.nodes()) {
    const Value value =
        node.op == Op::parameter ? builder.parameter(node.types[0]) : builder.append(node);
    if (node.types[0] == type) outputs.push_back(value);
  }
  return builder.build(std::move(outputs));
}

// Per element: the greatest magnitude on the way to it, infinities and NaN aside.
std::vector<double> magnitudes(const Graph& graph, std::span<const Literal> inputs) {
  std::vector<double> most(static_cast<std::size_t>(graph.type(graph.outputs()[0]).size()), 0);
  for (const Literal& array : interpret(with_all_outputs(graph), inputs)) {
    for (std::size_t i = 0; i < most.size(); ++i) {
      const double magnitude = std::fabs(as_double(array, i));
      if (std::isfinite(magnitude)) most[i] = std::max(most[i], magnitude);
    }
  }
  return most;
}

}  // namespace

RuleCheck::RuleCheck(Rule rule, bool fast_math)
    : table_({std::move(rule)}), fast_math_(fast_math) {}

bool RuleCheck::run(const std::function<Graph(std::int64_t)>& left, std::span<const Bits> sets,
                    Closeness closeness) {
  const Graph before = left(product_of_sizes(sets));
  PassContext context;
  context.fast_math = fast_math_;
  const Graph after = rewrite(before, table_, context);
  if (after == before) return false;
  ++report_.fired;
  std::vector<Dtype> dtypes;
  for (std::size_t i = 0; i < sets.size(); ++i) dtypes.push_back(before.parameter_type(i).dtype);
  compare(before, after, combinations(sets, dtypes), closeness);
  return true;
}

void RuleCheck::compare(const Graph& left, const Graph& right, std::span<const Literal> inputs,
                        Closeness closeness) {
  const Literal wanted = interpret(left, inputs)[0], found = interpret(right, inputs)[0];
  std::vector<double> largest(static_cast<std::size_t>(wanted.type().size()), 0);
  if (closeness == Closeness::rounding) {
    const std::vector<double> a = magnitudes(left, inputs), b = magnitudes(right, inputs);
    std::transform(a.begin(), a.end(), b.begin(), largest.begin(),
                   [](double x, double y) { return std::max(x, y); });
  }
  for (std::int64_t i = 0; i < wanted.type().size(); ++i) {
    if (are_close(wanted, found, i, closeness, largest[static_cast<std::size_t>(i)])) continue;
    std::string text = std::string(table_.rules()[0].equation) + ", at";
    for (const Literal& input : inputs) {
      text += " " + std::string(name(input.type().dtype)) + " " + element_to_string(input, i);
    }
    report_.failures.push_back(text + ": " + element_to_string(wanted, i) + " becomes " +
                               element_to_string(found, i) + "\n" + to_string(left));
    return;
  }
}

void RuleCheck::run_sides(Dtype dtype) {
  const Rule& rule = table_.rules()[0];
  const Equation& sides = *rule.sides;
  std::vector<Variable> variables;
  collect(sides.left, dtype, variables);
  if (!side(sides.left, dtype, variables, {}, 1)) return;
  const bool admitted = admits(sides.when, operand_dtype(sides.left, 0, dtype), fast_math_);
  const bool approximate =
      holds_op(sides.left, is_approximate) || holds_op(sides.right, is_approximate);
  const Closeness closeness = sides.when == When::fast_math ? Closeness::rounding
                              : approximate                 ? Closeness::one_ulp
                                                            : Closeness::same_bits;
  std::vector<Bits> sets;
  std::vector<Dtype> dtypes;
  bool has_constants = false;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const bool fast = sides.when == When::fast_math;
    sets.push_back(values_for(variables[i], i, variables.size(), fast));
    dtypes.push_back(variables[i].dtype);
    has_constants |= variables[i].is_constant;
  }
  if (has_constants) {
    // As data, the constants can take all values; that the rule fires is tried with a few.
    if (admitted) {
      const std::int64_t count = product_of_sizes(sets);
      compare(*side(sides.left, dtype, variables, {}, count),
              *side(sides.right, dtype, variables, {}, count), combinations(sets, dtypes),
              closeness);
    }
    return run_constants(dtype, closeness);
  }
  const int before = report_.fired;
  const auto left = [&](std::int64_t count) {
    return *side(sides.left, dtype, variables, {}, count);
  };
  if (run(left, sets, closeness) == admitted) return;
  report_.failures.push_back(std::string(rule.equation) +
                             (before == report_.fired ? " does not fire on " : " fires on ") +
                             std::string(name(dtype)));
}

void RuleCheck::run_constants(Dtype dtype, Closeness closeness) {
  const Equation& sides = *table_.rules()[0].sides;
  std::vector<Variable> variables;
  collect(sides.left, dtype, variables);
  const bool fast = closeness == Closeness::rounding;
  const Bits values = fast ? tame_values(dtype) : special_values(dtype);
  std::vector<std::size_t> digits(variables.size(), 0);  // of a number that counts the choices
  while (true) {
    std::map<int, Literal> constants;
    std::vector<Bits> sets;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (!variables[i].is_constant) {
        sets.push_back(values);
        continue;
      }
      std::vector<std::byte> bytes(byte_size(dtype));
      std::memcpy(bytes.data(), &values[digits[i]], bytes.size());
      constants.emplace(variables[i].number, Literal({dtype, {}}, std::move(bytes)));
    }
    const auto left = [&](std::int64_t count) {
      return *side(sides.left, dtype, variables, constants, count);
    };
    if (run(left, sets, closeness) != admits(sides.when, dtype, fast_math_)) {
      report_.failures.push_back(std::string(table_.rules()[0].equation) + ": wrong dtypes, " +
                                 std::string(name(dtype)));
      return;
    }
    std::size_t i = 0;
    while (i < digits.size() && (!variables[i].is_constant || ++digits[i] == values.size())) {
      digits[i++] = 0;
    }
    if (i == digits.size()) return;
  }
}

std::vector<std::string> wrong_rules(std::span<const Rule> rules,
                                     const std::map<std::string_view, Cases>& cases,
                                     std::span<const Dtype> dtypes) {
  std::vector<std::string> wrong;
  for (const Rule& rule : rules) {
    RuleCheck check(rule, rule.sides && rule.sides->when == When::fast_math);
    if (rule.sides) {
      for (Dtype dtype : dtypes) check.run_sides(dtype);
    } else if (auto listed = cases.find(rule.equation); listed != cases.end()) {
      listed->second(check);
    } else {
      wrong.push_back(std::string(rule.equation) + " has neither patterns nor cases to check");
      continue;
    }
    if (check.report().fired == 0) wrong.push_back(std::string(rule.equation) + " never fires");
    wrong.insert(wrong.end(), check.report().failures.begin(), check.report().failures.end());
  }
  return wrong;
}

}  // namespace anabranch
