#include "frontend/trace/record.h"

#include <algorithm>
#include <string_view>

#include "anabranch/named_scope.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/run/env.h"
#include "frontend/run/evaluate.h"
#include "frontend/run/program_cache.h"
#include "frontend/trace/tracer.h"
#include "ir/graph/builder.h"
#include "ir/infer/infer.h"
#include "runtime/executor/run.h"

namespace anabranch {
namespace {

// The device that the operands agree on; nothing where none of them cares. What a trace takes in
// from outside becomes part of it, and is then anywhere.
std::optional<Device> common_device(std::string_view function, const std::vector<Array>& operands,
                                    bool traced, SourceLocation where) {
  std::optional<Device> device;
  for (const Array& operand : operands) {
    const Expression& expression = *operand.expression();
    std::optional<Device> own = expression.device();
    if (!own || (traced && expression.kind != Expression::Kind::traced)) continue;
    if (device && *device != *own) {
      fail(std::string(function) + ": operands live on " + to_string(*device) + " and on " +
               to_string(*own) + "; move one with .to(device)",
           where);
    }
    device = own;
  }
  return device;
}

// Shared operations count once per use, so the sum may overshoot (y = y + y doubles it); it
// saturates below 2^32 because each operand's count is at most the limit.
std::uint32_t size_below(const std::vector<ExpressionPtr>& inputs) {
  std::uint32_t size = 1;
  for (const ExpressionPtr& input : inputs) {
    if (auto recorded = input->recorded()) size += recorded->size;
  }
  return size;
}

const std::shared_ptr<Tracer>& innermost_tracer(const std::shared_ptr<Tracer>& so_far,
                                                const Expression& traced) {
  const std::shared_ptr<Tracer>& own = traced.traced.tracer;
  return so_far && so_far->serial() > own->serial() ? so_far : own;
}

/// What the operands come to together.
struct Resolved {
  std::shared_ptr<Tracer> tracer;  // the innermost of theirs; null outside of traces
  std::optional<Device> device;    // of the results; nothing where any will do
  bool weak = false;
};

/// `has_mask`: the first operand has no part in the result's dtype.
Resolved resolve(std::string_view function, const std::vector<Array>& operands, bool has_mask,
                 std::optional<Device> device, SourceLocation where) {
  Resolved resolved;
  resolved.weak = !operands.empty();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Array& operand = operands[i];
    if (!operand.expression()) {
      fail(std::string(function) + ": an operand is an empty Array; give it a value first", where);
    }
    const Expression& expression = *operand.expression();
    if (expression.kind == Expression::Kind::donated) {
      fail_donated(std::string(function), expression, where);
    }
    resolved.weak = resolved.weak && (expression.weak || (has_mask && i == 0));
    if (expression.kind == Expression::Kind::traced) {
      resolved.tracer = innermost_tracer(resolved.tracer, expression);
    }
  }
  resolved.device =
      device ? device : common_device(function, operands, resolved.tracer != nullptr, where);
  return resolved;
}

Resolved resolve(Op op, const std::vector<Array>& operands, const Attributes& attributes,
                 SourceLocation where) {
  std::optional<Device> device;
  if (auto* transfer = std::get_if<DeviceAttributes>(&attributes)) device = transfer->device;
  return resolve(name(op), operands, op == Op::select, device, where);
}

std::vector<Array> run_now(const Graph& graph, const std::vector<Array>& operands,
                           std::optional<Device> device) {
  Options options = default_options();
  if (device) options.device = *device;
  auto compiled = compile_once(graph, options);
  evaluate(operands);
  std::vector<Buffer> memory;
  for (const Array& operand : operands) memory.push_back(memory_of(operand, options.device));
  memory = run(*compiled, std::move(memory));
  std::vector<Array> results;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    results.push_back(array_of(graph.output_type(i), std::move(memory[i])));
  }
  return results;
}

}  // namespace

Array record(Op op, const std::vector<Array>& operands, SourceLocation where, Attributes attributes,
             std::optional<Type> stated) {
  where.scope = current_scope();
  Resolved resolved = resolve(op, operands, attributes, where);
  if (resolved.tracer) {
    Array result = resolved.tracer->record(op, operands, std::move(attributes), std::move(stated),
                                           where, resolved.device);
    result.expression()->weak = resolved.weak;
    return result;
  }

  std::vector<Type> types;
  std::vector<ExpressionPtr> inputs;
  types.reserve(operands.size());
  inputs.reserve(operands.size());
  for (const Array& operand : operands) {
    types.push_back(operand.expression()->type);
    inputs.push_back(operand.expression());
  }
  std::vector<Type> results = infer(op, types, attributes, stated, {}, where);

  std::uint32_t size = size_below(inputs);
  auto recorded = std::make_shared<Recorded>(op, std::move(attributes), std::move(inputs), size);
  if (size > recording_limit) recorded->size = count_recorded(*recorded);
  bool full = recorded->size > recording_limit;
  auto expression =
      std::make_shared<Expression>(std::move(results[0]), std::move(recorded), resolved.device);
  expression->weak = resolved.weak;
  expression->location = where;
  expression->link();
  Array array(std::move(expression));
  if (full) evaluate({&array, 1});
  return array;
}

namespace {

// What `use` gives; an Error of the op is one of `function`.
template <class Use>
auto named_as(const char* function, Op op, const Use& use) {
  try {
    return use();
  } catch (const Error& error) {
    const std::string text = error.what(), own = std::string(name(op)) + ": ";
    if (!text.starts_with(own)) throw;
    throw Error(std::string(function) + ": " + text.substr(own.size()));
  }
}

}  // namespace

Array record_as(const char* function, Op op, const std::vector<Array>& operands,
                SourceLocation where, Attributes attributes, std::optional<Type> stated) {
  return named_as(function, op, [&] {
    return record(op, operands, where, std::move(attributes), std::move(stated));
  });
}

std::vector<Array> record_all_as(const char* function, Op op, const std::vector<Array>& operands,
                                 SourceLocation where, Attributes attributes,
                                 std::vector<Graph> regions) {
  return named_as(function, op, [&] {
    return record_all(op, operands, where, std::move(attributes), std::move(regions));
  });
}

std::vector<Array> record_all(Op op, const std::vector<Array>& operands, SourceLocation where,
                              Attributes attributes, std::vector<Graph> regions) {
  where.scope = current_scope();
  const Resolved resolved = resolve(op, operands, attributes, where);
  if (resolved.tracer) {
    return resolved.tracer->record_all(op, operands, std::move(attributes), std::move(regions),
                                       where, resolved.device);
  }

  GraphBuilder builder;
  std::vector<Value> inputs, outputs;
  for (const Array& operand : operands) {
    inputs.push_back(builder.parameter(operand.expression()->type));
  }
  const Value node = builder.add(op, std::move(inputs), std::move(attributes), std::nullopt,
                                 std::move(regions), where);
  const auto count = static_cast<std::uint32_t>(builder.node(node).types.size());
  for (std::uint32_t i = 0; i < count; ++i) outputs.push_back({node.node, i});
  return run_now(builder.build(std::move(outputs)), operands, resolved.device);
}

std::vector<Array> call_graph(std::string_view function, const Graph& graph,
                              const std::vector<Array>& operands, SourceLocation where) {
  where.scope = current_scope();
  const Resolved resolved = resolve(function, operands, false, std::nullopt, where);
  if (!resolved.tracer) return run_now(graph, operands, resolved.device);
  return resolved.tracer->call(function, graph, operands, where, resolved.device);
}

}  // namespace anabranch
