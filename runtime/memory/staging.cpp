#include "runtime/memory/staging.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/cpu/thread_pool.h"
#include "runtime/memory/host_copy.h"

namespace anabranch {
namespace {

constexpr std::size_t piece_bytes = std::size_t{16} << 20;
constexpr std::size_t ring_bytes = 8 * piece_bytes;  // in each direction
// Pieces of one copy to the host that are under way at once, so that several copies share the ring.
constexpr std::size_t at_once = 4;
// A piece up to this is read by the thread that is told of its arrival, which takes less than to
// wake a worker.
constexpr std::size_t small_bytes = std::size_t{256} << 10;

struct Rings {
  explicit Rings(StreamExecutor& stream_executor)
      : from_host(stream_executor, piece_bytes, ring_bytes),
        to_host(stream_executor, piece_bytes, ring_bytes) {}
  StagingRing from_host, to_host;
};

// Never destroyed, as engines are not.
Rings& rings_of(StreamExecutor& stream_executor) {
  static std::mutex mutex;
  static auto* all = new std::map<StreamExecutor*, std::unique_ptr<Rings>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<Rings>& rings = (*all)[&stream_executor];
  if (!rings) rings = std::make_unique<Rings>(stream_executor);
  return *rings;
}

/// One copy to the host. It asks for a few pieces of the ring; each becomes the next part of the
/// copy when it is had, and another one is asked for when it has been read.
class Fetch final : public std::enable_shared_from_this<Fetch>, cpu::Work {
 public:
  Fetch(DeviceState& device, DeviceStream& stream, const StagingRing& ring, const void* from,
        std::size_t bytes, PieceReader read, Copied then, const char* drawn_as)
      : Work([](Work& work) { static_cast<Fetch&>(work).run(); }),
        device_(device),
        stream_(stream),
        ring_(ring),
        from_(static_cast<const std::byte*>(from)),
        bytes_(bytes),
        piece_(std::min(ring.piece_bytes(), bytes)),
        missing_(bytes == 0 ? 0 : (bytes + piece_ - 1) / piece_),
        read_(std::move(read)),
        then_(std::move(then)),
        drawn_as_(drawn_as) {}

  void start() {
    for (std::size_t i = 0; i < at_once; ++i) ask();
    leave();  // what `open_` begins with
  }

 private:
  struct Piece {
    std::shared_ptr<void> data;
    std::size_t begin = 0, size = 0;
  };

  void ask() {
    {
      std::lock_guard lock(mutex_);
      if (missing_ == 0 || error_) return;
      --missing_;
      ++open_;
    }
    ring_.when_free(piece_,
                    [self = shared_from_this()](std::shared_ptr<void> data, const Failure& error) {
                      error ? self->fail(error) : self->enqueue(std::move(data));
                    });
  }

  void enqueue(std::shared_ptr<void> data) {
    Piece piece{std::move(data)};
    {
      std::lock_guard lock(mutex_);
      piece.begin = begun_;
      piece.size = std::min(piece_, bytes_ - begun_);
      begun_ += piece.size;
    }
    std::shared_ptr<const DeviceEvent> copied;
    try {
      std::shared_ptr<EnqueuedCopy> drawn;
      if (drawn_as_) drawn = EnqueuedCopy::begin(drawn_as_, device_, stream_, piece.size);
      stream_.copy(piece.data.get(), from_ + piece.begin, piece.size);
      if (drawn) drawn->end();
      copied = stream_.record();
      device_.completion.when_complete(
          copied, [self = shared_from_this(), piece, drawn](const Failure& error) mutable {
            if (drawn && !error) drawn->draw();
            drawn = nullptr;
            error ? self->fail(error) : self->arrive(piece);
          });
    } catch (...) {
      const Failure error = std::current_exception();
      wait_for(copied.get());
      fail(error);
    }
  }

  // Nobody else will hear that the device has come past it.
  static void wait_for(const DeviceEvent* copied) {
    try {
      if (copied) copied->wait();
    } catch (...) {
      // The device has failed, and writes no more.
    }
  }

  void arrive(Piece piece) {
    const bool is_small = piece.size <= small_bytes;
    {
      std::lock_guard lock(mutex_);
      arrived_.emplace(piece.begin, std::move(piece));
      if (is_reading_) return;
      is_reading_ = true;
    }
    if (is_small) return read_arrived();
    self_ = shared_from_this();
    cpu::ThreadPool::of(Device::cpu()).post(*this);
  }

  void run() {
    const std::shared_ptr<Fetch> self = std::move(self_);
    read_arrived();
  }

  // As far as they follow each other, by one thread at a time; once something has failed, none is
  // read any more.
  void read_arrived() {
    for (;;) {
      Piece piece;
      bool is_lost = false;
      {
        std::lock_guard lock(mutex_);
        is_lost = static_cast<bool>(error_);
        if (arrived_.empty() || (!is_lost && arrived_.begin()->first != read_bytes_)) {
          is_reading_ = false;
          return;
        }
        piece = std::move(arrived_.extract(arrived_.begin()).mapped());
        read_bytes_ += piece.size;
      }
      Failure error;
      try {
        if (!is_lost) read_({static_cast<const std::byte*>(piece.data.get()), piece.size});
      } catch (...) {
        error = std::current_exception();
      }
      piece.data = nullptr;  // there is room again
      if (error) remember(error);
      ask();
      leave();
    }
  }

  // A piece does not come: those after it are of no use.
  void fail(const Failure& error) {
    remember(error);
    bool is_mine = false;
    {
      std::lock_guard lock(mutex_);
      is_mine = !std::exchange(is_reading_, true);
    }
    if (is_mine) read_arrived();
    leave();
  }

  void remember(const Failure& error) {
    std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }

  void leave() {
    {
      std::lock_guard lock(mutex_);
      if (--open_ > 0) return;
    }
    then_(error_);
  }

  DeviceState& device_;
  DeviceStream& stream_;
  const StagingRing ring_;
  const std::byte* const from_;
  const std::size_t bytes_, piece_;
  std::mutex mutex_;
  std::size_t missing_;                   // pieces to ask for
  std::size_t open_ = 1;                  // pieces asked for that have not been read
  std::size_t begun_ = 0;                 // bytes of which a piece is or was on the stream
  std::size_t read_bytes_ = 0;            // bytes that the reader has, or has now
  std::map<std::size_t, Piece> arrived_;  // by their first byte
  bool is_reading_ = false;
  Failure error_;                // the first
  std::shared_ptr<Fetch> self_;  // until a worker runs it
  const PieceReader read_;
  const Copied then_;
  const char* const drawn_as_;
};

}  // namespace

StagingRing from_host_ring(StreamExecutor& stream_executor) {
  return rings_of(stream_executor).from_host;
}
StagingRing to_host_ring(StreamExecutor& stream_executor) {
  return rings_of(stream_executor).to_host;
}

void enqueue_to_host(DeviceState& device, DeviceStream& stream, const StagingRing& ring,
                     const void* from, std::size_t bytes, PieceReader read, Copied then,
                     const char* drawn_as) {
  std::make_shared<Fetch>(device, stream, ring, from, bytes, std::move(read), std::move(then),
                          drawn_as)
      ->start();
}

void enqueue_from_host(DeviceState& device, DeviceStream& stream, const StagingRing& ring, void* to,
                       std::span<const std::byte> from, const Copied& each) {
  auto* at = static_cast<std::byte*>(to);
  while (!from.empty()) {
    const auto piece = from.first(std::min(from.size(), ring.piece_bytes()));
    const std::shared_ptr<void> staged = ring.take(piece.size());
    std::memcpy(staged.get(), piece.data(), piece.size());
    stream.copy(at, staged.get(), piece.size());
    device.completion.when_complete(stream.record(),
                                    [staged, each](const Failure& error) { each(error); });
    at += piece.size();
    from = from.subspan(piece.size());
  }
}

}  // namespace anabranch
