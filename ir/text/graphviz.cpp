#include "ir/text/graphviz.h"

#include <string_view>

#include "ir/text/print.h"

namespace anabranch {
namespace {

// Constants with more elements than this are drawn without their value.
constexpr std::int64_t most_elements = 4;

// Box names are the path of node indices: n4_1 is node 1 of the region of node 4.
class DotPrinter {
 public:
  std::string print(const Graph& graph) {
    text_ = "digraph \"" + escaped(graph.name()) + "\" {\n";
    line("rankdir=TB;");
    line(R"(node [shape=box, style="rounded,filled", fillcolor="#f4f6f8", fontname="monospace"];)");
    line(R"(graph [fontname="monospace"];)");
    outputs(nodes(graph, "n", nullptr), "output");
    return text_ + edges_ + "}\n";
  }

 private:
  // Draws the nodes of a graph and gives the boxes of its outputs. A region's parameters have no
  // boxes: they stand for `operands`.
  std::vector<std::string> nodes(const Graph& graph, const std::string& prefix,
                                 const std::vector<std::string>* operands) {
    const std::vector<std::uint32_t> numbers = value_numbers(graph);
    std::vector<std::vector<std::string>> boxes;  // per node and result
    auto box_of = [&](Value value) { return boxes[value.node][value.result]; };
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
      const Node& node = graph.node(i);
      const std::string id = prefix + std::to_string(i);
      const std::string title = "%" + std::to_string(numbers[i]) + " ";
      std::vector<std::string> sources;
      for (Value input : node.inputs) sources.push_back(box_of(input));
      if (node.op == Op::parameter && operands) {
        boxes.push_back({(*operands)[i]});
      } else if (node.op == Op::fusion) {
        boxes.push_back(cluster(node, id, title, sources));
      } else {
        if (is_control(node.op)) {
          regions(node, id, title);
        } else {
          box(node, id, title);
        }
        // Edges come last: inside a cluster they would draw their source into it.
        for (const std::string& source : sources) edges_ += "  " + source + " -> " + id + ";\n";
        boxes.push_back(std::vector(node.types.size(), id));
      }
    }
    std::vector<std::string> outputs;
    for (Value output : graph.outputs()) outputs.push_back(box_of(output));
    return outputs;
  }

  void box(const Node& node, const std::string& id, const std::string& title) {
    std::string label = title + std::string(name(node.op));
    if (auto* constant = std::get_if<ConstantAttributes>(&node.attributes)) {
      const Literal& value = constant->value;
      const bool brief = value.is_splat() || value.type().size() <= most_elements;
      if (brief) label += " " + to_string(value);
    }
    if (auto* call = std::get_if<CustomCallAttributes>(&node.attributes)) {
      label += " " + escaped(call->name);
    }
    if (auto* place = std::get_if<DeviceAttributes>(&node.attributes)) {
      label += " to " + to_string(place->device);
    }
    for (const Type& type : node.types) label += "\\n" + to_string(type);
    if (node.location) label += "\\n" + escaped(to_string(node.location));
    const char* fill = node.op == Op::parameter ? R"(, fillcolor="#d8e4f4")" : "";
    line(id + " [label=\"" + label + "\"" + fill + "];");
  }

  std::vector<std::string> cluster(const Node& fusion, const std::string& id,
                                   const std::string& title,
                                   const std::vector<std::string>& operands) {
    const Graph& region = fusion.regions[0];
    std::string label = title + "fusion, " + std::string(name(fusion.as<FusionAttributes>().kind));
    if (!region.name().empty()) label += ": " + region.name();
    line("subgraph cluster_" + id + " {");
    ++depth_;
    line("label=\"" + escaped(label) + R"("; style="rounded,filled"; fillcolor="#fdf3dc";)");
    std::vector<std::string> outputs = nodes(region, id + "_", &operands);
    --depth_;
    line("}");
    return outputs;
  }

  // The box of a loop or a branch, and beside it each region with parameters of its own.
  void regions(const Node& node, const std::string& id, const std::string& title) {
    line("subgraph cluster_" + id + " {");
    ++depth_;
    line(R"(style="rounded,filled"; fillcolor="#e9eef9";)");
    box(node, id, title);
    for (std::size_t i = 0; i < node.regions.size(); ++i) {
      const Graph& region = node.regions[i];
      const std::string prefix = id + "_" + std::to_string(i) + "_";
      const std::string label = region.name().empty() ? std::to_string(i) : region.name();
      line("subgraph cluster_" + prefix + " {");
      ++depth_;
      line("label=\"" + escaped(label) + R"("; style="rounded,filled"; fillcolor="#f8faff";)");
      outputs(nodes(region, prefix, nullptr), prefix + "output");
      --depth_;
      line("}");
    }
    --depth_;
    line("}");
  }

  void outputs(const std::vector<std::string>& sources, const std::string& prefix) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::string id = prefix + std::to_string(i);
      line(id + " [label=\"output " + std::to_string(i) +
           R"(", shape=oval, fillcolor="#d8e8d8"];)");
      edges_ += "  " + sources[i] + " -> " + id + ";\n";
    }
  }

  void line(const std::string& content) {
    text_.append(2 * depth_, ' ');
    text_ += content + '\n';
  }

  std::string text_;
  std::string edges_;
  std::size_t depth_ = 1;
};

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string to_dot(const Graph& graph) { return DotPrinter().print(graph); }

}  // namespace anabranch
