#include "runtime/cpu/hot_team.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "runtime/cpu/shares.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/stream/spin.h"

namespace anabranch::cpu {
namespace {

thread_local HotTeam* led_by_this_thread = nullptr;

// What is waited for is mostly there within a microsecond or a few. Later the core is offered to
// others: a thread that holds up the team may need it.
template <class Condition>
void wait_until(Condition condition) {
  constexpr int turns_alone = 2000;  // some 30 us
  for (int i = 0; i < turns_alone; ++i) {
    if (condition()) return;
    pause();
  }
  while (!spin_until(condition, std::chrono::milliseconds(1))) {
  }
}

}  // namespace

HostTask HotTeam::task(HostTask whole, bool is_long) {
  HostTask made;
  made.context = std::make_shared<HotTeam>(std::move(whole), is_long);
  made.function = arrive;
  made.share = share;
  made.invites = !is_long;
  made.extent = 1 + most_members;
  return made;
}

bool HotTeam::is_task(const HostTask& task) { return task.function == arrive; }

std::shared_ptr<const void> HotTeam::share(const void* context, void* const*) {
  const auto* made = static_cast<const HotTeam*>(context);
  auto team = std::make_shared<HotTeam>(made->whole_, made->has_invited_);
  team->is_shared_ = true;
  return team;
}

// A range is a thread and no more: which of them it is means nothing.
void HotTeam::arrive(const void* context, void* const* buffers, std::int64_t, std::int64_t) {
  const auto* made = static_cast<const HotTeam*>(context);
  const HostTask& whole = made->whole_;
  if (!made->is_shared_) return whole.function(whole.context.get(), buffers, 0, whole.extent);
  auto* team = const_cast<HotTeam*>(made);  // of this run, made by `share`
  if (team->is_led_.exchange(true, std::memory_order_relaxed)) return team->follow();
  team->lead(buffers);
}

void HotTeam::lead(void* const* buffers) {
  struct Leading {
    explicit Leading(HotTeam& team)
        : team(team), before(std::exchange(led_by_this_thread, &team)) {}
    ~Leading() {
      led_by_this_thread = before;
      team.is_over_.store(true, std::memory_order_release);
    }
    HotTeam& team;
    HotTeam* before;
  };
  const Leading leading(*this);
  begin_ = std::chrono::steady_clock::now();
  whole_.function(whole_.context.get(), buffers, 0, whole_.extent);
}

void HotTeam::follow() {
  if (is_over_.load(std::memory_order_acquire)) return;
  const int number = joined_.fetch_add(1, std::memory_order_relaxed);
  if (number >= most_members) return;
  Member& member = members_[static_cast<std::size_t>(number)];
  member.state.store(State::ready, std::memory_order_release);
  const auto has_end = [&] {
    return is_over_.load(std::memory_order_acquire) || ThreadPool::is_needed_elsewhere();
  };
  while (true) {
    wait_until([&] {
      return member.state.load(std::memory_order_acquire) == State::working || has_end();
    });
    State ready = State::ready;
    if (member.state.compare_exchange_strong(ready, State::absent, std::memory_order_acquire)) {
      return;
    }
    member.work();
  }
}

void HotTeam::Member::work() {
  try {
    part->function(part->context.get(), buffers, begin, end);
  } catch (...) {
    error = std::current_exception();
  }
  state.store(State::ready, std::memory_order_release);
}

// Whether it has; else it has left.
bool HotTeam::Member::take(const HostTask& task, void* const* pointers, std::int64_t from,
                           std::int64_t to) {
  part = &task;
  buffers = pointers;
  begin = from;
  end = to;
  State ready = State::ready;
  return state.compare_exchange_strong(ready, State::working, std::memory_order_acq_rel);
}

void HotTeam::run(const HostTask& part, void* const* buffers) {
  HotTeam* team = led_by_this_thread;
  if (team && team->has_invited()) return team->run_together(part, buffers);
  part.function(part.context.get(), buffers, 0, part.extent);
}

// Whether members may have come. They are asked to once the task has taken as long as they take to
// come, so that a short one loses nothing.
bool HotTeam::has_invited() {
  if (!has_invited_ && std::chrono::steady_clock::now() - begin_ >= wake_up_time) {
    has_invited_ = true;
    ThreadPool::invite();
  }
  return has_invited_;
}

// Members may leave meanwhile: what none of them has taken is the calling thread's.
void HotTeam::run_together(const HostTask& part, void* const* buffers) {
  const auto joined =
      static_cast<std::size_t>(std::min(joined_.load(std::memory_order_relaxed), most_members));
  const std::span<Member> members = std::span(members_).first(joined);
  const auto is_ready = [](const Member& member) {
    return member.state.load(std::memory_order_acquire) == State::ready;
  };
  const std::int64_t worthwhile = std::max<std::int64_t>(part.extent / part.grain, 1);
  const std::int64_t threads =
      std::min<std::int64_t>(1 + std::ranges::count_if(members, is_ready), worthwhile);
  const auto begin_of = [&](std::int64_t thread) { return share_begin(part, thread, threads); };
  std::int64_t next = 1;
  for (Member& member : members) {
    if (next == threads) break;
    if (is_ready(member) && member.take(part, buffers, begin_of(next), begin_of(next + 1))) ++next;
  }
  std::exception_ptr error;
  try {
    part.function(part.context.get(), buffers, 0, begin_of(1));
    if (next < threads) {
      part.function(part.context.get(), buffers, begin_of(next), part.extent);
    }
  } catch (...) {
    error = std::current_exception();
  }
  for (Member& member : members) {
    wait_until([&] { return member.state.load(std::memory_order_acquire) != State::working; });
    if (std::exception_ptr of_member = std::exchange(member.error, nullptr)) error = of_member;
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace anabranch::cpu
