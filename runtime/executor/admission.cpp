#include "runtime/executor/admission.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/cpu/thread_pool.h"
#include "runtime/device/stream_executor.h"
#include "runtime/executor/stall.h"
#include "runtime/stream/spin.h"
#include "runtime/timeline/record.h"

namespace anabranch {
namespace {

// See in_flight_bytes in limits.h.
constexpr std::size_t part_of_device = 16;
std::size_t first_byte_limit() {
  constexpr std::size_t most = std::size_t{256} << 20;
  constexpr std::size_t part = 128;
  const auto pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  return std::min(most, pages / part * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace

void InFlightRun::help() const {
  if (is_complete()) return;
  if (auto* pool = cpu::ThreadPool::find(device_)) pool->help_until(completed_, wake_up_time, this);
}

void InFlightRun::wait(bool is_last) const {
  if (is_last) help();
  completed_.wait(0, std::memory_order_acquire);
}

Admission::Admission(const StreamExecutor* device)
    : byte_limit_(device ? device->memory_bytes() / part_of_device : first_byte_limit()) {}

bool Admission::is_full(std::size_t more_bytes) const {
  if (runs_.size() >= static_cast<std::size_t>(limit())) return true;
  return runs_.size() >= 2 && bytes_ + more_bytes > byte_limit();
}

void Admission::add(const std::shared_ptr<InFlightRun>& run, Reservation& reservation,
                    bool never_wait) {
  std::unique_lock lock(mutex_);
  if (!never_wait && is_full(reservation.bytes)) wait_for_room(lock, reservation.bytes);
  bytes_ += reservation.bytes;
  reservation.place_ = runs_.insert(runs_.end(), run);
}

void Admission::wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t bytes) {
  ++waiting_;
  HeldUp::add(true);
  while (is_full(bytes) && !gives_way_.exchange(false)) {
    const std::shared_ptr<InFlightRun> oldest = runs_.front();
    const bool is_alone = runs_.size() == 1;
    lock.unlock();
    wait_for(*oldest, is_alone);
    lock.lock();
  }
  HeldUp::remove(true);
  if (--waiting_ == 0) gives_way_ = false;
}

// Returns early where the limit gives way.
void Admission::wait_for(const InFlightRun& oldest, bool is_alone) {
  timeline::Span span("in-flight limit", timeline::Category::in_flight_wait);
  if (is_alone) oldest.help();
  for (;;) {
    const std::uint32_t changes = changes_.load(std::memory_order_acquire);
    if (oldest.is_complete() || gives_way_) return;
    changes_.wait(changes, std::memory_order_acquire);
  }
}

void Admission::note_change() {
  changes_.fetch_add(1, std::memory_order_release);
  changes_.notify_all();
}

void Admission::give_way() {
  InFlightRun* next = nullptr;
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

bool Admission::begin_locked(Reservation& reservation) {
  if (begun_ > 0 && begun_bytes_ + reservation.bytes > byte_limit()) return false;
  count_begun_locked(reservation);
  return true;
}

void Admission::count_begun_locked(Reservation& reservation) {
  reservation.has_begun_ = true;
  ++begun_;
  begun_bytes_ += reservation.bytes;
}

bool Admission::begin(InFlightRun& run, Reservation& reservation) {
  std::lock_guard lock(mutex_);
  if (reservation.has_begun_) return true;  // `remove` has let it begin
  if (held_back_.empty() && begin_locked(reservation)) return true;
  held_back_.emplace_back(&run, &reservation);
  HeldUp::add(false);
  return false;
}

void Admission::remove(Reservation& reservation) {
  std::vector<InFlightRun*> next;
  {
    std::lock_guard lock(mutex_);
    runs_.erase(reservation.place_);
    bytes_ -= reservation.bytes;
    if (reservation.has_begun_) {
      --begun_;
      begun_bytes_ -= reservation.bytes;
    }
    while (!held_back_.empty() && begin_locked(*held_back_.front().second)) {
      next.push_back(held_back_.front().first);
      held_back_.pop_front();
      HeldUp::remove(false);
    }
  }
  for (InFlightRun* held_back : next) held_back->begin_later();
}

void InFlightRun::admit(const std::shared_ptr<InFlightRun>& run, bool never_wait) {
  for (Reservation& reservation : run->reservations_)
    reservation.admission->add(run, reservation, never_wait);
}

bool InFlightRun::may_begin() {
  for (; begun_reservations_ < reservations_.size(); ++begun_reservations_) {
    Reservation& reservation = reservations_[begun_reservations_];
    if (!reservation.admission->begin(*this, reservation)) return false;
  }
  return true;
}

void InFlightRun::complete() {
  const std::shared_ptr<InFlightRun> kept =
      *reservations_[0].place_;  // whom it wakes may be the last to hold it
  for (Reservation& reservation : reservations_) reservation.admission->remove(reservation);
  completed_.store(1, std::memory_order_release);
  completed_.notify_all();
  for (Reservation& reservation : reservations_) reservation.admission->note_change();
}

void Admission::wait_all() {
  std::vector<std::shared_ptr<InFlightRun>> now;
  {
    std::lock_guard lock(mutex_);
    now.assign(runs_.begin(), runs_.end());
  }
  if (now.empty()) return;
  timeline::Span span("wait for all", timeline::Category::host_wait);
  for (const std::shared_ptr<InFlightRun>& run : now) run->wait(run == now.back());
}

}  // namespace anabranch
