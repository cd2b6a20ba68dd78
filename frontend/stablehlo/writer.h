// Writer: a graph as StableHLO's text, node by node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch::stablehlo {

/// "dense<[1.0, 2.0]> : tensor<2xf32>"; reads back to the same bits.
std::string dense_text(const Literal& literal);
/// One element of it.
std::string element_text(const Literal& literal, std::int64_t index);
/// A name in quotes: other than letters that print, and quotes, as \xx in hexadecimal.
std::string quoted(std::string_view name);
/// "a, b"; of types, their texts.
std::string joined(const std::vector<std::string>& parts);
std::string joined(const std::vector<Type>& types);

class Writer {
 public:
  std::string module(const Graph& graph);

 private:
  using Names = std::vector<std::string>;  // of the values of a graph: of each node, of each result

  struct Frame {
    const Graph& graph;
    std::vector<Names> names;  // by node

    const std::string& operator()(Value value) const { return names[value.node][value.result]; }
  };

  // The nodes of a graph whose parameters have these names; the names of its outputs.
  Names body(const Graph& graph, const Names& parameters);
  void node(Frame& frame, const Node& node, Names& results);
  bool plain(const Frame& frame, const Node& node, Names& results);
  // Ops on element types that StableHLO's ops of that name do not take.
  bool of_other_types(const Frame& frame, const Node& node, Names& results);
  bool moving(const Frame& frame, const Node& node, Names& results);
  bool reducing(Frame& frame, const Node& node, Names& results);
  bool contracting(const Frame& frame, const Node& node, Names& results);
  std::string convolution(const Frame& frame, const Node& node);
  // One part of a value; parts of one type, joined along an axis.
  std::string slice(const std::string& value, const Type& whole, const SliceAttributes& bounds,
                    const Type& part);
  std::string concatenate(const Names& parts, const Type& part, std::size_t axis,
                          const Type& result);
  bool calling(const Frame& frame, const Node& node, Names& results);
  bool library_call(const Frame& frame, const Node& node, Names& results);
  bool lapack_call(const Frame& frame, const Node& node, Names& results);
  void scatter(const Node& node, const Names& given, const std::string& types, Names& results);
  void order(const Frame& frame, const Node& node, Names& results);
  bool with_regions(Frame& frame, const Node& node, Names& results);
  void running(const Frame& frame, const Node& node, Names& results);
  void position(const Frame& frame, const Node& node, Names& results);
  void windows(const Frame& frame, const Node& node, Names& results);
  void while_text(const Frame& frame, const Node& node, Names& results);
  void case_text(const Frame& frame, const Node& node, Names& results);

  // "%7", and "%8:2" for several.
  std::string fresh();
  Names fresh_results(const Node& node, std::string& definition);
  void line(const std::string& text);
  /// A line that defines one value of a type: its name.
  std::string define(const std::string& text);
  Names operands(const Frame& frame, const Node& node) const;

  std::string text_;
  int depth_ = 0;
  std::uint32_t next_ = 0;
};

}  // namespace anabranch::stablehlo
