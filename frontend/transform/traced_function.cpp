#include "frontend/transform/traced_function.h"

#include <algorithm>

#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/trace/record.h"
#include "frontend/trace/region.h"
#include "frontend/trace/scalar_function.h"

namespace anabranch::detail {

FunctionTrace::FunctionTrace() : state_(std::make_unique<State>()) {}
FunctionTrace::~FunctionTrace() = default;

Array FunctionTrace::parameter(const Type& type, bool weak) {
  return state_->region.parameter(type, weak);
}

Array FunctionTrace::parameter(const char* transform, const std::string& path,
                               const Array& argument, SourceLocation where) {
  const Type& type = type_of_leaf(transform, path, argument, where);
  return parameter(type, is_weak(argument));
}

void FunctionTrace::finish(const char* transform, const Tree& result, SourceLocation where) {
  const std::vector<std::string> paths = paths_of(result.form);
  for (std::size_t i = 0; i < result.leaves.size(); ++i) {
    const std::string path = i < paths.size() ? paths[i] : "a result";
    type_of_leaf(transform, path, result.leaves[i], where);
    state_->weak.push_back(is_weak(result.leaves[i]));
  }
  state_->region.finish(result.leaves);
}

const Region& FunctionTrace::State::region_of(const FunctionTrace& trace) {
  return trace.state_->region;
}

const Graph& FunctionTrace::graph() const { return state_->region.graph(); }
const Leaves& FunctionTrace::captures() const { return state_->region.captures(); }
const std::vector<bool>& FunctionTrace::weak() const { return state_->weak; }

Leaves FunctionTrace::with_captures(Leaves arguments) const {
  arguments.insert(arguments.end(), captures().begin(), captures().end());
  return arguments;
}

void FunctionTrace::mark_weak(const Leaves& outputs) const {
  for (std::size_t i = 0; i < state_->weak.size(); ++i) set_weak(outputs[i], state_->weak[i]);
}

const Type& type_of_leaf(const char* transform, const std::string& path, const Array& array,
                         SourceLocation where) {
  if (!array.expression()) {
    fail(std::string(transform) + ": " + path + " is an empty Array; give it a value first", where);
  }
  return type_of(array);
}

bool is_traced(const Array& array) {
  return array.expression() && array.expression()->kind == Expression::Kind::traced;
}

bool any_traced(const Leaves& leaves) { return std::ranges::any_of(leaves, is_traced); }

bool is_weak(const Array& array) { return array.expression()->weak; }
void set_weak(const Array& array, bool weak) { array.expression()->weak = weak; }

Array zeros_of(const Type& type, SourceLocation where) {
  return repeated(array_of(type.dtype, ElementBits(0), where), type.shape, where);
}

std::vector<Type> types_of_leaves(const Leaves& leaves) {
  std::vector<Type> types;
  for (const Array& leaf : leaves) types.push_back(type_of(leaf));
  return types;
}

std::vector<std::string> paths_of(const Form& form) {
  std::vector<std::string> paths;
  for (const auto& [path, part] : form.lines()) {
    if (part.empty()) paths.push_back(path);
  }
  return paths;
}

Leaves call_graph(const char* transform, const Graph& graph, const Leaves& operands,
                  SourceLocation where) {
  return anabranch::call_graph(transform, graph, operands, where);
}

}  // namespace anabranch::detail
