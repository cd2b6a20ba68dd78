// PendingList: every expression that is recorded and has not run, so that `wait_all` can find them.
#pragma once

#include <memory>
#include <vector>

namespace anabranch {

/// What an expression is to the list.
class Pending : public std::enable_shared_from_this<Pending> {
 public:
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  /// Adds it; at most once.
  void link();
  /// Takes it out, if it is in. After this the list no longer touches it.
  void unlink();
  /// Those in the list that are still held.
  static std::vector<std::shared_ptr<Pending>> all();

 protected:
  ~Pending() = default;

 private:
  struct Shard;
  static Shard* shards();
  Shard& shard() const;

  Pending* previous_ = nullptr;  // guarded by the shard, as is what follows
  Pending* next_ = nullptr;
  bool linked_ = false;
};

}  // namespace anabranch
