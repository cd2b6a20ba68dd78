// Expression: what an Array stands for. Its type never changes; a recorded one becomes concrete
// once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "anabranch/array.h"
#include "frontend/run/pending_list.h"
#include "ir/attributes.h"
#include "ir/graph/graph.h"
#include "ir/op.h"
#include "runtime/memory/buffer.h"

namespace anabranch {

class Tracer;
struct Expression;
using ExpressionPtr = std::shared_ptr<Expression>;

/// An operation that has been asked for and not yet run.
struct Recorded {
  Op op = Op::add;
  Attributes attributes;
  std::vector<ExpressionPtr> inputs;
  std::uint32_t size = 1;  ///< operations below and here, shared ones counted again; see record.cpp
};

/// The tracer that knows a value, and the value.
struct Traced {
  std::shared_ptr<Tracer> tracer;
  Value value;
};

/// What a donated Array stands for afterwards: nothing.
struct GivenAway {};

struct Expression final : Pending {
  enum class Kind : std::uint8_t { traced, scalar, memory, donated };

  Expression(Type type, ElementBits scalar)
      : type(std::move(type)), kind(Kind::scalar), scalar(scalar) {}
  /// `location` becomes the place of the donation.
  Expression(Type type, GivenAway) : type(std::move(type)), kind(Kind::donated) {}
  Expression(Type type, Traced traced, std::optional<Device> device = std::nullopt)
      : type(std::move(type)), kind(Kind::traced), traced(std::move(traced)), device_(device) {}
  Expression(Type type, Buffer memory)
      : type(std::move(type)), kind(Kind::memory), concrete_(true), buffer_(std::move(memory)) {}
  /// Known to wait_all only after `link`.
  Expression(Type type, std::shared_ptr<const Recorded> recorded, std::optional<Device> device)
      : type(std::move(type)),
        kind(Kind::memory),
        device_(device),
        was_recorded_(true),
        recorded_(std::move(recorded)) {}

  ~Expression() {
    if (was_recorded_) unlink();
  }
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;

  const Type type;
  const Kind kind;
  bool weak = false;  ///< made from C++ numbers alone: takes the dtype of what it meets
  SourceLocation location;
  const Traced traced;
  const ElementBits scalar;  ///< of a number of the host that no device has seen yet

  /// Where it is or has to be; nothing where any device will do.
  std::optional<Device> device() const {
    return is_concrete() ? std::optional(buffer_.device()) : device_;
  }
  /// Where it is, or will be if it runs now.
  Device device_or_default() const {
    if (is_concrete()) return buffer_.device();
    return device_ ? *device_ : default_device();
  }

  /// Whether its bytes are in, or on their way to, a device's memory.
  bool is_concrete() const { return concrete_.load(std::memory_order_acquire); }
  /// Only once concrete.
  const Buffer& buffer() const { return buffer_; }
  /// What has to run first; null for all but a recorded expression that has not run.
  std::shared_ptr<const Recorded> recorded() const {
    Lock lock(busy_);
    return recorded_;
  }

  /// Makes a recorded expression concrete and lets go of what it was recorded from. Where several
  /// threads ran it at once the first one's memory stays; all hold the same bits.
  void become(Buffer memory) {
    std::shared_ptr<const Recorded> release;
    unlink();
    Lock lock(busy_);
    if (is_concrete()) return;
    buffer_ = std::move(memory);
    release.swap(recorded_);  // destroyed after the lock is let go
    concrete_.store(true, std::memory_order_release);
  }

 private:
  // Held for a few instructions at a time; a mutex would be three times the size.
  struct Lock {
    explicit Lock(std::atomic_flag& flag) : flag(flag) {
      while (flag.test_and_set(std::memory_order_acquire)) flag.wait(true);
    }
    ~Lock() {
      flag.clear(std::memory_order_release);
      flag.notify_one();
    }
    std::atomic_flag& flag;
  };

  const std::optional<Device> device_;
  const bool was_recorded_ = false;
  std::atomic<bool> concrete_ = false;
  mutable std::atomic_flag busy_;
  Buffer buffer_;
  std::shared_ptr<const Recorded> recorded_;
};

/// Of an array that is not empty.
inline const Type& type_of(const Array& array) { return array.expression()->type; }

/// An Array of memory that is there or on its way.
Array array_of(Type type, Buffer memory);
/// Throws Error: `function` was given an array that was donated before.
[[noreturn]] void fail_donated(const std::string& function, const Expression& donated,
                               SourceLocation where);
/// A host scalar: the number as an array of rank 0 that runs nowhere by itself.
Array array_of(Dtype dtype, ElementBits bits, SourceLocation where);

}  // namespace anabranch
