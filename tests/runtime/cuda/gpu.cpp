#include "runtime/cuda/gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "anabranch/error.h"
#include "codegen/cuda/nvrtc.h"
#include "fake_driver.h"
#include "runtime/cuda/gpus.h"
#include "runtime/device/ceiling.h"
#include "runtime/memory/allocator.h"

namespace anabranch::cuda {
namespace {

/// Page-locked floats.
class HostFloats {
 public:
  explicit HostFloats(std::size_t count)
      : data_(static_cast<float*>(Gpu::of(0).allocate_host(count * sizeof(float)))) {}
  ~HostFloats() { Gpu::of(0).free_host(data_); }
  HostFloats(const HostFloats&) = delete;
  HostFloats& operator=(const HostFloats&) = delete;
  float* get() const { return data_; }
  float& operator[](std::size_t i) const { return data_[i]; }

 private:
  float* data_;
};

// A kernel that adds `amount` to one number.
CUfunction adder(ModulePtr& module) {
  const std::string source = R"(
extern "C" __global__ void add(float* x, float amount) {
  if (threadIdx.x == 0) *x += amount;
}
extern "C" __global__ void multiply(float* x, float factor) {
  if (threadIdx.x == 0) *x *= factor;
}
)";
  module = Gpu::of(0).load(compile_cubin(source, Gpu::of(0).architecture()).code);
  return Gpu::of(0).function(*module, "add");
}

TEST(Gpu, SaysWhatItIs) {
  ASSERT_GE(gpu_count(), 1) << why_no_gpu();
  EXPECT_GE(Gpu::of(0).architecture(), 75);
  EXPECT_THROW(Gpu::of(gpu_count()), Error);
}

// An A100's answers, and those of a driver that says nothing of clocks.
TEST(Gpu, KnowsWhatItsDriverSays) {
  bool says_clocks = true;
  const auto answer = [&](CUdevice_attribute attribute) {
    switch (attribute) {
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return 8;
      case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return 108;
      case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        return 2048;
      case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        return says_clocks ? 1'410'000 : 0;
      case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        return says_clocks ? 1'215'000 : 0;
      case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        return 5120;
      default:
        return 0;
    }
  };
  const GpuFacts known = facts_from(answer);
  EXPECT_EQ(known.architecture, 80);
  EXPECT_EQ(known.multiprocessors, 108);
  EXPECT_DOUBLE_EQ(known.cycles_per_ns, 1.41);
  EXPECT_NEAR(known.bytes_per_ns, 1555, 1);
  EXPECT_NEAR(ceiling_of(known).operations_per_second, 19.5e12, 0.05e12);
  says_clocks = false;
  const GpuFacts taken = facts_from(answer);
  EXPECT_DOUBLE_EQ(taken.cycles_per_ns, GpuFacts{}.cycles_per_ns);
  EXPECT_NEAR(taken.bytes_per_ns, 3350.0 * 108 / 132, 1e-9);
}

TEST(Gpu, ThatDoesNotExistIsAnH100) {
  EXPECT_EQ(gpu_facts(gpu_count()).multiprocessors, 132);
  EXPECT_EQ(gpu_facts(0).multiprocessors, Gpu::of(0).facts().multiprocessors);
}

TEST(Gpu, CopiesInTheOrderOfAStream) {
  DeviceStream* const stream = &Gpu::of(0).main();
  const HostFloats there(2), back(2);
  void* data = Gpu::of(0).allocate(2 * sizeof(float));
  ASSERT_NE(data, nullptr);
  there[0] = 1.5f;
  there[1] = -2;
  stream->copy(data, there.get(), 2 * sizeof(float));
  stream->copy(back.get(), data, 2 * sizeof(float));
  Gpu::of(0).free(data);
  stream->record()->wait();
  EXPECT_EQ(back[0], 1.5f);
  EXPECT_EQ(back[1], -2);
}

// Sums and products that come out right in one order alone, which events alone keep.
TEST(Gpu, StreamsMeetAtEvents) {
  ModulePtr module;
  const CUfunction add = adder(module);
  const CUfunction multiply = Gpu::of(0).function(*module, "multiply");
  std::vector<DeviceStream*> streams;
  for (unsigned i = 0; i < 4; ++i) streams.push_back(&Gpu::of(0).stream(i));
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    const HostFloats host(1);
    host[0] = 0;
    void* x = Gpu::of(0).allocate(sizeof(float));
    streams[0]->copy(x, host.get(), sizeof(float));
    std::shared_ptr<const DeviceEvent> last = streams[0]->record();
    float wanted = 0;
    for (int step = 0; step < 20; ++step) {
      DeviceStream& stream = *streams[random() % streams.size()];
      stream.wait(*last);
      float amount = static_cast<float>(random() % 3 + 1);
      void* arguments[] = {&x, &amount};
      const bool adds = random() % 2 == 0;
      Gpu::of(0).launch(adds ? add : multiply, 1, 32, arguments, stream);
      wanted = adds ? wanted + amount : wanted * amount;
      last = stream.record();
    }
    streams[0]->wait(*last);
    streams[0]->copy(host.get(), x, sizeof(float));
    Gpu::of(0).free(x);
    streams[0]->record()->wait();
    EXPECT_EQ(host[0], wanted);
  }
}

TEST(Gpu, RefusesWhatIsNoModuleInWords) {
  const std::uint64_t bytes = 4;
  std::string cubin(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  cubin += "none";
  try {
    Gpu::of(0).load(cubin);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("loading kernels: CUDA_ERROR_INVALID_"),
              std::string::npos)
        << error.what();
  }
}

TEST(Gpu, HasNoMemoryBeyondItsPool) {
  EXPECT_EQ(Gpu::of(0).allocate(std::size_t{1} << 50), nullptr);
}

// In whichever order it was freed: so equal runs get equal addresses.
TEST(GpuAllocator, ReusesTheLowestAddressFirst) {
  Allocator allocator(Device::cuda(), &Gpu::of(0));
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{3} << 20}) {
    std::vector<Allocation> blocks;
    for (int i = 0; i < 5; ++i) blocks.push_back(allocator.allocate(bytes));
    std::ranges::sort(blocks, {}, &Allocation::data);
    for (const std::size_t freed : {3, 0, 4, 1, 2}) allocator.free(blocks[freed]);
    EXPECT_GE(allocator.use().cached, 5 * bytes);
    for (const Allocation& block : blocks) EXPECT_EQ(allocator.allocate(bytes).data, block.data);
    EXPECT_EQ(allocator.use().in_use, 5 * blocks[0].bytes);
    for (const Allocation& block : blocks) allocator.free(block);
  }
  EXPECT_EQ(allocator.use().in_use, 0u);
  allocator.release_cached();
}

using PretendedAllocator = testing::PretendedDriver;

// The driver is asked for what is not there, and hears at the end of what was kept.
TEST_F(PretendedAllocator, AsksTheDriverSeldom) {
  const auto asked = testing::driver_calls("cuMemAllocFromPoolAsync");
  const auto freed = testing::driver_calls("cuMemFreeAsync");
  Allocator keeping(Device::cuda(), &Gpu::of(0));
  for (int i = 0; i < 10; ++i) keeping.free(keeping.allocate(100));
  EXPECT_EQ(testing::driver_calls("cuMemAllocFromPoolAsync") - asked, 1);
  EXPECT_EQ(testing::driver_calls("cuMemFreeAsync") - freed, 0);
  keeping.release_cached();
  EXPECT_EQ(testing::driver_calls("cuMemFreeAsync") - freed, 1);
  Allocator returning(Device::cuda(), &Gpu::of(0), false);
  for (int i = 0; i < 10; ++i) returning.free(returning.allocate(100));
  EXPECT_EQ(testing::driver_calls("cuMemAllocFromPoolAsync") - asked, 11);
  EXPECT_EQ(testing::driver_calls("cuMemFreeAsync") - freed, 11);
}

// What was freed counts as in use until the host has waited for the stream and trimmed the pool.
TEST_F(PretendedAllocator, LetsThePoolGiveBackBeforeItIsFull) {
  const auto asked = testing::driver_calls("cuMemAllocFromPoolAsync");
  const auto waited = testing::driver_calls("cuStreamSynchronize");
  const auto trimmed = testing::driver_calls("cuMemPoolTrimTo");
  Allocator allocator(Device::cuda(), &Gpu::of(0));
  EXPECT_THROW(allocator.allocate(std::size_t{1} << 50), Error);
  EXPECT_EQ(testing::driver_calls("cuStreamSynchronize") - waited, 1);
  EXPECT_EQ(testing::driver_calls("cuMemPoolTrimTo") - trimmed, 1);
  EXPECT_EQ(testing::driver_calls("cuMemAllocFromPoolAsync") - asked, 2);
}

}  // namespace
}  // namespace anabranch::cuda
