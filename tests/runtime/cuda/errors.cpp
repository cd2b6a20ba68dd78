// What goes wrong with a GPU: no driver, one that is too old, no NVRTC, and each call that the
// driver may refuse. All of it is pretended.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "anabranch/anabranch.h"
#include "fake_driver.h"
#include "runtime/cuda/gpu.h"
#include "runtime/executor/graph_cache.h"
#include "runtime/memory/staging.h"
#include "tests/support/temporary_folder.h"

namespace anabranch::testing {
namespace {

namespace fs = std::filesystem;

// --- a machine that lacks something: in a process of its own

/// What a program prints, fake_cuda/try_gpu.cpp if not another, with `environment` ("NAME=VALUE
/// ...").
std::string tried(const std::string& environment, const std::string& program = TRY_GPU,
                  const std::string& arguments = "") {
  FILE* pipe = popen((environment + " '" + program + "' " + arguments).c_str(), "r");
  std::string text;
  std::array<char, 256> part;
  while (fgets(part.data(), part.size(), pipe)) text += part.data();
  pclose(pipe);
  return text;
}

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
}

/// A folder with pretend libraries, of which some cannot be loaded.
class Libraries {
 public:
  explicit Libraries(const std::string& broken) {
    for (const auto& entry : fs::directory_iterator(FAKE_CUDA_FOLDER)) {
      const std::string name = entry.path().filename();
      if (name.starts_with(broken)) {
        write_file(folder_.path() / name, "");
      } else {
        fs::create_symlink(entry.path(), folder_.path() / name);
      }
    }
  }
  std::string environment() const { return "LD_LIBRARY_PATH='" + folder_.path().string() + "'"; }

 private:
  TemporaryFolder folder_;
};

using PretendedMachine = PretendedDriver;

TEST_F(PretendedMachine, WithAllOfThemItWorks) {
  EXPECT_EQ(tried(Libraries("nothing").environment()), "cpu:0\ncuda:0\n2 3 4 5 \n7 10 15 22 \n");
}

TEST_F(PretendedMachine, WithoutADriver) {
  expect_parts(tried(Libraries("libcuda").environment()),
               {"cpu:0\nError: ", "there is no device cuda:0, since there is no NVIDIA driver",
                "libcuda.so.1", "there is cpu:0"});
}

TEST_F(PretendedMachine, WithADriverThatIsTooOld) {
  expect_parts(tried("FAKE_CUDA_VERSION=12040"),
               {"cpu:0\nError: ", "the NVIDIA driver is for CUDA 12.4; one for CUDA ",
                ".0 or later is needed"});
}

TEST_F(PretendedMachine, WithADriverThatFindsNone) {
  expect_parts(tried("FAKE_CUDA_DEVICES=0"), {"cpu:0\nError: ", "the NVIDIA driver finds no GPU"});
}

TEST_F(PretendedMachine, WithTwoGpusEachWaitsForTheOther) {
  EXPECT_EQ(tried("FAKE_CUDA_DEVICES=2", TWO_GPUS), "0 wrong\n");
}

TEST_F(PretendedMachine, WithoutNvrtc) {
  expect_parts(tried(Libraries("libnvrtc").environment()),
               {"cpu:0\ncuda:0\nError: compile for CUDA: cannot load libnvrtc.so.",
                "; install NVRTC of CUDA ", "LD_LIBRARY_PATH"});
}

TEST_F(PretendedMachine, WithoutCublasLtThereAreNoProducts) {
  expect_parts(tried(Libraries("libcublasLt").environment()),
               {"cpu:0\ncuda:0\n2 3 4 5 \nError: ", "there is no libcublasLt.so.",
                "; install cuBLAS of CUDA ", "LD_LIBRARY_PATH"});
}

// A program that is linked to the library, and includes its header, has used no device yet.
TEST_F(PretendedMachine, IsLeftAloneBeforeMain) {
  int at_first = 0, with_devices = 0, with_a_result = 0;
  const std::string text = tried(Libraries("nothing").environment(), BEFORE_MAIN);
  ASSERT_EQ(std::sscanf(text.c_str(),
                        "start: no driver, %d threads\ndevices: a driver, %d threads\n"
                        "result: a driver, %d threads",
                        &at_first, &with_devices, &with_a_result),
            3)
      << text;
  EXPECT_LT(at_first, with_a_result) << text;  // a sanitizer may have a thread of its own
}

// No call reaches a driver that the process has taken apart.
TEST_F(PretendedMachine, MayBeLeftWhileItWorks) {
  EXPECT_EQ(tried(Libraries("nothing").environment(), LEAVE_MAIN), "");
}

// The memory of the pretended GPU is none that a host can read, where the processor has such keys.
TEST_F(PretendedMachine, IsWhereTheCommandRuns) {
  const std::string text =
      tried(Libraries("nothing").environment() + " ANABRANCH_DEVICE=cuda:0", ANABRANCH_COMMAND,
            "run '" EXAMPLE_GRAPHS "/softmax.abir' --random");
  expect_parts(text, {"output 0: f32["});
}

// --- a driver that refuses a call

constexpr const char* kinds[] = {"modules", "pools",  "contexts",    "streams",
                                 "events",  "blocks", "host blocks", "graphs"};

using Cache = std::shared_ptr<CodeCache>;

/// What is in `y`, or an error of its own: it is looked at when `y` is gone, and ThreadSanitizer
/// does not see the counts by which the library's own error lives on.
std::vector<float> read(const Array& y) {
  try {
    return y.to_vector<float>();
  } catch (const Error& error) {
    throw Error(std::string(error.what()));
  }
}

/// Compiles, copies to the GPU, runs a kernel and a loop on several streams, and copies back. With
/// `cache`, without the time that compiling takes.
std::vector<float> use(const Cache& cache) {
  Options options;
  options.device = Device::cuda(0);
  options.use_all_streams = true;
  options.cache = cache;
  const Array x = array({1.0f, 2.0f, 3.0f}, {3}).to(options.device);
  const auto f = [](Array z) {
    const Array left = sin(sum(z) * z), right = cos(sum(z * z) * z);
    return fori_loop(
        0, 3, [](Array, Array w) { return w * 0.5f; }, left + right);
  };
  return read(jit(f, options)(x));
}

/// A loop of large steps, with a branch, in the same memory again and again: step by step, captured
/// and replayed.
std::vector<float> use_replayed(const Cache& cache) {
  struct Reuse {
    Reuse() { reuse_memory(true); }
    ~Reuse() { reuse_memory(false); }
  } reuse;
  Options options;
  options.device = Device::cuda(0);
  options.streams = 1;
  options.cache = cache;
  const auto f = [](Array x) {
    const auto step = [](Array i, Array y) {
      return cond(
          i < 2, [](Array z) { return matmul(z, z); }, [](Array z) { return z * 0.5f; }, y);
    };
    return fori_loop(0, 3, step, x);
  };
  const auto compiled = jit(f, options);
  const Array x = array({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}).to(options.device);
  std::vector<float> values;
  for (int run = 0; run < 4; ++run) {
    values = read(compiled(x));
    wait_all();
    cuda::Gpu::of(0).main().record()->wait();
  }
  return values;
}

struct Refused {
  const char* call;
  std::vector<float> (*use)(const Cache& cache);
  std::vector<const char*> loses = {};  // what the driver will not take back
};

class PretendedRefusal : public PretendedDriver, public ::testing::WithParamInterface<Refused> {
 protected:
  void expect_use_to_work(const Cache& cache, const std::string& after);

 private:
  std::vector<float> right_;
};

void PretendedRefusal::expect_use_to_work(const Cache& cache, const std::string& after) {
  if (right_.empty()) right_ = GetParam().use(cache);
  try {
    EXPECT_EQ(GetParam().use(cache), right_) << after;
  } catch (const Error& error) {
    ADD_FAILURE() << after << ": " << error.what();
  }
}

// How many of a kind are in use: events and pieces of host memory are kept, and how many there are
// depends on what overlapped; graphs are kept as long as what is launched, for some sets of
// addresses.
std::int64_t in_use(const std::string& kind) {
  std::int64_t kept = 0;
  if (kind == "events") kept = static_cast<std::int64_t>(cuda::Gpu::of(0).idle_events());
  if (kind == "host blocks") {
    cuda::Gpu& gpu = cuda::Gpu::of(0);
    kept = static_cast<std::int64_t>(from_host_ring(gpu).idle_pieces() +
                                     to_host_ring(gpu).idle_pieces());
  }
  if (kind == "graphs") kept = alive("launchable graphs");
  return alive(kind.c_str()) - kept;
}

// The thread that hears of events may still hold the last of it.
bool falls_to(std::int64_t most, const char* kind) {
  for (int tries = 0; tries < 1000 && in_use(kind) > most; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return in_use(kind) <= most;
}

// Each of the calls in turn, until there is none left: an Error or, where the call did not matter,
// the right result; then all is as it was.
TEST_P(PretendedRefusal, IsAnErrorAndNoMore) {
  const TemporaryFolder folder;
  const auto cache = std::make_shared<CodeCache>(folder.path());
  expect_use_to_work(cache, "at first");
  const auto& [name, use, loses] = GetParam();
  int refused = 0;
  for (std::uint64_t call = 0; call < 60; ++call) {
    const std::string what = std::string(name) + ", call " + std::to_string(call);
    std::map<std::string, std::int64_t> before;
    for (int round = 0; round < 3; ++round) {
      if (round == 2) {
        for (const char* kind : kinds) before[kind] = in_use(kind);
      }
      fail_driver_call(name, call);
      try {
        use(cache);
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("CUDA_ERROR"), std::string::npos) << error.what();
      }
      try {
        wait_all();
      } catch (const Error&) {
      }
      if (will_fail()) return fail_driver_call("", 0);
      ++refused;
      expect_use_to_work(cache, what);
      wait_all();
    }
    for (const char* kind : kinds) {
      if (std::ranges::find(loses, std::string_view(kind)) != loses.end()) continue;
      EXPECT_TRUE(falls_to(before[kind], kind)) << what << ": " << in_use(kind) << " " << kind;
    }
    if (HasFailure()) return;
  }
}

const Refused refused[] = {
    {"cuCtxSetCurrent", use, {"blocks", "host blocks"}},
    {"cuStreamWaitEvent", use},
    {"cuEventCreate", use},
    {"cuEventRecord", use},
    {"cuEventQuery", use},
    {"cuEventSynchronize", use},
    {"cuMemAllocFromPoolAsync", use},
    {"cuMemFreeAsync", use, {"blocks"}},
    {"cuMemHostAlloc", use},
    {"cuMemFreeHost", use, {"host blocks"}},
    {"cuMemcpyAsync", use},
    {"cuModuleLoadData", use},
    {"cuModuleUnload", use},
    {"cuModuleGetFunction", use},
    {"cuLaunchKernel", use},
};

INSTANTIATE_TEST_SUITE_P(Driver, PretendedRefusal, ::testing::ValuesIn(refused),
                         [](const auto& refused) { return std::string(refused.param.call); });

// Where a capture is refused the run goes step by step; a graph that is not launched is an error.
const Refused refused_replays[] = {
    {"cuStreamBeginCapture", use_replayed},
    {"cuStreamEndCapture", use_replayed},
    {"cuGraphInstantiateWithFlags", use_replayed},
    {"cuGraphLaunch", use_replayed},
    {"cuGraphExecDestroy", use_replayed},
    {"cuGraphDestroy", use_replayed, {"graphs"}},
    {"cuStreamBeginCaptureToGraph", use_replayed},
    {"cuStreamGetCaptureInfo", use_replayed},
    {"cuStreamUpdateCaptureDependencies", use_replayed},
    {"cuGraphConditionalHandleCreate", use_replayed},
    {"cuGraphAddNode", use_replayed},
    {"cuLaunchKernel", use_replayed},
    {"cuMemcpyAsync", use_replayed},
    {"cuEventRecord", use_replayed},
};

INSTANTIATE_TEST_SUITE_P(GraphCache, PretendedRefusal, ::testing::ValuesIn(refused_replays),
                         [](const auto& refused) { return std::string(refused.param.call); });

// The run itself does not come to know of it.
TEST(PretendedRefusedCapture, GoesStepByStep) {
  const TemporaryFolder folder;
  const auto cache = std::make_shared<CodeCache>(folder.path());
  const std::vector<float> right = use_replayed(cache);
  for (const char* name :
       {"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiateWithFlags",
        "cuStreamBeginCaptureToGraph", "cuStreamGetCaptureInfo", "cuGraphConditionalHandleCreate",
        "cuStreamUpdateCaptureDependencies", "cuGraphAddNode"}) {
    fail_driver_call(name, 0);
    EXPECT_EQ(use_replayed(cache), right) << name;
    wait_all();
  }
  fail_driver_call("", 0);
}

// What the driver says of a capture, and of the body of a loop in one.
void expect_refusal(const std::function<void(DeviceStream& home, DeviceStream& inside)>& enqueue,
                    const std::string& words) {
  cuda::Gpu& gpu = cuda::Gpu::of(0);
  const StreamSet inner = inside(StreamSet::capture);
  try {
    gpu.capture([&] { enqueue(gpu.stream(0, StreamSet::capture), gpu.stream(0, inner)); });
    FAIL() << words;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(PretendedRefusedCapture, LeavesNothingBehind) {
  cuda::Gpu& gpu = cuda::Gpu::of(0);
  const std::int64_t graphs = alive("graphs");
  std::array<int, 2> numbers{};
  const auto nothing = [](Condition, DeviceStream&) {};
  const auto copy = [&](DeviceStream& stream) {
    stream.copy(&numbers[0], &numbers[1], sizeof(int));
  };
  for (int round = 0; round < 2; ++round) {
    expect_refusal(
        [&](DeviceStream& home, DeviceStream& inside) {
          home.enqueue_loop(inside, nothing, [] { throw Error("a body that fails"); });
        },
        "a body that fails");
    // A stream that joins the body, which does not wait for it in the end.
    expect_refusal(
        [&](DeviceStream& home, DeviceStream& inside) {
          home.enqueue_loop(inside, nothing, [&] {
            DeviceStream& beside = gpu.stream(1, anabranch::inside(StreamSet::capture));
            beside.wait(*inside.record());
            copy(beside);
          });
        },
        "capture: CUDA_ERROR");
    // What is outside cannot be waited for inside.
    expect_refusal(
        [&](DeviceStream& home, DeviceStream& inside) {
          home.enqueue_loop(inside, nothing, [&] { inside.wait(*home.record()); });
        },
        "wait of a stream: CUDA_ERROR");
    // Nor can one stream be captured twice.
    expect_refusal(
        [&](DeviceStream& home, DeviceStream&) { home.enqueue_loop(home, nothing, [] {}); },
        "capture: CUDA_ERROR");
  }
  EXPECT_THROW(gpu.main().enqueue_loop(gpu.stream(1), nothing, [] {}), Error);
  gpu.capture([&] { copy(gpu.stream(0, StreamSet::capture)); });
  EXPECT_EQ(alive("graphs"), graphs);
}

// A GPU that cannot be opened can be opened later, and nothing of the first try is left. This needs
// a process in which nobody has opened it: another test before this one may have.
using PretendedOpening = PretendedDriver;

TEST_F(PretendedOpening, MayFailAtEachCall) {
  if (alive("contexts") > 0) return;
  for (const char* name : {"cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
                           "cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceTotalMem",
                           "cuMemPoolCreate", "cuMemPoolSetAttribute", "cuStreamCreate"}) {
    fail_driver_call(name, 0);
    EXPECT_THROW(cuda::Gpu::of(0), Error) << name;
    for (const char* kind : kinds) EXPECT_EQ(alive(kind), 0) << name << ": " << kind;
  }
  EXPECT_EQ(cuda::Gpu::of(0).architecture(), 80);
}

}  // namespace
}  // namespace anabranch::testing
