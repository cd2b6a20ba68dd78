#include "frontend/jit_cache.h"

#include <algorithm>
#include <cstring>

#include "frontend/evaluate.h"
#include "frontend/fail.h"
#include "frontend/program_cache.h"
#include "frontend/promote.h"
#include "frontend/trace.h"
#include "runtime/run.h"
#include "runtime/timeline.h"

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
    if (device && device != parameter.device) return false;
  }
  return true;
}

// Where two calls differ, one difference per line.
std::vector<std::string> differences(const Description& before, const Description& now) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i) {
    if (before[i] == now[i]) continue;
    if (before[i].first != now[i].first) break;  // from here on the trees have other forms
    lines.push_back(now[i].first + ": " + now[i].second + " instead of " + before[i].second);
  }
  if (lines.empty()) lines.push_back("the C++ types of the arguments differ");
  return lines;
}

}  // namespace

JitCache::JitCache(Options options, bool fixed, SourceLocation made)
    : options_(std::move(options)), fixed_(fixed), made_(made) {
  if (options_.in_flight > 0) set_in_flight_limit(options_.device, options_.in_flight);
  if (options_.in_flight_bytes > 0) {
    set_in_flight_bytes(options_.device, options_.in_flight_bytes);
  }
}

void JitCache::fail_call(const std::string& what) const {
  throw Error(made_ ? what + ", in the function made at " + to_string(made_) : what);
}

SpecializationPtr JitCache::find(const Signature& signature) {
  std::lock_guard lock(mutex_);
  for (auto at = recent_.begin(); at != recent_.end(); ++at) {
    if (!matches(**at, signature, options_.device)) continue;
    if (at != recent_.begin()) recent_.splice(recent_.begin(), recent_, at);
    return recent_.front();
  }
  return nullptr;
}

std::string JitCache::explain(const Signature& signature, const Description& description) const {
  std::vector<std::string> fewest;
  std::lock_guard lock(mutex_);
  for (const SpecializationPtr& at : recent_) {
    auto lines = differences(at->description, description);
    bool better = fewest.empty() || lines.size() < fewest.size();
    if (at->form == signature.form && better) fewest = std::move(lines);
  }
  if (fewest.empty()) fewest.push_back("the C++ types of the arguments differ");
  std::string text;
  for (const std::string& line : fewest) text += (text.empty() ? "" : "\n") + line;
  return text;
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
  std::string why = traces_ > 0 ? explain(signature, description) : "";
  if (fixed_ && traces_ > 0) {
    fail_call("compile: called with arguments of other types than it was compiled for: " + why +
              "; use jit for several");
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
  auto [graph, result] = [&] {
    timeline::Span span("trace", timeline::Category::trace);
    return trace();
  }();
  ++traces_;
  last_retrace_ = std::move(why);
  simplify_devices(options, graph);
  added->compilation = compile_once(graph, options);
  for (Value output : graph.outputs()) added->outputs.push_back(graph.type(output));
  added->result = std::move(result);
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
    const Device& device = input_device(*compiled.compilation->executable, index);
    if (leaf.array) {
      inputs.push_back(memory_of(*leaf.array, device));
      continue;
    }
    std::byte bytes[sizeof leaf.bits];
    std::memcpy(bytes, &leaf.bits, sizeof bytes);
    inputs.push_back(Buffer::copy_of(device, std::span(bytes).first(leaf.type->bytes())));
  }
  consume(donations);
  std::vector<Buffer> memory =
      anabranch::run(current_executable(*compiled.compilation), std::move(inputs));
  std::vector<Array> outputs;
  outputs.reserve(memory.size());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    outputs.push_back(array_of(compiled.outputs[i], std::move(memory[i])));
  }
  return outputs;
}

std::string JitCache::last_retrace() const {
  std::lock_guard lock(adding_);
  return last_retrace_;
}

Array weak_number(const Operand& number) { return as_array("jit", number); }

namespace detail {

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
