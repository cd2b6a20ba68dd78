#include "runtime/cuda/gpu.h"

#include <gtest/gtest.h>

#include <random>

#include "codegen/cuda/nvrtc.h"
#include "ir/error.h"
#include "runtime/cuda/gpus.h"

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

TEST(Gpu, CopiesInTheOrderOfAQueue) {
  DeviceQueue* const queue = &Gpu::of(0).main();
  const HostFloats there(2), back(2);
  void* data = Gpu::of(0).allocate(2 * sizeof(float));
  ASSERT_NE(data, nullptr);
  there[0] = 1.5f;
  there[1] = -2;
  queue->copy(data, there.get(), 2 * sizeof(float));
  queue->copy(back.get(), data, 2 * sizeof(float));
  Gpu::of(0).free(data);
  queue->mark()->wait();
  EXPECT_EQ(back[0], 1.5f);
  EXPECT_EQ(back[1], -2);
}

// Sums and products that come out right in one order alone, which events alone keep.
TEST(Gpu, QueuesMeetAtMarks) {
  ModulePtr module;
  const CUfunction add = adder(module);
  const CUfunction multiply = Gpu::of(0).function(*module, "multiply");
  std::vector<DeviceQueue*> queues;
  for (unsigned i = 0; i < 4; ++i) queues.push_back(&Gpu::of(0).queue(i));
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    const HostFloats host(1);
    host[0] = 0;
    void* x = Gpu::of(0).allocate(sizeof(float));
    queues[0]->copy(x, host.get(), sizeof(float));
    std::shared_ptr<const Mark> last = queues[0]->mark();
    float wanted = 0;
    for (int step = 0; step < 20; ++step) {
      DeviceQueue& queue = *queues[random() % queues.size()];
      queue.wait(*last);
      float amount = static_cast<float>(random() % 3 + 1);
      void* arguments[] = {&x, &amount};
      const bool adds = random() % 2 == 0;
      Gpu::of(0).launch(adds ? add : multiply, 1, 32, arguments, queue);
      wanted = adds ? wanted + amount : wanted * amount;
      last = queue.mark();
    }
    queues[0]->wait(*last);
    queues[0]->copy(host.get(), x, sizeof(float));
    Gpu::of(0).free(x);
    queues[0]->mark()->wait();
    EXPECT_EQ(host[0], wanted);
  }
}

TEST(Gpu, HasNoMemoryBeyondItsPool) {
  EXPECT_EQ(Gpu::of(0).allocate(std::size_t{1} << 50), nullptr);
}

}  // namespace
}  // namespace anabranch::cuda
