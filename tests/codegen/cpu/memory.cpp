// Loads and stores in vector loops: strides, masks, gathers, scratch, non-temporal stores.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <regex>

#include "ir/scalar.h"
#include "tests/codegen/cpu/kernel_sketch.h"

namespace anabranch::cpu {
namespace {

constexpr std::int64_t sizes[] = {0, 1, 9, 33, 129};
constexpr Dtype dtypes[] = {bool_, u16, f32, f64, c64, c128};
constexpr std::pair<int, int> forms[] = {{1, 1}, {16, 2}};

// This machine as it is, and as one whose gathers are fast and one whose gathers are slow.
std::vector<CpuModel> cpus() {
  std::vector<CpuModel> models = {host_cpu()};
#if defined(__x86_64__)
  models.push_back({"sapphirerapids", host_cpu().features});
  models.push_back({"znver4", host_cpu().features});
#endif
  return models;
}

// Element i of a made-up array, as the dtype.
template <class T>
T element(std::int64_t i) {
  return convert_scalar<T>(static_cast<double>((i * 37 + 11) % 101));
}

template <class T>
Memory filled(std::int64_t size) {
  Memory memory(static_cast<std::size_t>(size) * sizeof(T));
  for (std::int64_t i = 0; i < size; ++i) {
    T value = element<T>(i);
    std::memcpy(memory.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
  }
  return memory;
}

template <class T>
bool holds(Memory& memory, std::int64_t index, T expected) {
  return std::memcmp(memory.data() + static_cast<std::size_t>(index) * sizeof(T), &expected,
                     sizeof(T)) == 0;
}

// to[i * to_stride + to_offset] = from[i * from_stride + from_offset]
struct Copy {
  std::int64_t from_stride, from_offset_per_size, from_offset;
  std::int64_t to_stride, to_offset_per_size, to_offset;
};
constexpr Copy copies[] = {
    {1, 0, 0, 1, 0, 0}, {1, 0, 3, 1, 0, 1},   {-1, 1, -1, 1, 0, 0}, {1, 0, 0, -1, 1, -1},
    {0, 0, 2, 1, 0, 0}, {2, 0, 0, 1, 0, 0},   {3, 0, 1, 2, 0, 1},   {-4, 4, 0, 1, 0, 0},
    {1, 0, 0, 5, 0, 0}, {-1, 1, 0, -3, 3, 1},
};

template <class T>
void check_copy(Dtype dtype, const Copy& copy, std::pair<int, int> form, const CpuModel& cpu) {
  std::vector<Kernel> kernels;
  for (std::int64_t size : sizes) {
    KernelSketch sketch("copy" + std::to_string(kernels.size()));
    auto from = sketch.buffer(Access::read, dtype, 6 * size + 8);
    auto to = sketch.buffer(Access::write, dtype, 6 * size + 8);
    Index i = sketch.open(range(size, form.first, form.second));
    auto index = [&](std::int64_t stride, std::int64_t offset) {
      return sketch.add(sketch.multiply(i, stride), offset);
    };
    Ref value = sketch.load(
        from, index(copy.from_stride, copy.from_offset_per_size * size + copy.from_offset));
    sketch.store(to, index(copy.to_stride, copy.to_offset_per_size * size + copy.to_offset), value);
    sketch.close();
    kernels.push_back(sketch.kernel());
  }
  Code code = compile_legalised(kernels, cpu);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::int64_t size = sizes[k];
    Memory from = filled<T>(6 * size + 8);
    Memory to(static_cast<std::size_t>(6 * size + 8) * sizeof(T));
    std::vector<std::byte> before(to.data(),
                                  to.data() + static_cast<std::size_t>(6 * size + 8) * sizeof(T));
    void* pointers[] = {from.data(), to.data()};
    code.functions[k](nullptr, pointers, 0, size / 3);
    code.functions[k](nullptr, pointers, size / 3, size);
    std::vector<bool> written(static_cast<std::size_t>(6 * size + 8));
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t source =
          i * copy.from_stride + copy.from_offset_per_size * size + copy.from_offset;
      const std::int64_t target =
          i * copy.to_stride + copy.to_offset_per_size * size + copy.to_offset;
      written[static_cast<std::size_t>(target)] = true;
      ASSERT_TRUE(holds(to, target, element<T>(source)))
          << name(dtype) << " size " << size << " at " << i;
    }
    for (std::size_t i = 0; i < written.size(); ++i) {
      if (written[i]) continue;
      ASSERT_EQ(std::memcmp(to.data() + i * sizeof(T), &before[i * sizeof(T)], sizeof(T)), 0)
          << name(dtype) << " size " << size << ": element " << i << " was not to be written";
    }
    EXPECT_TRUE(to.is_intact());
  }
}

TEST(Memory, MovesElementsAtAnyStride) {
  for (const CpuModel& cpu : cpus()) {
    SCOPED_TRACE(cpu.name);
    for (Dtype dtype : dtypes) {
      for (const Copy& copy : copies) {
        for (auto form : forms) {
          visit_any_dtype(dtype, [&]<class T>() { check_copy<T>(dtype, copy, form, cpu); });
        }
      }
    }
  }
}

// out[i] = table[positions[i]], only where positions[i] < bound; else 0. The table is read nowhere
// else.
TEST(Memory, GathersUnderAMask) {
  constexpr std::int64_t size = 77, table_size = 19;
  for (Dtype dtype : dtypes) {
    for (auto form : forms) {
      KernelSketch sketch("gather");
      auto positions = sketch.buffer(Access::read, i64, size);
      auto table = sketch.buffer(Access::read, dtype, table_size);
      auto out = sketch.buffer(Access::write, dtype, size);
      Index i = sketch.open(range(size, form.first, form.second));
      Ref at = sketch.load(positions, i);
      Ref is_inside =
          sketch.compute(bool_, Op::compare, {at, sketch.number(table_size)}, Comparison::lt);
      sketch.store(out, i, sketch.load(table, sketch.place_of(at, table_size - 1), is_inside));
      sketch.close();
      Code code = compile_legalised(std::span(&sketch.kernel(), 1));
      visit_any_dtype(dtype, [&]<class T>() {
        std::vector<std::int64_t> at_values;
        // Far outside: a read would fault.
        for (std::int64_t k = 0; k < size; ++k)
          at_values.push_back(k % 3 == 0 ? std::int64_t{1} << 50 : k % table_size);
        Memory from = filled<T>(table_size);
        Memory to(size * sizeof(T));
        void* pointers[] = {at_values.data(), from.data(), to.data()};
        code.functions[0](nullptr, pointers, 0, size);
        for (std::int64_t k = 0; k < size; ++k) {
          T expected = k % 3 == 0 ? T{} : element<T>(k % table_size);
          EXPECT_TRUE(holds(to, k, expected))
              << name(dtype) << " width " << form.first << " at " << k;
        }
      });
    }
  }
}

// A pad by index map: out[i] = low <= i < low + inside ? in[first + (i - low) * stride] : 0.
struct Pad {
  std::int64_t inside, stride, first;
};
constexpr Pad pads[] = {
    {40, 1, 0}, {40, -1, 39}, {40, 3, 0}, {40, -2, 78}, {1, std::int64_t{1} << 40, 0}};

TEST(Memory, ReadsNothingOutsideAMask) {
  constexpr std::int64_t low = 5, size = 60;
  for (const CpuModel& cpu : cpus()) {
    for (const Pad& pad : pads) {
      for (auto form : forms) {
        KernelSketch sketch("pad");
        auto in = sketch.buffer(Access::read, f32, 3 * pad.inside);
        auto none = sketch.buffer(Access::read, f32, 0);
        auto out = sketch.buffer(Access::write, f32, size);
        Index i = sketch.open(range(size, form.first, form.second));
        Index shifted = sketch.add(i, -low);
        Ref place = sketch.scalar(shifted);
        Ref after = sketch.compute(bool_, Op::compare, {place, sketch.number(std::int64_t{0})},
                                   Comparison::ge);
        Ref before =
            sketch.compute(bool_, Op::compare, {place, sketch.number(pad.inside)}, Comparison::lt);
        Ref mask = sketch.compute(bool_, Op::and_, {after, before});
        Ref never = sketch.constant(bool_, 0);
        Ref nothing = sketch.load(none, sketch.at(123), never);
        Index at = sketch.add(sketch.multiply(shifted, pad.stride), pad.first);
        sketch.store(out, i, sketch.add(sketch.load(in, at, mask), nothing));
        sketch.close();
        Code code = compile_legalised(std::span(&sketch.kernel(), 1), cpu);
        Memory from = filled<float>(3 * pad.inside);
        Memory to(size * sizeof(float));
        void* pointers[] = {from.data(), nullptr, to.data()};
        code.functions[0](nullptr, pointers, 0, size);
        for (std::int64_t k = 0; k < size; ++k) {
          const bool is_inside = k >= low && k < low + pad.inside;
          const std::int64_t source = is_inside ? pad.first + (k - low) * pad.stride : 0;
          EXPECT_TRUE(holds(to, k, is_inside ? element<float>(source) : 0.0f))
              << cpu.name << ": stride " << pad.stride << " at " << k;
        }
      }
    }
  }
}

// out[i] = i % by < inside ? in[place] : 0, where place = first + i / by * of_quotient
//   + i % by * of_remainder + i * of_index
struct Stepped {
  std::int64_t by, of_quotient, of_remainder, of_index, first, inside;
};
constexpr std::int64_t any = 1 << 20;
constexpr Stepped stepped[] = {
    {3, 0, 1, 0, 0, any},  // one row, again and again
    {10, 0, 1, 0, 0, any},    {31, 0, 1, 0, 0, any},
    {3, 1, 0, 0, 0, any},                             // each element, again and again
    {10, 1, 0, 0, 2, any},    {2, 3, 1, 0, 1, any},   // part of each row
    {9, 10, 1, 0, 0, any},    {3, 3, -1, 0, 2, any},  // each row backwards
    {12, 12, -1, 0, 11, any}, {4, 3, 1, 0, 0, 3},     // rows with something behind
    {5, 3, 1, 0, -1, 4},      {7, 2, 0, 1, 0, any},
    {200, 201, 1, 0, 0, any}, {6, -2, 1, 0, 180, any},
    {64, 0, 3, 0, 0, any},    {1000, 5, 1, 0, 0, any},
};

/// A copy of memory between pages that no one may read: right behind the one, or right before the
/// other.
class Guarded {
 public:
  Guarded(Memory& memory, std::size_t bytes, bool is_first) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inside = (bytes + page - 1) / page * page;
    size_ = inside + 2 * page;
    pages_ = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages_ == MAP_FAILED) throw std::bad_alloc();
    auto* begin = static_cast<std::byte*>(pages_) + page;
    mprotect(begin, inside, PROT_READ | PROT_WRITE);
    data_ = is_first ? begin : begin + inside - bytes;
    std::memcpy(data_, memory.data(), bytes);
  }
  ~Guarded() { munmap(pages_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  void* data() { return data_; }

 private:
  std::size_t size_ = 0;
  void* pages_ = nullptr;
  std::byte* data_ = nullptr;
};

bool is_read(const Stepped& step, std::int64_t i) {
  const std::int64_t rest = i % step.by;
  return rest < step.inside && rest >= (step.first < 0 ? 1 : 0);
}

std::int64_t place(const Stepped& step, std::int64_t i) {
  return step.first + i / step.by * step.of_quotient + i % step.by * step.of_remainder +
         i * step.of_index;
}

constexpr std::int64_t stepped_size = 517;

std::int64_t extent(const Stepped& step) {
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < stepped_size; ++i) {
    if (is_read(step, i)) last = std::max(last, place(step, i));
  }
  return last + 1;
}

Kernel kernel_of(const Stepped& step, Dtype dtype, std::pair<int, int> form) {
  KernelSketch sketch("steps");
  auto in = sketch.buffer(Access::read, dtype, extent(step));
  auto out = sketch.buffer(Access::write, dtype, stepped_size);
  Index i = sketch.open(range(stepped_size, form.first, form.second));
  const Index rest = sketch.remainder(i, step.by);
  Index at = sketch.add(sketch.multiply(sketch.divide(i, step.by), step.of_quotient),
                        sketch.multiply(rest, step.of_remainder));
  at = sketch.add(sketch.add(at, sketch.multiply(i, step.of_index)), step.first);
  Ref mask;
  if (step.inside != any) {
    const auto compare = [&](std::int64_t with, Comparison how) {
      return sketch.compute(bool_, Op::compare, {sketch.scalar(rest), sketch.number(with)}, how);
    };
    mask = sketch.compute(
        bool_, Op::and_,
        {compare(step.inside, Comparison::lt), compare(step.first < 0 ? 1 : 0, Comparison::ge)});
  }
  sketch.store(out, i, sketch.load(in, at, mask));
  sketch.close();
  return sketch.kernel();
}

template <class T>
void check_steps(Dtype dtype, const CpuModel& cpu) {
  const int lanes = std::max(8, 64 / static_cast<int>(sizeof(T)));
  std::vector<Kernel> kernels;
  for (const Stepped& step : stepped) {
    for (auto form : {std::pair{1, 1}, {lanes, 2}, {16, 1}}) {
      kernels.push_back(kernel_of(step, dtype, form));
      kernels.back().name += std::to_string(kernels.size());
    }
  }
  Code code = compile_legalised(kernels, cpu);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Stepped& step = stepped[k / 3];
    Memory elements = filled<T>(extent(step));
    for (bool is_first : {false, true}) {
      Guarded from(elements, static_cast<std::size_t>(extent(step)) * sizeof(T), is_first);
      Memory to(stepped_size * sizeof(T));
      void* pointers[] = {from.data(), to.data()};
      code.functions[k](nullptr, pointers, 0, 131);
      code.functions[k](nullptr, pointers, 131, stepped_size);
      for (std::int64_t i = 0; i < stepped_size; ++i) {
        ASSERT_TRUE(holds(to, i, is_read(step, i) ? element<T>(place(step, i)) : T{}))
            << name(dtype) << " by " << step.by << ", " << step.of_quotient << " "
            << step.of_remainder << " at " << i << ", form " << k % 3;
      }
      EXPECT_TRUE(to.is_intact());
    }
  }
}

TEST(Memory, ReadsInSteps) {
  std::vector<CpuModel> models = cpus();
  CpuModel wide_words = host_cpu();  // that looks up no bytes
  if (const auto at = wide_words.features.find("+avx512vbmi,"); at != std::string::npos) {
    wide_words.features[at] = '-';
    models.push_back(wide_words);
  }
  for (const CpuModel& cpu : models) {
    SCOPED_TRACE(cpu.name);
    for (Dtype dtype : {bool_, u8, u16, f32, f64, c64}) {
      visit_any_dtype(dtype, [&]<class T>() { check_steps<T>(dtype, cpu); });
    }
  }
}

// Lanes that are near each other are chosen from what lies between them; behind the last one
// nothing may be.
TEST(Memory, ReadsNothingBehindTheLastLane) {
  constexpr std::int64_t size = 64;
  for (const CpuModel& cpu : cpus()) {
    for (Dtype dtype : {i32, f32, f64, u64}) {
      for (std::int64_t stride : {2, 3, 4, 5}) {
        const std::int64_t extent = (size - 1) * stride + 1;
        KernelSketch sketch("near");
        auto in = sketch.buffer(Access::read, dtype, extent);
        auto out = sketch.buffer(Access::write, dtype, size);
        Index i = sketch.open(range(size, 16, 2));
        sketch.store(out, i, sketch.load(in, sketch.multiply(i, stride)));
        sketch.close();
        Code code = compile_legalised(std::span(&sketch.kernel(), 1), cpu);
        visit_any_dtype(dtype, [&]<class T>() {
          Memory elements = filled<T>(extent);
          for (bool is_first : {false, true}) {
            Guarded from(elements, static_cast<std::size_t>(extent) * sizeof(T), is_first);
            Memory to(size * sizeof(T));
            void* pointers[] = {from.data(), to.data()};
            code.functions[0](nullptr, pointers, 0, size);
            for (std::int64_t k = 0; k < size; ++k) {
              ASSERT_TRUE(holds(to, k, element<T>(k * stride)))
                  << cpu.name << " " << name(dtype) << " by " << stride << " at " << k;
            }
          }
        });
      }
    }
  }
}

// All lanes of a row share its mask; the rows that it leaves out would be far outside.
TEST(Memory, ReadsNothingOfAMaskedRow) {
  constexpr std::int64_t row_count = 3, size = 21, stride = 4;
  for (const CpuModel& cpu : cpus()) {
    KernelSketch sketch("masked_row");
    auto in = sketch.buffer(Access::read, f64, size * stride);
    auto out = sketch.buffer(Access::write, f64, row_count * size);
    Index row = sketch.open(range(row_count));
    Ref is_first = sketch.compute(
        bool_, Op::compare, {sketch.scalar(row), sketch.number(std::int64_t{1})}, Comparison::lt);
    Index k = sketch.open(rows(size, 8, 2));
    Index at = sketch.add(sketch.multiply(row, std::int64_t{1} << 40), sketch.multiply(k, stride));
    sketch.store(out, sketch.add(sketch.multiply(row, size), k), sketch.load(in, at, is_first));
    sketch.close();
    sketch.close();
    Code code = compile_legalised(std::span(&sketch.kernel(), 1), cpu);
    Memory from = filled<double>(size * stride);
    Memory to(row_count * size * sizeof(double));
    void* pointers[] = {from.data(), to.data()};
    code.functions[0](nullptr, pointers, 0, row_count);
    for (std::int64_t i = 0; i < row_count * size; ++i) {
      EXPECT_TRUE(holds(to, i, i < size ? element<double>(i * stride) : 0.0))
          << cpu.name << " at " << i;
    }
  }
}

// Each row is reversed through scratch memory of its own.
TEST(Memory, GivesEachRowItsScratch) {
  constexpr std::int64_t row_count = 6;
  for (std::int64_t size : {std::int64_t{50}, std::int64_t{40'000}}) {
    KernelSketch sketch("scratch");
    auto in = sketch.buffer(Access::read, f32, row_count * size);
    auto out = sketch.buffer(Access::write, f32, row_count * size);
    auto first = sketch.buffer(Access::scratch, f32, size);
    auto second = sketch.buffer(Access::scratch, f32, size);
    Index row = sketch.open(range(row_count));
    Index base = sketch.multiply(row, size);
    Index j = sketch.open(rows(size, 16, 2));
    Ref value = sketch.load(in, sketch.add(base, j));
    sketch.store(first, j, value);
    sketch.store(second, j, sketch.add(value, value));
    sketch.close();
    Index k = sketch.open(rows(size, 16, 2));
    Index back = sketch.add(sketch.multiply(k, -1), size - 1);
    sketch.store(out, sketch.add(base, k),
                 sketch.add(sketch.load(first, back), sketch.load(second, back)));
    sketch.close();
    sketch.close();
    Code code = compile_legalised(std::span(&sketch.kernel(), 1));
    Memory from = filled<float>(row_count * size);
    Memory to(static_cast<std::size_t>(row_count * size) * sizeof(float));
    void* pointers[] = {from.data(), to.data()};
    code.functions[0](nullptr, pointers, 0, 2);
    code.functions[0](nullptr, pointers, 2, row_count);
    for (std::int64_t i = 0; i < row_count * size; ++i) {
      const std::int64_t mirrored = i / size * size + size - 1 - i % size;
      ASSERT_TRUE(holds(to, i, 3 * element<float>(mirrored))) << "at " << i;
    }
  }
}

// What is loaded from one place all the time is not what was there before the loop.
TEST(Memory, ReadsWhatEachTurnHasWritten) {
  constexpr std::int64_t size = 50;
  KernelSketch sketch("kept");
  auto in = sketch.buffer(Access::read, f32, size);
  auto out = sketch.buffer(Access::write, f32, size);
  auto kept = sketch.buffer(Access::scratch, f32, 1);
  Index zero = sketch.at(0);
  Index i = sketch.open(range(size));
  sketch.store(kept, zero, sketch.load(in, i));
  Ref back = sketch.load(kept, zero);
  sketch.store(out, i, sketch.add(back, back));
  sketch.close();
  Code code = compile_legalised(std::span(&sketch.kernel(), 1));
  Memory from = filled<float>(size);
  Memory to(size * sizeof(float));
  void* pointers[] = {from.data(), to.data()};
  code.functions[0](nullptr, pointers, 0, size);
  for (std::int64_t k = 0; k < size; ++k) {
    EXPECT_TRUE(holds(to, k, 2 * element<float>(k))) << "at " << k;
  }
}

// More values than there are registers live across a call of a function of ours: none of those on
// the stack crosses a cache line, wherever the caller's stack is.
TEST(Spills, OfVectorsAreAligned) {
  constexpr int values = 24;
  const auto kernel = [](int width) {
    KernelSketch sketch("spills");
    auto in = sketch.buffer(Access::read, f32, 4096);
    auto out = sketch.buffer(Access::write, f32, 1024);
    Index i = sketch.open(range(1024, width));
    std::vector<Ref> sines;
    for (int k = 0; k < values; ++k) {
      sines.push_back(sketch.compute(f32, Op::sine, {sketch.load(in, sketch.add(i, 100 * k))}));
    }
    Ref sum = sines.back();
    for (int k = 0; k < values; ++k) sum = sketch.add(sketch.multiply(sum, sum), sines[k]);
    sketch.store(out, i, sum);
    sketch.close();
    return sketch.kernel();
  };
  EXPECT_NE(llvm_text(kernel(16)).find("alignstack"), std::string::npos);
  EXPECT_EQ(llvm_text(kernel(1)).find("alignstack"), std::string::npos);
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx512f")) return;
  std::string text = assembly_text(kernel(16));
  text.resize(text.find(".size"));  // functions that it calls follow
  const std::regex on_stack("vmov[a-z]ps\\s+(%zmm[0-9]+, [0-9]*\\(%rsp\\)|[0-9]*\\(%rsp\\), %zmm)");
  const std::regex unaligned("vmovups\\s+(%zmm[0-9]+, [0-9]*\\(%rsp\\)|[0-9]*\\(%rsp\\), %zmm)");
  EXPECT_TRUE(std::regex_search(text, on_stack)) << text;
  EXPECT_FALSE(std::regex_search(text, unaligned)) << text;
#endif
}

// Two rows of 100 elements: the second one begins where no vector is aligned.
Kernel non_temporal_kernel(std::int64_t row_size) {
  KernelSketch sketch("non_temporal");
  auto in = sketch.buffer(Access::read, f32, 4 * row_size);
  auto out = sketch.buffer(Access::write, f32, 4 * row_size);
  Index row = sketch.open(range(4));
  Index base = sketch.multiply(row, row_size);
  Index j = sketch.open(rows(row_size, 16, 2));
  Index at = sketch.add(base, j);
  sketch.store(out, at, sketch.load(in, at), true);
  sketch.close();
  sketch.close();
  return sketch.kernel();
}

TEST(NonTemporalStores, AreUsedWhereTheyAreAligned) {
  Kernel aligned = non_temporal_kernel(128), unaligned = non_temporal_kernel(100);
  EXPECT_NE(llvm_text(aligned).find("!nontemporal"), std::string::npos);
  EXPECT_EQ(llvm_text(unaligned).find("!nontemporal"), std::string::npos);
  for (const Kernel& kernel : {aligned, unaligned}) {
    Code code = compile_legalised(std::span(&kernel, 1));
    const std::int64_t size = kernel.buffers[0].size;
    Memory from = filled<float>(size);
    Memory to(static_cast<std::size_t>(size) * sizeof(float));
    void* pointers[] = {from.data(), to.data()};
    code.functions[0](nullptr, pointers, 0, 4);
    for (std::int64_t i = 0; i < size; ++i) EXPECT_TRUE(holds(to, i, element<float>(i)));
  }
}

TEST(NonTemporalStores, SurviveAnyRange) {
  constexpr std::int64_t size = 400;
  KernelSketch sketch("range");
  auto in = sketch.buffer(Access::read, f32, size);
  auto out = sketch.buffer(Access::write, f32, size);
  Index i = sketch.open(range(size, 16, 2));
  sketch.store(out, i, sketch.load(in, i), true);
  sketch.close();
  Code code = compile_legalised(std::span(&sketch.kernel(), 1));
  Memory from = filled<float>(size);
  for (std::int64_t cut = 0; cut <= size; cut += 7) {
    Memory to(size * sizeof(float));
    void* pointers[] = {from.data(), to.data()};
    code.functions[0](nullptr, pointers, cut, size);
    code.functions[0](nullptr, pointers, 0, cut);
    for (std::int64_t k = 0; k < size; ++k) ASSERT_TRUE(holds(to, k, element<float>(k)));
    EXPECT_TRUE(to.is_intact());
  }
}

}  // namespace
}  // namespace anabranch::cpu
