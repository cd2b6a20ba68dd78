// HotTeam: threads that stay together for as long as a task takes that consists of many short ones.
//
//   the task, on the first thread    a member of the team
//   i = i + 1
//   f(x, [0, 500))                   f(x, [500, 1000))
//   g(x, [0, 500))                   g(x, [500, 1000))
//   i < 100?
//
// To hand a task to the pool takes microseconds, and to a member, which looks at nothing else, a
// fraction of one. OpenMP runtimes call teams that they keep between parallel regions hot.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "runtime/device/task.h"

namespace anabranch::cpu {

class HotTeam {
 public:
  /// `whole`, an uncut task, as one that threads share: the first that comes runs it, the others
  /// are members of its team, at once where `is_long`, else once it has run for some time. A member
  /// leaves before the end where its pool has other work, or where it waits for a result that has
  /// come; none that has not come yet is waited for.
  static HostTask task(HostTask whole, bool is_long);
  /// Whether `task` was made by the above.
  static bool is_task(const HostTask& task);

  /// All of `part`, whose ranges are independent: on the calling thread, which runs the task of a
  /// team, and on the members that are there, as many as its grain says. Each has the same range in
  /// each call with the same extent, and so finds in its caches what it wrote there. On the calling
  /// thread alone where it runs no such task. Throws what a range threw, once all are done.
  static void run(const HostTask& part, void* const* buffers);

  HotTeam(HostTask whole, bool is_long) : whole_(std::move(whole)), has_invited_(is_long) {}

 private:
  enum class State : std::uint32_t { absent, ready, working };

  struct alignas(64) Member {
    std::atomic<State> state{State::absent};
    // Written by the thread that leads before the member works, and by the member until it is done.
    const HostTask* part = nullptr;
    void* const* buffers = nullptr;
    std::int64_t begin = 0, end = 0;
    std::exception_ptr error;

    bool take(const HostTask& part, void* const* buffers, std::int64_t begin, std::int64_t end);
    void work();
  };

  static constexpr int most_members = 15;

  static void arrive(const void* context, void* const* buffers, std::int64_t, std::int64_t);
  static std::shared_ptr<const void> share(const void* context, void* const* buffers);
  void lead(void* const* buffers);
  void follow();
  bool has_invited();
  void run_together(const HostTask& part, void* const* buffers);

  const HostTask whole_;
  bool is_shared_ = false;  // else there will be no member
  bool has_invited_;
  std::chrono::steady_clock::time_point begin_;
  std::atomic<bool> is_led_{false}, is_over_{false};
  std::atomic<int> joined_{0};
  std::array<Member, most_members> members_;
};

}  // namespace anabranch::cpu
