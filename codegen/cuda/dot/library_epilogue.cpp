#include "codegen/cuda/dot/library_epilogue.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

namespace anabranch::cuda {
namespace {

// A sum of c x^i t^j, by (i, j), where x is what the activation is applied to and t a tanh of x.
using Polynomial = std::map<std::pair<int, int>, double>;

constexpr std::size_t most_terms = 16;

// The one number that all elements of a constant, or of its broadcast, are.
std::optional<double> number(const Graph& graph, Value value) {
  const Node* node = &graph.node(value);
  while (node->op == Op::broadcast_in_dim || node->op == Op::reshape) {
    node = &graph.node(node->inputs[0]);
  }
  if (node->op != Op::constant) return std::nullopt;
  const Literal& literal = node->as<ConstantAttributes>().value;
  if (!literal.is_splat() || !is_float(literal.type().dtype)) return std::nullopt;
  return literal.first_as<double>();
}

// Whether the axes of a broadcast put all of its operand along the last axes of the result.
bool is_along_rows(const Graph& graph, const Node& broadcast) {
  const Shape& from = graph.type(broadcast.inputs[0]).shape;
  const Shape& to = broadcast.types[0].shape;
  const auto& axes = broadcast.as<AxesAttributes>().axes;
  for (int i = 0; i < from.rank(); ++i) {
    const int last = to.rank() - from.rank() + i;
    if (axes[static_cast<std::size_t>(i)] != last || from[i] != to[last]) return false;
  }
  return true;
}

// Which parameter `value` repeats in every row.
std::optional<std::size_t> bias(const Graph& graph, Value value, std::int64_t columns) {
  const Type& result = graph.parameter_type(0);
  const Node* node = &graph.node(value);
  if (node->op == Op::broadcast_in_dim) {
    if (!is_along_rows(graph, *node)) return std::nullopt;
    value = node->inputs[0];
    node = &graph.node(value);
  }
  if (node->op == Op::reshape) value = node->inputs[0];
  const bool is_input = value.node > 0 && value.node < graph.parameter_count();
  const Type& type = graph.type(value);
  if (!is_input || type.size() != columns || type.dtype != result.dtype) return std::nullopt;
  return value.node;
}

bool is_read_once(const Graph& graph, Value value) {
  std::ptrdiff_t reads = std::count(graph.outputs().begin(), graph.outputs().end(), value);
  for (const Node& node : graph.nodes()) {
    reads += std::count(node.inputs.begin(), node.inputs.end(), value);
  }
  return reads == 1;
}

// The sum of the dot's result and a bias, where that is all that reads the dot's result.
std::optional<Value> biased(const Graph& graph, std::int64_t columns, LibraryEpilogue& epilogue) {
  const Value dot{0, 0};
  if (!is_read_once(graph, dot)) return std::nullopt;
  for (std::uint32_t i = 1; i < graph.nodes().size(); ++i) {
    const Node& node = graph.node(i);
    if (node.op != Op::add) continue;
    for (std::size_t side : {0, 1}) {
      if (node.inputs[side] != dot) continue;
      epilogue.bias = bias(graph, node.inputs[1 - side], columns);
      if (epilogue.bias) return Value{i, 0};
    }
  }
  return std::nullopt;
}

bool is_relu(const Graph& graph, Value value, Value x) {
  const Node& node = graph.node(value);
  if (node.op != Op::maximum) return false;
  for (std::size_t side : {0, 1}) {
    if (node.inputs[side] == x && number(graph, node.inputs[1 - side]) == 0.0) return true;
  }
  return false;
}

// What each value is in terms of x: gelu(x) = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2,
// multiplied out, however it is written.
class Expansion {
 public:
  Expansion(const Graph& graph, Value x)
      : graph_(graph), tolerance_(tolerance_of(graph.type(x).dtype)) {
    expanded_.resize(graph.nodes().size());
    for (std::uint32_t i = 0; i < expanded_.size(); ++i) {
      const Value value{i, 0};
      if (value == x) {
        expanded_[i] = Polynomial{{{1, 0}, 1.0}};
      } else if (const auto known = number(graph, value)) {
        expanded_[i] = Polynomial{{{0, 0}, *known}};
      } else {
        expanded_[i] = expand(graph.node(i));
      }
      if (expanded_[i] && expanded_[i]->size() > most_terms) expanded_[i].reset();
    }
  }

  bool is_gelu(Value value) const {
    const auto& whole = expanded_[value.node];
    return whole && is_close(*whole, {{{1, 0}, 0.5}, {{1, 1}, 0.5}});
  }

 private:
  // Constants are rounded to the dtype, and their products again.
  static double tolerance_of(Dtype dtype) {
    if (dtype == f64) return 1e-7;  // some write 0.7978845608
    return dtype == f32 ? 1e-6 : dtype == f16 ? 4e-3 : 3e-2;
  }

  std::optional<Polynomial> expand(const Node& node) const {
    const bool is_sum = node.op == Op::add || node.op == Op::subtract;
    if (!is_sum && node.op != Op::multiply && node.op != Op::negate && node.op != Op::tanh) {
      return std::nullopt;
    }
    std::vector<const Polynomial*> operands;
    for (Value input : node.inputs) {
      if (!expanded_[input.node]) return std::nullopt;
      operands.push_back(&*expanded_[input.node]);
    }
    if (node.op == Op::tanh) return tanh(*operands[0]);
    if (node.op == Op::multiply) return product(*operands[0], *operands[1]);
    if (node.op == Op::negate) return product(*operands[0], {{{0, 0}, -1.0}});
    const double sign = node.op == Op::subtract ? -1.0 : 1.0;
    Polynomial sum = *operands[0];
    for (auto [powers, factor] : *operands[1]) sum[powers] += sign * factor;
    return sum;
  }

  static Polynomial product(const Polynomial& x, const Polynomial& y) {
    Polynomial product;
    for (auto [powers, factor] : x) {
      for (auto [other, by] : y) {
        product[{powers.first + other.first, powers.second + other.second}] += factor * by;
      }
    }
    return product;
  }

  std::optional<Polynomial> tanh(const Polynomial& of) const {
    const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    if (!is_close(of, {{{1, 0}, scale}, {{3, 0}, scale * 0.044715}})) return std::nullopt;
    return Polynomial{{{0, 1}, 1.0}};
  }

  bool is_close(const Polynomial& x, const Polynomial& y) const {
    return std::ranges::equal(x, y, [this](const auto& a, const auto& b) {
      return a.first == b.first && std::abs(a.second - b.second) <= tolerance_ * std::abs(b.second);
    });
  }

  const Graph& graph_;
  const double tolerance_;
  std::vector<std::optional<Polynomial>> expanded_;  // by node
};

}  // namespace

std::optional<LibraryEpilogue> library_epilogue(const Graph& epilogue, std::int64_t columns,
                                                bool fast_math) {
  if (epilogue.outputs().size() != 1) return std::nullopt;
  const Value output = epilogue.outputs()[0];
  if (epilogue.type(output) != epilogue.parameter_type(0)) return std::nullopt;
  LibraryEpilogue found;
  const Value x = biased(epilogue, columns, found).value_or(Value{0, 0});
  if (output == x) return found;
  if (!fast_math) return std::nullopt;
  if (is_relu(epilogue, output, x)) {
    found.activation = Activation::relu;
  } else if (Expansion(epilogue, x).is_gelu(output)) {
    found.activation = Activation::gelu;
  } else {
    return std::nullopt;
  }
  return found;
}

}  // namespace anabranch::cuda
