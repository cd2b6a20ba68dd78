#include "codegen/kernel/key.h"

#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace anabranch {
namespace {

class KeyWriter {
 public:
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

  // Bindings name every member, so that one more in kernel.h does not compile here until it counts.
  void add_operation(const ConstantInstruction& constant) {
    const auto& [bits] = constant;
    add(bits);
  }
  void add_operation(const LoopIndex&) { static_assert(std::is_empty_v<LoopIndex>); }
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
    add(buffer, index.index, mask.index, prefetch);
  }
  void add_operation(const Store& store) {
    const auto& [buffer, index, value, non_temporal] = store;
    add(buffer, index.index, value.index, non_temporal);
  }
  void add_operation(const Loop& loop) {
    const auto& [extent, first, parallel, width, unroll, index, reductions, body] = loop;
    add(first, extent, parallel, width, unroll, index.index);
    add_refs(body);
    add(reductions.size());
    for (const Reduction& reduction : reductions) add_reduction(reduction);
  }
  void add_reduction(const Reduction& reduction) {
    const auto& [combine, initial, values, results, so_far, next, combined, body] = reduction;
    add(combine);
    for (const auto* refs : {&initial, &values, &results, &so_far, &next, &combined, &body}) {
      add_refs(*refs);
    }
  }

  std::string key_;
};

}  // namespace

std::string code_key(const Kernel& kernel) { return KeyWriter().run(kernel); }

}  // namespace anabranch
