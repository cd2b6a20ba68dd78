// StagingRing: page-locked memory of the host, in pieces, for copies that are under way.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "anabranch/failure.h"
#include "runtime/device/stream_executor.h"

namespace anabranch {

/// Takes longer to get than most copies take, so it is kept for reuse; but never more than
/// `most_bytes` of it, in use and kept. A piece comes back with its last handle, which may not
/// be held for longer than its own copy takes: then those that wait for one always get it. A shared
/// handle; thread-safe.
class StagingRing {
 public:
  /// The executor outlives all handles. `most_bytes` is at least `piece_bytes`.
  StagingRing(StreamExecutor& stream_executor, std::size_t piece_bytes, std::size_t most_bytes);

  /// The most that one piece holds.
  std::size_t piece_bytes() const;

  using Got = std::function<void(std::shared_ptr<void> piece, const Failure& error)>;
  /// Calls `got` with a piece for so many bytes once there is room, or with the error where there
  /// is no page-locked memory left: here, or on the thread that makes room. Who asked first gets
  /// first. `got` must neither wait nor throw.
  void when_free(std::size_t bytes, Got got) const;
  /// The same, but waits for it; throws that Error.
  std::shared_ptr<void> take(std::size_t bytes) const;
  /// How many pieces are kept for reuse. Depends on how many copies were under way at once.
  std::size_t idle_pieces() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace anabranch
