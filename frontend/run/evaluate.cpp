#include "frontend/run/evaluate.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "frontend/run/env.h"
#include "frontend/run/program_cache.h"
#include "ir/graph/builder.h"
#include "runtime/executor/run.h"
#include "runtime/memory/copy.h"

namespace anabranch {
namespace {

/// One expression of the part that is to run.
struct Member {
  ExpressionPtr expression;
  std::shared_ptr<const Recorded> recorded;  // null for a leaf
  Value value;
  long uses_inside = 0;  // handles that the part itself holds
  bool is_root = false;
};

/// The recorded operations under some arrays, operands first, leaves where nothing is left to run.
class Part {
 public:
  /// Adds what `root` needs; a wanted root is kept whatever holds it.
  void collect(const ExpressionPtr& root, bool wanted) {
    if (Member* known = find(root)) {
      known->is_root |= wanted;
      return;
    }
    std::vector<Member> stack = {snapshot(root)};
    while (!stack.empty()) {
      ExpressionPtr next;
      if (stack.back().recorded) {
        for (const ExpressionPtr& input : stack.back().recorded->inputs) {
          if (!index_.contains(input.get())) {
            next = input;
            break;
          }
        }
      }
      if (next) {
        stack.push_back(snapshot(next));
        continue;
      }
      Member member = std::move(stack.back());
      stack.pop_back();
      index_.emplace(member.expression.get(), members_.size());
      members_.push_back(std::move(member));
    }
    find(root)->is_root = wanted;
  }

  Member* find(const ExpressionPtr& expression) {
    auto found = index_.find(expression.get());
    return found == index_.end() ? nullptr : &members_[found->second];
  }

  std::vector<Member>& members() { return members_; }

 private:
  static Member snapshot(const ExpressionPtr& expression) {
    return {expression, expression->recorded(), {}, 0, false};
  }

  std::vector<Member> members_;
  std::unordered_map<const Expression*, std::size_t> index_;
};

/// A part as a graph: its leaves are the parameters.
struct RecordedProgram {
  Graph graph;
  std::vector<ExpressionPtr> inputs;
  std::vector<ExpressionPtr> outputs;
};

// Cheaper to compute again than to keep in memory.
bool is_cheap(Op op) { return op == Op::broadcast_in_dim || op == Op::iota; }

/// What becomes memory besides the roots: what others hold and costs something, or all that others
/// hold.
enum class Keep : std::uint8_t { roots_and_costly, all_held };

RecordedProgram build(Part& part, Keep keep) {
  RecordedProgram program;
  GraphBuilder builder;
  for (Member& member : part.members()) {
    if (member.recorded) {
      for (const ExpressionPtr& input : member.recorded->inputs) ++part.find(input)->uses_inside;
    } else {
      member.value = builder.parameter(member.expression->type);
      program.inputs.push_back(member.expression);
    }
  }
  std::vector<Value> outputs;
  for (Member& member : part.members()) {
    if (!member.recorded) continue;
    const Recorded& recorded = *member.recorded;
    std::vector<Value> inputs;
    inputs.reserve(recorded.inputs.size());
    for (const ExpressionPtr& input : recorded.inputs) inputs.push_back(part.find(input)->value);
    std::optional<Type> stated;
    if (info(recorded.op).has(OpInfo::typed)) stated = member.expression->type;
    member.value = builder.add(recorded.op, std::move(inputs), recorded.attributes,
                               std::move(stated), {}, member.expression->location);
    // One handle is the member's own; what remains is held by the user, or by arrays not in this
    // part.
    bool held = member.expression.use_count() > member.uses_inside + 1;
    bool worth_it = keep == Keep::all_held || !is_cheap(recorded.op);
    if (member.is_root || (held && worth_it)) {
      outputs.push_back(member.value);
      program.outputs.push_back(member.expression);
    }
  }
  program.graph = builder.build(std::move(outputs));
  return program;
}

Buffer buffer_of(const Expression& expression, const Device& device) {
  if (expression.kind == Expression::Kind::scalar) {
    return copy_to_device(device, expression.scalar.bytes().first(expression.type.bytes()));
  }
  return expression.buffer();
}

}  // namespace

void simplify_devices(Options& options, const Graph& graph) {
  const auto elsewhere = [&](const auto& device) { return device && *device != options.device; };
  const auto moves = [](const Node& node) { return node.op == Op::transfer; };
  const bool one_device =
      std::none_of(options.parameters.begin(), options.parameters.end(), elsewhere) &&
      std::none_of(graph.nodes().begin(), graph.nodes().end(), moves);
  if (one_device) options.parameters.clear();
}

namespace {

void run_part(Part& part, Options options, Keep keep) {
  bool nothing_to_run = true;
  for (const Member& member : part.members()) nothing_to_run &= !member.recorded;
  if (nothing_to_run) return;

  RecordedProgram program = build(part, keep);
  for (const ExpressionPtr& input : program.inputs) options.parameters.push_back(input->device());
  simplify_devices(options, program.graph);
  auto compiled = compile_once(program.graph, options);
  std::vector<Buffer> inputs;
  inputs.reserve(program.inputs.size());
  for (const ExpressionPtr& input : program.inputs) {
    const auto index = static_cast<std::uint32_t>(inputs.size());
    inputs.push_back(buffer_of(*input, input_device(compiled->program(), index)));
  }
  std::vector<Buffer> outputs = run(*compiled, std::move(inputs));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    program.outputs[i]->become(std::move(outputs[i]));
  }
}

}  // namespace

void evaluate(std::span<const Array> arrays) {
  Part part;
  Options options = default_options();
  for (const Array& array : arrays) {
    const ExpressionPtr& expression = array.expression();
    if (!expression || expression->kind != Expression::Kind::memory) continue;
    if (auto device = expression->device()) options.device = *device;
    if (!expression->is_concrete()) part.collect(expression, true);
  }
  run_part(part, options, Keep::roots_and_costly);
}

void evaluate_all() {
  std::map<Device, std::vector<ExpressionPtr>> by_device;
  for (const std::shared_ptr<Pending>& pending : Pending::all()) {
    auto expression = std::static_pointer_cast<Expression>(pending);
    by_device[expression->device_or_default()].push_back(std::move(expression));
  }
  for (auto& [device, expressions] : by_device) {
    Part part;
    while (!expressions.empty()) {  // so that only the part's own handle remains
      ExpressionPtr next = std::move(expressions.back());
      expressions.pop_back();
      part.collect(next, false);
    }
    Options options = default_options();
    options.device = device;
    run_part(part, options, Keep::all_held);
  }
}

std::uint32_t count_recorded(const Recorded& recorded) {
  std::unordered_set<const Expression*> seen;
  std::vector<std::shared_ptr<const Recorded>> stack;
  std::uint32_t count = 1;
  auto visit = [&](const Recorded& node) {
    for (const ExpressionPtr& input : node.inputs) {
      if (!seen.insert(input.get()).second) continue;
      if (auto below = input->recorded()) {
        ++count;
        stack.push_back(std::move(below));
      }
    }
  };
  visit(recorded);
  while (!stack.empty()) {
    auto top = std::move(stack.back());
    stack.pop_back();
    visit(*top);
  }
  return count;
}

Buffer memory_of(const Array& array) {
  const Expression& expression = *array.expression();
  if (expression.kind == Expression::Kind::donated) fail_donated("read", expression, {});
  if (expression.kind == Expression::Kind::memory && !expression.is_concrete()) {
    evaluate({&array, 1});
  }
  return expression.buffer();
}

Buffer memory_of(const Array& array, const Device& device) {
  const Expression& expression = *array.expression();
  if (expression.kind == Expression::Kind::scalar) return buffer_of(expression, device);
  return memory_of(array);
}

}  // namespace anabranch
