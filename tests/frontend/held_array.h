// Work held back by hand, for tests of what is in flight that do not depend on time.
#pragma once

#include <anabranch/anabranch.h>

#include <chrono>
#include <functional>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "frontend/array/expression.h"
#include "runtime/memory/buffer.h"
#include "runtime/memory/copy.h"

namespace ab = anabranch;

// Patience for a machine under load; what is asked for comes at once.
inline bool eventually(const std::function<bool()>& happened) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!happened()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// An array of ones whose bytes arrive when the test says so, at the latest at its end.
struct HeldArray {
  explicit HeldArray(std::int64_t size = 4)
      : array(ab::array_of(ab::Type{ab::f32, {size}}, held_ones(static_cast<std::size_t>(size)))) {}
  ~HeldArray() { arrive(); }
  HeldArray(const HeldArray&) = delete;
  HeldArray& operator=(const HeldArray&) = delete;

  void arrive() const { memory().ready().complete(); }
  bool arrived() const { return memory().ready().ready(); }

  const ab::Array array;

 private:
  // The bytes are there, and nobody knows.
  static ab::Buffer held_ones(std::size_t size) {
    const ab::Device device = ab::default_device();
    const std::vector<float> ones(size, 1.0f);
    const ab::Buffer there = ab::copy_to_device(device, std::as_bytes(std::span(ones)));
    there.ready().wait();
    ab::Buffer held = ab::Buffer::deferred(device, there.bytes(), ab::Event::pending(device));
    // The thread that copied them may not have let go of them yet.
    if (!eventually([&] { return held.alias(there); }))
      throw std::logic_error("somebody else holds the ones");
    return held;
  }
  const ab::Buffer& memory() const { return array.expression()->buffer(); }
};

/// Lets a thread that ought to be waiting go on, if it is not; no test fails because this is short.
inline void give_a_chance() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
