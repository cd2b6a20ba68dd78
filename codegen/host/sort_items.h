// Sorting and merging of unsigned integers, which all sorts of the host come down to.
#pragma once

#include <hwy/base.h>

#include <cstdint>

namespace anabranch::host {

/// Ascending. `scratch` holds as many.
void sort_items(std::uint32_t* items, std::int64_t count, std::uint32_t* scratch);
void sort_items(std::uint64_t* items, std::int64_t count, std::uint64_t* scratch);
void sort_items(hwy::uint128_t* items, std::int64_t count, hwy::uint128_t* scratch);

inline bool is_less(std::uint32_t a, std::uint32_t b) { return a < b; }
inline bool is_less(std::uint64_t a, std::uint64_t b) { return a < b; }
inline bool is_less(const hwy::uint128_t& a, const hwy::uint128_t& b) {
  return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo;
}

/// How many of the first `count` items of the merge of two sorted lists are of the first (the merge
/// path: Odeh, Green, Mwassi, Shmueli and Birk, IPDPSW 2012).
template <class Item>
std::int64_t taken_of_first(const Item* a, std::int64_t a_size, const Item* b, std::int64_t b_size,
                            std::int64_t count) {
  std::int64_t low = count > b_size ? count - b_size : 0;
  std::int64_t high = count < a_size ? count : a_size;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (is_less(b[count - middle - 1], a[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Items [begin, end) of the merge of two sorted lists, to `to`.
template <class Item>
void merge_range(const Item* a, std::int64_t a_size, const Item* b, std::int64_t b_size,
                 std::int64_t begin, std::int64_t end, Item* to) {
  std::int64_t i = taken_of_first(a, a_size, b, b_size, begin);
  std::int64_t j = begin - i;
  while (begin < end && i < a_size && j < b_size) {
    const bool from_b = is_less(b[j], a[i]);  // without a branch, which none could predict
    *to++ = from_b ? b[j] : a[i];
    j += from_b;
    i += !from_b;
    ++begin;
  }
  while (begin < end && i < a_size) *to++ = a[i++], ++begin;
  while (begin < end && j < b_size) *to++ = b[j++], ++begin;
}

}  // namespace anabranch::host
