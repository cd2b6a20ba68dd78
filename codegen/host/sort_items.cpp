#include "codegen/host/sort_items.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace anabranch::host {
namespace {

// It has a buffer of its own, and takes no memory after that.
template <class Item>
void sort_by_vectors(Item* items, std::int64_t count) {
  thread_local const hwy::Sorter sorter;
  sorter(items, static_cast<std::size_t>(count), hwy::SortAscending());
}

constexpr int digit_bits = 8, digits = 4;
constexpr std::size_t digit_values = 1 << digit_bits;

std::size_t digit_of(std::uint32_t item, int digit) {
  return (item >> (digit_bits * digit)) % digit_values;
}

// By the digits from the lowest to the highest, each pass stable (Knuth, The Art of Computer
// Programming, vol. 3, 5.2.5). A digit that all items share costs nothing.
void sort_by_digits(std::uint32_t* items, std::int64_t count, std::uint32_t* scratch) {
  std::array<std::array<std::int64_t, digit_values>, digits> counts{};
  for (std::int64_t i = 0; i < count; ++i) {
    for (int digit = 0; digit < digits; ++digit) {
      ++counts[static_cast<std::size_t>(digit)][digit_of(items[i], digit)];
    }
  }
  std::uint32_t *from = items, *to = scratch;
  for (int digit = 0; digit < digits; ++digit) {
    auto& places = counts[static_cast<std::size_t>(digit)];
    if (places[digit_of(items[0], digit)] == count) continue;
    std::int64_t before = 0;
    for (std::int64_t& place : places) before += std::exchange(place, before);
    for (std::int64_t i = 0; i < count; ++i) to[places[digit_of(from[i], digit)]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::copy_n(from, count, items);
}

}  // namespace

// Highway's sort of 32-bit integers takes four times as long as that of 64-bit ones where
// compressing stores are slow (Zen 4 and 5, Highway 1.0.3), and digits win there from 512 on.
void sort_items(std::uint32_t* items, std::int64_t count, std::uint32_t* scratch) {
  if (count < 512) {
    sort_by_vectors(items, count);
  } else {
    sort_by_digits(items, count, scratch);
  }
}

void sort_items(std::uint64_t* items, std::int64_t count, std::uint64_t*) {
  sort_by_vectors(items, count);
}

void sort_items(hwy::uint128_t* items, std::int64_t count, hwy::uint128_t*) {
  sort_by_vectors(items, count);
}

}  // namespace anabranch::host
