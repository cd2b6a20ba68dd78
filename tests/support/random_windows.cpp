#include "tests/support/random_windows.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "ir/scalar.h"

namespace anabranch {
namespace {

using Axes = std::vector<std::int64_t>;

constexpr std::size_t most_axes = 8;

void shuffle(Random& random, Axes& list) {
  for (std::size_t i = list.size(); i > 1; --i) {
    std::swap(list[i - 1],
              list[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
}

/// Which axes of the array are which, and the vectors.
struct Windows {
  Axes kept, dropped, operand_batch, index_batch, starts;
  std::int64_t index_vector = 0;
  Axes indices;  // sizes
  Axes vectors;  // the same without the vectors' own axis
};

std::int64_t product(const Axes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

Windows random_windows(Random& random, const Shape& operand, std::int64_t limit) {
  Windows made;
  for (std::int64_t axis = 0; axis < operand.rank(); ++axis) {
    const std::int64_t size = operand[static_cast<int>(axis)];
    const std::int64_t deal = random.below(10);
    const bool fits = product(made.vectors) * std::max<std::int64_t>(size, 1) <= limit;
    if (deal < 2 && fits) {
      made.operand_batch.push_back(axis);
      made.vectors.push_back(size);
    } else if (deal < 6 && size > 0) {
      made.dropped.push_back(axis);
    } else {
      made.kept.push_back(axis);
    }
    if (made.operand_batch.empty() || made.operand_batch.back() != axis) {
      const bool is_dropped = !made.dropped.empty() && made.dropped.back() == axis;
      if (random.percent(is_dropped ? 85 : 50)) made.starts.push_back(axis);
    }
  }
  shuffle(random, made.starts);
  // Batches in any order, other axes of vectors among them.
  Axes which(made.vectors.size());
  std::iota(which.begin(), which.end(), 0);
  for (std::int64_t more = random.below(3); more > 0; --more) which.push_back(-1);
  shuffle(random, which);
  Axes vectors;
  made.index_batch.resize(made.operand_batch.size());
  for (std::int64_t batch : which) {
    if (batch >= 0) {
      made.index_batch[static_cast<std::size_t>(batch)] = static_cast<std::int64_t>(vectors.size());
      vectors.push_back(made.vectors[static_cast<std::size_t>(batch)]);
    } else if (vectors.size() + made.kept.size() < most_axes - 1) {
      const std::int64_t most =
          std::max<std::int64_t>(1, limit / std::max<std::int64_t>(1, product(made.vectors)));
      vectors.push_back(random.percent(4) ? 0
                                          : 1 + random.below(std::min<std::int64_t>(
                                                    most, random.percent(20) ? 40 : 5)));
    }
  }
  made.vectors = made.indices = vectors;
  const auto rank = static_cast<std::int64_t>(vectors.size());
  made.index_vector = rank;
  if (made.starts.size() != 1 || random.percent(50)) {
    made.index_vector = random.below(rank + 1);
    made.indices.insert(made.indices.begin() + made.index_vector,
                        static_cast<std::int64_t>(made.starts.size()));
    for (std::int64_t& axis : made.index_batch) axis += axis >= made.index_vector ? 1 : 0;
  }
  return made;
}

// As many places, ascending, among those of windows and vectors.
Axes random_places(Random& random, std::size_t windows, std::size_t vectors) {
  Axes all(windows + vectors);
  std::iota(all.begin(), all.end(), 0);
  if (random.percent(50)) shuffle(random, all);  // else the windows' come first, or last
  if (random.percent(50)) std::reverse(all.begin(), all.end());
  all.resize(windows);
  std::sort(all.begin(), all.end());
  return all;
}

std::int64_t random_window(Random& random, std::int64_t size, std::int64_t room) {
  if (random.percent(50) && size <= room) return size;
  const std::int64_t most = std::min(size, room);
  return random.percent(5) ? 0 : most > 0 ? 1 + random.below(most) : 0;
}

}  // namespace

RandomGather random_gather(Random& random, const Shape& operand, std::int64_t limit) {
  const Windows windows = random_windows(random, operand, limit);
  RandomGather made{{random_places(random, windows.kept.size(), windows.vectors.size()),
                     windows.dropped, windows.operand_batch, windows.index_batch, windows.starts,
                     windows.index_vector, Axes(operand.sizes().size(), 1)},
                    Shape(windows.indices)};
  std::int64_t elements = std::max<std::int64_t>(product(windows.vectors), 1);
  for (std::int64_t axis : windows.kept) {
    std::int64_t& size = made.attributes.sizes[static_cast<std::size_t>(axis)];
    size = random_window(random, operand[static_cast<int>(axis)],
                         std::max<std::int64_t>(limit / elements, 1));
    elements *= std::max<std::int64_t>(size, 1);
  }
  for (std::int64_t axis : windows.operand_batch) {
    if (operand[static_cast<int>(axis)] == 0)
      made.attributes.sizes[static_cast<std::size_t>(axis)] = 0;
  }
  return made;
}

RandomScatter random_scatter(Random& random, const Shape& operand, std::int64_t limit,
                             ScatterCombiner combiner) {
  const Windows windows = random_windows(random, operand, limit);
  RandomScatter made{
      {random_places(random, windows.kept.size(), windows.vectors.size()), windows.dropped,
       windows.operand_batch, windows.index_batch, windows.starts, windows.index_vector, combiner},
      Shape(windows.indices),
      {}};
  std::int64_t elements = std::max<std::int64_t>(product(windows.vectors), 1);
  Axes updates;
  std::size_t window = 0, vector = 0;
  while (window < windows.kept.size() || vector < windows.vectors.size()) {
    const auto axis = static_cast<std::int64_t>(updates.size());
    if (std::ranges::count(made.attributes.window_axes, axis) == 0) {
      updates.push_back(windows.vectors[vector++]);
      continue;
    }
    updates.push_back(random_window(random, operand[static_cast<int>(windows.kept[window++])],
                                    std::max<std::int64_t>(limit / elements, 1)));
    elements *= std::max<std::int64_t>(updates.back(), 1);
  }
  made.updates = Shape(updates);
  return made;
}

Literal random_indices(Random& random, Dtype dtype, const Shape& shape, std::int64_t size) {
  return visit_dtype(dtype, [&]<class T>() -> Literal {
    std::vector<std::byte> bytes(static_cast<std::size_t>(shape.size()) * sizeof(T));
    for (std::int64_t i = 0; i < shape.size(); ++i) {
      const bool is_wide = random.percent(3);
      const T index = convert_scalar<T>(is_wide ? static_cast<std::int64_t>(random.bits())
                                                : random.below(size + 4) - 2);
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &index, sizeof(T));
    }
    return Literal(Type{dtype, shape}, std::move(bytes));
  });
}

}  // namespace anabranch
