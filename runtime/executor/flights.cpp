#include "runtime/executor/flights.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/cpu/thread_pool.h"
#include "runtime/executor/stall.h"
#include "runtime/stream/spin.h"
#include "runtime/timeline/timeline.h"

namespace anabranch {
namespace {

// See in_flight_bytes in device.h.
std::size_t first_byte_limit() {
  constexpr std::size_t most = std::size_t{256} << 20;
  constexpr std::size_t part = 128;
  const auto pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  return std::min(most, pages / part * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace

void Flight::help() const {
  if (has_landed()) return;
  if (auto* pool = cpu::ThreadPool::find(device_)) pool->help_until(landed_, wake_up_time, this);
}

void Flight::wait(bool is_last) const {
  if (is_last) help();
  landed_.wait(0, std::memory_order_acquire);
}

Flights::Flights() : byte_limit_(first_byte_limit()) {}

bool Flights::is_full(std::size_t more_bytes) const {
  if (flights_.size() >= static_cast<std::size_t>(limit())) return true;
  return flights_.size() >= 2 && bytes_ + more_bytes > byte_limit();
}

void Flights::add(const std::shared_ptr<Flight>& flight, Leg& leg, bool never_wait) {
  std::unique_lock lock(mutex_);
  if (!never_wait && is_full(leg.bytes)) wait_for_room(lock, leg.bytes);
  bytes_ += leg.bytes;
  leg.place_ = flights_.insert(flights_.end(), flight);
}

void Flights::wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t bytes) {
  ++waiting_;
  HeldUp::add(true);
  while (is_full(bytes) && !gives_way_.exchange(false)) {
    const std::shared_ptr<Flight> oldest = flights_.front();
    const bool is_alone = flights_.size() == 1;
    lock.unlock();
    wait_for(*oldest, is_alone);
    lock.lock();
  }
  HeldUp::remove(true);
  if (--waiting_ == 0) gives_way_ = false;
}

// Returns early where the limit gives way.
void Flights::wait_for(const Flight& oldest, bool is_alone) {
  timeline::Span span("in-flight limit", timeline::Category::in_flight_wait);
  if (is_alone) oldest.help();
  for (;;) {
    const std::uint32_t changes = changes_.load(std::memory_order_acquire);
    if (oldest.has_landed() || gives_way_) return;
    changes_.wait(changes, std::memory_order_acquire);
  }
}

void Flights::note_change() {
  changes_.fetch_add(1, std::memory_order_release);
  changes_.notify_all();
}

void Flights::give_way() {
  Flight* next = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (waiting_ > 0) gives_way_ = true;
    if (!held_back_.empty()) {
      next = held_back_.front().first;
      count_begun_locked(*held_back_.front().second);
      held_back_.pop_front();
      HeldUp::remove(false);
    }
  }
  note_change();
  if (next) next->begin_later();
}

bool Flights::begin_locked(Leg& leg) {
  if (begun_ > 0 && begun_bytes_ + leg.bytes > byte_limit()) return false;
  count_begun_locked(leg);
  return true;
}

void Flights::count_begun_locked(Leg& leg) {
  leg.has_begun_ = true;
  ++begun_;
  begun_bytes_ += leg.bytes;
}

bool Flights::begin(Flight& flight, Leg& leg) {
  std::lock_guard lock(mutex_);
  if (leg.has_begun_) return true;  // `remove` has let it begin
  if (held_back_.empty() && begin_locked(leg)) return true;
  held_back_.emplace_back(&flight, &leg);
  HeldUp::add(false);
  return false;
}

void Flights::remove(Leg& leg) {
  std::vector<Flight*> next;
  {
    std::lock_guard lock(mutex_);
    flights_.erase(leg.place_);
    bytes_ -= leg.bytes;
    if (leg.has_begun_) {
      --begun_;
      begun_bytes_ -= leg.bytes;
    }
    while (!held_back_.empty() && begin_locked(*held_back_.front().second)) {
      next.push_back(held_back_.front().first);
      held_back_.pop_front();
      HeldUp::remove(false);
    }
  }
  for (Flight* held_back : next) held_back->begin_later();
}

void Flight::take_off(const std::shared_ptr<Flight>& flight, bool never_wait) {
  for (Leg& leg : flight->legs_) leg.flights->add(flight, leg, never_wait);
}

bool Flight::may_begin() {
  for (; begun_legs_ < legs_.size(); ++begun_legs_) {
    Leg& leg = legs_[begun_legs_];
    if (!leg.flights->begin(*this, leg)) return false;
  }
  return true;
}

void Flight::land() {
  const std::shared_ptr<Flight> kept =
      *legs_[0].place_;  // whom it wakes may be the last to hold it
  for (Leg& leg : legs_) leg.flights->remove(leg);
  landed_.store(1, std::memory_order_release);
  landed_.notify_all();
  for (Leg& leg : legs_) leg.flights->note_change();
}

void Flights::wait_all() {
  std::vector<std::shared_ptr<Flight>> now;
  {
    std::lock_guard lock(mutex_);
    now.assign(flights_.begin(), flights_.end());
  }
  if (now.empty()) return;
  timeline::Span span("wait for all", timeline::Category::host_wait);
  for (const std::shared_ptr<Flight>& flight : now) flight->wait(flight == now.back());
}

}  // namespace anabranch
