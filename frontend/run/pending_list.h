// PendingList: every expression that is recorded and has not run, so that `wait_all` can find them.
#pragma once

#include <memory>
#include <vector>

namespace anabranch {

struct Expression;

/// The places of an expression in the list; guarded by the list.
struct PendingLink {
  Expression* previous = nullptr;
  Expression* next = nullptr;
  bool linked = false;
};

/// Adds a recorded expression; at most once.
void link_pending(Expression& expression);
/// Takes it out, if it is in. After this the list no longer touches it.
void unlink_pending(Expression& expression);
/// Those in the list that somebody still holds.
std::vector<std::shared_ptr<Expression>> pending_expressions();

}  // namespace anabranch
