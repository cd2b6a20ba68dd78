// Frame: the addresses of the slots of one execution, and their errors.
#pragma once

#include <atomic>
#include <exception>
#include <span>

#include "anabranch/failure.h"
#include "runtime/device/device_state.h"
#include "runtime/executor/executable.h"
#include "runtime/memory/allocator.h"
#include "runtime/memory/buffer.h"

namespace anabranch::executor {

/// Here and now, or on `stream` if that is not null.
void copy_bytes(void* to, const void* from, std::size_t bytes, DeviceStream* stream);

/// Errors travel by slot: a step that touches a failed slot is left out and fails what it writes,
/// so that only what depends on a failure is lost.
class Frame {
 public:
  /// `data` has an entry per slot of `program`.
  Frame(const Program& program, const LinkedCode& code, DeviceState& device, std::span<void*> data)
      : program_(program), code_(code), device_(device), data_(data) {}
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  /// Gets the arenas and the outputs' memory, or lets an output take over that of an input that
  /// is held nowhere else; what cannot be had fails its slots.
  void bind(std::span<const Buffer> inputs, std::span<const Buffer> outputs);
  /// For what a loop or a branch runs, whose step has all the memory: where each input and each
  /// output is, and the arena.
  void bind(std::span<void* const> inputs, std::span<void* const> outputs, std::byte* arena);
  /// Gives the arenas back.
  void unbind();

  /// The pointers that `step` gets, with what it updates in part copied to its place: here and now,
  /// or on the stream that the step is for.
  void gather(const Step& step, void** buffers, DeviceStream* stream = nullptr) const;
  void fail(std::span<const SlotId> slots, const Failure& error);
  /// Fails what `step` writes, with the step's name and the user's line added to the error.
  void fail(const Step& step, const std::exception_ptr& error);
  /// Whether `step` can run; if not, what it writes fails.
  bool may_run(const Step& step);
  /// Runs the whole of `step`, which may run and has this one task, here; `buffers` has room for
  /// its pointers.
  void run(const Step& step, const HostTask& task, void** buffers);
  /// Fails everything: the device that all is on has failed.
  void fail_all(const Failure& error);

  Failure error(SlotId slot) const;
  /// Throws an error of any slot, if there is one.
  void check() const;
  /// Before anything runs: as if nothing had failed.
  void forget_errors();
  bool has_failed() const {
    return errors_.load(std::memory_order_acquire) || lacks_memory_.load(std::memory_order_relaxed);
  }
  void* data(SlotId slot) const { return data_[slot]; }

 private:
  Failure error_before(const Step& step) const;
  DeviceState& device_of(const Step& step) const;
  void bind_arena(DeviceIndex device, Allocation& arena);
  void fail_for_lack_of_memory(SlotId slot, const std::exception_ptr& error);
  void bind_outputs(std::span<const Buffer> inputs, std::span<const Buffer> outputs);
  void bind_where(SlotId other, SlotId id);

  const Program& program_;
  const LinkedCode& code_;
  DeviceState& device_;
  std::span<void*> data_;
  Allocation arena_;
  std::vector<Allocation> further_arenas_;  // one per device after the first
  std::atomic<Failure*> errors_{nullptr};   // one per slot, made by the first failure
  std::atomic<bool> lacks_memory_{false};   // so much that not even that could be made
};

}  // namespace anabranch::executor
