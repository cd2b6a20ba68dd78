// What the text of CUDA kernels needs in order to be ordinary C++ that runs on a CPU: blocks one
// after the other, the threads of a block as fibers, each of which runs until it comes to a
// barrier.
//
// So it sees what each thread computes, reads and writes, barriers that some threads never come to,
// and lanes that are asked for a value when they have ended. It does not see races (a thread is
// never interrupted between barriers), the order in which memory becomes visible, nor speed.
#pragma once

#include <math.h>
#include <ucontext.h>

#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static

struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

inline dim3 threadIdx, blockIdx, gridDim, blockDim;

namespace on_cpu {

constexpr unsigned lanes = 32;
constexpr std::size_t stack_bytes = 64 << 10;

struct Fiber {
  enum class State { ready, at_block, at_warp, ended };
  State state = State::ready;
  ucontext_t context;
  unsigned long long exchanged = 0;  // what it holds out to the other lanes of its warp
};

class Block {
 public:
  explicit Block(unsigned threads) : fibers_(threads), stacks_(new char[threads * stack_bytes]) {}

  /// Runs `thread` on all threads.
  void run(std::function<void()> thread) {
    thread_ = std::move(thread);
    for (unsigned i = 0; i < fibers_.size(); ++i) start(i);
    while (step() || release()) {
    }
    for (const Fiber& fiber : fibers_) {
      if (fiber.state != Fiber::State::ended) {
        throw std::logic_error("threads wait at a barrier that others never come to");
      }
    }
  }

  void wait(Fiber::State at) {
    Fiber& fiber = fibers_[current_];
    fiber.state = at;
    swapcontext(&fiber.context, &scheduler_);
  }

  unsigned exchange(unsigned value, unsigned distance) {
    const unsigned self = current_;
    fibers_[self].exchanged = value;
    wait(Fiber::State::at_warp);
    const unsigned other = self ^ distance;
    if (other >= fibers_.size() || fibers_[other].state == Fiber::State::ended) is_lost_ = true;
    const auto got = static_cast<unsigned>(fibers_[other].exchanged);
    wait(Fiber::State::at_warp);
    return got;
  }
  bool is_lost() const { return is_lost_; }

 private:
  static inline Block* starting = nullptr;

  void start(unsigned index) {
    Fiber& fiber = fibers_[index];
    fiber.state = Fiber::State::ready;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks_.get() + index * stack_bytes;
    fiber.context.uc_stack.ss_size = stack_bytes;
    fiber.context.uc_link = &scheduler_;
    makecontext(
        &fiber.context, [] { starting->begin(); }, 0);
  }

  void begin() {
    const unsigned self = current_;
    thread_();
    fibers_[self].state = Fiber::State::ended;
  }

  // Each that may run runs to its next barrier. Whether any did.
  bool step() {
    bool any = false;
    for (unsigned i = 0; i < fibers_.size(); ++i) {
      if (fibers_[i].state != Fiber::State::ready) continue;
      any = true;
      current_ = i;
      threadIdx = {i, 0, 0};
      starting = this;
      swapcontext(&scheduler_, &fibers_[i].context);
    }
    return any;
  }

  // Whoever waits for others that wait too goes on. Whether anybody does.
  bool release() {
    bool any = false;
    for (std::size_t warp = 0; warp < fibers_.size(); warp += lanes) {
      any |= release(warp, std::min(warp + lanes, fibers_.size()), Fiber::State::at_warp);
    }
    return any || release(0, fibers_.size(), Fiber::State::at_block);
  }

  bool release(std::size_t begin, std::size_t end, Fiber::State at) {
    bool any = false;
    for (std::size_t i = begin; i < end; ++i) {
      if (fibers_[i].state != at && fibers_[i].state != Fiber::State::ended) return false;
      any |= fibers_[i].state == at;
    }
    for (std::size_t i = begin; i < end; ++i) {
      if (fibers_[i].state == at) fibers_[i].state = Fiber::State::ready;
    }
    return any;
  }

  std::vector<Fiber> fibers_;
  std::unique_ptr<char[]> stacks_;
  std::function<void()> thread_;
  ucontext_t scheduler_;
  unsigned current_ = 0;
  bool is_lost_ = false;
};

inline Block* block = nullptr;

/// Runs a kernel; nothing, or what is wrong with it. Threads that never meet need no fibers.
inline const char* launch(unsigned blocks, unsigned threads, bool meet,
                          const std::function<void()>& thread) {
  gridDim = {blocks, 1, 1};
  blockDim = {threads, 1, 1};
  Block fibers(meet ? threads : 0);
  block = &fibers;
  try {
    for (unsigned i = 0; i < blocks; ++i) {
      blockIdx = {i, 0, 0};
      if (meet) {
        fibers.run(thread);
        continue;
      }
      for (unsigned t = 0; t < threads; ++t) {
        threadIdx = {t, 0, 0};
        thread();
      }
    }
  } catch (const std::logic_error&) {
    return "threads wait at a barrier that others never come to";
  }
  return fibers.is_lost() ? "a lane asks one that has ended" : nullptr;
}

}  // namespace on_cpu

inline void __syncthreads() { on_cpu::block->wait(on_cpu::Fiber::State::at_block); }
inline void __syncwarp() { on_cpu::block->wait(on_cpu::Fiber::State::at_warp); }
inline unsigned __shfl_xor_sync(unsigned, unsigned value, int distance) {
  return on_cpu::block->exchange(value, static_cast<unsigned>(distance));
}

// CUDA has these, and C does not.
inline float rsqrtf(float x) { return static_cast<float>(1 / sqrt(static_cast<double>(x))); }
inline double rsqrt(double x) { return static_cast<double>(1 / sqrtl(x)); }
// From erfc where erf is near 1, by Newton's method.
inline double erfinv(double x) {
  const long double size = fabs(x);
  if (!(size < 1)) return size == 1 ? copysign(std::numeric_limits<double>::infinity(), x) : NAN;
  if (size == 0) return x;
  long double y = size < 0.5L ? size * 0.886226925452758L : sqrtl(-logl(1 - size));
  for (int i = 0; i < 60; ++i) {
    const long double off = size < 0.5L ? erfl(y) - size : (1 - size) - erfcl(y);
    const long double slope = 1.12837916709551257390L * expl(-y * y);
    const long double step = off / (slope + y * off);  // Halley's
    y -= step;
    if (fabsl(step) < 1e-19L * y) break;
  }
  return copysign(static_cast<double>(y), x);
}
inline float erfinvf(float x) { return static_cast<float>(erfinv(x)); }
