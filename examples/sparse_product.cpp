// A sparse matrix times a vector, again and again: the rank of pages that link to each other.
//
//   rank --gather--> rank[from] --> * weight --> segment_sum by `to` --> next rank
//
// Links come from one page, go to another, and share out the rank of the page that they come from
// (Page, Brin, Motwani and Winograd, "The PageRank citation ranking", 1999).
#include <anabranch/anabranch.h>

#include <cmath>
#include <iostream>
#include <vector>

namespace ab = anabranch;

namespace {

constexpr std::int64_t pages = 1000;
constexpr float damping = 0.85f;

ab::Array product(ab::Array from, ab::Array to, ab::Array weights, ab::Array vector) {
  return ab::segment_sum(weights * ab::take(vector, from, 0, ab::OutOfRange::clip), to, pages);
}

ab::Array page_rank(ab::Array from, ab::Array to) {
  const ab::Array links = ab::bincount(from, pages).astype(ab::f32);
  const ab::Array weights = 1.0f / ab::take(links, from, 0, ab::OutOfRange::clip);
  const ab::Array even = ab::full({pages}, 1.0f / pages);
  return ab::fori_loop(
      0, 50,
      [&](const ab::Array&, const ab::Array& rank) {
        return (1 - damping) / pages + damping * product(from, to, weights, rank);
      },
      even);
}

}  // namespace

int main() {
  // Each page links to the next one, and to two that its number gives.
  std::vector<int> from, to;
  for (int page = 0; page < pages; ++page) {
    for (int target : {page + 1, page * page + 7, page / 2}) {
      from.push_back(page);
      to.push_back(target % static_cast<int>(pages));
    }
  }
  const ab::Array rank = ab::jit(page_rank)(ab::array(from), ab::array(to));
  const ab::Array first = ab::argmax(rank);
  const float total = ab::sum(rank).item<float>();
  std::cout << "page " << first.item<std::int64_t>() << " comes first, with "
            << ab::max(rank).item<float>() << " of " << total << "\n";
  return std::fabs(total - 1) < 1e-3f ? 0 : 1;
}
