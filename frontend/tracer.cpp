#include "frontend/tracer.h"

#include "frontend/fail.h"

namespace anabranch {
namespace {

Literal literal_of(const Expression& expression) {
  std::vector<std::byte> bytes(expression.type.bytes());
  if (expression.kind == Expression::Kind::scalar) {
    std::memcpy(bytes.data(), &expression.scalar.bits, bytes.size());
  } else {
    expression.buffer().ready().wait();
    if (!bytes.empty()) std::memcpy(bytes.data(), expression.buffer().data(), bytes.size());
  }
  return Literal(expression.type, std::move(bytes));
}

}  // namespace

Array Tracer::parameter(const Type& type) {
  std::lock_guard lock(mutex_);
  Value value = builder_.parameter(type);
  return Array(std::make_shared<Expression>(type, Traced{shared_from_this(), value}));
}

Array Tracer::record(Op op, const std::vector<Array>& operands, Attributes attributes,
                     std::optional<Type> stated, SourceLocation where) {
  std::lock_guard lock(mutex_);
  std::vector<Value> inputs;
  inputs.reserve(operands.size());
  for (const Array& operand : operands) {
    inputs.push_back(import(operand.expression(), std::string(anabranch::name(op)), where));
  }
  Value value =
      builder_.add(op, std::move(inputs), std::move(attributes), std::move(stated), {}, where);
  auto result =
      std::make_shared<Expression>(builder_.type(value), Traced{shared_from_this(), value});
  result->location = where;
  return Array(std::move(result));
}

// What needs no operand first: a value of this trace, one seen before, or a constant.
std::optional<Value> Tracer::import_leaf(const ExpressionPtr& expression,
                                         const std::string& function, SourceLocation where) {
  if (expression->kind == Expression::Kind::traced) {
    if (expression->traced.tracer.get() != this) {
      fail(function + ": " + to_string(expression->type) +
               " belongs to another trace; pass it in as an argument of the traced function",
           where);
    }
    if (!open_) {
      fail(
          function + ": " + to_string(expression->type) +
              " was traced in a function that has returned; return it from that function to use it",
          where);
    }
    return expression->traced.value;
  }
  if (auto known = imported_.find(expression.get()); known != imported_.end()) return known->second;
  if (expression->kind == Expression::Kind::memory && !expression->is_concrete()) return {};
  Value value = builder_.constant(literal_of(*expression), where);
  imported_.emplace(expression.get(), value);
  keep_alive_.push_back(expression);
  return value;
}

// Post-order with a stack of its own: what was recorded may be deep.
Value Tracer::import(const ExpressionPtr& root, const std::string& function, SourceLocation where) {
  std::vector<ExpressionPtr> stack = {root};
  while (true) {
    ExpressionPtr top = stack.back();
    std::optional<Value> value = import_leaf(top, function, where);
    if (!value) {
      auto recorded = top->recorded();
      if (!recorded) continue;  // it became concrete in the meantime
      std::vector<Value> inputs;
      for (const ExpressionPtr& input : recorded->inputs) {
        if (auto done = import_leaf(input, function, where))
          inputs.push_back(*done);
        else
          stack.push_back(input);
      }
      if (inputs.size() < recorded->inputs.size()) continue;
      std::optional<Type> stated;
      if (info(recorded->op).has(OpInfo::typed)) stated = top->type;
      value = builder_.add(recorded->op, std::move(inputs), recorded->attributes, std::move(stated),
                           {}, top->location);
      imported_.emplace(top.get(), *value);
      keep_alive_.push_back(top);
    }
    stack.pop_back();
    if (stack.empty()) return *value;
  }
}

Graph Tracer::finish(const std::vector<Array>& outputs) {
  std::lock_guard lock(mutex_);
  std::vector<Value> values;
  for (const Array& output : outputs) {
    if (!output.expression()) {
      fail("trace: array " + std::to_string(values.size()) +
               " of the function's result is empty; give it a value",
           {});
    }
    values.push_back(import(output.expression(), "trace", {}));
  }
  open_ = false;
  imported_.clear();
  keep_alive_.clear();
  return builder_.build(std::move(values));
}

void Tracer::close() {
  std::lock_guard lock(mutex_);
  open_ = false;
  imported_.clear();
  keep_alive_.clear();
}

std::string Tracer::describe(const Expression& traced) const {
  std::string text =
      "<" + to_string(traced.type) + " traced as %" + std::to_string(traced.traced.value.node);
  if (traced.location) text += ", from " + to_string(traced.location);
  return text + ">";
}

}  // namespace anabranch
