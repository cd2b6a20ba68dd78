// Frame: where the slots of one execution lie, and what became of them.
#pragma once

#include <atomic>
#include <exception>
#include <span>

#include "runtime/allocator.h"
#include "runtime/buffer.h"
#include "runtime/executable.h"

namespace anabranch::cpu {

/// Errors travel by slot: a step that touches a failed slot is left out and fails what it writes,
/// so that only what depends on a failure is lost.
class Frame {
 public:
  /// `data` has an entry per slot of `executable`.
  Frame(const Executable& executable, Allocator& allocator, std::span<void*> data)
      : executable_(executable), allocator_(allocator), data_(data) {}
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  /// Gets the arena and the outputs' memory, or lets an output take over that of an input that
  /// nobody else holds; what cannot be had fails its slots.
  void bind(std::span<const Buffer> inputs, std::span<const Buffer> outputs);
  /// For what a loop or a branch runs, whose launch has all the memory: where each input and each
  /// output lies, and the arena.
  void bind(std::span<void* const> inputs, std::span<void* const> outputs, std::byte* arena);
  /// Gives the arena back.
  void unbind();

  /// The pointers that `launch` gets, with what it updates in part copied to its place.
  void gather(const Launch& launch, void** buffers) const;
  /// The first error among what `launch` touches; null if it can run.
  std::exception_ptr error_before(const Launch& launch) const;
  void fail(std::span<const SlotId> slots, const std::exception_ptr& error);
  /// Runs the whole of `launch`, which has one task, here; `buffers` has room for its
  /// pointers.
  void run(const Launch& launch, void** buffers);
  void run(const Copy& copy);

  std::exception_ptr error(SlotId slot) const;
  bool has_failed() const { return errors_.load(std::memory_order_acquire) != nullptr; }
  void* data(SlotId slot) const { return data_[slot]; }

 private:
  void bind_outputs(std::span<const Buffer> inputs, std::span<const Buffer> outputs);

  const Executable& executable_;
  Allocator& allocator_;
  std::span<void*> data_;
  Allocation arena_;
  std::atomic<std::exception_ptr*> errors_{nullptr};  // one per slot, made by the first failure
};

}  // namespace anabranch::cpu
