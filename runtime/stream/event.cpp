#include "runtime/stream/event.h"

#include <atomic>
#include <utility>

#include "anabranch/error.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/fork.h"
#include "runtime/no_destructor.h"
#include "runtime/stream/completion.h"
#include "runtime/stream/spin.h"
#include "runtime/timeline/record.h"

namespace anabranch {
namespace continuations {

struct Continuation {
  std::function<void()> then;
  Continuation* next = nullptr;
};

// It may be what the call itself makes, or what waits for the core that the call runs on.
[[noreturn]] void fail_inside_custom_call(const SourceLocation& where) {
  throw Error(
      "wait: inside a custom call, for an array whose value is not there yet; make it an operand "
      "of the call, or wait for it before" +
      (where ? ", at " + to_string(where) : ""));
}

// Stands in a list of continuations for "it has happened: no more may join".
NoDestructor<Continuation> closed;

// Continuations of this thread that wait for the one now running to return, so that a chain of
// events completing one another needs no stack. Plain pointers, usable until the thread's very end.
thread_local Continuation* queue_head = nullptr;
thread_local Continuation* queue_tail = nullptr;
thread_local bool draining = false;

void run_queued(Continuation* first, Continuation* last) {
  (queue_head ? queue_tail->next : queue_head) = first;
  queue_tail = last;
  if (draining) return;
  draining = true;
  while (Continuation* continuation = queue_head) {
    queue_head = continuation->next;
    try {
      continuation->then();
    } catch (...) {
      // A continuation has no caller to report to; what it computes carries its own error.
    }
    delete continuation;
  }
  draining = false;
}

/// What waits for something that happens once. Thread-safe.
class Continuations {
 public:
  Continuations() = default;
  ~Continuations() {
    Continuation* list = newest_.load(std::memory_order_relaxed);
    if (list == closed.get()) return;
    while (list) delete std::exchange(list, list->next);
  }
  Continuations(const Continuations&) = delete;
  Continuations& operator=(const Continuations&) = delete;

  /// Whether `continuation` may still join; if so it is run by `run`.
  bool add(Continuation* continuation) {
    Continuation* head = newest_.load(std::memory_order_acquire);
    while (head != closed.get()) {
      continuation->next = head;
      if (newest_.compare_exchange_weak(head, continuation, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
        return true;
      }
    }
    continuation->next = nullptr;
    return false;
  }

  /// Runs all in the order in which they came; no more may join.
  void run() {
    Continuation* list = newest_.exchange(closed.get(), std::memory_order_acq_rel);
    if (!list || list == closed.get()) return;
    Continuation* last = list;
    Continuation* first = nullptr;
    while (list) {
      Continuation* next = list->next;
      list->next = first;
      first = std::exchange(list, next);
    }
    run_queued(first, last);
  }

 private:
  std::atomic<Continuation*> newest_{nullptr};
};

}  // namespace continuations

using namespace continuations;

struct Event::State {
  std::atomic<std::uint32_t> happened{0};
  std::atomic<bool> claimed{false};
  std::atomic<bool> is_enqueued{false};
  Continuations on_enqueued, on_happened;
  std::atomic<const void*> maker{nullptr};
  Device device;
  std::shared_ptr<const DeviceEvent>
      device_event;  // written before `is_enqueued`, never after, as is the next
  Completion* completion = nullptr;
  Failure error;  // written before `happened`, never after
};

Event Event::pending(const Device& device) {
  Event event;
  event.state_ = std::make_shared<State>();
  event.state_->device = device;
  return event;
}

Event Event::failed(Failure error) {
  Event event = pending();
  event.complete(std::move(error));
  return event;
}

bool Event::ready() const {
  return !state_ || state_->happened.load(std::memory_order_acquire) != 0;
}

void Event::wait(SourceLocation where) const {
  if (!state_) return;
  if (!ready()) {
    check_no_orphan("wait");
    if (cpu::ThreadPool::on_worker()) fail_inside_custom_call(where);
    timeline::Span span("wait", timeline::Category::host_wait, {}, {.location = where});
    if (auto* pool = cpu::ThreadPool::find(state_->device)) {
      pool->help_until(state_->happened, wake_up_time,
                       state_->maker.load(std::memory_order_relaxed));
    } else if (device_event()) {
      state_->completion->help_until(state_->happened);
    }
    state_->happened.wait(0, std::memory_order_acquire);
  }
  if (state_->error) state_->error.rethrow();
}

Failure Event::error() const { return state_ && ready() ? state_->error : Failure(); }

void Event::set_maker(const void* maker) const {
  if (state_) state_->maker.store(maker, std::memory_order_relaxed);
}

void Event::complete(Failure error) const {
  if (!state_ || state_->claimed.exchange(true, std::memory_order_relaxed)) return;
  // The event may be destroyed by whom it wakes.
  std::shared_ptr<State> state = state_;
  state->error = std::move(error);
  state->happened.store(1, std::memory_order_release);
  state->happened.notify_all();
  state->on_enqueued.run();
  state->on_happened.run();
}

void Event::enqueued(std::shared_ptr<const DeviceEvent> device_event,
                     Completion& completion) const {
  if (!state_) return;
  const std::shared_ptr<State> state = state_;
  state->device_event = std::move(device_event);
  state->completion = &completion;
  state->is_enqueued.store(true, std::memory_order_release);
  state->on_enqueued.run();
}

std::shared_ptr<const DeviceEvent> Event::device_event() const {
  if (!state_ || !state_->is_enqueued.load(std::memory_order_acquire)) return nullptr;
  return state_->device_event;
}

void Event::then(std::function<void()> then) const {
  auto* continuation = new Continuation{std::move(then)};
  if (!state_ || !state_->on_happened.add(continuation)) run_queued(continuation, continuation);
}

void Event::when_enqueued(std::function<void()> then) const {
  auto* continuation = new Continuation{std::move(then)};
  if (!state_ || !state_->on_enqueued.add(continuation)) run_queued(continuation, continuation);
}

}  // namespace anabranch
