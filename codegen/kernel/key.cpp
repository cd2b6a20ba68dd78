#include "codegen/kernel/key.h"

#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace anabranch {
namespace {

class KeyWriter {
 public:
  explicit KeyWriter(const Kernel& kernel) : table_(kernel.indices) {}

  std::string run(const Kernel& kernel) {
    add(kernel.buffers.size());
    for (const KernelBuffer& buffer : kernel.buffers) {
      add(buffer.dtype, buffer.size, buffer.access);
    }
    add(kernel.instructions.size());
    for (const Instruction& instruction : kernel.instructions) {
      add(instruction.dtype, instruction.operation.index());
      std::visit([this](const auto& operation) { add_operation(operation); },
                 instruction.operation);
    }
    add_refs(kernel.body);
    return std::move(key_);
  }

 private:
  template <class... Numbers>
  void add(Numbers... numbers) {
    (add_number(static_cast<std::int64_t>(numbers)), ...);
  }

  void add_number(std::int64_t number) {
    key_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }

  // With its length, so that no two lists run into each other.
  void add_refs(const std::vector<Ref>& refs) {
    add(refs.size());
    for (Ref ref : refs) add(ref.index);
  }

  // What it says, in the order in which expressions are first met: their numbers are the table's.
  void add_index(Index index) {
    const auto [known, is_new] = indices_.emplace(index.id, indices_.size());
    add(known->second);
    if (!is_new) return;
    const IndexTable::Expression& expression = table_[index];
    add(expression.constant, expression.terms.size());
    for (const IndexTable::Term& term : expression.terms) {
      const IndexTable::Atom& atom = table_.atom(term.atom);
      add(term.factor, atom.kind, atom.loop, atom.by, atom.low, atom.high);
      if (atom.kind != IndexTable::Atom::Kind::loop) add_index(atom.of);
    }
  }

  // Bindings name every member, so that one more in kernel.h does not compile here until it counts.
  void add_operation(const ConstantInstruction& constant) {
    const auto& [bits] = constant;
    add(bits.low);
    add(bits.high);
  }
  void add_operation(const IndexValue& position) {
    const auto& [index] = position;
    add_index(index);
  }
  void add_operation(const Argument&) { static_assert(std::is_empty_v<Argument>); }
  void add_operation(const Result& result) {
    const auto& [loop] = result;
    add(loop.index);
  }
  void add_operation(const Compute& compute) {
    const auto& [op, operands, direction] = compute;
    add(op, direction);
    add_refs(operands);
  }
  void add_operation(const Load& load) {
    const auto& [buffer, index, mask, prefetch] = load;
    add(buffer, mask.index, prefetch);
    add_index(index);
  }
  void add_operation(const Store& store) {
    const auto& [buffer, index, value, non_temporal] = store;
    add(buffer, value.index, non_temporal);
    add_index(index);
  }
  void add_operation(const Loop& loop) {
    const auto& [extent, first, parallel, lanes, width, unroll, reductions, body] = loop;
    add(first, extent, parallel, lanes, width, unroll);
    add_refs(body);
    add(reductions.size());
    for (const Reduction& reduction : reductions) add_reduction(reduction);
  }
  void add_reduction(const Reduction& reduction) {
    const auto& [combine, initial, values, results, so_far] = reduction;
    add(combine);
    for (const auto* refs : {&initial, &values, &results, &so_far}) {
      add_refs(*refs);
    }
  }

  const IndexTable& table_;
  std::unordered_map<std::uint32_t, std::size_t> indices_;
  std::string key_;
};

}  // namespace

std::string code_key(const Kernel& kernel) { return KeyWriter(kernel).run(kernel); }

}  // namespace anabranch
