#include "codegen/memory/skyline.h"

#include <algorithm>
#include <utility>

namespace anabranch {

void Skyline::Bounds::add(Bounds other) {
  least = std::min(least, other.least);
  greatest = std::max(greatest, other.greatest);
}

Skyline::Skyline(const Lifetimes& lifetimes) : lifetimes_(lifetimes) {
  std::vector<std::vector<std::uint32_t>> things(lifetimes.streams);
  for (std::uint32_t i = 0; i < lifetimes.size(); ++i) things[lifetimes.stream[i]].push_back(i);
  nodes_.reserve(2 * lifetimes.size());
  over_.reserve(2 * lifetimes.size() * lifetimes.streams);
  for (std::vector<std::uint32_t>& of_stream : things) {
    const auto from = of_stream.data(), to = from + of_stream.size();
    roots_.push_back(from == to ? none : build(from, to, true));
  }
}

std::uint32_t Skyline::build(std::uint32_t* from, std::uint32_t* to, bool by_end) {
  const auto node = static_cast<std::uint32_t>(nodes_.size());
  const std::uint32_t streams = lifetimes_.streams;
  nodes_.emplace_back();
  over_.resize(over_.size() + streams);
  if (to - from == 1) {
    nodes_[node].thing = *from;
    nodes_[node].begin = {*from, *from};
    for (std::uint32_t s = 0; s < streams; ++s) {
      const std::uint32_t end = lifetimes_.over[*from * streams + s];
      over(node, s) = {end, end};
    }
    return node;
  }
  std::uint32_t* const middle = from + (to - from) / 2;
  const std::uint32_t stream = lifetimes_.stream[*from];
  std::nth_element(from, middle, to, [&](std::uint32_t a, std::uint32_t b) {
    const auto end = [&](std::uint32_t i) { return lifetimes_.over[i * streams + stream]; };
    return by_end && end(a) != end(b) ? end(a) < end(b) : a < b;
  });
  for (const std::uint32_t child : {build(from, middle, !by_end), build(middle, to, !by_end)}) {
    (nodes_[node].left == none ? nodes_[node].left : nodes_[node].right) = child;
    nodes_[node].begin.add(nodes_[child].begin);
    for (std::uint32_t s = 0; s < streams; ++s) over(node, s).add(over(child, s));
  }
  return node;
}

void Skyline::settle(Node& node, std::size_t height) {
  if (node.first_of_all == none) return;
  node.low = node.high = height;
  node.first = node.first_of_all;
  node.level = true;
}

void Skyline::gather(Node& node) {
  const Node &a = nodes_[node.left], &b = nodes_[node.right];
  node.low = std::min(a.low, b.low);
  node.high = std::max(a.high, b.high);
  node.first = a.low < b.low ? a.first : b.low < a.low ? b.first : std::min(a.first, b.first);
  node.first_of_all = std::min(a.first_of_all, b.first_of_all);
}

void Skyline::start(std::uint32_t node, const std::vector<std::uint32_t>& rank) {
  Node& here = nodes_[node];
  here.level = false;
  if (here.thing != none) {
    here.low = here.high = 0;
    here.first = here.first_of_all = rank[here.thing];
    return;
  }
  start(here.left, rank);
  start(here.right, rank);
  gather(here);
}

// All of the node that may be live beside what is placed; on their stream it is over at `over`.
// Whether any was.
bool Skyline::raise(std::uint32_t node, const Placed& placed, std::uint32_t over) {
  Node& here = nodes_[node];
  if (here.low >= placed.top) return false;
  if (here.thing == placed.thing) {
    here.low = SIZE_MAX;
    here.high = 0;
    here.first = here.first_of_all = none;
    return true;
  }
  if (here.begin.least >= over) return false;
  bool all = here.begin.least > placed.thing && here.begin.greatest < over;
  if (here.begin.greatest < placed.thing) {
    const Bounds end = this->over(node, placed.stream);
    if (end.greatest <= placed.thing) return false;
    all = end.least > placed.thing;
  }
  if (all && here.high <= placed.top) {
    settle(here, placed.top);
    return true;
  }
  if (here.level) {
    settle(nodes_[here.left], here.low);
    settle(nodes_[here.right], here.low);
    here.level = false;
  }
  const bool left = raise(here.left, placed, over), right = raise(here.right, placed, over);
  if (left || right) gather(here);
  return left || right;
}

bool Skyline::pack(const std::vector<std::uint32_t>& order, std::size_t limit,
                   std::vector<std::size_t>& offsets) {
  std::vector<std::uint32_t> rank(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  for (std::uint32_t root : roots_) {
    if (root != none) start(root, rank);
  }
  for (std::size_t left = order.size(); left > 0; --left) {
    std::pair<std::size_t, std::uint32_t> lowest(SIZE_MAX, none);
    for (std::uint32_t root : roots_) {
      if (root != none) lowest = std::min(lowest, {nodes_[root].low, nodes_[root].first});
    }
    const std::uint32_t thing = order[lowest.second];
    const Placed placed{thing, lifetimes_.stream[thing], lowest.first + lifetimes_.bytes[thing]};
    if (placed.top >= limit) return false;
    offsets[thing] = lowest.first;
    for (std::uint32_t s = 0; s < roots_.size(); ++s) {
      if (roots_[s] != none) raise(roots_[s], placed, lifetimes_.over[thing * roots_.size() + s]);
    }
  }
  return true;
}

}  // namespace anabranch
