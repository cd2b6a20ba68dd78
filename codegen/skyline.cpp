#include "codegen/skyline.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace anabranch {

Skyline::Skyline(const std::vector<std::size_t>& bytes, const std::vector<std::uint32_t>& ends)
    : bytes_(bytes), ends_(ends), leaf_(bytes.size()), stretches_(bytes.size() + 1) {
  std::vector<std::uint32_t> blocks(bytes.size());
  std::iota(blocks.begin(), blocks.end(), 0);
  std::size_t leaves = 1;
  while (leaves < blocks.size()) leaves *= 2;
  nodes_.resize(2 * leaves);
  build(1, 0, static_cast<std::uint32_t>(blocks.size()), true, blocks);
}

void Skyline::build(std::uint32_t node, std::uint32_t from, std::uint32_t to, bool by_end,
                    std::vector<std::uint32_t>& blocks) {
  if (to - from == 1) {
    const std::uint32_t block = blocks[from];
    leaf_[block] = node;
    nodes_[node] = {none, block, block, ends_[block], ends_[block]};
    return;
  }
  const std::uint32_t middle = from + (to - from) / 2;
  std::nth_element(blocks.begin() + from, blocks.begin() + middle, blocks.begin() + to,
                   [&](std::uint32_t a, std::uint32_t b) {
                     return by_end ? std::pair(ends_[a], a) < std::pair(ends_[b], b) : a < b;
                   });
  build(2 * node, from, middle, !by_end, blocks);
  build(2 * node + 1, middle, to, !by_end, blocks);
  const Node &a = nodes_[2 * node], &b = nodes_[2 * node + 1];
  nodes_[node] = {none, std::min(a.least_begin, b.least_begin),
                  std::max(a.greatest_begin, b.greatest_begin), std::min(a.least_end, b.least_end),
                  std::max(a.greatest_end, b.greatest_end)};
}

// The first of the order that is live within [begin, end).
void Skyline::find(std::uint32_t node, std::uint32_t begin, std::uint32_t end,
                   std::uint32_t& found) const {
  const Node& here = nodes_[node];
  if (here.first >= found || here.greatest_begin < begin || here.least_end > end) return;
  if (here.least_begin >= begin && here.greatest_end <= end) {
    found = here.first;
    return;
  }
  const std::uint32_t child = 2 * node + (nodes_[2 * node + 1].first < nodes_[2 * node].first);
  find(child, begin, end, found);
  find(child ^ 1, begin, end, found);
}

void Skyline::take(std::uint32_t block) {
  std::uint32_t node = leaf_[block];
  nodes_[node].first = none;
  while ((node /= 2) > 0) {
    nodes_[node].first = std::min(nodes_[2 * node].first, nodes_[2 * node + 1].first);
  }
}

void Skyline::push(std::uint32_t at) {
  lowest_.emplace_back(stretches_[at].height, at);
  std::push_heap(lowest_.begin(), lowest_.end(), std::greater<>());
}

std::uint32_t Skyline::lowest() {
  for (;;) {
    const auto [height, at] = lowest_.front();
    std::pop_heap(lowest_.begin(), lowest_.end(), std::greater<>());
    lowest_.pop_back();
    if (stretches_[at].end != 0 && stretches_[at].height == height) return at;
  }
}

// With those beside it that are as high; where the whole begins.
std::uint32_t Skyline::joined(std::uint32_t at) {
  const auto absorb = [&](std::uint32_t left, std::uint32_t right) {
    const std::uint32_t end = stretches_[right].end;
    stretches_[left].end = end;
    stretches_[right].end = 0;
    if (end < bytes_.size()) stretches_[end].left = left;
  };
  const std::uint32_t end = stretches_[at].end, left = stretches_[at].left;
  const std::size_t height = stretches_[at].height;
  if (end < bytes_.size() && stretches_[end].height == height) absorb(at, end);
  if (left == none || stretches_[left].height != height) return at;
  absorb(left, at);
  return left;
}

// Part of one stretch.
void Skyline::raise(std::uint32_t begin, std::uint32_t end, std::uint32_t at, std::size_t height) {
  const Stretch whole = stretches_[at];
  if (at < begin) {
    stretches_[at].end = begin;
    push(at);
  }
  stretches_[begin] = {height, end, at < begin ? at : whole.left};
  if (end < whole.end) {
    stretches_[end] = {whole.height, whole.end, begin};
    push(end);
  }
  if (whole.end < bytes_.size()) stretches_[whole.end].left = end < whole.end ? end : begin;
  push(joined(begin));
}

bool Skyline::pack(const std::vector<std::uint32_t>& order, std::size_t limit,
                   std::vector<std::size_t>& offsets) {
  const auto count = static_cast<std::uint32_t>(bytes_.size());
  for (std::uint32_t i = 0; i < count; ++i) nodes_[leaf_[order[i]]].first = i;
  for (std::size_t i = nodes_.size() / 2; i-- > 1;) {
    if (nodes_[i].least_begin == nodes_[i].greatest_begin) continue;  // a leaf
    nodes_[i].first = std::min(nodes_[2 * i].first, nodes_[2 * i + 1].first);
  }
  std::fill(stretches_.begin(), stretches_.end(), Stretch{});
  stretches_[0] = {0, count, none};
  lowest_.assign(1, {0, 0});
  for (std::uint32_t left = count; left > 0;) {
    const std::uint32_t at = lowest();
    const Stretch here = stretches_[at];
    std::uint32_t found = none;
    find(1, at, here.end, found);
    if (found != none) {
      const std::uint32_t block = order[found];
      const std::size_t top = here.height + bytes_[block];
      if (top >= limit) return false;
      offsets[block] = here.height;
      take(block);
      raise(block, ends_[block], at, top);
      --left;
      continue;
    }
    std::size_t height = SIZE_MAX;
    if (here.left != none) height = stretches_[here.left].height;
    if (here.end < count) height = std::min(height, stretches_[here.end].height);
    if (height >= limit) return false;
    stretches_[at].height = height;
    push(joined(at));
  }
  return true;
}

}  // namespace anabranch
