#include "ir/graph/verify.h"

#include <new>

#include "anabranch/error.h"
#include "ir/infer/infer.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

// The text of a broken graph may itself be beyond printing: every input must at least exist.
bool is_printable(const Graph& graph) {
  if (graph.parameter_count() > graph.nodes().size()) return false;
  auto exists = [&](Value value) {
    return value.node < graph.nodes().size() && value.result < graph.node(value).types.size();
  };
  for (const Node& node : graph.nodes()) {
    for (Value input : node.inputs) {
      if (!exists(input)) return false;
    }
    for (const Graph& region : node.regions) {
      if (!is_printable(region)) return false;
    }
  }
  for (Value output : graph.outputs()) {
    if (!exists(output)) return false;
  }
  return true;
}

class GraphVerifier {
 public:
  GraphVerifier(const Graph& graph, const Graph& whole)
      : graph_(graph), whole_(whole), numbers_(value_numbers(graph)) {}

  void run() const {
    if (graph_.parameter_count() > graph_.nodes().size()) {
      fail(graph_.name() + " counts more parameters than it has nodes");
    }
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i) node(i);
    for (Value output : graph_.outputs()) {
      if (!exists(output))
        fail("an output is node " + std::to_string(output.node) + " of " +
             std::to_string(graph_.nodes().size()));
    }
  }

 private:
  void node(std::uint32_t index) const {
    const Node& node = graph_.node(index);
    if ((node.op == Op::parameter) != (index < graph_.parameter_count())) {
      fail(label(index) + " breaks the rule that the parameters are the first nodes");
    }
    if (node.types.empty()) fail(label(index) + " has no results");
    std::vector<Type> operands;
    for (Value input : node.inputs) {
      if (input.node >= index || !exists(input)) {
        fail(label(index) + " uses node " + std::to_string(input.node) + ", result " +
             std::to_string(input.result) + ", which does not come before it");
      }
      operands.push_back(graph_.type(input));
    }
    for (const Graph& region : node.regions) GraphVerifier(region, whole_).run();
    types(index, node, operands);
  }

  void types(std::uint32_t index, const Node& node, std::span<const Type> operands) const {
    std::optional<Type> stated;
    if (info(node.op).has(OpInfo::typed)) stated = node.types[0];
    std::vector<Type> inferred;
    try {
      inferred = infer(node.op, operands, node.attributes, stated, node.regions, node.location);
    } catch (const std::bad_alloc&) {
      throw;  // says nothing of the graph
    } catch (const std::exception& error) {
      fail(label(index) + " is refused: " + error.what());
    }
    if (inferred == node.types) return;
    std::string text = label(index) + " states";
    for (const Type& type : node.types) text += " " + to_string(type);
    text += ", and its operands give";
    for (const Type& type : inferred) text += " " + to_string(type);
    fail(text);
  }

  bool exists(Value value) const {
    return value.node < graph_.nodes().size() && value.result < graph_.node(value).types.size();
  }

  // "%3 (tanh)"
  std::string label(std::uint32_t index) const {
    return "%" + std::to_string(numbers_[index]) + " (" + std::string(name(graph_.node(index).op)) +
           ")";
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InternalError("verify", what, is_printable(whole_) ? to_string(whole_) : std::string());
  }

  const Graph& graph_;
  const Graph& whole_;
  std::vector<std::uint32_t> numbers_;
};

}  // namespace

void verify(const Graph& graph) { GraphVerifier(graph, graph).run(); }

}  // namespace anabranch
