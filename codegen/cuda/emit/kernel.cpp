#include "codegen/cuda/emit/kernel.h"

#include <algorithm>
#include <set>
#include <span>

#include "anabranch/error.h"
#include "codegen/cuda/emit/kernel_emitter.h"
#include "codegen/cuda/map_threads.h"
#include "codegen/kernel/blocked_sums.h"
#include "codegen/kernel/partial_folds.h"
#include "codegen/memory/in_place.h"

namespace anabranch::cuda {
namespace {

// As device.cuh calls them: as the enum does, since `and` is no name in C++.
constexpr std::string_view functions[] = {
#define OP(name, arity, kind, attributes, flags, meaning) #name,
#include "ir/ops.def"
#undef OP
};

// Which scalars are stored or folded, or lead to one that is.
std::vector<bool> needed_scalars(const Kernel& kernel) {
  std::vector<bool> needed(kernel.instructions.size());
  std::vector<Ref> open;
  const auto need = [&](std::span<const Ref> refs) {
    open.insert(open.end(), refs.begin(), refs.end());
  };
  const auto need_scalars = [&](Index index) {
    for_each_scalar(kernel, index, [&](Ref ref) { open.push_back(ref); });
  };
  for (const Instruction& instruction : kernel.instructions) {
    if (const auto* store = std::get_if<Store>(&instruction.operation)) {
      open.push_back(store->value);
      need_scalars(store->index);
    } else if (const auto* loop = std::get_if<Loop>(&instruction.operation)) {
      for (const Reduction& reduction : loop->reductions) {
        need(reduction.initial);
        need(reduction.values);
      }
    }
  }
  while (!open.empty()) {
    const Ref ref = open.back();
    open.pop_back();
    if (needed[ref.index]) continue;
    needed[ref.index] = true;
    const Operation& operation = kernel[ref].operation;
    if (const auto* compute = std::get_if<Compute>(&operation)) {
      need(compute->operands);
    } else if (const auto* load = std::get_if<Load>(&operation)) {
      need_scalars(load->index);
      if (load->mask) open.push_back(load->mask);
    } else if (const auto* position = std::get_if<IndexValue>(&operation)) {
      need_scalars(position->index);
    }
  }
  return needed;
}

}  // namespace

KernelEmitter::KernelEmitter(const Kernel& kernel)
    : kernel_(kernel),
      map_(threads_of(kernel)),
      scratch_(kernel_, map_),
      is_needed_(needed_scalars(kernel_)),
      names_(kernel_.instructions.size()),
      index_(kernel_, names_) {}

std::string KernelEmitter::run() {
  // Each member of a group continues with its own part.
  is_partial_ =
      map_.members > 1 ? partial_folds(kernel_) : std::vector<bool>(kernel_.instructions.size());
  comment();
  signature();
  text_.line("using index = {};", index_.needs_64_bits() ? "i64" : "i32");
  thread_names();
  declare_scratch();
  if (map_.groups > 1 && !kernel_.parallel_loop()) text_.line("if (group != 0) return;");
  block(kernel_.body);
  text_.close();
  return text_.take();
}

void KernelEmitter::comment() {
  std::string_view rest = kernel_.graph_text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text_.line("// {}", comment_of(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (map_.in_one_block()) return;
  text_.line("//");
  if (map_.in_tiles()) {
    text_.line("// {} blocks of {} threads, each for a tile of {} by {}", block_count(kernel_),
               map_.threads(), ThreadMap::tile_size, ThreadMap::tile_size);
  } else if (map_.members == 1) {
    text_.line("// {} blocks of {} threads", block_count(kernel_), map_.threads());
  } else {
    text_.line("// {} blocks of {} threads, {} for each {}", block_count(kernel_), map_.threads(),
               map_.members, map_.in_columns ? "column" : "row");
  }
}

// What may take over another's memory is not said to be alone there. In a loop nothing is: what one
// step reads, the step before has written.
void KernelEmitter::signature() {
  std::set<std::uint32_t> shared;
  for (auto [read, written] : in_place_buffers(kernel_)) shared.insert({read, written});
  const auto is_alone = [&](std::uint32_t i) {
    return !map_.in_one_block() && !shared.contains(i);
  };
  std::string parameters;
  for (std::uint32_t i = 0; i < kernel_.buffers.size(); ++i) {
    const KernelBuffer& buffer = kernel_.buffers[i];
    if (buffer.access == Access::scratch) continue;
    if (!parameters.empty()) parameters += ", ";
    parameters +=
        fmt::format("{}{}*{} {}", buffer.access == Access::read ? "const " : "",
                    type_name(buffer.dtype), is_alone(i) ? " __restrict__" : "", buffer.name);
  }
  if (map_.in_one_block()) {
    return text_.open("AB_INLINE void {}({}) {{", symbol(kernel_.name), parameters);
  }
  text_.open("extern \"C\" __global__ void __launch_bounds__({}{}) {}({}) {{", map_.threads(),
             needs_many_registers() ? ", 1" : "", symbol(kernel_.name), parameters);
}

// What spills where the compiler saves registers so that more blocks fit: what f64 functions expand
// to, unrolled reductions of narrow elements, the bounds of blocks of a sum so long that its
// indices take 64 bits, the addresses and packs of many buffers, complex numbers, wide elements in
// two orders, and what sines, cosines and tangents expand to, where there are several.
bool KernelEmitter::needs_many_registers() {
  constexpr std::size_t many_buffers = 10;
  if (kernel_.buffers.size() >= many_buffers) return true;
  const auto has_parts = [](const auto& buffer) { return is_complex(buffer.dtype); };
  if (std::ranges::any_of(kernel_.buffers, has_parts)) return true;
  const auto is_wide = [](const auto& buffer) { return byte_size(buffer.dtype) >= 8; };
  if (map_.in_tiles() && std::ranges::any_of(kernel_.buffers, is_wide)) return true;
  const auto reduces_much = [this](const Reduction& reduction) {
    return byte_size(kernel_[reduction.results[0]].dtype) <= 2 ||
           (index_.needs_64_bits() && is_blocked(kernel_, reduction));
  };
  const auto is_large = [&](const Instruction& made) {
    if (const auto* loop = std::get_if<Loop>(&made.operation)) {
      return std::ranges::any_of(loop->reductions, reduces_much);
    }
    const auto* compute = std::get_if<Compute>(&made.operation);
    return compute && made.dtype == f64 && info(compute->op).has(OpInfo::approximate);
  };
  const auto is_periodic = [](const Instruction& made) {
    const auto* compute = std::get_if<Compute>(&made.operation);
    return compute &&
           (compute->op == Op::sine || compute->op == Op::cosine || compute->op == Op::tan);
  };
  return std::ranges::any_of(kernel_.instructions, is_large) ||
         std::ranges::count_if(kernel_.instructions, is_periodic) > 1;
}

void KernelEmitter::thread_names() {
  if (map_.members == 1) {
    if (map_.groups > 1) text_.line("const index group = threadIdx.x;");
  } else if (map_.in_columns || map_.in_tiles()) {
    text_.line("const index group = threadIdx.x % {}, member = threadIdx.x / {};", map_.groups,
               map_.groups);
  } else if (map_.groups > 1) {
    text_.line("const index group = threadIdx.x / {}, member = threadIdx.x % {};", map_.members,
               map_.members);
  } else {
    text_.line("const index member = threadIdx.x;");
  }
}

void KernelEmitter::declare_scratch() {
  for (std::uint32_t i = 0; i < kernel_.buffers.size(); ++i) {
    const KernelBuffer& buffer = kernel_.buffers[i];
    if (buffer.access != Access::scratch) continue;
    if (scratch_.storage(i) == Storage::shared) {
      text_.line("alignas(16) __shared__ {} {}{}[{}];", type_name(buffer.dtype), buffer.name,
                 map_.groups > 1 ? fmt::format("[{}]", map_.groups) : "", buffer.size);
    } else {
      text_.line("alignas(16) {} {}[{}];", type_name(buffer.dtype), buffer.name,
                 scratch_.storage(i) == Storage::registers ? scratch_.kept(i) : buffer.size);
    }
  }
}

void KernelEmitter::block(const Block& block) {
  for (Ref ref : block) {
    const Operation& operation = kernel_[ref].operation;
    if (auto* compute = std::get_if<Compute>(&operation)) {
      if (is_needed_[ref.index]) define(ref, compute_text(ref, *compute));
    } else if (auto* load = std::get_if<Load>(&operation)) {
      if (is_needed_[ref.index] && names_[ref.index].empty()) emit(ref, *load);
    } else if (auto* store = std::get_if<Store>(&operation)) {
      emit(ref, *store);
    } else if (auto* loop = std::get_if<Loop>(&operation)) {
      emit(ref, *loop);
    }
  }
}

std::string KernelEmitter::compute_text(Ref ref, const Compute& compute) {
  std::string operands;
  for (Ref operand : compute.operands) {
    operands += (operands.empty() ? "" : ", ") + value(operand);
  }
  const Dtype result = kernel_[ref].dtype;
  std::string function(functions[static_cast<std::size_t>(compute.op)]);
  if (compute.op == Op::compare) function += fmt::format("_{}", name(compute.direction));
  if (compute.op == Op::bitcast_convert) function += fmt::format("<{}>", type_name(result));
  if (compute.op == Op::convert) {
    function =
        result == bool_ ? "differs_from_zero" : fmt::format("convert<{}>", type_name(result));
  }
  return fmt::format("op::{}({})", function, operands);
}

std::string KernelEmitter::value(Ref ref) {
  if (!names_[ref.index].empty()) return names_[ref.index];
  const Instruction& instruction = kernel_[ref];
  if (auto* constant = std::get_if<ConstantInstruction>(&instruction.operation)) {
    return literal(instruction.dtype, constant->bits);
  }
  if (auto* position = std::get_if<IndexValue>(&instruction.operation)) {
    return fmt::format("i64({})", index_(position->index));
  }
  throw InternalError("emit", "a scalar of kernel " + kernel_.name + " is used before it is one",
                      to_string(kernel_));
}

void KernelEmitter::define(Ref ref, const std::string& text) {
  const SourceLocation& location = kernel_[ref].location;
  names_[ref.index] = new_name();
  text_.line("const {} {} = {};{}", type_name(kernel_[ref].dtype), names_[ref.index], text,
             location ? "  // " + comment_of(to_string(location)) : "");
}

std::string KernelEmitter::element(std::uint32_t buffer, Index index) {
  const std::string& name = kernel_.buffers[buffer].name;
  const ThreadScratch::Storage storage = scratch_.storage(buffer);
  if (storage == Storage::registers) {
    const int width = loop_at_hand_->vector_width;
    return width == 1 ? name + "[turn]" : fmt::format("{}[turn * {} + lane]", name, width);
  }
  const bool by_group = storage == Storage::shared && map_.groups > 1;
  return fmt::format("{}{}[{}]", name, by_group ? "[group]" : "", index_(index));
}

void KernelEmitter::emit(Ref ref, const Load& load) {
  const std::string from = element(load.buffer, load.index);
  if (!load.mask) {
    define(ref, from);
  } else {
    define(ref,
           fmt::format("{} ? {} : {}", value(load.mask), from, literal(kernel_[ref].dtype, 0)));
  }
}

void KernelEmitter::emit(Ref ref, const Store& store) {
  if (const auto pack = packs_.find(ref.index); pack != packs_.end()) {
    return text_.line("{}[lane] = {};", pack->second, value(store.value));
  }
  std::string condition;
  const bool is_scratch = kernel_.buffers[store.buffer].access == Access::scratch;
  if (map_.members > 1 && !is_shared_out_ && !is_scratch) condition = "member == 0";
  if (map_.in_columns) condition += condition.empty() ? "is_mine" : " && is_mine";
  if (!condition.empty()) condition = fmt::format("if ({}) ", condition);
  text_.line("{}{} = {};", condition, element(store.buffer, store.index), value(store.value));
}

std::string emit_kernel(const Kernel& kernel) { return KernelEmitter(kernel).run(); }

}  // namespace anabranch::cuda
