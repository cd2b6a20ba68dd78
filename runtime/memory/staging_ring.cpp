#include "runtime/memory/staging_ring.h"

#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "anabranch/error.h"

namespace anabranch {
namespace {

// Sizes are this, or twice the one before: few, so that what is kept fits the next copy.
constexpr std::size_t smallest = std::size_t{64} << 10;

}  // namespace

class StagingRing::State : public std::enable_shared_from_this<State> {
 public:
  State(StreamExecutor& stream_executor, std::size_t piece_bytes, std::size_t most_bytes)
      : piece_bytes(piece_bytes), stream_executor_(stream_executor), most_(most_bytes) {}
  ~State() {
    for (const auto& [size, blocks] : kept_) {
      for (void* block : blocks) stream_executor_.free_host(block);
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void when_free(std::size_t bytes, Got got) {
    std::size_t size = std::min(smallest, piece_bytes);
    while (size < bytes) size = std::min(2 * size, piece_bytes);
    {
      std::lock_guard lock(mutex_);
      waiting_.push_back({size, std::move(got)});
    }
    serve();
  }

  std::size_t idle_pieces() {
    std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const auto& [size, blocks] : kept_) count += blocks.size();
    return count;
  }

  const std::size_t piece_bytes;

 private:
  struct Waiting {
    std::size_t size = 0;
    Got got;
  };

  // By one thread at a time: a `got` that lets go of its piece comes back here.
  void serve() {
    std::unique_lock lock(mutex_);
    if (is_serving_) return;
    is_serving_ = true;
    while (!waiting_.empty() && in_use_ + waiting_.front().size <= most_) {
      const Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      in_use_ += next.size;
      void* const kept = take_kept(next.size);
      while (in_use_ + kept_bytes_ > most_)
        stream_executor_.free_host(take_kept(kept_.rbegin()->first));
      lock.unlock();
      hand_out(next, kept);
      lock.lock();
    }
    is_serving_ = false;
  }

  // Null where none is kept.
  void* take_kept(std::size_t size) {
    const auto found = kept_.find(size);
    if (found == kept_.end()) return nullptr;
    void* const block = found->second.back();
    found->second.pop_back();
    if (found->second.empty()) kept_.erase(found);
    kept_bytes_ -= size;
    return block;
  }

  void hand_out(const Waiting& to, void* block) {
    std::shared_ptr<void> piece;
    Failure error;
    try {
      if (!block) block = stream_executor_.allocate_host(to.size);
      if (!block) throw Error("copy: there is no page-locked memory of the host left");
      piece = std::shared_ptr<void>(block, [state = shared_from_this(), size = to.size](
                                               void* data) { state->give_back(data, size); });
    } catch (...) {
      error = std::current_exception();
      if (!block) give_back(nullptr, to.size);
    }
    to.got(std::move(piece), error);
  }

  void give_back(void* block, std::size_t size) {
    if (!keep(block, size)) stream_executor_.free_host(block);
    serve();
  }

  bool keep(void* block, std::size_t size) {
    std::lock_guard lock(mutex_);
    in_use_ -= size;
    if (!block) return true;
    const auto place = kept_.find(size);
    try {
      if (place == kept_.end()) {
        kept_.emplace(size, std::vector<void*>{block});
      } else {
        place->second.push_back(block);
      }
    } catch (...) {  // no memory even for the list
      return false;
    }
    kept_bytes_ += size;
    return true;
  }

  StreamExecutor& stream_executor_;
  const std::size_t most_;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> kept_;  // by size, none empty
  std::size_t kept_bytes_ = 0, in_use_ = 0;
  std::deque<Waiting> waiting_;  // oldest first
  bool is_serving_ = false;
};

StagingRing::StagingRing(StreamExecutor& stream_executor, std::size_t piece_bytes,
                         std::size_t most_bytes)
    : state_(std::make_shared<State>(stream_executor, piece_bytes, most_bytes)) {}

std::size_t StagingRing::idle_pieces() const { return state_->idle_pieces(); }

std::size_t StagingRing::piece_bytes() const { return state_->piece_bytes; }

void StagingRing::when_free(std::size_t bytes, Got got) const {
  state_->when_free(bytes, std::move(got));
}

std::shared_ptr<void> StagingRing::take(std::size_t bytes) const {
  struct Taken {
    std::shared_ptr<void> piece;
    Failure failure;
  };
  // The standard's: a Future refuses to wait on a worker, and pieces come back without workers. Who
  // hands the piece out may still be at it when this thread has gone on.
  const auto promise = std::make_shared<std::promise<Taken>>();
  when_free(bytes, [promise](std::shared_ptr<void> piece, const Failure& failure) {
    promise->set_value({std::move(piece), failure});
  });
  Taken taken = promise->get_future().get();
  if (taken.failure) taken.failure.rethrow();
  return std::move(taken.piece);
}

}  // namespace anabranch
