#include "runtime/memory/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "anabranch/device_memory.h"
#include "anabranch/error.h"
#include "runtime/memory/allocator.h"
#include "runtime/memory/copy.h"

namespace anabranch {
namespace {

const Device device = Device::null(7);

TEST(Buffer, IsAlignedAndCounted) {
  const std::size_t before = memory_use(device).in_use;
  for (std::size_t bytes : {0u, 1u, 63u, 64u, 65u, 511u, 512u, 513u, 5000u, 1u << 20, 2097151u,
                            2097152u, 2097153u, 10u << 20}) {
    Buffer buffer = Buffer::allocate(device, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % Buffer::alignment, 0u);
    std::memset(buffer.data(), 1, bytes);
    const std::size_t used = memory_use(device).in_use - before;
    EXPECT_GE(used, bytes);
    EXPECT_LE(used, bytes + bytes / 8 + (bytes < 2 << 20 ? 64 : 64 << 10));
  }
  EXPECT_EQ(memory_use(device).in_use, before);
}

// A system that overcommits grants it, and kills the process that uses it.
TEST(Buffer, MoreThanTheMachineHasIsRefused) {
  for (const int shift : {42, 44, 60}) {
    try {
      Buffer::allocate(Device::cpu(), std::size_t{1} << shift);
      FAIL() << "no error";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_TRUE(text.starts_with("allocate: cpu:0 is out of memory: ")) << text;
      EXPECT_NE(text.find(" are all that this process may have"), std::string::npos) << text;
    }
  }
}

TEST(Buffer, FreedMemoryIsReused) {
  release_cached_memory(device);
  const std::pair<std::size_t, std::size_t> sizes[] = {
      {100, 90}, {100'000, 99'000}, {10 << 20, 9 << 20}};
  for (auto [bytes, less] : sizes) {
    void* first = Buffer::allocate(device, bytes).data();
    EXPECT_EQ(Buffer::allocate(device, less).data(), first);
  }
  EXPECT_GT(memory_use(device).cached, 3u << 20);
  // The block that was kept last is too small.
  const std::size_t before = memory_use(device).in_use, more = (10 << 20) + 1;
  const Buffer larger = Buffer::allocate(device, more);
  EXPECT_GE(memory_use(device).in_use - before, more);
  release_cached_memory(device);
  EXPECT_EQ(memory_use(device).cached, 0u);
}

// Also where blocks of one kind end and those of the other begin.
TEST(Buffer, MemoryOfAnySizeIsReused) {
  release_cached_memory(device);
  for (std::size_t bytes = std::size_t{1} << 20; bytes < std::size_t{4} << 20; bytes += 20'000) {
    void* first = Buffer::allocate(device, bytes).data();
    EXPECT_EQ(Buffer::allocate(device, bytes).data(), first) << bytes;
  }
  release_cached_memory(device);
  EXPECT_EQ(memory_use(device).cached, 0u);
}

TEST(Buffer, ChangingSizesDoNotPileUp) {
  release_cached_memory(device);
  reset_peak_memory(device);
  for (std::size_t megabytes = 3; megabytes < 40; ++megabytes) {
    Buffer::allocate(device, megabytes << 20);
  }
  EXPECT_LE(memory_use(device).cached, std::size_t{60} << 20);
  EXPECT_LE(memory_use(device).peak, std::size_t{40} << 20);
  release_cached_memory(device);
}

TEST(Buffer, BorrowedMemoryGoesBackOnce) {
  int returned = 0;
  const int value = 42;
  {
    Buffer buffer = Buffer::borrow(device, &value, sizeof(value), [&] { ++returned; });
    Buffer second = buffer;
    EXPECT_EQ(second.data(), &value);
    buffer = {};
    EXPECT_EQ(returned, 0);
  }
  EXPECT_EQ(returned, 1);
}

TEST(Buffer, CopyOfKeepsTheBytes) {
  const std::string text = "anabranch";
  Buffer buffer = copy_to_device(device, std::as_bytes(std::span(text)));
  EXPECT_EQ(std::memcmp(buffer.data(), text.data(), text.size()), 0);
}

TEST(Buffer, AFailedBufferThrowsItsError) {
  Buffer buffer = Buffer::failed(device, std::make_exception_ptr(Error("lost")));
  EXPECT_THROW(buffer.data(), Error);
  EXPECT_THROW(buffer.ready().wait(), Error);
}

TEST(Buffer, MemoryIsTakenOverFromTheLastHandleAlone) {
  Buffer from = Buffer::allocate(device, 100);
  const void* const data = from.data();
  const Buffer to = Buffer::deferred(device, 100, {});
  {
    const Buffer also = from;
    EXPECT_FALSE(to.alias(from));
    EXPECT_EQ(also.data(), data);
  }
  EXPECT_TRUE(to.alias(from));
  EXPECT_EQ(to.data(), data);
}

TEST(Buffer, MemoryOfAnotherSizeOrDeviceIsNotTakenOver) {
  const Buffer from = Buffer::allocate(device, 100);
  EXPECT_FALSE(Buffer::deferred(device, 101, {}).alias(from));
  EXPECT_FALSE(Buffer::deferred(device, 99, {}).alias(from));
  EXPECT_FALSE(Buffer::deferred(Device::null(8), 100, {}).alias(from));
  EXPECT_NE(from.data(), nullptr);
}

std::string allocation_error(std::size_t bytes) {
  try {
    Buffer::allocate(device, bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Buffer, FullMemoryIsAnErrorThatSaysHowMuch) {
  release_cached_memory(device);
  Buffer held = Buffer::allocate(device, 640);
  set_memory_limit(device, 1024);
  EXPECT_EQ(
      allocation_error(1000),
      "allocate: null:7 is out of memory: 1000 bytes asked for, 640 in use, limit 1024; let go of "
      "arrays that are no longer needed");
  EXPECT_NE(allocation_error(std::size_t{1} << 40), "none");
  EXPECT_EQ(allocation_error(100), "none");
  set_memory_limit(device, SIZE_MAX);
  EXPECT_NE(allocation_error(std::size_t{1} << 62), "none");
  EXPECT_EQ(allocation_error(1000), "none");
}

TEST(Buffer, AnInjectedFailureHappensOnce) {
  fail_allocation_after(device, 1);
  EXPECT_EQ(allocation_error(8), "none");
  EXPECT_NE(allocation_error(8), "none");
  EXPECT_EQ(allocation_error(8), "none");
}

}  // namespace
}  // namespace anabranch
