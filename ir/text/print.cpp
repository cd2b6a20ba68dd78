#include "ir/text/print.h"

#include <ostream>

#include "ir/text/print_fields.h"

namespace anabranch {
namespace {

// Comments start here, or two spaces after a longer line.
constexpr std::size_t comment_column = 60;

class Printer {
 public:
  explicit Printer(bool locations) : locations_(locations) {}

  /// The graph, without a newline at the end; `location` goes beside its first line.
  void print(const Graph& graph, SourceLocation location = {}) {
    const std::vector<std::uint32_t> numbers = value_numbers(graph);
    header(graph, numbers);
    end_line(location);
    ++depth_;
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
      if (graph.node(i).op != Op::parameter) node(graph.node(i), numbers[i], numbers);
    }
    start_line();
    text_ += "return";
    values(graph.outputs(), numbers);
    end_line({});
    --depth_;
    start_line();
    text_ += '}';
  }

  std::string take() { return std::move(text_); }

 private:
  void header(const Graph& graph, std::span<const std::uint32_t> numbers) {
    text_ += "graph";
    if (!graph.name().empty()) text_ += " " + quoted_name(graph.name());
    text_ += '(';
    for (std::uint32_t i = 0; i < graph.parameter_count(); ++i) {
      if (i) text_ += ", ";
      text_ += "%" + std::to_string(numbers[i]) + ": " + to_string(graph.parameter_type(i));
    }
    text_ += ") {";
  }

  void node(const Node& node, std::uint32_t number, std::span<const std::uint32_t> numbers) {
    start_line();
    for (std::size_t i = 0; i < node.types.size(); ++i) {
      if (i) text_ += ", ";
      text_ += "%" + std::to_string(number + i) + ": " + to_string(node.types[i]);
    }
    text_ += " = ";
    text_ += name(node.op);
    values(node.inputs, numbers);
    attributes(node.attributes);
    SourceLocation location = node.location;
    for (const Graph& region : node.regions) {
      text_ += ' ';
      print(region, location);
      location = {};
    }
    end_line(location);
  }

  void values(std::span<const Value> list, std::span<const std::uint32_t> numbers) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      text_ += i ? ", %" : " %";
      text_ += std::to_string(numbers[list[i].node] + list[i].result);
    }
  }

  void attributes(const Attributes& all) {
    if (auto* constant = std::get_if<ConstantAttributes>(&all)) {
      text_ += " " + to_string(constant->value);
    }
    std::visit(
        [&](const auto& attributes) {
          fields(attributes, [&](const char* name, const auto& value) {
            if (is_left_out(value)) return;
            ((text_ += ' ') += name) += '=' + field_text(value);
          });
        },
        all);
  }

  void start_line() {
    line_start_ = text_.size();
    text_.append(2 * depth_, ' ');
  }

  void end_line(SourceLocation location) {
    if (locations_ && location) {
      const std::size_t width = text_.size() - line_start_;
      text_.append(width + 2 < comment_column ? comment_column - width : 2, ' ');
      text_ += "# " + to_string(location);
    }
    text_ += '\n';
  }

  bool locations_;
  std::string text_;
  std::size_t depth_ = 0;
  std::size_t line_start_ = 0;
};

}  // namespace

std::vector<std::uint32_t> value_numbers(const Graph& graph) {
  std::vector<std::uint32_t> numbers;
  std::uint32_t next = 0;
  for (const Node& node : graph.nodes()) {
    numbers.push_back(next);
    next += static_cast<std::uint32_t>(node.types.size());
  }
  return numbers;
}

std::string to_string(const Graph& graph, bool locations) {
  Printer printer(locations);
  printer.print(graph);
  return printer.take() + "\n";
}

std::ostream& operator<<(std::ostream& out, const Graph& graph) { return out << to_string(graph); }

}  // namespace anabranch
