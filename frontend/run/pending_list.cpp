#include "frontend/run/pending_list.h"

#include <array>
#include <mutex>

#include "frontend/array/expression.h"
#include "runtime/fork.h"

namespace anabranch {
namespace {

/// A doubly linked list through the expressions. Several, so that threads that record at once
/// seldom meet.
struct Shard {
  std::mutex mutex;
  Expression* first = nullptr;
};

using Shards = std::array<Shard, 16>;

// Never destroyed: arrays may outlive main.
Shards& shards() {
  static auto* shards = new Shards;
  return *shards;
}

Shard& shard_of(const Expression& expression) {
  auto address = reinterpret_cast<std::uintptr_t>(&expression);
  return shards()[(address / sizeof(Expression)) % std::tuple_size_v<Shards>];
}

}  // namespace

void link_pending(Expression& expression) {
  check_no_orphan("record");
  Shard& shard = shard_of(expression);
  std::lock_guard lock(shard.mutex);
  expression.pending = {nullptr, shard.first, true};
  if (shard.first) shard.first->pending.previous = &expression;
  shard.first = &expression;
}

void unlink_pending(Expression& expression) {
  if (is_orphan()) return;
  Shard& shard = shard_of(expression);
  std::lock_guard lock(shard.mutex);
  PendingLink& link = expression.pending;
  if (!link.linked) return;
  (link.previous ? link.previous->pending.next : shard.first) = link.next;
  if (link.next) link.next->pending.previous = link.previous;
  link = {};
}

std::vector<std::shared_ptr<Expression>> pending_expressions() {
  check_no_orphan("wait_all");
  std::vector<std::shared_ptr<Expression>> found;
  for (Shard& shard : shards()) {
    std::lock_guard lock(shard.mutex);
    for (Expression* at = shard.first; at; at = at->pending.next) {
      // Null where the last handle is gone and the destructor waits for this lock.
      if (auto held = at->weak_from_this().lock()) found.push_back(std::move(held));
    }
  }
  return found;
}

}  // namespace anabranch
