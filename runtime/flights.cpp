#include "runtime/flights.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/cpu/thread_pool.h"
#include "runtime/spin.h"
#include "runtime/timeline.h"

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

void Flight::wait() const {
  if (landed_.load(std::memory_order_acquire) != 0) return;
  if (auto* pool = cpu::ThreadPool::find(device_)) pool->help_until(landed_, wake_up_time);
  landed_.wait(0, std::memory_order_acquire);
}

Flights::Flights() : byte_limit_(first_byte_limit()) {}

bool Flights::is_full(std::size_t more_bytes) const {
  if (flights_.size() >= static_cast<std::size_t>(limit())) return true;
  return flights_.size() >= 2 && bytes_ + more_bytes > byte_limit();
}

void Flights::take_off(std::shared_ptr<Flight> flight, bool never_wait) {
  std::unique_lock lock(mutex_);
  while (!never_wait && is_full(flight->bytes_)) {
    std::shared_ptr<Flight> oldest = flights_.front();
    lock.unlock();
    {
      timeline::Span span("in-flight limit", timeline::Category::in_flight_wait);
      oldest->wait();
    }
    lock.lock();
  }
  Flight& added = *flight;
  bytes_ += added.bytes_;
  added.place_ = flights_.insert(flights_.end(), std::move(flight));
}

bool Flights::begin_locked(Flight& flight) {
  if (begun_ > 0 && begun_bytes_ + flight.bytes_ > byte_limit()) return false;
  flight.has_begun_ = true;
  ++begun_;
  begun_bytes_ += flight.bytes_;
  return true;
}

bool Flights::may_begin(Flight& flight) {
  std::lock_guard lock(mutex_);
  if (flight.has_begun_) return true;  // `land` has let it begin
  if (held_back_.empty() && begin_locked(flight)) return true;
  held_back_.push_back(&flight);
  return false;
}

void Flights::land(Flight& flight) {
  std::shared_ptr<Flight> kept;  // whom it wakes may be the last to hold it
  std::vector<Flight*> next;
  {
    std::lock_guard lock(mutex_);
    kept = std::move(*flight.place_);
    flights_.erase(flight.place_);
    bytes_ -= flight.bytes_;
    if (flight.has_begun_) {
      --begun_;
      begun_bytes_ -= flight.bytes_;
    }
    while (!held_back_.empty() && begin_locked(*held_back_.front())) {
      next.push_back(held_back_.front());
      held_back_.pop_front();
    }
  }
  for (Flight* held_back : next) held_back->begin_later();
  flight.landed_.store(1, std::memory_order_release);
  flight.landed_.notify_all();
}

void Flights::wait_all() {
  std::vector<std::shared_ptr<Flight>> now;
  {
    std::lock_guard lock(mutex_);
    now.assign(flights_.begin(), flights_.end());
  }
  if (now.empty()) return;
  timeline::Span span("wait for all", timeline::Category::host_wait);
  for (const std::shared_ptr<Flight>& flight : now) flight->wait();
}

}  // namespace anabranch
