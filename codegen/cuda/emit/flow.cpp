#include "codegen/cuda/emit/flow.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "anabranch/error.h"
#include "codegen/cuda/emit/kernel.h"
#include "codegen/cuda/emit/text.h"
#include "codegen/cuda/map_threads.h"
#include "ir/checked.h"

namespace anabranch::cuda {
namespace {

using Names = std::vector<std::string>;

// What is so small is not worth a way to the GPU's memory and back.
constexpr std::size_t largest_small = 64;
constexpr int warp = 32;
// More threads leave each of them fewer registers than a large kernel needs.
constexpr std::int64_t most_threads = 256;

bool is_small(const Type& type) { return type.bytes() <= largest_small; }

std::int64_t iterations(const Kernel& kernel, const Block& block) {
  std::int64_t most = 1;
  for (Ref ref : block) {
    const auto* loop = std::get_if<Loop>(&kernel[ref].operation);
    if (!loop) continue;
    most = std::max(most, saturating_multiply(loop->usual_turns(), iterations(kernel, loop->body)));
  }
  return most;
}

int threads_for(const Kernel& kernel) {
  const std::int64_t most = iterations(kernel, kernel.body);
  if (most <= 1) return 1;
  const auto wanted = std::bit_ceil(static_cast<std::uint64_t>(std::min(most, most_threads)));
  return std::max(warp, static_cast<int>(wanted));
}

// The most that `threads(kernel's number)` is for the kernels of `step` and inside it.
template <class Threads>
int most_of_kernels(const Step& step, const Threads& threads) {
  if (const auto* one = std::get_if<KernelStep>(&step.work)) return threads(one->kernel);
  int most = 1;
  for (const Program& region : inner_programs(step)) {
    for (const Step& inner : region.steps) most = std::max(most, most_of_kernels(inner, threads));
  }
  return most;
}

bool has_block_barriers(const ThreadMap& map) {
  return map.members > warp || map.in_columns || map.in_tiles();
}

/// Writes one loop or branch; those inside it are functions of their own.
class FlowEmitter {
 public:
  FlowEmitter(const KernelAt& kernel_at, FlowText& flow, std::string& functions)
      : kernel_at_(kernel_at), flow_(flow), functions_(functions) {}

  /// The function itself; those that it calls are added to `functions`.
  std::string run(const Step& step, bool is_kernel);
  /// What the function takes after the step's buffers.
  const std::vector<const Literal*>& constants() const { return constants_; }

 private:
  void emit_loop(const LoopStep& loop);
  void emit_branch(const BranchStep& branch);
  Names emit_steps(const Program& program, const Names& inputs, const Names& outputs,
                   std::int64_t arena, const std::string& prefix);
  void emit_step(const Program& program, const Step& step, const Names& slots);
  void emit_call(const Kernel& kernel, const Names& arguments);
  void emit_call(const Step& inner_flow, Names arguments);
  void hand_on(const LoopStep& loop, const Names& carries, const Names& next, const Names& made);
  void change_places(const LoopStep& loop);
  void copy_back(const LoopStep& loop);

  std::string small(const Type& type, const std::string& name);
  void copy(const std::string& to, const std::string& from, const Type& type);
  void sync();
  std::string parameter(const std::string& name);
  Names parameters(std::size_t count, const std::string& name);

  const KernelAt& kernel_at_;
  FlowText& flow_;
  std::string& functions_;
  Names parameters_;
  std::vector<const Literal*> constants_;
  Text memory_{1}, body_{1};
  std::set<std::string> taken_;
  int barriers_ = 0;
};

std::string FlowEmitter::run(const Step& step, bool is_kernel) {
  const auto* loop = std::get_if<LoopStep>(&step.work);
  loop ? emit_loop(*loop) : emit_branch(std::get<BranchStep>(step.work));
  for (std::size_t i = 0; i < constants_.size(); ++i) parameter(fmt::format("constant{}", i));
  std::string list;
  for (const std::string& name : parameters_) list += (list.empty() ? "Bytes " : ", Bytes ") + name;

  Text text;
  const std::string where = step.location ? ", " + to_string(step.location) : "";
  text.line("// {} {}, all of it by one block of {} thread{}{}", loop ? "loop" : "branch",
            comment_of(step.name), flow_.threads, flow_.threads == 1 ? "" : "s", comment_of(where));
  const std::string kernel =
      fmt::format("extern \"C\" __global__ void __launch_bounds__({}, 1)", flow_.threads);
  text.line("{} {}({}) {{", is_kernel ? kernel : "AB_INLINE void", symbol(step.name), list);
  return text.take() + memory_.take() + body_.take() + "}\n";
}

std::string FlowEmitter::parameter(const std::string& name) {
  parameters_.push_back(name);
  return name;
}

Names FlowEmitter::parameters(std::size_t count, const std::string& name) {
  Names names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(parameter(fmt::format("{}{}", name, i)));
  return names;
}

// Memory for a small value, for as long as the function runs.
std::string FlowEmitter::small(const Type& type, const std::string& name) {
  std::string own = name;
  for (int i = 2; !taken_.insert(own).second; ++i) own = fmt::format("{}_{}", name, i);
  memory_.line("alignas(16) {}{} {}[{}];", flow_.threads == 1 ? "" : "__shared__ ",
               type_name(type.dtype), own, std::max<std::int64_t>(type.size(), 1));
  if (flow_.threads > 1) flow_.shared_bytes += static_cast<std::int64_t>(largest_small);
  return own;
}

void FlowEmitter::copy(const std::string& to, const std::string& from, const Type& type) {
  if (to == from || type.size() == 0) return;
  body_.line("copy<{}>({}, {}, {});", type_name(type.dtype), to, from, type.size());
}

void FlowEmitter::sync() {
  body_.line("__syncthreads();");
  ++barriers_;
}

// Returns where each slot is.
Names FlowEmitter::emit_steps(const Program& program, const Names& inputs, const Names& outputs,
                              std::int64_t arena, const std::string& prefix) {
  Names slots;
  for (const Slot& slot : program.slots) {
    switch (slot.kind) {
      case Slot::Kind::input:
        slots.push_back(inputs[slot.index]);
        break;
      case Slot::Kind::output:
        slots.push_back(outputs[slot.index]);
        break;
      case Slot::Kind::constant:
        slots.push_back(fmt::format("constant{}", constants_.size()));
        constants_.push_back(&program.constants[slot.index]);
        break;
      case Slot::Kind::temporary: {
        const auto offset = arena + static_cast<std::int64_t>(slot.offset);
        slots.push_back(slot.output ? outputs[*slot.output]
                        : is_small(slot.type)
                            ? small(slot.type, prefix + symbol(slot.name.substr(1)))
                            : fmt::format("workspace.from({})", offset));
        break;
      }
    }
  }
  for (const Stream& stream : program.streams) {
    for (const Command& command : stream) {
      if (const Step* step = step_of(program, command)) emit_step(program, *step, slots);
    }
  }
  return slots;
}

void FlowEmitter::emit_step(const Program& program, const Step& step, const Names& slots) {
  for (auto [read, written] : step.in_place_updates) {
    if (slots[read] == slots[written]) continue;
    copy(slots[written], slots[read], program.slots[read].type);
    sync();
  }
  Names arguments;
  for (SlotId id : step.buffers) arguments.push_back(slots[id]);
  if (const auto* one = std::get_if<KernelStep>(&step.work)) {
    emit_call(kernel_at_(one->kernel), arguments);
  } else if (is_whole_flow(step)) {
    emit_call(step, std::move(arguments));
  } else {
    copy(arguments[1], arguments[0], program.slots[step.buffers[0]].type);
  }
  sync();
}

void FlowEmitter::emit_call(const Kernel& kernel, const Names& arguments) {
  if (block_count(kernel) == 0) return;
  functions_ += emit_kernel(kernel) + "\n";
  flow_.shared_bytes += shared_bytes(kernel);
  const ThreadMap& map = threads_of(kernel);
  const int threads = map.threads();
  if (threads != flow_.threads && (threads > flow_.threads || has_block_barriers(map))) {
    throw InternalError("emit_flow", "kernel " + kernel.name + " needs a block of its own",
                        to_string(kernel));
  }
  body_.line("{}{}({});",
             threads < flow_.threads ? fmt::format("if (threadIdx.x < {}) ", threads) : "",
             symbol(kernel.name), fmt::join(arguments, ", "));
}

void FlowEmitter::emit_call(const Step& inner_flow, Names arguments) {
  FlowEmitter inner(kernel_at_, flow_, functions_);
  functions_ += inner.run(inner_flow, false) + "\n";
  for (const Literal* constant : inner.constants()) {
    arguments.push_back(fmt::format("constant{}", constants_.size()));
    constants_.push_back(constant);
  }
  body_.line("{}({});", symbol(inner_flow.name), fmt::join(arguments, ", "));
}

// --- loops
// ------------------------------------------------------------------------------------------

/// The type of what is in a place of a loop.
const Type& type_at(const LoopStep& loop, std::size_t place) {
  const std::size_t carry = place < loop.carries() ? place : loop.rotation[place];
  return loop.body().inputs[carry];
}

/// Whether a place's memory takes turns with that of others. A small carry stays where it is: what
/// a step makes of it is copied there.
bool is_rotated(const LoopStep& loop, std::size_t place) {
  return loop.rotation[place] != place && !is_small(type_at(loop, place));
}

void FlowEmitter::emit_loop(const LoopStep& loop) {
  const std::size_t count = loop.carries();
  const std::vector<Type>& types = loop.body().inputs;
  const Names initial = parameters(count, "initial");
  Names inputs(count), next(count), places;
  const Names captures = parameters(loop.captures(), "capture");
  const Names base = parameters(loop.rotation.size(), "base");
  parameter("workspace");

  for (std::size_t p = 0; p < base.size(); ++p) {
    places.push_back(base[p]);
    if (!is_rotated(loop, p)) continue;
    places[p] = fmt::format("place{}", p);
    body_.line("Bytes {} = {};", places[p], base[p]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    inputs[i] = is_small(types[i]) ? small(types[i], fmt::format("carry{}", i)) : places[i];
    copy(inputs[i], initial[i], types[i]);
  }
  sync();
  inputs.insert(inputs.end(), captures.begin(), captures.end());

  constexpr auto arena = static_cast<std::int64_t>(loop_flag_bytes);
  body_.open("for (;;) {{");
  const std::string flag = small(Type{bool_, {}}, "goes_on");
  const Names tested = emit_steps(loop.condition(), inputs, {flag}, arena, "test");
  body_.line("if (!value_at<bool>({})) break;", tested[loop.condition().outputs[0]]);
  const int before = barriers_;
  for (std::size_t i = 0; i < count; ++i) {
    next[i] = places[loop.written[i]];
    if (!is_small(types[i])) continue;
    next[i] = loop.written[i] == i ? inputs[i] : small(types[i], fmt::format("next{}", i));
  }
  const Names slots = emit_steps(loop.body(), inputs, next, arena, "step");
  Names made;
  for (SlotId id : loop.body().outputs) made.push_back(slots[id]);
  hand_on(loop, inputs, next, made);
  change_places(loop);
  if (barriers_ == before) sync();  // all have seen the flag before the next turn writes it
  body_.close();

  copy_back(loop);
  for (std::size_t i = 0; i < count; ++i) {
    if (is_small(types[i])) copy(base[i], inputs[i], types[i]);
  }
}

// Small carries get what the step has made of them.
void FlowEmitter::hand_on(const LoopStep& loop, const Names& carries, const Names& next,
                          const Names& made) {
  const std::vector<Type>& types = loop.body().inputs;
  bool any_moved = false, any = false;
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (!is_small(types[i]) || made[i] == next[i]) continue;
    copy(next[i], made[i], types[i]);
    any_moved = true;
  }
  if (any_moved) sync();
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (!is_small(types[i]) || next[i] == carries[i]) continue;
    copy(carries[i], next[i], types[i]);
    any = true;
  }
  if (any) sync();
}

void FlowEmitter::change_places(const LoopStep& loop) {
  std::string rotated;
  for (std::size_t p = 0; p < loop.rotation.size(); ++p) {
    if (!is_rotated(loop, p)) continue;
    rotated +=
        fmt::format("{}rotated{} = place{}", rotated.empty() ? "" : ", ", p, loop.rotation[p]);
  }
  if (rotated.empty()) return;
  body_.line("const Bytes {};", rotated);
  for (std::size_t p = 0; p < loop.rotation.size(); ++p) {
    if (is_rotated(loop, p)) body_.line("place{0} = rotated{0};", p);
  }
}

void FlowEmitter::copy_back(const LoopStep& loop) {
  Names places, bases, words;
  std::size_t carries = 0;
  bool whole_words = true;
  for (std::size_t p = 0; p < loop.rotation.size(); ++p) {
    if (is_rotated(loop, p)) whole_words &= type_at(loop, p).bytes() % sizeof(std::uint32_t) == 0;
  }
  for (std::size_t p = 0; p < loop.rotation.size(); ++p) {
    if (!is_rotated(loop, p)) continue;
    places.push_back(fmt::format("place{}", p));
    bases.push_back(fmt::format("base{}", p));
    if (p >= loop.carries()) continue;
    ++carries;
    words.push_back(std::to_string(type_at(loop, p).bytes() / (whole_words ? 4 : 1)));
  }
  if (places.empty()) return;
  body_.line("Bytes places[] = {{{}}};", fmt::join(places, ", "));
  body_.line("const Bytes bases[] = {{{}}};", fmt::join(bases, ", "));
  body_.line("const i64 words[] = {{{}}};", fmt::join(words, ", "));
  body_.line("copy_back<{}, {}>(places, bases, words);", whole_words ? "u32" : "u8", carries);
}

// --- branches
// ---------------------------------------------------------------------------------------

void FlowEmitter::emit_branch(const BranchStep& branch) {
  const std::string number = parameter("number");
  const Names inputs = parameters(branch.branches[0].inputs.size(), "operand");
  const Names outputs = parameters(branch.branches[0].outputs.size(), "result");
  parameter("workspace");
  body_.line("// A number that no branch has, a negative one too, stands for the last.");
  body_.open("switch (op::minimum<u32>(value_at<u32>({}), {})) {{", number,
             branch.branches.size() - 1);
  for (std::size_t i = 0; i < branch.branches.size(); ++i) {
    body_.open("case {}: {{", i);
    emit_steps(branch.branches[i], inputs, outputs, 0, fmt::format("branch{}_", i));
    body_.line("break;");
    body_.close();
  }
  body_.close();
}

}  // namespace

int block_threads(const Step& step, std::span<const Kernel> kernels) {
  return most_of_kernels(step, [&](std::uint32_t number) { return threads_for(kernels[number]); });
}

FlowText emit_flow(const Step& step, const KernelAt& kernel_at) {
  FlowText flow;
  flow.threads = most_of_kernels(
      step, [&](std::uint32_t number) { return threads_of(kernel_at(number)).block_threads; });
  std::string functions;
  FlowEmitter emitter(kernel_at, flow, functions);
  const std::string kernel = emitter.run(step, true);
  flow.text = functions + kernel;
  flow.constants = emitter.constants();
  return flow;
}

}  // namespace anabranch::cuda
