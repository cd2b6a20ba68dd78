// Region: the trace of one function of a loop or a branch, and how several come to take the same
// operands.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontend/trace/tracer.h"

namespace anabranch {

/// Open until it is finished, or no longer needed.
class Region {
 public:
  Region(std::string name, TraceKind kind)
      : tracer_(std::make_shared<Tracer>(std::move(name), kind)) {}
  ~Region() { tracer_->close(); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  Array parameter(const Type& type, bool weak);

  void finish(const std::vector<Array>& outputs) { graph_ = tracer_->finish(outputs); }
  /// Once finished: its parameters are the region's own, then what it captures.
  const Graph& graph() const { return graph_; }
  std::size_t own_parameters() const { return own_parameters_; }
  const std::vector<Array>& captures() const { return tracer_->captures(); }

 private:
  std::shared_ptr<Tracer> tracer_;
  std::size_t own_parameters_ = 0;
  Graph graph_;
};

/// The graphs of finished regions that have the same parameters, each made to take what any of them
/// captures; and these captures.
struct JoinedRegions {
  std::vector<Graph> graphs;
  std::vector<Array> captures;
};
JoinedRegions join(std::span<const Region* const> regions);

}  // namespace anabranch
