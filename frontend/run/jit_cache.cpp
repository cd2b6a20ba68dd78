#include "frontend/run/jit_cache.h"

#include <algorithm>
#include <cstring>

#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/run/evaluate.h"
#include "frontend/run/program_cache.h"
#include "frontend/trace/trace.h"
#include "ir/text/print.h"
#include "runtime/executor/limits.h"
#include "runtime/executor/run.h"
#include "runtime/fork.h"
#include "runtime/memory/copy.h"
#include "runtime/timeline/timeline.h"

namespace anabranch {
namespace {

// Nothing for a number, which goes where it is wanted; a spec stands for an array at `home`.
std::optional<Device> device_of(const Leaf& leaf, const Device& home) {
  if (!leaf.array && !leaf.weak) return home;
  const Expression* expression = leaf.array ? leaf.array->expression().get() : nullptr;
  if (!expression || expression->kind == Expression::Kind::scalar) return std::nullopt;
  return expression->device().value_or(default_device());
}

bool matches(const Specialization& compiled, const Signature& signature, const Device& home) {
  if (compiled.form != signature.form || compiled.parameters.size() != signature.leaves.size() ||
      compiled.statics != signature.statics) {
    return false;
  }
  for (std::size_t i = 0; i < signature.leaves.size(); ++i) {
    const Leaf& leaf = signature.leaves[i];
    const Specialization::Parameter& parameter = compiled.parameters[i];
    if (leaf.weak != parameter.weak || !leaf.type || *leaf.type != parameter.type) return false;
    const std::optional<Device> device = device_of(leaf, home);
    if (!device || device == parameter.device) continue;
    // What was traced with a number, which has no device, takes what is where it put the number:
    // x = f(x) is one program whether x begins as scalar(1.0f) or as the result of a call.
    if (parameter.device) return false;
    const Program& program = compiled.compilation->program();
    if (*device != input_device(program, static_cast<std::uint32_t>(i))) return false;
  }
  return true;
}

// Where two calls differ, one difference per line.
std::vector<std::string> differences(const Description& before, const Description& now) {
  std::vector<std::string> lines;
  std::size_t i = 0;
  for (; i < std::min(before.size(), now.size()); ++i) {
    const auto& [path, text] = now[i];
    const auto& [path_before, text_before] = before[i];
    if (path != path_before) {  // from here on the trees have other forms
      if (!lines.empty()) return lines;
      return {path + ": " + text + " in place of " + path_before + ": " + text_before};
    }
    if (text != text_before) lines.push_back(path + ": " + text + " instead of " + text_before);
  }
  const auto line = [](const auto& part) { return part.first + ": " + part.second; };
  if (i < now.size()) lines.push_back(line(now[i]) + ", which was not there before");
  if (i < before.size()) lines.push_back(line(before[i]) + " is not there any more");
  return lines;
}

// The fewest differences to one of `known`, preferably to one whose arguments have the same types.
std::vector<std::string> fewest_differences(const std::list<SpecializationPtr>& known,
                                            const Signature& signature,
                                            const Description& description) {
  std::optional<std::vector<std::string>> fewest;
  bool same_form = false;
  for (const SpecializationPtr& at : known) {
    const bool same = at->form == signature.form;
    auto lines = differences(at->description, description);
    const bool better =
        !fewest || (same && !same_form) || (same == same_form && lines.size() < fewest->size());
    if (!better) continue;
    fewest = std::move(lines);
    same_form = same;
  }
  if (fewest && !fewest->empty()) return *fewest;
  return {same_form ? "the devices of the arguments differ"
                    : "the C++ types of the arguments differ"};
}

std::string notes_on(const Graph& graph, std::span<const std::uint32_t> captured) {
  std::string text;
  const std::vector<std::uint32_t> numbers = value_numbers(graph);
  for (const std::uint32_t node : captured) {
    text += "# %" + std::to_string(numbers[node]) + " is an array that the function captures, " +
            to_string(graph.node(node).types[0]) +
            ": the program keeps the value that it had when it was traced; pass it as an argument "
            "to change it\n";
  }
  return text;
}

std::string joined(const std::vector<std::string>& lines, const char* between) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : between) + line;
  return text;
}

}  // namespace

JitCache::JitCache(Options options, bool fixed, SourceLocation made)
    : options_(std::move(options)), fixed_(fixed), made_(made) {
  try {
    if (options_.in_flight > 0) set_in_flight_limit(options_.device, options_.in_flight);
    if (options_.in_flight_bytes > 0) {
      set_in_flight_bytes(options_.device, options_.in_flight_bytes);
    }
  } catch (const Error& error) {
    fail_call(error.what());
  }
}

void JitCache::fail_call(const std::string& what) const {
  throw Error(made_ ? what + ", in the function made at " + to_string(made_) : what);
}

SpecializationPtr JitCache::find(const Signature& signature) {
  check_no_orphan("jit");
  std::lock_guard lock(mutex_);
  for (auto at = recent_.begin(); at != recent_.end(); ++at) {
    if (!matches(**at, signature, options_.device)) continue;
    if (at != recent_.begin()) recent_.splice(recent_.begin(), recent_, at);
    return recent_.front();
  }
  return nullptr;
}

std::vector<std::string> JitCache::explain(const Signature& signature,
                                           const Description& description) const {
  std::lock_guard lock(mutex_);
  return fewest_differences(recent_, signature, description);
}

// A compiler does not know where its graph comes from.
std::shared_ptr<const Compilation> JitCache::compiled(const Graph& graph,
                                                      const Options& options) const {
  try {
    return compile_once(graph, options);
  } catch (const Error& error) {
    fail_call(error.what());
  }
}

SpecializationPtr JitCache::add(const Signature& signature, Description description,
                                const Trace& trace) {
  for (std::size_t i = 0; i < signature.leaves.size(); ++i) {
    if (!signature.leaves[i].type) {
      fail_call("jit: input " + std::to_string(i) + " is an empty Array; give it a value first");
    }
  }
  std::lock_guard lock(adding_);
  if (SpecializationPtr known = find(signature)) return known;
  std::vector<std::string> why;
  if (traces_ > 0) why = explain(signature, description);
  if (fixed_ && traces_ > 0) {
    fail_call("compile: called with arguments of other types than it was compiled for: " +
              joined(why, ", ") + "; use jit for several");
  }
  auto added = std::make_shared<Specialization>();
  added->form = signature.form;
  added->statics = signature.statics;
  added->description = std::move(description);
  Options options = options_;
  for (const Leaf& leaf : signature.leaves) {
    added->parameters.push_back({*leaf.type, leaf.weak, device_of(leaf, options_.device)});
    options.parameters.push_back(added->parameters.back().device);
  }
  Traced traced = [&] {
    timeline::Span span("trace", timeline::Category::trace);
    return trace();
  }();
  ++traces_;
  last_retrace_ = joined(why, "\n");
  added->notes = notes_on(traced.graph, traced.captured);
  simplify_devices(options, traced.graph);
  added->compilation = compiled(traced.graph, options);
  const std::span<const Value> outputs = traced.graph.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    added->outputs.push_back({traced.graph.type(outputs[i]), traced.weak[i]});
  }
  added->result = std::move(traced.result);
  SpecializationPtr forgotten;  // destroyed after the lock is let go
  std::lock_guard list_lock(mutex_);
  recent_.push_front(std::move(added));
  if (recent_.size() > limit) {
    forgotten = std::move(recent_.back());
    recent_.pop_back();
  }
  return recent_.front();
}

std::vector<Array> JitCache::run(const Specialization& compiled, const Signature& signature,
                                 std::span<const Donation> donations) const {
  std::vector<Buffer> inputs;
  inputs.reserve(signature.leaves.size());
  for (const Leaf& leaf : signature.leaves) {
    const auto index = static_cast<std::uint32_t>(inputs.size());
    const Device& device = input_device(compiled.compilation->program(), index);
    if (leaf.array) {
      inputs.push_back(memory_of(*leaf.array, device));
      continue;
    }
    std::byte bytes[sizeof leaf.bits];
    std::memcpy(bytes, &leaf.bits, sizeof bytes);
    inputs.push_back(copy_to_device(device, std::span(bytes).first(leaf.type->bytes())));
  }
  consume(donations);
  std::vector<Buffer> memory = anabranch::run(*compiled.compilation, std::move(inputs));
  std::vector<Array> outputs;
  outputs.reserve(memory.size());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const auto& [type, weak] = compiled.outputs[i];
    outputs.push_back(array_of(type, std::move(memory[i])));
    outputs.back().expression()->weak = weak;
  }
  return outputs;
}

std::string JitCache::last_retrace() const {
  std::lock_guard lock(adding_);
  return last_retrace_;
}

Array weak_number(const Operand& number) { return as_array("jit", number); }

namespace detail {

void demand_results(const Description& result, SourceLocation made) {
  for (const auto& [path, text] : result) {
    if (text != "empty") continue;
    fail("trace: the function's " + path + " is an empty Array; give it a value before it returns",
         made);
  }
}

Array traced_parameter(Tracer& tracer, const Array& like) {
  if (!like.expression())
    fail("trace: an argument holds an empty Array; give it a value first", {});
  const Expression& expression = *like.expression();
  std::optional<Device> device;
  if (expression.kind == Expression::Kind::memory)
    device = expression.device().value_or(default_device());
  Array parameter = tracer.parameter(expression.type, device);
  parameter.expression()->weak = like.expression()->weak;
  return parameter;
}

Array traced_number(Tracer& tracer, Dtype dtype) {
  Array parameter = tracer.parameter(scalar_type(dtype));
  parameter.expression()->weak = true;
  return parameter;
}

}  // namespace detail
}  // namespace anabranch
