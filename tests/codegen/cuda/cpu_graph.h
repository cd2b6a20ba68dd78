// A graph as the compiler leaves it, run node by node: fusions as CUDA kernels on the CPU, what
// libraries compute by the interpreter.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "codegen/plan/dot_split.h"
#include "cpu_kernels.h"
#include "ir/graph/graph.h"

namespace anabranch::testing {

class CpuGraph {
 public:
  /// Adds the kernels of `graph`, optimised, to `kernels`, which are then to be compiled. With
  /// `fused` false every op is a kernel of its own.
  CpuGraph(CpuKernels& kernels, const Graph& graph, bool fused = true);
  CpuGraph(const CpuGraph&) = delete;
  CpuGraph& operator=(const CpuGraph&) = delete;

  std::vector<Literal> run(std::span<const Literal> inputs) const;

 private:
  /// What a fusion has become.
  struct Group {
    std::optional<DotSplit> dot;
    std::optional<AddedGroup> kernels;
  };

  void add(const Graph& graph);
  std::vector<Literal> run(const Graph& graph, std::span<const Literal> inputs) const;
  std::vector<Literal> run(const Node& node, std::span<const Literal> operands) const;
  std::vector<Literal> run(const Node& node, const Group& group,
                           std::span<const Literal> operands) const;

  CpuKernels& kernels_;
  Graph graph_;
  std::map<const Node*, Group> groups_;
};

}  // namespace anabranch::testing
