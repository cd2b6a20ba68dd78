// Work held back by hand, for tests of what is in flight that do not depend on time.
#pragma once

#include <anabranch/anabranch.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "frontend/expression.h"
#include "runtime/buffer.h"

namespace ab = anabranch;

/// An array of ones whose bytes arrive when the test says so, at the latest at its end.
struct HeldArray {
  explicit HeldArray(std::int64_t size = 4)
      : array(
            ab::array_of(ab::Type{ab::f32, {size}},
                         ab::Buffer::allocate(ab::Device::cpu(), static_cast<std::size_t>(size) * 4,
                                              ab::Event::pending()))) {
    std::fill_n(static_cast<float*>(memory().data()), size, 1.0f);
  }
  ~HeldArray() { arrive(); }
  HeldArray(const HeldArray&) = delete;
  HeldArray& operator=(const HeldArray&) = delete;

  void arrive() const { memory().ready().complete(); }
  bool arrived() const { return memory().ready().ready(); }

  const ab::Array array;

 private:
  const ab::Buffer& memory() const { return array.expression()->buffer(); }
};

// Patience for a machine under load; what is asked for comes at once.
inline bool eventually(const std::function<bool()>& happened) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!happened()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Lets a thread that ought to be waiting go on, if it is not; no test fails because this is short.
inline void give_a_chance() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
