#include "ir/place_in.h"

namespace anabranch {

std::optional<std::vector<Index>> place_in(const Shape& shape, std::span<const std::int64_t> sizes,
                                           std::span<const Index> place, IndexTable& table) {
  std::vector<Index> made;
  std::size_t next = 0;
  const auto skip_units = [&] {
    while (next < sizes.size() && sizes[next] == 1) ++next;
  };
  for (std::int64_t size : shape) {
    if (size == 1) {
      made.push_back(table.constant(0));
      continue;
    }
    skip_units();
    if (next == sizes.size() || sizes[next] != size) return {};
    made.push_back(place[next++]);
  }
  skip_units();
  if (next != sizes.size()) return {};
  return made;
}

}  // namespace anabranch
