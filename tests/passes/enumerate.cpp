#include "tests/passes/enumerate.h"

#include <algorithm>
#include <limits>
#include <random>

#include "ir/scalar.h"

namespace anabranch {
namespace {

int width_of(Dtype dtype) { return static_cast<int>(8 * byte_size(dtype)); }

std::uint64_t mask_of(Dtype dtype) { return ~std::uint64_t{0} >> (64 - width_of(dtype)); }

int mantissa_bits(Dtype dtype) {
  return dtype == f16 ? 10 : dtype == bf16 ? 7 : dtype == f32 ? 23 : 52;
}

std::uint64_t bits_of(Dtype dtype, double value) {
  return Literal::scalar(dtype, value).bits(0).low;
}

Bits of_numbers(Dtype dtype, std::initializer_list<double> numbers) {
  Bits bits;
  for (double number : numbers) bits.push_back(bits_of(dtype, number));
  return bits;
}

// All ones of the exponent, and nothing else.
std::uint64_t infinity_of(Dtype dtype) {
  return bits_of(dtype, std::numeric_limits<double>::infinity());
}

Bits without_repeats(Bits bits) {
  std::sort(bits.begin(), bits.end());
  bits.erase(std::unique(bits.begin(), bits.end()), bits.end());
  return bits;
}

}  // namespace

Bits every_value(Dtype dtype) {
  if (dtype == bool_) return {0, 1};
  if (width_of(dtype) > 16) return sample_values(dtype);
  Bits bits(std::size_t{1} << width_of(dtype));
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = i;
  return bits;
}

Bits sample_values(Dtype dtype) {
  if (dtype == bool_) return {0, 1};
  Bits bits = special_values(dtype);
  for (int i = -12; i <= 12; ++i) {
    bits.push_back(is_float(dtype) ? bits_of(dtype, i / 4.0)
                                   : static_cast<std::uint64_t>(i) & mask_of(dtype));
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 160; ++i) bits.push_back(random() & mask_of(dtype));
  return without_repeats(std::move(bits));
}

Bits special_values(Dtype dtype) {
  if (dtype == bool_) return {0, 1};
  if (!is_float(dtype)) {
    const std::uint64_t ones = mask_of(dtype), highest = ones >> 1;
    Bits bits = {0, 1, 2, 3, 7, highest, highest - 1, highest + 1, highest + 2, ones, ones - 1};
    return without_repeats(std::move(bits));
  }
  const std::uint64_t sign = (mask_of(dtype) >> 1) + 1, infinity = infinity_of(dtype);
  const std::uint64_t least_normal = std::uint64_t{1} << mantissa_bits(dtype);
  Bits bits = of_numbers(dtype, {0, 1, 2, 1.5});
  bits.insert(bits.end(), {1, least_normal, least_normal - 1, infinity, infinity - 1});
  for (std::size_t i = 0, count = bits.size(); i < count; ++i) bits.push_back(bits[i] | sign);
  bits.push_back(infinity | least_normal >> 1);  // a quiet NaN
  return without_repeats(std::move(bits));
}

Bits powers_of_two(Dtype dtype) {
  const std::uint64_t sign = (mask_of(dtype) >> 1) + 1;
  const int mantissa = mantissa_bits(dtype);
  Bits bits;
  for (int bit = 0; bit < mantissa; ++bit) bits.push_back(std::uint64_t{1} << bit);
  for (std::uint64_t power = std::uint64_t{1} << mantissa; power < infinity_of(dtype);
       power += std::uint64_t{1} << mantissa) {
    bits.push_back(power);
  }
  for (std::size_t i = 0, count = bits.size(); i < count; ++i) bits.push_back(bits[i] | sign);
  return bits;
}

Bits tame_values(Dtype dtype) {
  return of_numbers(dtype, {0.25,  0.3,  0.5,  0.7,  1,  1.3,  1.75,  2,  3.3,  4,
                            -0.25, -0.3, -0.5, -0.7, -1, -1.3, -1.75, -2, -3.3, -4});
}

std::vector<Literal> combinations(std::span<const Bits> sets, std::span<const Dtype> dtypes) {
  std::size_t count = 1;
  for (const Bits& set : sets) count *= set.size();
  std::vector<Literal> arrays;
  std::size_t repeats = 1;  // of each value in a row
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const std::size_t width = byte_size(dtypes[k]);
    std::vector<std::byte> bytes(count * width);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(bytes.data() + i * width, &sets[k][i / repeats % sets[k].size()], width);
    }
    repeats *= sets[k].size();
    const Shape shape{static_cast<std::int64_t>(count)};
    arrays.emplace_back(Type{dtypes[k], shape}, std::move(bytes));
  }
  return arrays;
}

}  // namespace anabranch
