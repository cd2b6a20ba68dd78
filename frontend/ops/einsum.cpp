// Einstein summation as diagonals, sums, one dot per pair of operands, and a transposition.
#include <algorithm>
#include <map>
#include <string>

#include "anabranch/linear_algebra.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

/// An array with a letter per axis.
struct Labelled {
  Array array;
  std::string labels;

  const Shape& shape() const { return array.expression()->type.shape; }
  std::int64_t size(char label) const { return shape()[static_cast<int>(labels.find(label))]; }
  std::vector<std::int64_t> axes(const std::string& chosen) const {
    std::vector<std::int64_t> axes;
    for (char label : chosen) axes.push_back(static_cast<std::int64_t>(labels.find(label)));
    return axes;
  }
};

bool has(const std::string& labels, char label) { return labels.find(label) != labels.npos; }

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

Equation parse_equation(std::string_view text, std::size_t operands, SourceLocation where) {
  auto bad = [&](const std::string& what) {
    fail("einsum: \"" + std::string(text) + "\": " + what, where);
  };
  Equation equation;
  equation.inputs.emplace_back();
  bool arrow = false;
  std::map<char, int> count;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c == ' ') continue;
    if (letter && arrow) {
      if (has(equation.output, c)) bad(std::string("'") + c + "' comes out twice");
      if (!count.contains(c)) bad(std::string("'") + c + "' comes out of no operand");
      equation.output += c;
    } else if (letter) {
      equation.inputs.back() += c;
      ++count[c];
    } else if (c == ',' && !arrow) {
      equation.inputs.emplace_back();
    } else if (c == '-' && !arrow && i + 1 < text.size() && text[i + 1] == '>') {
      arrow = true;
      ++i;
    } else {
      bad(std::string("'") + c + "' is not a letter, a comma or the arrow ->");
    }
  }
  if (equation.inputs.size() != operands) {
    bad("names " + std::to_string(equation.inputs.size()) + " operands, and " +
        std::to_string(operands) + " were given");
  }
  if (!arrow) {
    for (auto [label, times] : count) {
      if (times == 1) equation.output += label;
    }
  }
  return equation;
}

// A letter that comes twice keeps where both positions are equal.
Labelled take_diagonals(Labelled x, SourceLocation at) {
  for (std::size_t later = 0; later < x.labels.size(); ++later) {
    std::size_t earlier = x.labels.find(x.labels[later]);
    if (earlier == later) continue;
    const Shape& shape = x.shape();
    auto position = [&](std::size_t axis) {
      return Term(record(Op::iota, {}, at, AxisAttributes{static_cast<std::int64_t>(axis)},
                         Type{i64, shape}),
                  at);
    };
    Term kept = where(position(earlier) == position(later), Term(x.array, at), 0);
    x.array = sum_in_own_dtype(kept, later);
    x.labels.erase(later--, 1);
  }
  return x;
}

// Sums over the letters of x that nothing else needs.
Labelled sum_alone(Labelled x, const std::string& wanted, SourceLocation at) {
  std::string alone, rest;
  for (char label : x.labels) (has(wanted, label) ? rest : alone) += label;
  if (alone.empty()) return x;
  return {sum_in_own_dtype({x.array, at}, Axes(x.axes(alone))), rest};
}

Labelled contract(Labelled a, Labelled b, const std::string& wanted, SourceLocation at) {
  a = sum_alone(std::move(a), b.labels + wanted, at);
  b = sum_alone(std::move(b), a.labels + wanted, at);
  std::string batch, inner, left, right;
  for (char label : a.labels) {
    if (!has(b.labels, label))
      left += label;
    else
      (has(wanted, label) ? batch : inner) += label;
  }
  for (char label : b.labels) {
    if (!has(a.labels, label)) right += label;
  }
  Array product = record(Op::dot, {a.array, b.array}, at,
                         DotAttributes{a.axes(batch), b.axes(batch), a.axes(inner), b.axes(inner)});
  return {product, batch + left + right};
}

}  // namespace

Array einsum(std::string_view text, const Operands& operands) {
  const SourceLocation at = operands.where();
  Equation equation = parse_equation(text, operands.list().size(), at);
  std::vector<Labelled> terms;
  std::map<char, std::int64_t> sizes;
  const std::vector<Array> arrays = promote("einsum", operands.list(), Takes::numbers);
  for (std::size_t i = 0; i < operands.list().size(); ++i) {
    const Type& type = type_of(arrays[i]);
    const std::string& labels = equation.inputs[i];
    if (static_cast<int>(labels.size()) != type.rank()) {
      fail("einsum: \"" + labels + "\" names " + std::to_string(labels.size()) + " axes of " +
               to_string(type),
           at);
    }
    for (std::size_t axis = 0; axis < labels.size(); ++axis) {
      std::int64_t size = type.shape[static_cast<int>(axis)];
      auto [known, added] = sizes.emplace(labels[axis], size);
      if (known->second != size) {
        fail(std::string("einsum: '") + labels[axis] + "' is " + std::to_string(known->second) +
                 " and " + std::to_string(size) + " in " + to_string(type),
             at);
      }
    }
    terms.push_back(take_diagonals({arrays[i], labels}, at));
  }
  Labelled result = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) {
    std::string wanted = equation.output;
    for (std::size_t later = i + 1; later < terms.size(); ++later) wanted += terms[later].labels;
    result = contract(result, terms[i], wanted, at);
  }
  result = sum_alone(result, equation.output, at);
  if (equation.output.empty()) return result.array;
  return permute_dims({result.array, at}, Axes(result.axes(equation.output)));
}

Array einsum(std::string_view equation, const Operand& a) {
  return einsum(equation, Operands({a}));
}

Array einsum(std::string_view equation, const Operand& a, const Operand& b) {
  return einsum(equation, Operands({a, b}));
}

}  // namespace anabranch
