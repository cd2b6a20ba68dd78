#include "anabranch/check_nans.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>

#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "passes/inline.h"

namespace anabranch::detail {
namespace {

bool has_nan(const Literal& literal) {
  return visit_any_dtype(literal.type().dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      return false;
    } else {
      const auto values = literal.values<T>();
      return std::any_of(values.begin(), values.end(), [](const T& x) {
        if constexpr (is_complex_storage<T>) {
          return std::isnan(x.real()) || std::isnan(x.imag());
        } else {
          return std::isnan(convert_scalar<double>(x));
        }
      });
    }
  });
}

Literal literal_of(const Array& array) {
  return visit_any_dtype(type_of(array).dtype, [&]<class T>() {
    const Shape shape = type_of(array).shape;
    if constexpr (std::is_same_v<T, bool>) {
      const std::vector<bool> values = array.to_vector<bool>();
      std::vector<std::byte> bytes;
      for (bool value : values) bytes.push_back(static_cast<std::byte>(value));
      return Literal({bool_, shape}, std::move(bytes));
    } else {
      const std::vector<T> values = array.to_vector<T>();
      return Literal::of(std::span<const T>(values), shape);
    }
  });
}

std::string placed(const std::string& text, const Node& node) {
  return node.location ? text + ", at " + to_string(node.location) : text;
}

// Evaluates a graph op by op, and says where the first NaN comes from.
class Search {
 public:
  std::vector<Literal> run(const Graph& graph, std::span<const Literal> inputs) {
    std::vector<std::vector<Literal>> values;
    for (const Node& node : graph.nodes()) {
      if (node.op == Op::parameter) {
        values.push_back({inputs[values.size()]});
        continue;
      }
      std::vector<Literal> operands;
      for (Value input : node.inputs) operands.push_back(values[input.node][input.result]);
      values.push_back(results_of(node, operands));
      if (found_) return {};
    }
    std::vector<Literal> outputs;
    for (Value output : graph.outputs()) outputs.push_back(values[output.node][output.result]);
    return outputs;
  }

  const std::optional<std::string>& found() const { return found_; }

 private:
  std::vector<Literal> results_of(const Node& node, const std::vector<Literal>& operands) {
    if (node.op == Op::while_) return loop(node, operands);
    if (node.op == Op::case_) {
      const std::int32_t wanted = operands[0].values<std::int32_t>()[0];
      const auto last = static_cast<std::int32_t>(node.regions.size()) - 1;
      const std::int32_t branch = wanted < 0 || wanted > last ? last : wanted;
      return run(node.regions[static_cast<std::size_t>(branch)], std::span(operands).subspan(1));
    }
    std::vector<Literal> results = interpret(node, operands);
    if (std::any_of(operands.begin(), operands.end(), has_nan)) return results;
    for (const Literal& result : results) {
      if (!has_nan(result)) continue;
      std::string text = std::string(name(node.op)) + " gives a NaN, " + to_string(result.type());
      for (std::size_t i = 0; i < operands.size(); ++i) {
        text += (i == 0 ? " of " : " x ") + to_string(operands[i].type());
      }
      found_ = placed(text, node);
      break;
    }
    return results;
  }

  std::vector<Literal> loop(const Node& node, std::vector<Literal> values) {
    for (std::int64_t turn = 0;; ++turn) {
      const std::vector<Literal> holds = run(node.regions[0], values);
      if (found_ || !holds[0].values<bool>()[0]) break;
      const std::vector<Literal> next = run(node.regions[1], values);
      if (found_) {
        *found_ += ", in turn " + std::to_string(turn) + " of the loop";
        *found_ = placed(*found_, node);
        break;
      }
      std::copy(next.begin(), next.end(), values.begin());
    }
    values.resize(node.types.size());
    return values;
  }

  std::optional<std::string> found_;
};

}  // namespace

void demand_no_nans(const FunctionTrace& function, const ArgumentLeaves& arguments,
                    const Leaves& outputs, SourceLocation where) {
  const bool is_clean = std::none_of(outputs.begin(), outputs.end(), [](const Array& output) {
    const Dtype dtype = type_of(output).dtype;
    return (is_float(dtype) || is_complex(dtype)) && has_nan(literal_of(output));
  });
  if (is_clean) return;
  std::vector<Literal> inputs;
  for (std::size_t i = 0; i < arguments.leaves.size(); ++i) {
    inputs.push_back(literal_of(arguments.leaves[i]));
    if (!has_nan(inputs.back())) continue;
    fail("check_nans: " + arguments.paths[i] + " holds a NaN already", where);
  }
  for (const Array& capture : function.captures()) {
    inputs.push_back(literal_of(capture));
    if (!has_nan(inputs.back())) continue;
    fail("check_nans: an array that the function captures holds a NaN, " +
             to_string(type_of(capture)),
         where);
  }
  PassContext context;
  Search search;
  search.run(inline_(function.graph(), context), inputs);
  if (search.found()) throw Error("check_nans: " + *search.found());
  fail(
      "check_nans: a result holds a NaN, and none where ops are computed one by one; it is a "
      "matter of rounding, such as an overflow of a sum",
      where);
}

}  // namespace anabranch::detail
