#include "frontend/trace/scalar_function.h"

#include "anabranch/control_flow.h"
#include "anabranch/dynamic.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/trace/record.h"
#include "passes/transform/gather_checks.h"

namespace anabranch {
namespace {

// An op that scalars pass through, or that takes each element by itself.
bool is_by_element(const Node& node) {
  if (node.types[0].rank() != 0) return false;  // also of a bitcast to several narrower elements
  if (node.op == Op::parameter || node.op == Op::constant || is_elementwise(node.op)) return true;
  return node.op == Op::reshape || node.op == Op::transpose || node.op == Op::broadcast_in_dim ||
         node.op == Op::reverse || node.op == Op::slice;
}

}  // namespace

Array repeated(const Array& scalar, const Shape& shape, SourceLocation where) {
  if (shape.rank() == 0) return scalar;
  return record(Op::broadcast_in_dim, {scalar}, where, AxesAttributes{},
                Type{type_of(scalar).dtype, shape});
}

ScalarFunction::ScalarFunction(std::string caller, std::string what, const Function& function,
                               const std::vector<Dtype>& parameters, SourceLocation where)
    : caller_(std::move(caller)),
      what_(std::move(what)),
      function_(function),
      where_(where),
      region_(std::make_unique<Region>("body", TraceKind::loop)) {
  std::vector<Array> scalars;
  for (Dtype dtype : parameters) scalars.push_back(region_->parameter({dtype, {}}, false));
  const std::vector<Array> results = function_(scalars);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool is_empty = !results[i].expression();
    if (!is_empty && type_of(results[i]).rank() == 0) continue;
    fail(caller_ + ": " + what_ + " gives " +
             (is_empty ? "an empty Array" : to_string(type_of(results[i]))) + " as result " +
             std::to_string(i) + ", and not a scalar",
         where_);
  }
  region_->finish(results);
  if (has_check(region_->graph())) {
    fail(caller_ + ": " + what_ +
             " holds a check, which has no place in a function of scalars; "
             "check the arrays before or after",
         where_);
  }
}

void ScalarFunction::demand_results(const std::vector<Dtype>& dtypes) const {
  const auto outputs = graph().outputs();
  if (outputs.size() != dtypes.size()) {
    fail(caller_ + ": " + what_ + " gives " + std::to_string(outputs.size()) +
             " results, and not " + std::to_string(dtypes.size()),
         where_);
  }
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    const Dtype found = graph().type(outputs[i]).dtype;
    if (found == dtypes[i]) continue;
    fail(caller_ + ": result " + std::to_string(i) + " of " + what_ + " is " +
             std::string(name(found)) + ", and not " + std::string(name(dtypes[i])) +
             "; convert it with " + astype_call(dtypes[i]),
         where_);
  }
}

bool ScalarFunction::is_elementwise() const {
  for (const Node& node : graph().nodes()) {
    if (!is_by_element(node)) return false;
  }
  return true;
}

Array ScalarFunction::computed(const Node& node, const std::vector<Array>& operands,
                               const Shape& shape) const {
  if (node.op == Op::constant) {
    const Literal& value = node.as<ConstantAttributes>().value;
    return repeated(array_of(node.types[0].dtype, value.bits(0), where_), shape, where_);
  }
  if (!anabranch::is_elementwise(node.op)) return operands[0];
  std::optional<Type> stated;
  if (info(node.op).has(OpInfo::typed)) stated = Type{node.types[0].dtype, shape};
  return record(node.op, operands, where_, node.attributes, std::move(stated));
}

// Of each node that is needed; the others' are empty.
std::vector<Array> ScalarFunction::values_over(const std::vector<Array>& arrays,
                                               const std::vector<bool>& needed) const {
  const auto nodes = graph().nodes();
  const std::size_t own = own_parameters();
  Shape shape;
  for (const Array& array : arrays) {
    if (array.expression()) shape = type_of(array).shape;
  }
  std::vector<Array> values(nodes.size());
  std::vector<Array> operands;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!needed[i]) continue;
    if (nodes[i].op == Op::parameter) {
      values[i] = i < own ? arrays[i] : repeated(captures()[i - own], shape, where_);
      continue;
    }
    operands.clear();
    for (Value input : nodes[i].inputs) operands.push_back(values[input.node]);
    values[i] = computed(nodes[i], operands, shape);
  }
  return values;
}

Array ScalarFunction::value_over(Value value, const std::vector<Array>& arrays) const {
  const auto nodes = graph().nodes();
  std::vector<bool> needed(nodes.size());
  needed[value.node] = true;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (Value input : nodes[i].inputs) needed[input.node] = true;
  }
  return values_over(arrays, needed)[value.node];
}

std::vector<Array> ScalarFunction::over(const std::vector<Array>& arrays) const {
  if (type_of(arrays[0]).rank() == 0) return function_(arrays);
  if (!is_elementwise()) return looped(arrays);
  const std::vector<Array> values =
      values_over(arrays, std::vector<bool>(graph().nodes().size(), true));
  std::vector<Array> results;
  for (Value output : graph().outputs()) results.push_back(values[output.node]);
  return results;
}

// Element by element, in row-major order.
std::vector<Array> ScalarFunction::looped(const std::vector<Array>& arrays) const {
  const Shape shape = type_of(arrays[0]).shape;
  const Shape line{shape.size()};
  const auto reshaped = [&](const Array& array, const Shape& to) {
    return record(Op::reshape, {array}, where_, NoAttributes{}, Type{type_of(array).dtype, to});
  };
  std::vector<Array> lines, results;
  for (const Array& array : arrays) lines.push_back(reshaped(array, line));
  detail::Tree init;
  for (Value output : graph().outputs()) {
    const Array zero = array_of(graph().type(output).dtype, 0, where_);
    init.leaves.push_back(repeated(zero, line, where_));
    init.form.add("result", "");
  }
  if (shape.size() == 0) {
    for (const Array& none : init.leaves) results.push_back(reshaped(none, shape));
    return results;
  }
  const detail::Form form = init.form;
  const auto body = [&](const Array& index, const detail::Leaves& so_far) {
    const Operand at(index, where_);
    std::vector<Array> scalars;
    for (const Array& array : lines) {
      scalars.push_back(dynamic_index_in_dim({array, where_}, at));
    }
    const std::vector<Array> given = function_(scalars);
    detail::Tree next{{}, form};
    for (std::size_t i = 0; i < given.size(); ++i) {
      next.leaves.push_back(
          dynamic_update_index_in_dim({so_far[i], where_}, {given[i], where_}, at));
    }
    return next;
  };
  const Array zero = array_of(i64, 0, where_);
  const Array end = array_of(i64, static_cast<std::uint64_t>(shape.size()), where_);
  for (const Array& result : detail::run_fori({zero, where_}, {end, where_}, init, body)) {
    results.push_back(reshaped(result, shape));
  }
  return results;
}

}  // namespace anabranch
