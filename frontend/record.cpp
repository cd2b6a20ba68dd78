#include "frontend/record.h"

#include <algorithm>

#include "frontend/evaluate.h"
#include "frontend/expression.h"
#include "frontend/fail.h"
#include "frontend/named_scope.h"
#include "frontend/tracer.h"
#include "ir/infer.h"

namespace anabranch {
namespace {

// The device that the operands agree on; nothing where none of them cares.
std::optional<Device> common_device(Op op, const std::vector<Array>& operands,
                                    SourceLocation where) {
  std::optional<Device> device;
  for (const Array& operand : operands) {
    const Expression& expression = *operand.expression();
    std::optional<Device> own = expression.device();
    if (!own) continue;
    if (device && *device != *own) {
      fail(std::string(name(op)) + ": operands live on " + to_string(*device) + " and on " +
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

}  // namespace

Array record(Op op, const std::vector<Array>& operands, SourceLocation where, Attributes attributes,
             std::optional<Type> stated) {
  where.scope = current_scope();
  std::shared_ptr<Tracer> tracer;
  bool weak = !operands.empty();
  for (const Array& operand : operands) {
    if (!operand.expression()) {
      fail(std::string(name(op)) + ": an operand is an empty Array; give it a value first", where);
    }
    const Expression& expression = *operand.expression();
    weak = weak && expression.weak;
    if (expression.kind == Expression::Kind::traced) tracer = expression.traced.tracer;
  }
  if (tracer) {
    Array result = tracer->record(op, operands, std::move(attributes), std::move(stated), where);
    result.expression()->weak = weak;
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
  std::optional<Device> device = common_device(op, operands, where);

  std::uint32_t size = size_below(inputs);
  auto recorded = std::make_shared<Recorded>(op, std::move(attributes), std::move(inputs), size);
  if (size > recording_limit) recorded->size = count_recorded(*recorded);
  bool full = recorded->size > recording_limit;
  auto expression =
      std::make_shared<Expression>(std::move(results[0]), std::move(recorded), device);
  expression->weak = weak;
  expression->location = where;
  Array array(std::move(expression));
  if (full) evaluate({&array, 1});
  return array;
}

}  // namespace anabranch
