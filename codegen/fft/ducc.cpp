#include "codegen/fft/ducc.h"

#ifndef ANABRANCH_FFT_SET
#define ANABRANCH_FFT_SET baseline
#endif
#define JOINED(a, b) a##b
#define NAME_OF_SET(prefix, set) JOINED(prefix, set)
#define DUCC0_NAMESPACE NAME_OF_SET(anabranch_ducc0_, ANABRANCH_FFT_SET)
#define DUCC0_NO_FFT_CACHE  // there is another one below

// The library in this one file: its headers ask for these two sources.
#include <ducc0/infra/string_utils.cc>
#include <ducc0/infra/threading.cc>
// Then the transforms.
#include <ducc0/fft/fft.h>
#include <ducc0/fft/fftnd_impl.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace {

namespace ducc = DUCC0_NAMESPACE;
using anabranch::fft::Factors;
using anabranch::fft::Functions;
using anabranch::fft::Kernels;
using anabranch::fft::Lines;

// ducc0 makes vectors of four parts of a single line where the CPU has them: for floats all have.
// Doubles of a line stay alone, so that their bits are those of the baseline.
template <class T>
constexpr bool is_split = sizeof(T) == sizeof(float);

// ducc0 would take another plan for the lines that are left when vectors are filled.
template <class T, bool split>
struct Plan : ducc::detail_fft::pocketfft_c<T> {
  Plan(std::size_t length, bool) : ducc::detail_fft::pocketfft_c<T>(length, split) {}
};

// A plan, from those that were used last where it is there. They are never destroyed, as in ducc0's
// own cache they are when a process leaves main: transforms may still run then.
template <class P>
std::shared_ptr<P> kept_plan(std::size_t length, bool vectorize) {
  constexpr std::size_t most_plans = 10, most_bytes = std::size_t{1} << 20;
  struct Entry {
    std::size_t length;
    bool vectorize;
    std::shared_ptr<P> plan;
  };
  struct Plans {
    std::mutex mutex;
    std::vector<Entry> latest_first;
  };
  static Plans& plans = *new Plans;
  auto& entries = plans.latest_first;
  const auto find = [&]() -> std::shared_ptr<P> {
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
      return entry.length == length && entry.vectorize == vectorize;
    });
    if (found == entries.end()) return nullptr;
    std::rotate(entries.begin(), found, found + 1);
    return entries.front().plan;
  };
  {
    std::lock_guard lock(plans.mutex);
    if (auto known = find()) return known;
  }
  auto made = std::make_shared<P>(length, vectorize);
  if (made->footprint() > most_bytes) return made;
  std::lock_guard lock(plans.mutex);
  if (auto known = find()) return known;
  if (entries.size() == most_plans) entries.pop_back();
  entries.insert(entries.begin(), {length, vectorize, made});
  return made;
}

// Two axes where one has a single place: ducc0 sees then that its lines are equally far apart.
struct View {
  std::vector<std::size_t> sizes;
  std::vector<std::ptrdiff_t> strides;

  View(const Lines& lines, const Lines::Strides& by, std::int64_t length) {
    if (lines.outer > 1) add(lines.outer, by.outer);
    if (lines.inner > 1 || sizes.empty()) add(lines.inner, by.inner);
    add(length, by.along);
  }
  std::size_t axis() const { return sizes.size() - 1; }

 private:
  void add(std::int64_t size, std::int64_t stride) {
    sizes.push_back(static_cast<std::size_t>(size));
    strides.push_back(stride);
  }
};

}  // namespace

// Where ducc0 asks for plans: of all that the functions below transform by.
namespace DUCC0_NAMESPACE::detail_fft {
namespace {

#define KEEP_PLANS(...)                                                                    \
  template <>                                                                              \
  std::shared_ptr<__VA_ARGS__> get_plan<__VA_ARGS__>(std::size_t length, bool vectorize) { \
    return kept_plan<__VA_ARGS__>(length, vectorize);                                      \
  }
KEEP_PLANS(Plan<float, false>)
KEEP_PLANS(Plan<float, true>)
KEEP_PLANS(Plan<double, false>)
KEEP_PLANS(pocketfft_r<float>)
KEEP_PLANS(pocketfft_r<double>)

}  // namespace
}  // namespace DUCC0_NAMESPACE::detail_fft

namespace {

template <class T>
void complex_to_complex(const Lines& lines, const std::complex<T>* from, std::complex<T>* to,
                        bool forward, T scale) {
  using C = ducc::Cmplx<T>;
  const auto* in = reinterpret_cast<const C*>(from);
  auto* out = reinterpret_cast<C*>(to);
  const ducc::detail_fft::ExecC2C transform{forward};
  if (lines.is_alone) {
    const std::vector<std::size_t> sizes{static_cast<std::size_t>(lines.length)};
    ducc::detail_fft::general_nd<Plan<T, is_split<T>>>(
        ducc::cfmav<C>(in, sizes), ducc::vfmav<C>(out, sizes), {0}, scale, 1, transform);
  } else {
    const View from_view(lines, lines.from, lines.length), to_view(lines, lines.to, lines.length);
    ducc::detail_fft::general_nd<Plan<T, false>>(
        ducc::cfmav<C>(in, from_view.sizes, from_view.strides),
        ducc::vfmav<C>(out, to_view.sizes, to_view.strides), {to_view.axis()}, scale, 1, transform);
  }
}

template <class T>
void real_to_complex(const Lines& lines, const T* from, std::complex<T>* to) {
  const std::int64_t half = lines.length / 2 + 1;
  if (lines.is_alone && is_split<T>) {
    ducc::r2c(ducc::cfmav<T>(from, {static_cast<std::size_t>(lines.length)}),
              ducc::vfmav<std::complex<T>>(to, {static_cast<std::size_t>(half)}), 0, true, T(1), 1);
  } else {
    const View from_view(lines, lines.from, lines.length), to_view(lines, lines.to, half);
    ducc::r2c(ducc::cfmav<T>(from, from_view.sizes, from_view.strides),
              ducc::vfmav<std::complex<T>>(to, to_view.sizes, to_view.strides), to_view.axis(),
              true, T(1), 1);
  }
}

template <class T>
void complex_to_real(const Lines& lines, const std::complex<T>* from, T* to, T scale) {
  const std::int64_t half = lines.length / 2 + 1;
  if (lines.is_alone && is_split<T>) {
    ducc::c2r(ducc::cfmav<std::complex<T>>(from, {static_cast<std::size_t>(half)}),
              ducc::vfmav<T>(to, {static_cast<std::size_t>(lines.length)}), 0, false, scale, 1);
  } else {
    const View from_view(lines, lines.from, half), to_view(lines, lines.to, lines.length);
    ducc::c2r(ducc::cfmav<std::complex<T>>(from, from_view.sizes, from_view.strides),
              ducc::vfmav<T>(to, to_view.sizes, to_view.strides), to_view.axis(), false, scale, 1);
  }
}

#if defined(__AVX512F__)
constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif
template <class T>
using Vector [[gnu::vector_size(vector_bytes)]] = T;

// The same roundings as for one number, whose sums have the other order.
template <class V, std::size_t... i>
void multiply_vector(V& value, const V& fine, const V& real, const V& imag, const V& signs,
                     std::index_sequence<i...>) {
  const V fine_real = __builtin_shufflevector(fine, fine, (i & ~std::size_t{1})...);
  const V fine_imag = __builtin_shufflevector(fine, fine, (i | 1)...);
  const V factor_real = fine_real * real - fine_imag * imag;
  const V factor_imag = fine_real * imag + fine_imag * real;
  const V swapped = __builtin_shufflevector(value, value, (i ^ 1)...);
  value = value * factor_real + swapped * (factor_imag * signs);
}

template <class T>
void multiply(std::complex<T>* values, std::int64_t rows, std::int64_t columns, std::int64_t stride,
              const Factors<T>& factors) {
  using V = Vector<T>;
  constexpr std::int64_t lanes = sizeof(V) / sizeof(T);
  V signs;
  for (std::int64_t i = 0; i < lanes; ++i) signs[i] = i % 2 == 0 ? T(-1) : T(1);
  for (std::int64_t row = 0; row < rows; ++row) {
    T* const to = reinterpret_cast<T*>(values + row * stride);
    const T* const fine = reinterpret_cast<const T*>(factors.fine + row * factors.fine_stride);
    const T real = factors.coarse[row].real(), imag = factors.coarse[row].imag();
    const V all_real = real - V{}, all_imag = imag - V{};
    std::int64_t i = 0;
    for (; i + lanes <= 2 * columns; i += lanes) {
      V value, factor;
      std::memcpy(&value, to + i, sizeof value);
      std::memcpy(&factor, fine + i, sizeof factor);
      multiply_vector(value, factor, all_real, all_imag, signs, std::make_index_sequence<lanes>());
      std::memcpy(to + i, &value, sizeof value);
    }
    for (; i < 2 * columns; i += 2) {
      const T factor_real = fine[i] * real - fine[i + 1] * imag;
      const T factor_imag = fine[i] * imag + fine[i + 1] * real;
      const T x = to[i], y = to[i + 1];
      to[i] = x * factor_real - y * factor_imag;
      to[i + 1] = y * factor_real + x * factor_imag;
    }
  }
}

template <class T>
constexpr Functions<T> functions{complex_to_complex<T>, real_to_complex<T>, complex_to_real<T>,
                                 multiply<T>};

constexpr Kernels kernels{functions<float>, functions<double>};

}  // namespace

const Kernels* NAME_OF_SET(anabranch_fft_, ANABRANCH_FFT_SET)() { return &kernels; }
