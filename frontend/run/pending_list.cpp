#include "frontend/run/pending_list.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <utility>

#include "runtime/fork.h"

namespace anabranch {

/// A doubly linked list. Several, so that threads that record at once seldom meet.
struct Pending::Shard {
  static constexpr std::size_t count = 16;
  std::mutex mutex;
  Pending* first = nullptr;
};

// Never destroyed: arrays may outlive main.
Pending::Shard* Pending::shards() {
  static auto* shards = new Shard[Shard::count];
  return shards;
}

Pending::Shard& Pending::shard() const {
  constexpr std::uintptr_t apart = 256;  // about as far as one expression is from the next
  return shards()[reinterpret_cast<std::uintptr_t>(this) / apart % Shard::count];
}

void Pending::link() {
  check_no_orphan("record");
  Shard& shard = this->shard();
  std::lock_guard lock(shard.mutex);
  next_ = shard.first;
  linked_ = true;
  if (shard.first) shard.first->previous_ = this;
  shard.first = this;
}

void Pending::unlink() {
  if (is_orphan()) return;
  Shard& shard = this->shard();
  std::lock_guard lock(shard.mutex);
  if (!std::exchange(linked_, false)) return;
  (previous_ ? previous_->next_ : shard.first) = next_;
  if (next_) next_->previous_ = previous_;
  previous_ = next_ = nullptr;
}

std::vector<std::shared_ptr<Pending>> Pending::all() {
  check_no_orphan("wait_all");
  std::vector<std::shared_ptr<Pending>> found;
  for (std::size_t i = 0; i < Shard::count; ++i) {
    Shard& shard = shards()[i];
    std::lock_guard lock(shard.mutex);
    for (Pending* at = shard.first; at; at = at->next_) {
      // Null where the last handle is gone and the destructor waits for this lock.
      if (auto held = at->weak_from_this().lock()) found.push_back(std::move(held));
    }
  }
  return found;
}

}  // namespace anabranch
