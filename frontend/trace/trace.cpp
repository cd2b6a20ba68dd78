#include "anabranch/trace.h"

#include "anabranch/devices.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/trace/traced_graph.h"
#include "frontend/trace/tracer.h"

namespace anabranch::detail {

OpenTrace::OpenTrace() : tracer_(std::make_shared<Tracer>("main")) {}
OpenTrace::~OpenTrace() { tracer_->close(); }

Array OpenTrace::parameter(const Type& type) { return tracer_->parameter(type); }

Array OpenTrace::parameter(const Array& argument) {
  if (!argument.expression())
    fail("trace: an argument holds an empty Array; give it a value first", {});
  const Expression& expression = *argument.expression();
  std::optional<Device> device;
  if (expression.kind == Expression::Kind::memory) device = expression.device_or_default();
  Array parameter = tracer_->parameter(expression.type, device);
  parameter.expression()->weak = expression.weak;
  return parameter;
}

Array OpenTrace::number(Dtype dtype) {
  Array parameter = tracer_->parameter(scalar_type(dtype));
  parameter.expression()->weak = true;
  return parameter;
}

std::shared_ptr<const TracedGraph> OpenTrace::finish(const std::vector<Array>& outputs,
                                                     const Description& result,
                                                     SourceLocation made) {
  for (const auto& [path, text] : result.lines()) {
    if (text != "empty") continue;
    fail("trace: the function's " + path + " is an empty Array; give it a value before it returns",
         made);
  }
  auto traced = std::make_shared<TracedGraph>();
  for (const Array& array : outputs) traced->weak.push_back(array.expression()->weak);
  std::vector<Array> guarded;  // and no copies of outputs: the trace counts who holds them
  if (outputs.empty() && tracer_->has_checks()) guarded.push_back(array_of(i32, 0, made));
  traced->graph = tracer_->finish(guarded.empty() ? outputs : guarded);
  traced->captured = tracer_->captured_constants();
  if (!guarded.empty()) traced->only_checks = tracer_->first_check();
  return traced;
}

// A graph says what the results are, and its checks are found where they are read.
const Graph& graph_of(const TracedGraph& traced) {
  if (traced.only_checks) fail_unguarded(*traced.only_checks);
  return traced.graph;
}

SourceLocation location_of_array(const Array& array) {
  return array.expression() ? array.expression()->location : SourceLocation();
}

}  // namespace anabranch::detail
