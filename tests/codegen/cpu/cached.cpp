// Kernels through the code cache: the same code, never that of another kernel, whatever has become
// of the entry.
#include <gtest/gtest.h>

#include <random>

#include "tests/codegen/cpu/kernel_sketch.h"
#include "tests/support/log_lines.h"
#include "tests/support/temporary_folder.h"

namespace anabranch::cpu {
namespace {

namespace fs = std::filesystem;
using anabranch::testing::LogLines;
using anabranch::testing::read_file;
using anabranch::testing::TemporaryFolder;
using anabranch::testing::write_file;

constexpr std::int64_t size = 24;

/// to[i] = from[i] * factor, in its variations.
struct Scale {
  Dtype dtype = i32;
  std::uint64_t factor = 3;
  std::int64_t count = size;
  int width = 1, unroll = 1;
  bool parallel = true;
  bool non_temporal = false;
  std::int64_t prefetch = 0;
  Op op = Op::multiply;
};

Kernel kernel_of(const Scale& scale) {
  KernelSketch sketch("scale");
  auto from = sketch.buffer(Access::read, scale.dtype, scale.count);
  auto to = sketch.buffer(Access::write, scale.dtype, scale.count);
  Index i = sketch.open(scale.parallel ? range(scale.count, scale.width, scale.unroll)
                                       : rows(scale.count, scale.width, scale.unroll));
  Ref value = sketch.load(from, i);
  Ref scaled =
      sketch.compute(scale.dtype, scale.op, {value, sketch.constant(scale.dtype, scale.factor)});
  sketch.store(to, i, scaled, scale.non_temporal);
  sketch.close();
  Kernel kernel = sketch.kernel();
  std::get<Load>(kernel[value].operation).prefetch = scale.prefetch;
  return kernel;
}

// Whether the code multiplies by `factor`.
bool multiplies(const Code& code, std::int32_t factor) {
  Memory from(size * sizeof(std::int32_t)), to(size * sizeof(std::int32_t));
  std::int32_t values[size], results[size];
  for (std::int32_t i = 0; i < size; ++i) values[i] = 7 * i - 20;
  std::memcpy(from.data(), values, sizeof values);
  void* buffers[] = {from.data(), to.data()};
  code.functions.at(0)(nullptr, buffers, 0, size);
  std::memcpy(results, to.data(), sizeof results);
  for (std::int32_t i = 0; i < size; ++i) {
    if (results[i] != values[i] * factor) return false;
  }
  return to.is_intact();
}

Code compile(const Kernel& kernel, CodeCache* cache) {
  return compile_kernels(std::span(&kernel, 1), cache);
}

TEST(CachedKernels, ASecondProcessLoadsTheSameCode) {
  TemporaryFolder folder;
  CodeCache first(folder.path()), second(folder.path());
  const Code made = compile(kernel_of({}), &first), loaded = compile(kernel_of({}), &second);
  EXPECT_EQ(first.use().misses, 1u);
  EXPECT_EQ(second.use().hits, 1u);
  EXPECT_EQ(second.use().misses, 0u);
  EXPECT_NE(made.functions[0], loaded.functions[0]);
  EXPECT_EQ(made.bytes, loaded.bytes);
  EXPECT_GT(made.instructions, 0u);
  EXPECT_EQ(loaded.instructions, 0u);  // none was written
  EXPECT_TRUE(multiplies(made, 3));
  EXPECT_TRUE(multiplies(loaded, 3));
}

TEST(CachedKernels, KernelsThatDifferInOneThingDoNotCollide) {
  const Scale variations[] = {
      {},
      {.factor = 4},
      {.dtype = u32},
      {.dtype = i64},
      {.dtype = f32},
      {.dtype = f32, .factor = 0x7fc00000},  // two NaNs, which print alike
      {.dtype = f32, .factor = 0x7fc00001},
      {.parallel = false},
      {.count = size - 1, .parallel = false},
      {.width = 4},
      {.width = 8},
      {.width = 4, .unroll = 2},
      {.width = 4, .parallel = false},
      {.width = 4, .non_temporal = true},
      {.width = 4, .prefetch = 16},
      {.width = 4, .prefetch = 32},
      {.op = Op::add},
      {.op = Op::maximum},
      {.dtype = u32, .op = Op::maximum},
  };
  TemporaryFolder folder;
  CodeCache cache(folder.path());
  std::uint64_t kept = 0;
  for (const Scale& scale : variations) {
    compile(kernel_of(scale), &cache);
    EXPECT_EQ(cache.use().misses, ++kept) << &scale - variations;
  }
  EXPECT_EQ(folder.files().size(), kept);
  EXPECT_TRUE(multiplies(compile(kernel_of({}), &cache), 3));
  EXPECT_TRUE(multiplies(compile(kernel_of({.factor = 4}), &cache), 4));
  EXPECT_EQ(cache.use().misses, kept);
}

TEST(CachedKernels, EqualNamesLiveSideBySide) {
  const Code three = compile(kernel_of({}), nullptr);
  Code four = compile(kernel_of({.factor = 4}), nullptr);
  EXPECT_TRUE(multiplies(three, 3));
  EXPECT_TRUE(multiplies(four, 4));
  four = {};  // its code is taken out, the other's stays
  EXPECT_TRUE(multiplies(three, 3));
}

#if defined(__x86_64__)
// CPUs that share a directory, among them some whose modules are the same and whose code is not.
TEST(CachedKernels, CodeForAnotherCpuIsNeverTaken) {
  const CpuModel cpus[] = {{"x86-64", ""},
                           {"x86-64", "+avx,"},
                           {"x86-64", "+avx,+avx2,"},
                           {"x86-64-v2", ""},
                           host_cpu()};
  TemporaryFolder folder;
  const Kernel kernel = kernel_of({.width = 8});
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < std::size(cpus); ++i) {
      CodeCache cache(folder.path());
      compile_kernels(std::span(&kernel, 1), &cache, cpus[i]);
      EXPECT_EQ(cache.use().misses, round == 0 ? 1u : 0u) << i;
      EXPECT_EQ(cache.use().hits, round == 0 ? 0u : 1u) << i;
    }
  }
  EXPECT_EQ(folder.files().size(), std::size(cpus));
}
#endif

/// A directory with one entry, to be damaged.
class CachedKernelsDamage : public ::testing::Test {
 protected:
  CachedKernelsDamage() {
    compile(kernel_, &cache_);
    entry_ = folder_.files().at(0);
    sound_ = read_file(entry_);
  }

  void expect_mended(const std::string& damaged) {
    LogLines log;
    write_file(entry_, damaged);
    EXPECT_TRUE(multiplies(compile(kernel_, &cache_), 3));
    EXPECT_EQ(folder_.files().size(), 1u);
    EXPECT_EQ(read_file(entry_), sound_);
    EXPECT_EQ(log.lines().size(), 1u);
  }

  TemporaryFolder folder_;
  CodeCache cache_{folder_.path()};
  const Kernel kernel_ = kernel_of({});
  fs::path entry_;
  std::string sound_;
};

TEST_F(CachedKernelsDamage, TruncationAtAnyByteIsMended) {
  for (std::size_t length = 0; length < sound_.size(); ++length) {
    SCOPED_TRACE(length);
    expect_mended(sound_.substr(0, length));
  }
  EXPECT_EQ(cache_.use().hits, 0u);
}

TEST_F(CachedKernelsDamage, FlippedBitsAreMended) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t bit = random() % (8 * sound_.size());
    SCOPED_TRACE(bit);
    std::string damaged = sound_;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    expect_mended(damaged);
  }
  EXPECT_EQ(cache_.use().hits, 0u);
}

}  // namespace
}  // namespace anabranch::cpu
