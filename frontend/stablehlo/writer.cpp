#include "frontend/stablehlo/writer.h"

#include <charconv>
#include <cmath>

#include "anabranch/stablehlo.h"
#include "frontend/stablehlo/types.h"
#include "ir/scalar.h"

namespace anabranch::stablehlo {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string joined(const std::vector<Type>& types) {
  std::vector<std::string> parts;
  for (const Type& type : types) parts.push_back(type_text(type));
  return joined(parts);
}

namespace {

constexpr std::int64_t most_listed = 100;  // elements; more are written as their bytes

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  for (std::byte byte : bytes) {
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

// The bits as MLIR writes those of a float: most significant first.
std::string bits_of_float(std::span<const std::byte> bytes) {
  std::vector<std::byte> turned(bytes.rbegin(), bytes.rend());
  return "0x" + hexadecimal(turned);
}

// MLIR reads floats of any width as double; what rounds to other bits then is written as bits.
template <class T>
std::string float_text(T value, std::span<const std::byte> bytes) {
  const auto as_double = static_cast<double>(value);
  if (!std::isfinite(as_double)) return bits_of_float(bytes);
  char digits[64];
  char* end = nullptr;
  if constexpr (std::is_same_v<T, double>) {
    end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific).ptr;
  } else {
    const auto narrow = static_cast<float>(value);
    end = std::to_chars(digits, digits + sizeof digits, narrow, std::chars_format::scientific).ptr;
  }
  std::string text(digits, end);
  double read = 0;
  std::from_chars(text.data(), text.data() + text.size(), read);
  const T again = convert_scalar<T>(read);
  if (std::memcmp(&again, &value, sizeof value) != 0) return bits_of_float(bytes);
  if (text.find('.') == text.npos) text.insert(text.find('e'), ".0");
  return text;
}

std::string list_text(const Literal& literal, int axis, std::int64_t& index) {
  const Shape& shape = literal.type().shape;
  if (axis == shape.rank()) return element_text(literal, index++);
  std::string text = "[";
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    text += (i > 0 ? ", " : "") + list_text(literal, axis + 1, index);
  }
  return text + "]";
}

}  // namespace

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (char c : name) {
    if (c == '"' || c < ' ' || c > '~') {
      text += '\\' + hexadecimal(std::as_bytes(std::span(&c, 1)));
    } else {
      text += c == '\\' ? "\\\\" : std::string(1, c);
    }
  }
  return text + '"';
}

std::string element_text(const Literal& literal, std::int64_t index) {
  const Dtype dtype = literal.type().dtype;
  const auto bytes =
      literal.bytes().subspan(static_cast<std::size_t>(index) * byte_size(dtype), byte_size(dtype));
  return visit_any_dtype(dtype, [&]<class T>() -> std::string {
    const T value = literal.values<T>()[static_cast<std::size_t>(index)];
    if constexpr (std::is_same_v<T, bool>) {
      return value ? "true" : "false";
    } else if constexpr (is_complex_storage<T>) {
      const std::size_t half = sizeof(T) / 2;
      return "(" + float_text(value.real(), bytes.subspan(0, half)) + ", " +
             float_text(value.imag(), bytes.subspan(half)) + ")";
    } else if constexpr (is_float_storage<T>) {
      return float_text(value, bytes);
    } else {
      return std::to_string(value);
    }
  });
}

std::string dense_text(const Literal& literal) {
  const Type& type = literal.type();
  std::string text;
  if (type.size() > 0 && literal.is_splat()) {
    text = element_text(literal, 0);
  } else if (type.size() > most_listed && type.dtype != bool_) {
    text = "\"0x" + hexadecimal(literal.bytes()) + "\"";
  } else if (type.size() > 0) {
    std::int64_t index = 0;
    text = list_text(literal, 0, index);
  }
  return "dense<" + text + "> : " + type_text(type);
}

std::string to_stablehlo(const Graph& graph) { return Writer().module(graph); }

std::string Writer::fresh() { return "%" + std::to_string(next_++); }

void Writer::line(const std::string& text) {
  text_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + text + "\n";
}

std::string Writer::define(const std::string& text) {
  std::string name = fresh();
  line(name + " = " + text);
  return name;
}

Writer::Names Writer::fresh_results(const Node& node, std::string& definition) {
  const std::string name = fresh();
  if (node.types.size() == 1) {
    definition = name;
    return {name};
  }
  definition = name + ":" + std::to_string(node.types.size());
  Names names;
  for (std::size_t i = 0; i < node.types.size(); ++i) {
    names.push_back(name + "#" + std::to_string(i));
  }
  return names;
}

std::string Writer::module(const Graph& graph) {
  const bool is_named = !graph.name().empty();
  line("module" + (is_named ? " @" + quoted(graph.name()) : "") + " {");
  ++depth_;
  Names parameters;
  std::string arguments, results, types;
  for (std::uint32_t i = 0; i < graph.parameter_count(); ++i) {
    parameters.push_back("%arg" + std::to_string(i));
    arguments += (i > 0 ? ", " : "") + parameters[i] + ": " + type_text(graph.parameter_type(i));
  }
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    types += (i > 0 ? ", " : "") + type_text(graph.output_type(i));
  }
  line("func.func public @main(" + arguments + ") -> (" + types + ") {");
  ++depth_;
  const Names outputs = body(graph, parameters);
  for (const std::string& output : outputs) results += (results.empty() ? "" : ", ") + output;
  line(results.empty() ? "return" : "return " + results + " : " + types);
  --depth_;
  line("}");
  --depth_;
  line("}");
  return std::move(text_);
}

Writer::Names Writer::body(const Graph& graph, const Names& parameters) {
  Frame frame{graph, {}};
  for (const Node& node : graph.nodes()) {
    Names names;
    if (node.op == Op::parameter) {
      names = {parameters[frame.names.size()]};
    } else {
      this->node(frame, node, names);
    }
    frame.names.push_back(std::move(names));
  }
  Names outputs;
  for (Value output : graph.outputs()) outputs.push_back(frame(output));
  return outputs;
}

void Writer::node(Frame& frame, const Node& node, Names& results) {
  if (node.op == Op::constant) {
    results = {define("stablehlo.constant " + dense_text(node.as<ConstantAttributes>().value))};
    return;
  }
  if (plain(frame, node, results) || moving(frame, node, results) ||
      reducing(frame, node, results) || contracting(frame, node, results) ||
      calling(frame, node, results) || with_regions(frame, node, results)) {
    return;
  }
  const std::string at = node.location ? ", at " + to_string(node.location) : "";
  throw Error("to_stablehlo: StableHLO has no operation like " + std::string(name(node.op)) + at +
              "; write the graph in its own text form, .abir");
}

Writer::Names Writer::operands(const Frame& frame, const Node& node) const {
  Names names;
  for (Value input : node.inputs) names.push_back(frame(input));
  return names;
}

}  // namespace anabranch::stablehlo
