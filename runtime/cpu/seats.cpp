#include "runtime/cpu/seats.h"

#include <algorithm>

namespace anabranch::cpu {

int Seats::take(int before, int core) {
  const auto had = static_cast<std::size_t>(std::max(before, 0));
  auto seat = seats_.begin() + static_cast<std::ptrdiff_t>(std::min(had, seats_.size()));
  if (before == none || seat == seats_.end() || seat->is_taken) {
    seat = std::ranges::find(seats_, false, &Seat::is_taken);
  }
  if (seat == seats_.end()) seat = seats_.insert(seats_.end(), Seat());
  *seat = {true, core};
  ++taken_;
  return static_cast<int>(seat - seats_.begin());
}

void Seats::leave(int seat) {
  seats_[static_cast<std::size_t>(seat)].is_taken = false;
  --taken_;
}

bool Seats::is_used_beside(int seat, int core) const {
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (static_cast<int>(i) != seat && seats_[i].is_taken && seats_[i].core == core) return true;
  }
  return false;
}

}  // namespace anabranch::cpu
