#include "frontend/stablehlo/check.h"

#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "frontend/array/expression.h"
#include "frontend/stablehlo/importer.h"
#include "frontend/stablehlo/site.h"
#include "frontend/stablehlo/types.h"
#include "ir/scalar.h"
#include "ir/text/print.h"

namespace anabranch::stablehlo {
namespace {

// Functions that call each other deeper are refused when they are called.
constexpr std::size_t most_nested_functions = 256;

// The constants of a function, and of those that it calls, that no region is around.
void collect_constants(const ParsedModule& module, const FunctionSyntax& function,
                       std::set<const FunctionSyntax*>& seen,
                       std::vector<const Operation*>& constants, std::size_t depth = 0) {
  if (depth > most_nested_functions || !seen.insert(&function).second) return;
  for (const Operation& op : function.body.operations) {
    if (op.name == "stablehlo.constant" && op.find("value") && !op.result_types.empty()) {
      constants.push_back(&op);
    }
    const Attribute* callee =
        op.find(op.name == "stablehlo.composite" ? "decomposition" : "callee");
    const FunctionSyntax* called = callee ? module.find(callee->text) : nullptr;
    if (called) collect_constants(module, *called, seen, constants, depth + 1);
  }
}

Literal written_out(const ParsedModule& module, const Operation& op, const Attribute& value,
                    const Type& type, std::size_t& bytes_left) {
  const DenseValue dense = read_dense(module.source, module.syntax, value, type);
  try {
    return expanded(dense, type, bytes_left);
  } catch (const Error& error) {
    module.source.fail_again(op.at, error);
  }
}

Check check_of(const CheckSite& met, const Importer& importer, const Site& site,
               std::vector<Array>& outputs, std::size_t& bytes_left) {
  Check check;
  check.name = "check." + met.name;
  check.place = importer.source().place(met.op->at);
  check.actual = outputs.size();
  outputs.push_back(met.operands[0]);
  const Type type = type_of(met.operands[0]);
  if (met.operands.size() == 2) {
    check.expected = outputs.size();
    outputs.push_back(met.operands[1]);
    if (type_of(met.operands[1]) != type) {
      site.fail("compares " + type_text(type) + " with " + type_text(type_of(met.operands[1])));
    }
  } else {
    const Attribute* value = met.op->find("value");
    if (!value) site.fail("needs a constant to compare with");
    check.constant = written_out(importer.module(), *met.op, *value, type, bytes_left);
  }
  if (met.name.starts_with("expect_almost_eq")) {
    check.kind = CheckKind::almost_equal;
    check.tolerance = site.number("tolerance", 1e-3);
  } else if (met.name == "expect_close") {
    check.kind = CheckKind::close;
    check.least_ulps = static_cast<std::uint64_t>(site.integer("min_ulp_difference", 0));
    check.most_ulps = static_cast<std::uint64_t>(site.integer("max_ulp_difference", 3));
  }
  return check;
}

}  // namespace

SelfChecking self_checking(const Function& function) {
  const ParsedModule& module = *function.module();
  const FunctionSyntax& syntax = module.syntax.functions[function.index()];
  SelfChecking result;
  const auto tracer = std::make_shared<Tracer>(syntax.name);
  Importer importer(module);
  importer.tracer = tracer;
  std::set<const FunctionSyntax*> seen;
  std::vector<const Operation*> constants;
  collect_constants(module, syntax, seen, constants);
  std::size_t bytes_left = most_expanded_bytes;
  for (const Operation* op : constants) {
    const Type type = to_type(module.source, op->result_types[0]);
    result.inputs.push_back(written_out(module, *op, *op->find("value"), type, bytes_left));
    importer.given_constants.emplace(op, tracer->parameter(type));
  }
  std::vector<CheckSite> met;
  importer.checks = &met;
  importer.call(syntax, {}, syntax.at);
  std::vector<Array> outputs;
  const Scope none;
  for (const CheckSite& each : met) {
    const Site site(importer, *each.op, none);
    result.checks.push_back(check_of(each, importer, site, outputs, bytes_left));
  }
  result.graph = tracer->finish(outputs);
  return result;
}

// --- comparison ----------------------------------------------------------------------------------

namespace {

// Floats of a dtype numbered in their order; -0 and 0 are the same.
template <class T>
std::int64_t number_of_float(T value) {
  using Word = std::conditional_t<
      sizeof(T) == 1, std::int8_t,
      std::conditional_t<sizeof(T) == 2, std::int16_t,
                         std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>>;
  Word word;
  std::memcpy(&word, &value, sizeof word);
  const auto bits = static_cast<std::int64_t>(word);
  return bits >= 0 ? bits : -(bits & std::numeric_limits<Word>::max());
}

template <class T>
std::uint64_t ulps(T a, T b) {
  const auto x = static_cast<double>(a), y = static_cast<double>(b);
  if (std::isnan(x) && std::isnan(y)) return 0;
  if (x == y) return 0;
  const auto most = std::numeric_limits<std::uint64_t>::max();
  if (!std::isfinite(x) || !std::isfinite(y)) return most;
  const std::int64_t m = number_of_float(a), n = number_of_float(b);
  return m > n ? static_cast<std::uint64_t>(m) - static_cast<std::uint64_t>(n)
               : static_cast<std::uint64_t>(n) - static_cast<std::uint64_t>(m);
}

template <class T>
bool holds(const Check& check, T a, T b) {
  if constexpr (is_complex_storage<T>) {
    return holds(check, a.real(), b.real()) && holds(check, a.imag(), b.imag());
  } else if constexpr (is_float_storage<T>) {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    const bool same = x == y || (std::isnan(x) && std::isnan(y));
    switch (check.kind) {
      case CheckKind::equal:
        return same;
      case CheckKind::almost_equal:
        return same || std::fabs(x - y) <= check.tolerance;
      case CheckKind::close:
        break;
    }
    const std::uint64_t apart = ulps(a, b);
    return check.least_ulps <= apart && apart <= check.most_ulps;
  } else {
    return a == b;
  }
}

// "[1, 2]"
std::string place_in(const Shape& shape, std::int64_t index) {
  std::string text;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const std::string own = std::to_string(index % shape[axis]);
    text = text.empty() ? own : own + ", " + text;
    index /= shape[axis];
  }
  return "[" + text + "]";
}

}  // namespace

std::string difference(const Check& check, const Literal& actual, const Literal& expected) {
  if (actual.type() != expected.type()) {
    return to_string(actual.type()) + " against " + to_string(expected.type());
  }
  const auto tell = [&](std::int64_t i, const std::string& more) {
    return "element " + place_in(actual.type().shape, i) + " is " + element_to_string(actual, i) +
           ", expected " + element_to_string(expected, i) + more;
  };
  return visit_any_dtype(actual.type().dtype, [&]<class T>() -> std::string {
    const auto a = actual.values<T>(), b = expected.values<T>();
    std::int64_t differing = 0, first = -1;
    for (std::int64_t i = 0; i < actual.type().size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (holds(check, a[at], b[at])) continue;
      if (first < 0) first = i;
      ++differing;
    }
    if (first < 0) return {};
    std::string more;
    const T x = a[static_cast<std::size_t>(first)], y = b[static_cast<std::size_t>(first)];
    if (check.kind == CheckKind::close) {
      if constexpr (is_complex_storage<T>) {
        more = ", " + std::to_string(std::max(ulps(x.real(), y.real()), ulps(x.imag(), y.imag()))) +
               " ULP apart";
      } else if constexpr (is_float_storage<T>) {
        more = ", " + std::to_string(ulps(x, y)) + " ULP apart";
      }
    }
    if (differing > 1) {
      more += "; " + std::to_string(differing) + " of " + std::to_string(actual.type().size()) +
              " elements differ";
    }
    return tell(first, more);
  });
}

}  // namespace anabranch::stablehlo
