// Kernels written by hand, for tests of the emitter.
#pragma once

#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "codegen/cpu/compile_kernels.h"
#include "ir/kernel/kernel.h"
#include "ir/literal.h"
#include "tests/support/legal.h"

namespace anabranch::cpu {

inline Code compile_legalised(std::span<const Kernel> kernels, const CpuModel& cpu = host_cpu()) {
  std::vector<Kernel> all;
  for (const Kernel& kernel : kernels) all.push_back(legal(kernel));
  return compile_kernels(all, nullptr, cpu);
}

/// A parallel loop, and one that is not.
inline Loop range(std::int64_t extent, int width = 1, int unroll = 1) {
  Loop loop;
  loop.extent = extent;
  loop.parallel = true;
  loop.vector_width = width;
  loop.unroll = unroll;
  return loop;
}
inline Loop rows(std::int64_t extent, int width = 1, int unroll = 1) {
  Loop loop = range(extent, width, unroll);
  loop.parallel = false;
  return loop;
}

/// Appends instructions to a kernel, block by block.
class KernelSketch {
 public:
  explicit KernelSketch(std::string name) { kernel_.name = std::move(name); }

  std::uint32_t buffer(Access access, Dtype dtype, std::int64_t size) {
    kernel_.buffers.push_back({"b" + std::to_string(kernel_.buffers.size()), dtype, size, access});
    return static_cast<std::uint32_t>(kernel_.buffers.size() - 1);
  }

  Ref constant(Dtype dtype, std::uint64_t bits) { return append(dtype, ConstantInstruction{bits}); }
  Ref number(std::int64_t value) { return constant(i64, static_cast<std::uint64_t>(value)); }
  Ref number(float value) { return constant(f32, std::bit_cast<std::uint32_t>(value)); }
  Ref compute(Dtype dtype, Op op, std::vector<Ref> operands,
              Comparison direction = Comparison::eq) {
    return append(dtype, Compute{op, std::move(operands), direction});
  }
  Ref add(Ref x, Ref y) { return compute(kernel_[x].dtype, Op::add, {x, y}); }
  Ref multiply(Ref x, Ref y) { return compute(kernel_[x].dtype, Op::multiply, {x, y}); }

  /// Places in buffers.
  Index at(std::int64_t place) { return kernel_.indices.constant(place); }
  Index add(Index x, Index y) { return kernel_.indices.add(x, y); }
  Index add(Index x, std::int64_t y) { return kernel_.indices.add(x, y); }
  Index multiply(Index x, std::int64_t factor) { return kernel_.indices.scale(x, factor); }
  Index divide(Index x, std::int64_t by) { return kernel_.indices.divide(x, by); }
  Index remainder(Index x, std::int64_t by) { return kernel_.indices.remainder(x, by); }
  /// A scalar that is from 0 to `high` wherever it places something.
  Index place_of(Ref scalar, std::int64_t high) {
    return kernel_.indices.scalar(scalar.index, 0, high);
  }
  /// A place as an i64.
  Ref scalar(Index index) { return append(i64, IndexValue{index}); }

  Ref load(std::uint32_t buffer, Index index, Ref mask = {}) {
    return append(kernel_.buffers[buffer].dtype, Load{buffer, index, mask});
  }
  void store(std::uint32_t buffer, Index index, Ref value, bool non_temporal = false) {
    append(i64, Store{buffer, index, value, non_temporal});
  }

  /// Opens a loop; what follows goes into its body until `close`. Gives its index.
  Index open(Loop loop) {
    const Ref ref = define(i64, std::move(loop));
    loops_.push_back(ref);
    return kernel_.index_of(ref);
  }

  /// Closes the innermost loop, which folds `reductions`; gives all their results.
  std::vector<Ref> close(std::vector<Reduction> reductions = {}) {
    Ref ref = loops_.back();
    loops_.pop_back();
    std::vector<Ref> results;
    for (Reduction& reduction : reductions) {
      for (Ref value : reduction.values) {
        reduction.results.push_back(define(kernel_[value].dtype, Result{ref}));
      }
      results.insert(results.end(), reduction.results.begin(), reduction.results.end());
    }
    std::get<Loop>(kernel_[ref].operation).reductions = std::move(reductions);
    block().push_back(ref);
    for (Ref result : results) block().push_back(result);
    return results;
  }

  /// An instruction in no block.
  Ref define(Dtype dtype, Operation operation) {
    kernel_.instructions.push_back({std::move(operation), dtype, {}});
    return Ref{static_cast<std::uint32_t>(kernel_.instructions.size() - 1)};
  }

  const Kernel& kernel() const { return kernel_; }

 private:
  Block& block() {
    return loops_.empty() ? kernel_.body : std::get<Loop>(kernel_[loops_.back()].operation).body;
  }
  Ref append(Dtype dtype, Operation operation) {
    Ref ref = define(dtype, std::move(operation));
    block().push_back(ref);
    return ref;
  }

  Kernel kernel_;
  std::vector<Ref> loops_;
};

/// The LLVM IR and the assembly of one kernel.
inline std::string llvm_text(const Kernel& kernel) {
  const Kernel* one = &kernel;
  return llvm_text(std::span(&one, 1));
}
inline std::string assembly_text(const Kernel& kernel) {
  const Kernel* one = &kernel;
  return assembly_text(std::span(&one, 1));
}

/// Host memory for a kernel's argument: aligned as buffers are, with room behind it that must stay
/// untouched.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes), storage_(bytes + 192, std::byte{0xa5}) {}
  explicit Memory(const Literal& literal) : Memory(literal.bytes().size()) {
    if (bytes_ > 0) std::memcpy(data(), literal.bytes().data(), bytes_);
  }

  std::byte* data() {
    auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    return storage_.data() + (64 - address % 64) % 64;
  }
  Literal literal(Type type) {
    return Literal(std::move(type), std::vector<std::byte>(data(), data() + bytes_));
  }
  bool is_intact() {
    for (std::byte* p = data() + bytes_; p < data() + bytes_ + 64; ++p) {
      if (*p != std::byte{0xa5}) return false;
    }
    return true;
  }

 private:
  std::size_t bytes_;
  std::vector<std::byte> storage_;
};

}  // namespace anabranch::cpu
