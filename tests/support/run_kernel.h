// Runs kernels on host memory, one scalar at a time, so that lowering and tiling are tested without
// a code generator. Checks that every access is in bounds, that scratch is written before it is
// read and that every element of an output is written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "codegen/lower/lower.h"
#include "ir/interpret/interpret.h"
#include "ir/kernel/kernel.h"

namespace anabranch::testing {

/// Bytes of one buffer, and which elements have been written.
struct HostMemory {
  Type type;
  std::vector<std::byte> bytes;
  std::vector<bool> written;

  explicit HostMemory(const Type& type)
      : type(type), bytes(type.bytes()), written(static_cast<std::size_t>(type.size())) {}
  explicit HostMemory(const Literal& literal) : HostMemory(literal.type()) {
    bytes.assign(literal.bytes().begin(), literal.bytes().end());
    written.assign(written.size(), true);
  }
};

inline Literal literal_of(Dtype dtype, ElementBits bits) {
  std::vector<std::byte> bytes(byte_size(dtype));
  std::memcpy(bytes.data(), &bits, bytes.size());
  return Literal({dtype, Shape{}}, std::move(bytes));
}

class KernelRun {
 public:
  /// `arguments`: one per read or write buffer.
  KernelRun(const Kernel& kernel, std::vector<HostMemory*> arguments)
      : kernel_(kernel), memory_(std::move(arguments)), scalars_(kernel.instructions.size()) {
    for (std::size_t i = memory_.size(); i < kernel.buffers.size(); ++i) {
      const KernelBuffer& buffer = kernel.buffers[i];
      check(buffer.access == Access::scratch, "arguments are missing");
      scratch_.emplace_back(Type{buffer.dtype, Shape{buffer.size}});
    }
    for (HostMemory& scratch : scratch_) memory_.push_back(&scratch);
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      check(memory_[i]->type.dtype == kernel.buffers[i].dtype, "an argument of another dtype");
      check(memory_[i]->type.size() == kernel.buffers[i].size, "an argument of another size");
    }
  }

  void run() { block(kernel_.body); }

 private:
  void check(bool holds, const std::string& what) const {
    if (!holds) throw std::logic_error(what + "\n" + to_string(kernel_));
  }

  ElementBits& scalar(Ref ref) { return scalars_[ref.index]; }

  void block(const Block& block) {
    for (Ref ref : block) run(ref);
  }

  void run(Ref ref) {
    const Instruction& instruction = kernel_[ref];
    if (auto* constant = std::get_if<ConstantInstruction>(&instruction.operation)) {
      scalar(ref) = constant->bits;
    } else if (auto* compute = std::get_if<Compute>(&instruction.operation)) {
      std::vector<std::pair<Dtype, ElementBits>> operands;
      for (Ref operand : compute->operands) {
        operands.emplace_back(kernel_[operand].dtype, scalar(operand));
      }
      scalar(ref) = apply(compute->op, instruction.dtype, operands, compute->direction);
    } else if (auto* load = std::get_if<Load>(&instruction.operation)) {
      scalar(ref) = !load->mask || scalar(load->mask).low != 0 ? read(*load) : ElementBits();
    } else if (auto* store = std::get_if<Store>(&instruction.operation)) {
      write(*store);
    } else if (auto* loop = std::get_if<Loop>(&instruction.operation)) {
      run_loop(ref, *loop);
    } else if (auto* position = std::get_if<IndexValue>(&instruction.operation)) {
      scalar(ref) = static_cast<std::uint64_t>(value(position->index));
    }
  }

  // The scalar of a loop is its index. What leaves 64 bits wraps around.
  std::int64_t value(const IndexTable::Atom& atom) const {
    using Kind = IndexTable::Atom::Kind;
    switch (atom.kind) {
      case Kind::loop:
      case Kind::scalar:
        return static_cast<std::int64_t>(scalars_[atom.loop].low);
      case Kind::quotient:
        return value(atom.of) / atom.by;
      case Kind::remainder:
        return value(atom.of) % atom.by;
      case Kind::least:
        return std::min(value(atom.of), atom.by);
    }
    throw std::logic_error("no such part of an index");
  }

  std::int64_t value(Index index) const {
    const IndexTable::Expression& expression = kernel_.indices[index];
    auto sum = static_cast<std::uint64_t>(expression.constant);
    for (const IndexTable::Term& term : expression.terms) {
      const std::int64_t part = value(kernel_.indices.atom(term.atom));
      sum += static_cast<std::uint64_t>(term.factor) * static_cast<std::uint64_t>(part);
    }
    return static_cast<std::int64_t>(sum);
  }

  std::size_t place(std::uint32_t buffer, Index index) const {
    const std::int64_t at = value(index);
    check(at >= 0 && at < kernel_.buffers[buffer].size,
          "element " + std::to_string(at) + " of " + kernel_.buffers[buffer].name);
    return static_cast<std::size_t>(at);
  }

  ElementBits read(const Load& load) const {
    const std::size_t at = place(load.buffer, load.index);
    const HostMemory& memory = *memory_[load.buffer];
    check(memory.written[at], kernel_.buffers[load.buffer].name + " is read before it is written");
    const std::size_t size = byte_size(memory.type.dtype);
    return ElementBits::from(std::span(memory.bytes).subspan(at * size, size));
  }

  void write(const Store& store) {
    check(kernel_.buffers[store.buffer].access != Access::read, "an operand is written");
    const std::size_t at = place(store.buffer, store.index);
    HostMemory& memory = *memory_[store.buffer];
    const std::size_t size = byte_size(memory.type.dtype);
    std::memcpy(memory.bytes.data() + at * size, &scalar(store.value), size);
    memory.written[at] = true;
  }

  // The parallel loop runs backwards: its iterations do not depend on each other.
  void run_loop(Ref ref, const Loop& loop) {
    std::vector<std::vector<ElementBits>> folded;
    for (const Reduction& reduction : loop.reductions) {
      auto& carried = folded.emplace_back();
      for (Ref initial : reduction.initial) carried.push_back(scalar(initial));
    }
    const auto goes_on = [&] {
      const Reduction* condition = loop.condition();
      return !condition ||
             folded[static_cast<std::size_t>(condition - loop.reductions.data())][0].low;
    };
    for (std::int64_t i = 0; i < loop.extent && goes_on(); ++i) {
      if (loop.parallel) {
        for (HostMemory& scratch : scratch_) scratch.written.assign(scratch.written.size(), false);
      }
      const std::int64_t step = loop.parallel ? loop.extent - 1 - i : i;
      scalar(ref) = static_cast<std::uint64_t>(loop.first + step);
      for (std::size_t k = 0; k < folded.size(); ++k) {
        const std::vector<Ref>& so_far = loop.reductions[k].so_far;
        for (std::size_t j = 0; j < so_far.size(); ++j) scalar(so_far[j]) = folded[k][j];
      }
      block(loop.body);
      for (std::size_t k = 0; k < folded.size(); ++k) fold(loop.reductions[k], folded[k]);
    }
    for (std::size_t k = 0; k < folded.size(); ++k) {
      for (std::size_t j = 0; j < folded[k].size(); ++j) {
        scalar(loop.reductions[k].results[j]) = folded[k][j];
      }
    }
  }

  void fold(const Reduction& reduction, std::vector<ElementBits>& carried) {
    const Dtype dtype = kernel_[reduction.initial[0]].dtype;
    auto values = [&](Op op, Dtype result, ElementBits a, ElementBits b,
                      Comparison direction = Comparison::eq) {
      return apply(op, result, {{dtype, a}, {dtype, b}}, direction);
    };
    const ElementBits next = scalar(reduction.values[0]);
    switch (reduction.combine) {
      case Combine::sum:
        carried[0] = values(Op::add, dtype, carried[0], next);
        return;
      case Combine::product:
        carried[0] = values(Op::multiply, dtype, carried[0], next);
        return;
      case Combine::maximum:
        carried[0] = values(Op::maximum, dtype, carried[0], next);
        return;
      case Combine::minimum:
        carried[0] = values(Op::minimum, dtype, carried[0], next);
        return;
      case Combine::any:
        carried[0].low |= next.low;
        return;
      case Combine::all:
        carried[0].low &= next.low;
        return;
      case Combine::carry:
      case Combine::while_:
        for (std::size_t i = 0; i < carried.size(); ++i) carried[i] = scalar(reduction.values[i]);
        return;
      case Combine::argmax:
      case Combine::argmin:
        break;
    }
    const bool greatest = reduction.combine == Combine::argmax;
    auto is = [&](ElementBits a, ElementBits b, Comparison direction) {
      return values(Op::compare, bool_, a, b, direction).low != 0;
    };
    const bool next_is_nan = is(next, next, Comparison::ne);
    const bool leader_is_nan = is(carried[0], carried[0], Comparison::ne);
    const auto position = static_cast<std::int64_t>(scalar(reduction.values[1]).low);
    const bool ties =
        next_is_nan == leader_is_nan && (next_is_nan || is(next, carried[0], Comparison::eq));
    const bool wins = (next_is_nan && !leader_is_nan) ||
                      is(next, carried[0], greatest ? Comparison::gt : Comparison::lt);
    if (wins || (ties && position < static_cast<std::int64_t>(carried[1].low))) {
      carried = {next, scalar(reduction.values[1])};
    }
  }

  ElementBits apply(Op op, Dtype dtype, const std::vector<std::pair<Dtype, ElementBits>>& from,
                    Comparison direction) {
    if (from[0].first == i64 && dtype == i64 && from.size() == 2) {
      if (op == Op::add) return from[0].second.low + from[1].second.low;
      if (op == Op::multiply) return from[0].second.low * from[1].second.low;
    }
    Node node;
    node.op = op;
    node.types = {{dtype, Shape{}}};
    if (op == Op::compare) node.attributes = CompareAttributes{direction};
    std::vector<Literal> operands;
    for (auto [of, bits] : from) operands.push_back(literal_of(of, bits));
    return interpret(node, operands)[0].bits(0);
  }

  const Kernel& kernel_;
  std::vector<HostMemory*> memory_;
  std::vector<ElementBits> scalars_;
  std::vector<HostMemory> scratch_;
};

/// The outputs of the kernels of one fusion of these output types.
inline std::vector<Literal> run_lowered(const Lowered& lowered, std::span<const Literal> inputs,
                                        std::span<const Type> output_types) {
  std::vector<HostMemory> memory[3];
  for (const Literal& input : inputs) memory[0].emplace_back(input);
  for (const Type& type : output_types) memory[1].emplace_back(type);
  for (const Type& type : lowered.temporaries) memory[2].emplace_back(type);
  for (const BlockUpdate& update : lowered.updates) {
    memory[1].at(update.output) = HostMemory(inputs[update.array]);
  }
  for (const KernelCall& call : lowered.calls) {
    std::vector<HostMemory*> arguments;
    for (const KernelArgument& argument : call.arguments) {
      arguments.push_back(&memory[static_cast<int>(argument.kind)].at(argument.index));
    }
    verify(call.kernel);
    KernelRun(call.kernel, std::move(arguments)).run();
  }
  std::vector<Literal> outputs;
  for (HostMemory& output : memory[1]) {
    for (bool written : output.written) {
      if (!written) throw std::logic_error("an element of an output is not written");
    }
    outputs.emplace_back(output.type, std::move(output.bytes));
  }
  return outputs;
}

}  // namespace anabranch::testing
