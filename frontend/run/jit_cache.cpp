#include "anabranch/detail/jit_cache.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
#include <optional>
#include <tuple>

#include "anabranch/limits.h"
#include "codegen/compile.h"
#include "frontend/array/expression.h"
#include "frontend/ops/promote.h"
#include "frontend/run/evaluate.h"
#include "frontend/run/program_cache.h"
#include "frontend/trace/traced_graph.h"
#include "ir/text/print.h"
#include "runtime/executor/run.h"
#include "runtime/fork.h"
#include "runtime/memory/copy.h"
#include "runtime/timeline/record.h"

namespace anabranch {

/// A function compiled for one signature.
struct Specialization {
  struct Parameter {
    Type type;
    bool weak = false;
    std::optional<Device> device;  ///< nothing for a number, which goes where it is wanted
  };
  struct Output {
    Type type;
    bool weak = false;  ///< made from C++ numbers alone
  };
  const void* form = nullptr;
  std::vector<Parameter> parameters;
  Key statics;
  Description description;
  std::shared_ptr<const Compilation> compilation;
  std::vector<Output> outputs;
  bool only_checks = false;            ///< no results: the program's output says what they found
  std::string notes;                   ///< a comment per captured array, for dumps
  std::shared_ptr<const void> result;  ///< of the traced function, its Arrays empty
};

struct JitCache::State {
  const Options options;
  const bool fixed;
  const SourceLocation made;
  std::mutex mutex = {};                     // of what follows, for a few instructions at a time
  std::list<SpecializationPtr> recent = {};  // most recently used first
  std::string last_retrace = {};
  std::atomic<int> traces = 0;
  /// Held while the function is traced and compiled, so that it is once for each signature.
  /// Recursive: a traced function may call itself, compiled.
  std::recursive_mutex adding = {};

  std::vector<std::string> explain(const Signature& signature, const Description& description);
  std::shared_ptr<const Compilation> compiled(const Graph& graph, const Options& options) const;
  void check_is_there(const Array& argument) const;
  [[noreturn]] void fail_call(const std::string& what) const;
};

namespace {

bool is_spec(const Leaf& leaf) { return !leaf.array && !leaf.weak; }

// A number goes where it is wanted.
bool has_device(const Leaf& leaf) {
  if (!leaf.array) return is_spec(leaf);
  const Expression* expression = leaf.array->expression().get();
  return expression && expression->kind != Expression::Kind::scalar;
}

// Of a leaf that has one; a spec stands for an array at `home`.
Device device_of(const Leaf& leaf, const Device& home) {
  return is_spec(leaf) ? home : leaf.array->expression()->device_or_default();
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
    if (!has_device(leaf)) continue;
    const Device device = device_of(leaf, home);
    if (device == parameter.device) continue;
    // What was traced with a number, which has no device, takes what is where it put the number:
    // x = f(x) is one program whether x begins as scalar(1.0f) or as the result of a call.
    if (parameter.device) return false;
    const Program& program = compiled.compilation->program();
    if (device != input_device(program, static_cast<std::uint32_t>(i))) return false;
  }
  return true;
}

// Where two calls differ, one difference per line.
std::vector<std::string> differences(const Description& earlier, const Description& later) {
  std::vector<std::string> lines;
  std::size_t i = 0;
  const std::vector<Description::Line>&before = earlier.lines(), &now = later.lines();
  for (; i < std::min(before.size(), now.size()); ++i) {
    const auto& [path, text] = now[i];
    const auto& [path_before, text_before] = before[i];
    if (path != path_before) {  // from here on the trees have other forms
      if (!lines.empty()) return lines;
      return {path + ": " + text + " in place of " + path_before + ": " + text_before};
    }
    if (text != text_before) lines.push_back(path + ": " + text + " instead of " + text_before);
  }
  const auto line = [](const auto& part) { return part.path + ": " + part.text; };
  if (i < now.size()) lines.push_back(line(now[i]) + ", which was not there before");
  if (i < before.size()) lines.push_back(line(before[i]) + " is not there any more");
  return lines;
}

// Whether they describe trees of one form, lengths included.
bool have_same_paths(const Description& a, const Description& b) {
  return std::ranges::equal(a.lines(), b.lines(), {}, &Description::Line::path,
                            &Description::Line::path);
}

// The fewest differences to one of `known`, preferably to one whose arguments have the same C++
// types, then to one whose trees have the same form: of two of different forms only what comes
// before the first such difference is compared.
std::vector<std::string> fewest_differences(const std::list<SpecializationPtr>& known,
                                            const Signature& signature,
                                            const Description& description) {
  std::vector<std::string> fewest;
  std::optional<std::tuple<bool, bool, std::size_t>> least;
  for (const SpecializationPtr& at : known) {
    auto lines = differences(at->description, description);
    const std::tuple distance(at->form != signature.form,
                              !have_same_paths(at->description, description), lines.size());
    if (least && distance >= *least) continue;
    least = distance;
    fewest = std::move(lines);
  }
  if (!fewest.empty()) return fewest;
  const bool same_types = least && !std::get<0>(*least);
  return {same_types ? "the devices of the arguments differ"
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

JitCache::JitCache(bool fixed, SourceLocation made) : JitCache(default_options(), fixed, made) {}

JitCache::JitCache(const Options& options, bool fixed, SourceLocation made)
    : state_(std::make_shared<State>(options, fixed, made)) {
  const Options& given = state_->options;
  try {
    if (given.in_flight != 0) set_in_flight_limit(given.device, given.in_flight);
    if (given.in_flight_bytes > 0) set_in_flight_bytes(given.device, given.in_flight_bytes);
  } catch (const Error& error) {
    state_->fail_call(error.what());
  }
}

void JitCache::State::check_is_there(const Array& argument) const {
  const Expression& expression = *argument.expression();
  if (expression.kind != Expression::Kind::donated) return;
  try {
    fail_donated(fixed ? "compile" : "jit", expression, {});
  } catch (const Error& error) {
    fail_call(error.what());
  }
}

void JitCache::State::fail_call(const std::string& what) const {
  throw Error(made ? what + ", in the function made at " + to_string(made) : what);
}

namespace {

thread_local int functions_being_traced = 0;  // on this thread, one inside the other

/// Holds `mutex`, unless the thread is tracing a function and another thread has it: that one may
/// wait for the function in turn. The two then both trace what `mutex` guards.
class Adding {
 public:
  explicit Adding(std::recursive_mutex& mutex) : lock_(mutex, std::defer_lock) {
    functions_being_traced > 0 ? static_cast<void>(lock_.try_lock()) : lock_.lock();
    ++functions_being_traced;
  }
  ~Adding() { --functions_being_traced; }
  Adding(const Adding&) = delete;
  bool is_alone() const { return lock_.owns_lock(); }

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

}  // namespace

SpecializationPtr JitCache::find(const Signature& signature) const {
  check_no_orphan("jit");
  std::list<SpecializationPtr>& recent = state_->recent;
  std::lock_guard lock(state_->mutex);
  for (auto at = recent.begin(); at != recent.end(); ++at) {
    if (!matches(**at, signature, state_->options.device)) continue;
    if (at != recent.begin()) recent.splice(recent.begin(), recent, at);
    return recent.front();
  }
  return nullptr;
}

std::vector<std::string> JitCache::State::explain(const Signature& signature,
                                                  const Description& description) {
  std::lock_guard lock(mutex);
  return fewest_differences(recent, signature, description);
}

// A compiler does not know where its graph comes from.
std::shared_ptr<const Compilation> JitCache::State::compiled(const Graph& graph,
                                                             const Options& options) const {
  try {
    return compile_once(graph, options);
  } catch (const Error& error) {
    fail_call(error.what());
  }
}

SpecializationPtr JitCache::add(const Signature& signature, Description description,
                                const Trace& trace) const {
  State& state = *state_;
  for (std::size_t i = 0; i < signature.leaves.size(); ++i) {
    if (!signature.leaves[i].type) {
      state.fail_call("jit: input " + std::to_string(i) +
                      " is an empty Array; give it a value first");
    }
  }
  const Adding adding(state.adding);
  if (SpecializationPtr known = find(signature)) return known;
  std::vector<std::string> why;
  if (state.traces > 0) why = state.explain(signature, description);
  if (state.fixed && state.traces > 0) {
    state.fail_call("compile: called with arguments of other types than it was compiled for: " +
                    joined(why, ", ") + "; use jit for several");
  }
  auto added = std::make_shared<Specialization>();
  added->form = signature.form;
  added->statics = signature.statics;
  added->description = std::move(description);
  Options options = state.options;
  for (const Leaf& leaf : signature.leaves) {
    std::optional<Device> device;
    if (has_device(leaf)) device = device_of(leaf, state.options.device);
    added->parameters.push_back({*leaf.type, leaf.weak, device});
    options.parameters.push_back(added->parameters.back().device);
  }
  Traced result = [&] {
    timeline::Span span("trace", timeline::Category::trace);
    return trace();
  }();
  ++state.traces;
  const auto& [graph, weak, captured, only_checks] = *result.traced;
  added->notes = notes_on(graph, captured);
  simplify_devices(options, graph);
  added->compilation = state.compiled(graph, options);
  const std::span<const Value> outputs = graph.outputs();
  for (std::size_t i = 0; i < weak.size(); ++i) {
    added->outputs.push_back({graph.type(outputs[i]), weak[i]});
  }
  added->only_checks = only_checks.has_value();
  added->result = std::move(result.result);
  SpecializationPtr forgotten;  // destroyed after the lock is let go
  if (!adding.is_alone()) {
    if (SpecializationPtr known = find(signature)) return known;
  }
  std::lock_guard lock(state.mutex);
  state.last_retrace = joined(why, "\n");
  state.recent.push_front(std::move(added));
  if (state.recent.size() > limit) {
    forgotten = std::move(state.recent.back());
    state.recent.pop_back();
  }
  return state.recent.front();
}

std::vector<Array> JitCache::run(const Specialization& compiled, const Signature& signature,
                                 std::span<const Donation> donations) const {
  std::vector<Buffer> inputs;
  inputs.reserve(signature.leaves.size());
  for (const Leaf& leaf : signature.leaves) {
    const auto index = static_cast<std::uint32_t>(inputs.size());
    const Device& device = input_device(compiled.compilation->program(), index);
    if (leaf.array) {
      state_->check_is_there(*leaf.array);
      inputs.push_back(memory_of(*leaf.array, device));
      continue;
    }
    inputs.push_back(copy_to_device(device, leaf.bits.bytes().first(leaf.type->bytes())));
  }
  if (!donations.empty()) {
    prepare_run(compiled.compilation->program(), inputs);
    consume(donations);
  }
  std::vector<Buffer> memory = anabranch::run(*compiled.compilation, std::move(inputs));
  if (compiled.only_checks) {  // the caller has nothing to read them from
    memory.back().ready().wait();
    return {};
  }
  std::vector<Array> outputs;
  outputs.reserve(memory.size());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const auto& [type, weak] = compiled.outputs[i];
    outputs.push_back(array_of(type, std::move(memory[i])));
    outputs.back().expression()->weak = weak;
  }
  return outputs;
}

SourceLocation JitCache::made() const { return state_->made; }
int JitCache::traces() const { return state_->traces.load(std::memory_order_relaxed); }

std::string JitCache::last_retrace() const {
  std::lock_guard lock(state_->mutex);
  return state_->last_retrace;
}

namespace detail {

const std::shared_ptr<const Compilation>& compilation_of(const Specialization& compiled) {
  return compiled.compilation;
}
const void* result_of(const Specialization& compiled) { return compiled.result.get(); }

std::string dump(const Specialization& compiled, Stage stage) {
  return (stage == Stage::trace ? compiled.notes : "") +
         anabranch::dump(*compiled.compilation, stage);
}
std::string to_dot(const Specialization& compiled, Stage stage) {
  return anabranch::to_dot(*compiled.compilation, stage);
}
ProgramCost cost(const Specialization& compiled) { return anabranch::cost(*compiled.compilation); }
ProgramMemory memory(const Specialization& compiled) {
  return anabranch::memory(*compiled.compilation);
}

Array weak_array(const Operand& number) { return as_array("jit", number); }

}  // namespace detail
}  // namespace anabranch
