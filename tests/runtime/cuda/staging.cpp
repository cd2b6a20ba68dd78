// Copies between the host and the pretended GPU, in pieces of a small ring.
#include "runtime/memory/staging.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "anabranch/error.h"
#include "fake_driver.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/cuda/gpu.h"
#include "runtime/executor/run.h"
#include "runtime/memory/copy.h"

namespace anabranch::testing {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t piece = 1000, pieces_at_most = 3;

cuda::Gpu& gpu() { return cuda::Gpu::of(0); }
StagingRing small_ring() { return {gpu(), piece, pieces_at_most * piece}; }

Bytes counting_bytes(std::size_t size, unsigned first = 0) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(first + i * 7 + i / 251);
  return bytes;
}

/// Copies a buffer to the host; throws what stops that.
void read_all(const Buffer& buffer, PieceReader read, const StagingRing& ring) {
  std::promise<Failure> promise;
  copy_to_host(
      buffer, std::move(read), [&](const Failure& failure) { promise.set_value(failure); }, ring);
  if (const Failure failure = promise.get_future().get()) failure.rethrow();
}

/// What comes back of a buffer; checks that no piece is larger than it may be.
Bytes bytes_of(const Buffer& buffer, const StagingRing& ring) {
  Bytes got;
  const auto append = [&](std::span<const std::byte> part) {
    EXPECT_LE(part.size(), ring.piece_bytes());
    got.insert(got.end(), part.begin(), part.end());
  };
  read_all(buffer, append, ring);
  return got;
}

// As many as at the beginning, once the threads that hear of events have let go of their last.
bool falls_to(std::int64_t most, const char* kind) {
  for (int tries = 0; tries < 2000 && alive(kind) > most; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return alive(kind) <= most;
}

/// Each test's rings go with it, and so does all that they held.
class PretendedStaging : public PretendedDriver {
 protected:
  ~PretendedStaging() override {
    EXPECT_TRUE(falls_to(host_blocks_, "host blocks"));
    EXPECT_TRUE(falls_to(blocks_, "blocks"));
  }
  std::int64_t host_blocks() const { return alive("host blocks") - host_blocks_; }

 private:
  const std::int64_t host_blocks_ = alive("host blocks"), blocks_ = alive("blocks");
};

TEST_F(PretendedStaging, CopiesEverySizeThereAndBack) {
  const StagingRing there = small_ring(), back = small_ring();
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, piece - 1, piece, piece + 1, 2 * piece,
                           3 * piece + 5, 20 * piece + 1}) {
    Bytes bytes = counting_bytes(size);
    const Bytes wanted = bytes;
    const Buffer buffer = copy_to_device(Device::cuda(), bytes, there);
    std::fill(bytes.begin(), bytes.end(), std::byte{0xff});  // which may be done at once
    EXPECT_EQ(bytes_of(buffer, back), wanted) << size;
    EXPECT_LE(host_blocks(), 2 * static_cast<int>(pieces_at_most));
  }
}

TEST_F(PretendedStaging, ManyCopiesShareARing) {
  const StagingRing there = small_ring(), back = small_ring();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 20; ++i) {
        const Bytes bytes = counting_bytes(t * piece + i * 100, t);
        wrong += bytes_of(copy_to_device(Device::cuda(), bytes, there), back) != bytes;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// A ring of copies goes ahead of the device, and not a byte more.
TEST_F(PretendedStaging, TheHostWaitsForRoomAlone) {
  const StagingRing ring = small_ring();
  const Bytes bytes = counting_bytes(pieces_at_most * piece), more = counting_bytes(2 * piece, 9);
  gpu().enter();
  const std::function<void()> go_on = stop_at(gpu().main().native());
  const Buffer first = copy_to_device(Device::cuda(), bytes, ring);
  EXPECT_FALSE(first.ready().ready());
  auto second =
      std::async(std::launch::async, [&] { return copy_to_device(Device::cuda(), more, ring); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  go_on();
  EXPECT_EQ(bytes_of(second.get(), ring), more);
  EXPECT_EQ(bytes_of(first, ring), bytes);
}

// What is on its way to the host does not keep anybody waiting.
TEST_F(PretendedStaging, CopiesToTheHostNeverWait) {
  const StagingRing ring = small_ring();
  const Bytes bytes = counting_bytes(10 * piece);
  const Buffer buffer = copy_to_device(Device::cuda(), bytes, small_ring());
  gpu().enter();
  const std::function<void()> go_on = stop_at(gpu().to_host().native());
  std::vector<Bytes> got(5);
  std::vector<std::promise<void>> promises(got.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    copy_to_host(
        buffer,
        [&, i](std::span<const std::byte> part) {
          got[i].insert(got[i].end(), part.begin(), part.end());
        },
        [&, i](const Failure&) { promises[i].set_value(); }, ring);
  }
  go_on();
  for (std::promise<void>& promise : promises) promise.get_future().wait();
  for (const Bytes& one : got) EXPECT_EQ(one, bytes);
}

/// A stream whose first event completes when the test says so, and the others meanwhile.
class HeldStream final : public DeviceStream {
 public:
  explicit HeldStream(DeviceStream& real) : real_(real) {}

  void complete_first() {
    may_complete_ = true;
    may_complete_.notify_all();
  }
  /// Whether what waits for the event has been called.
  bool is_done_with(std::size_t event) const { return events_.at(event).expired(); }

  void copy(void* to, const void* from, std::size_t bytes) override { real_.copy(to, from, bytes); }
  std::shared_ptr<const DeviceEvent> record() override {
    auto made = std::make_shared<HeldEvent>();
    made->real = real_.record();
    made->name = &gpu().stream(static_cast<unsigned>(events_.size()) + 1);
    if (events_.empty()) made->may_complete = &may_complete_;
    events_.push_back(made);
    return made;
  }
  void wait(const DeviceEvent& event) override { real_.wait(event); }
  std::shared_ptr<const TimingEvent> record_time() override { return real_.record_time(); }
  void enqueue_loop(DeviceStream&, const SetCondition&, const std::function<void()>&) override {}
  void enqueue_branches(DeviceStream&, std::size_t, const SetCondition&,
                        const std::function<void(std::size_t)>&) override {}
  void begin_range(const std::string& name) override { real_.begin_range(name); }
  void end_range() override { real_.end_range(); }
  void* native() const override { return real_.native(); }

 private:
  struct HeldEvent final : DeviceEvent {
    bool is_complete() const override {
      return (!may_complete || *may_complete) && real->is_complete();
    }
    void wait() const override {
      if (may_complete) may_complete->wait(false);
      real->wait();
    }
    const DeviceStream& stream() const override { return *name; }

    std::shared_ptr<const DeviceEvent> real;
    const DeviceStream* name = nullptr;  // as if on a stream of its own
    const std::atomic<bool>* may_complete = nullptr;
  };

  DeviceStream& real_;
  std::atomic<bool> may_complete_ = false;
  std::vector<std::weak_ptr<const DeviceEvent>> events_;
};

// Two threads that enqueue pieces may do so in the other order.
TEST_F(PretendedStaging, PiecesAreReadInTheirOrder) {
  const StagingRing ring = small_ring();
  const Bytes bytes = counting_bytes(2 * piece);
  const Buffer buffer = copy_to_device(Device::cuda(), bytes, small_ring());
  buffer.ready().wait();
  HeldStream stream(gpu().to_host());
  Bytes got;
  std::promise<void> promise;
  const auto read = [&](std::span<const std::byte> part) {
    got.insert(got.end(), part.begin(), part.end());
  };
  enqueue_to_host(device_state(Device::cuda()), stream, ring, buffer.data(), bytes.size(), read,
                  [&](const Failure&) { promise.set_value(); });
  while (!stream.is_done_with(1)) std::this_thread::yield();
  stream.complete_first();
  promise.get_future().get();
  EXPECT_EQ(got, bytes);
}

TEST_F(PretendedStaging, AReaderThatThrowsEndsTheCopy) {
  const StagingRing ring = small_ring();
  const Buffer buffer = copy_to_device(Device::cuda(), counting_bytes(20 * piece), ring);
  int read = 0;
  const auto read_two = [&](std::span<const std::byte>) {
    if (++read == 3) throw Error("enough");
  };
  EXPECT_THROW(read_all(buffer, read_two, ring), Error);
  EXPECT_EQ(read, 3);
  EXPECT_EQ(bytes_of(buffer, ring), counting_bytes(20 * piece));  // all the room is back
}

TEST_F(PretendedStaging, RingGivesInTurnAndKeepsWithinItsBytes) {
  const StagingRing ring = small_ring();
  std::vector<std::shared_ptr<void>> held;
  for (std::size_t i = 0; i < pieces_at_most; ++i) held.push_back(ring.take(1));
  std::vector<int> got;
  for (int i = 0; i < 4; ++i) {
    ring.when_free(piece, [&got, i](std::shared_ptr<void> data, const Failure&) {
      got.push_back(data ? i : -1);  // and lets go of it
    });
  }
  EXPECT_TRUE(got.empty());
  held.pop_back();
  EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3}));
  held.clear();
  EXPECT_EQ(host_blocks(), static_cast<int>(pieces_at_most));  // which it keeps
}

TEST_F(PretendedStaging, RingMakesRoomForOtherSizes) {
  constexpr std::size_t large = std::size_t{1} << 20;
  const StagingRing ring(gpu(), large, large);
  for (int i = 0; i < 16; ++i) ring.take(1);
  EXPECT_EQ(host_blocks(), 1);
  std::vector<std::shared_ptr<void>> held;
  for (int i = 0; i < 16; ++i) held.push_back(ring.take(1));
  EXPECT_EQ(host_blocks(), 16);
  held.clear();
  ring.take(large);
  EXPECT_EQ(host_blocks(), 1);
}

TEST_F(PretendedStaging, WorkersWaitForRoomAsWell) {
  const StagingRing ring(gpu(), piece, piece);
  std::shared_ptr<void> held = ring.take(1);
  struct Taker : cpu::Work {
    explicit Taker(const StagingRing& ring)
        : Work([](Work& work) {
            auto& self = static_cast<Taker&>(work);
            self.begun.set_value();
            try {
              self.taken.set_value(self.ring.take(1) != nullptr);
            } catch (...) {
              self.taken.set_exception(std::current_exception());
            }
          }),
          ring(ring) {}
    const StagingRing& ring;
    std::promise<void> begun;
    std::promise<bool> taken;
  } taker(ring);
  std::future<bool> taken = taker.taken.get_future();
  cpu::ThreadPool::of(Device::cpu()).post(taker);
  taker.begun.get_future().wait();
  EXPECT_EQ(taken.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  held = nullptr;
  EXPECT_TRUE(taken.get());
}

class PretendedStagingRefusal : public PretendedStaging,
                                public ::testing::WithParamInterface<const char*> {};

// Whichever call of a copy is refused: an Error or the right bytes, and nothing is left.
TEST_P(PretendedStagingRefusal, IsAnErrorAndNoMore) {
  const Bytes bytes = counting_bytes(6 * piece + 1), others = counting_bytes(6 * piece + 1, 99);
  for (std::uint64_t call = 0;; ++call) {
    SCOPED_TRACE(call);
    const StagingRing ring = small_ring();
    fail_driver_call(GetParam(), call);
    try {
      EXPECT_EQ(bytes_of(copy_to_device(Device::cuda(), bytes, ring), ring), bytes);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("CUDA_ERROR"), std::string::npos) << error.what();
    }
    try {
      wait_for_devices();
    } catch (const Error&) {
    }
    const bool was_last = will_fail();
    fail_driver_call("", 0);
    EXPECT_EQ(bytes_of(copy_to_device(Device::cuda(), others, ring), ring), others);
    if (was_last) break;
    ASSERT_LT(call, 200u);
  }
}

INSTANTIATE_TEST_SUITE_P(Driver, PretendedStagingRefusal,
                         ::testing::Values("cuMemcpyAsync", "cuEventRecord", "cuEventCreate",
                                           "cuEventQuery", "cuStreamWaitEvent", "cuMemHostAlloc",
                                           "cuMemAllocFromPoolAsync"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace anabranch::testing
