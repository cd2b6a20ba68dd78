#include "frontend/trace/tracer.h"

#include <algorithm>
#include <atomic>

#include "frontend/array/fail.h"
#include "frontend/trace/pending_checks.h"
#include "ir/graph/copier.h"
#include "passes/dce.h"
#include "passes/transform/gather_checks.h"
#include "passes/transform/quantity.h"
#include "runtime/memory/read.h"

namespace anabranch {
namespace {

// Orders tracers, and their nodes, by when they came to be.
std::atomic<std::uint64_t> last_serial = 0;

// In place where the host has the memory and nothing else may write to it or take it back.
Literal literal_of_buffer(const Type& type, const Buffer& buffer) {
  buffer.ready().wait();
  if (buffer.device().kind() == DeviceKind::cpu && !buffer.is_borrowed()) {
    const auto kept = std::make_shared<const Buffer>(buffer);
    return Literal::sharing(
        type, std::shared_ptr<const std::byte>(kept, static_cast<const std::byte*>(kept->data())));
  }
  return read_literal(buffer, type);
}

Literal literal_of(const Expression& expression) {
  return expression.kind == Expression::Kind::scalar
             ? Literal::scalar(expression.type.dtype, expression.scalar)
             : literal_of_buffer(expression.type, expression.buffer());
}

// Whether it is nothing but a number that is repeated: a loop writes it again, as it does scalars.
bool repeats_number(const Expression& expression) {
  if (expression.kind == Expression::Kind::scalar) return true;
  if (expression.kind != Expression::Kind::memory) return false;
  const auto recorded = expression.recorded();
  return recorded && (recorded->op == Op::broadcast_in_dim || recorded->op == Op::reshape) &&
         repeats_number(*recorded->inputs[0]);
}

}  // namespace

Tracer::Tracer(std::string name, TraceKind kind)
    : kind_(kind), serial_(++last_serial), builder_(std::move(name)) {
  PendingChecks::of_thread().begin_trace(serial_);
}

void Tracer::end() {
  if (open_.exchange(false)) PendingChecks::of_thread().end_trace(serial_);
}

Array Tracer::parameter(const Type& type, std::optional<Device> device) {
  std::lock_guard lock(mutex_);
  Value value = builder_.parameter(type);
  note_births();
  return Array(std::make_shared<Expression>(type, Traced{shared_from_this(), value}, device));
}

std::vector<Value> Tracer::import_all(const std::vector<Array>& operands, std::string_view function,
                                      SourceLocation where) {
  std::vector<Value> inputs;
  inputs.reserve(operands.size());
  for (const Array& operand : operands) {
    inputs.push_back(import(operand.expression(), std::string(function), where));
  }
  return inputs;
}

Array Tracer::record(Op op, const std::vector<Array>& operands, Attributes attributes,
                     std::optional<Type> stated, SourceLocation where,
                     std::optional<Device> device) {
  std::lock_guard lock(mutex_);
  std::vector<Value> inputs = import_all(operands, name(op), where);
  Value value =
      builder_.add(op, std::move(inputs), std::move(attributes), std::move(stated), {}, where);
  note_births();
  auto result =
      std::make_shared<Expression>(builder_.type(value), Traced{shared_from_this(), value}, device);
  result->location = where;
  return Array(std::move(result));
}

std::vector<Array> Tracer::record_all(Op op, const std::vector<Array>& operands,
                                      Attributes attributes, std::vector<Graph> regions,
                                      SourceLocation where, std::optional<Device> device) {
  std::lock_guard lock(mutex_);
  const bool checks = std::ranges::any_of(regions, [](const Graph& g) { return has_check(g); });
  if (checks) record_checks();
  std::vector<Value> inputs = import_all(operands, name(op), where);
  Value value = builder_.add(op, std::move(inputs), std::move(attributes), std::nullopt,
                             std::move(regions), where);
  if (checks) note_checks(value.node);
  note_births();
  std::vector<Array> results;
  for (const Type& type : builder_.node(value).types) {
    auto result = std::make_shared<Expression>(type, Traced{shared_from_this(), value}, device);
    result->location = where;
    results.emplace_back(std::move(result));
    ++value.result;
  }
  return results;
}

std::vector<Array> Tracer::call(std::string_view function, const Graph& graph,
                                const std::vector<Array>& operands, SourceLocation where,
                                std::optional<Device> device) {
  std::lock_guard lock(mutex_);
  const bool checks = has_check(graph);
  if (checks) record_checks();
  const std::vector<Value> inputs = import_all(operands, function, where);
  const auto first = static_cast<std::uint32_t>(builder_.size());
  const std::vector<Value> outputs = inlined(graph, builder_, inputs);
  if (checks) note_checks(first);
  note_births();
  std::vector<Array> results;
  for (Value output : outputs) {
    auto result = std::make_shared<Expression>(builder_.type(output),
                                               Traced{shared_from_this(), output}, device);
    result->location = where;
    results.emplace_back(std::move(result));
  }
  return results;
}

void Tracer::note_births() { births_.resize(builder_.size(), last_serial); }

// What needs no operand first: a value of this trace, one seen before, a constant, or a capture.
std::optional<Value> Tracer::import_leaf(const ExpressionPtr& expression,
                                         const std::string& function, SourceLocation where) {
  if (expression->kind == Expression::Kind::traced) {
    return import_traced(expression, function, where);
  }
  if (expression->kind == Expression::Kind::donated) fail_donated(function, *expression, where);
  if (auto known = imported_.find(expression.get()); known != imported_.end()) return known->second;
  const bool in_memory = expression->kind == Expression::Kind::memory;
  const bool is_loop = kind_ == TraceKind::loop || kind_ == TraceKind::body;
  const bool is_captured = in_memory && is_loop && !repeats_number(*expression);
  if (in_memory && !is_captured && !expression->is_concrete()) return {};
  Value value = in_memory && kind_ != TraceKind::function
                    ? capture(expression)
                    : builder_.constant(literal_of(*expression), where);
  imported_.emplace(expression.get(), value);
  keep_alive_.push_back(expression);
  return value;
}

Value Tracer::import_traced(const ExpressionPtr& expression, const std::string& function,
                            SourceLocation where) {
  const auto& [tracer, value] = expression->traced;
  const bool own = tracer.get() == this;
  if (!tracer->open_) {
    fail(function + ": " + to_string(expression->type) +
             " was traced in a function that has returned; return it from that function to use it",
         where);
  }
  // Tracers lock others that were opened before them, and no others.
  if (!own && (kind_ == TraceKind::function || tracer->serial() > serial_)) {
    fail(function + ": " + to_string(expression->type) +
             " belongs to another trace; pass it in as an argument of the traced function",
         where);
  }
  if (own) return value;
  return kind_ == TraceKind::branch ? import_computed(tracer, value) : capture(tracer, value);
}

// A branch computes what it asks for from outer values alone, which its operations were recorded
// beside; what was there before the branch is captured.
Value Tracer::import_computed(const std::shared_ptr<Tracer>& outer, Value value) {
  std::map<std::uint32_t, Node> computed;
  std::vector<std::uint32_t> open = {value.node};
  while (!open.empty()) {
    const std::uint32_t next = open.back();
    open.pop_back();
    if (computed.contains(next)) continue;
    auto node = outer->node_since(serial_, next);
    if (!node) continue;
    for (Value input : node->inputs) open.push_back(input.node);
    computed.emplace(next, std::move(*node));
  }
  std::map<std::uint32_t, Value> moved;
  auto move = [&](Value from) {
    auto known = moved.find(from.node);
    if (known == moved.end()) return capture(outer, from);
    return Value{known->second.node, from.result};
  };
  for (auto& [index, node] : computed) {
    for (Value& input : node.inputs) input = move(input);
    moved[index] = builder_.append(std::move(node));
  }
  note_births();
  return move(value);
}

Value Tracer::capture(const std::shared_ptr<Tracer>& outer, Value value) {
  auto known = captured_.find({outer.get(), value});
  if (known != captured_.end()) return known->second;
  const Type type = outer->type_of(value);
  captures_.push_back(Array(std::make_shared<Expression>(type, Traced{outer, value})));
  Value parameter = builder_.late_parameter(type);
  note_births();
  captured_.emplace(std::pair(outer.get(), value), parameter);
  return parameter;
}

Value Tracer::capture(const ExpressionPtr& memory) {
  captures_.push_back(Array(memory));
  return builder_.late_parameter(memory->type);
}

std::optional<Node> Tracer::node_since(std::uint64_t serial, std::uint32_t node) const {
  std::lock_guard lock(mutex_);
  const Node& found = builder_.node({node, 0});
  if (births_[node] < serial || found.op == Op::parameter) return std::nullopt;
  return found;
}

Type Tracer::type_of(Value value) const {
  std::lock_guard lock(mutex_);
  return builder_.type(value);
}

std::optional<Literal> Tracer::constant(Value value) const {
  std::lock_guard lock(mutex_);
  const Node& node = builder_.node(value);
  if (node.op != Op::constant) return std::nullopt;
  return node.as<ConstantAttributes>().value;
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
      note_births();
      imported_.emplace(top.get(), *value);
      keep_alive_.push_back(top);
    }
    stack.pop_back();
    if (stack.empty()) return *value;
  }
}

bool Tracer::has_checks() const {
  std::lock_guard lock(mutex_);
  return !checked_.empty() || PendingChecks::of_thread().has(serial_);
}

Graph Tracer::finish(const std::vector<Array>& outputs) {
  std::lock_guard lock(mutex_);
  std::vector<Value> values;
  for (const Array& output : outputs) {
    if (!output.expression()) throw InternalError("trace", "an empty array as an output");
    values.push_back(import(output.expression(), "trace", {}));
  }
  const std::size_t count = values.size();
  auto check = take_checks();
  if (count == 0 && (check || !checked_.empty())) fail_unguarded(first_check_);
  if (check) {
    const auto& [state, attributes] = *check;
    guard(builder_, state, attributes, values, kind_ == TraceKind::body);
  }
  append_checked(values);
  end();
  const std::vector<const std::byte*> captured = held_elsewhere(outputs);
  imported_.clear();
  keep_alive_.clear();
  Graph graph = without_dead_nodes(builder_.build(std::move(values)));
  if (graph.outputs().size() > count) {
    graph = without_dead_nodes(with_gathered_checks(graph, count, kind_ == TraceKind::body));
  }
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const auto* constant = std::get_if<ConstantAttributes>(&graph.node(i).attributes);
    if (!constant) continue;
    const std::byte* bytes = constant->value.bytes().data();
    if (std::ranges::find(captured, bytes) != captured.end()) captured_constants_.push_back(i);
  }
  return graph;
}

// The state is the number of the first check that fails, counted from 1.
std::optional<std::pair<Value, CheckAttributes>> Tracer::take_checks() {
  const std::vector<PendingCheck> checks = PendingChecks::of_thread().take(serial_);
  if (checks.empty()) return {};
  if (!first_check_) first_check_ = checks[0].where;
  CheckAttributes attributes;
  Value state = builder_.constant(Literal::scalar(std::int32_t{0}));
  for (std::size_t i = checks.size(); i-- > 0;) {
    Value holds = import(checks[i].predicate.expression(), "check", {});
    const std::int64_t rank = builder_.type(holds).rank();
    if (rank > 0) holds = builder_.add(Op::reduce_all, {holds}, AxesAttributes{axes_up_to(rank)});
    const auto number = static_cast<std::int32_t>(i) + 1;
    state = builder_.add(Op::select, {holds, state, builder_.constant(Literal::scalar(number))});
  }
  for (const PendingCheck& check : checks) attributes.messages.push_back(check.message);
  note_births();
  return std::pair(state, std::move(attributes));
}

// Those that were asked for before what has checks of its own come before it.
void Tracer::record_checks() {
  if (!PendingChecks::of_thread().is_innermost(serial_)) return;
  auto check = take_checks();
  if (!check) return;
  auto& [state, attributes] = *check;
  checked_.push_back(builder_.add(Op::check, {state, state}, std::move(attributes)).node);
  note_births();
}

// What is computed while a branch is traced may belong into that, and counts where it is read.
void Tracer::note_checks(std::uint32_t first) {
  if (!PendingChecks::of_thread().is_innermost(serial_)) return;
  for (auto i = first; i < builder_.size(); ++i) {
    const Node& node = builder_.node({i, 0});
    if (!has_check(node)) continue;
    checked_.push_back(i);
    if (!first_check_) first_check_ = node.location;
  }
}

// A result of each node with checks that no output needs. All results of a call fail together:
// there one of each node with checks.
void Tracer::append_checked(std::vector<Value>& outputs) const {
  if (checked_.empty() || outputs.empty()) return;
  std::vector<char> is_read(builder_.size());
  for (Value output : outputs) is_read[output.node] = true;
  for (std::size_t i = builder_.size(); i-- > 0;) {
    if (!is_read[i]) continue;
    for (Value input : builder_.node({static_cast<std::uint32_t>(i), 0}).inputs) {
      is_read[input.node] = true;
    }
  }
  for (std::uint32_t node : checked_) {
    const bool is_needed = kind_ != TraceKind::function && is_read[node];
    if (!is_needed && !builder_.node({node, 0}).types.empty()) outputs.push_back({node, 0});
  }
}

// The constants made of arrays that are held by others than this trace, and by others than recorded
// operations that it holds alone. The function has returned, so what it made for itself is gone.
// Copies of a literal share its bytes, so they say which constant it is.
std::vector<const std::byte*> Tracer::held_elsewhere(const std::vector<Array>& outputs) const {
  std::vector<const std::byte*> constants;
  std::unordered_map<const Expression*, long> own_uses;
  for (const Array& output : outputs) ++own_uses[output.expression().get()];
  for (auto at = keep_alive_.rbegin(); at != keep_alive_.rend(); ++at) {  // operands come first
    const Expression& expression = **at;
    if (expression.kind != Expression::Kind::memory) continue;
    const bool is_held = at->use_count() > 1 + own_uses[&expression];
    if (const auto recorded = expression.recorded()) {
      if (is_held) continue;
      for (const ExpressionPtr& input : recorded->inputs) ++own_uses[input.get()];
    }
    const Node& node = builder_.node(imported_.at(&expression));
    const auto* constant = std::get_if<ConstantAttributes>(&node.attributes);
    if (is_held && constant) constants.push_back(constant->value.bytes().data());
  }
  return constants;
}

void Tracer::close() {
  std::lock_guard lock(mutex_);
  end();
  imported_.clear();
  keep_alive_.clear();
}

std::string Tracer::describe(const Expression& traced) const {
  std::string text =
      "<" + to_string(traced.type) + " traced as %" + std::to_string(traced.traced.value.node);
  if (traced.location) text += ", from " + to_string(traced.location);
  return text + ">";
}

void fail_unguarded(SourceLocation check) {
  fail("check: the function has no result that it could guard; return one", check);
}

}  // namespace anabranch
