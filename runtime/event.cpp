#include "runtime/event.h"

#include <atomic>
#include <utility>

#include "runtime/cpu/thread_pool.h"
#include "runtime/spin.h"
#include "runtime/timeline.h"

namespace anabranch {
namespace {

struct Continuation {
  std::function<void()> then;
  Continuation* next = nullptr;
};

// Stands in a list of continuations for "it has happened: no more may join".
Continuation closed;

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
      // A continuation has nobody to report to; what it computes carries its own error.
    }
    delete continuation;
  }
  draining = false;
}

}  // namespace

struct Event::State {
  std::atomic<std::uint32_t> happened{0};
  std::atomic<bool> claimed{false};
  std::atomic<Continuation*> continuations{nullptr};
  std::atomic<const void*> maker{nullptr};
  Device device;
  Failure error;  // written before `happened`, never after

  ~State() {
    Continuation* list = continuations.load(std::memory_order_relaxed);
    if (list == &closed) return;
    while (list) delete std::exchange(list, list->next);
  }
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
    timeline::Span span("wait", timeline::Category::host_wait, {}, {.location = where});
    if (auto* pool = cpu::ThreadPool::find(state_->device)) {
      pool->help_until(state_->happened, wake_up_time,
                       state_->maker.load(std::memory_order_relaxed));
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
  Continuation* list = state->continuations.exchange(&closed, std::memory_order_acq_rel);
  if (!list) return;
  // The list is newest first.
  Continuation* last = list;
  Continuation* first = nullptr;
  while (list) {
    Continuation* next = list->next;
    list->next = first;
    first = std::exchange(list, next);
  }
  run_queued(first, last);
}

void Event::then(std::function<void()> then) const {
  auto* continuation = new Continuation{std::move(then)};
  if (state_) {
    Continuation* head = state_->continuations.load(std::memory_order_acquire);
    while (head != &closed) {
      continuation->next = head;
      if (state_->continuations.compare_exchange_weak(head, continuation, std::memory_order_acq_rel,
                                                      std::memory_order_acquire)) {
        return;
      }
    }
    continuation->next = nullptr;
  }
  run_queued(continuation, continuation);
}

}  // namespace anabranch
