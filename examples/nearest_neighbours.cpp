// Which of many points are nearest to each query, and what most of those are labelled: k-nearest
// neighbours by one matrix product and top_k.
//
//   queries [q,d] --.                                                          .-- distances [q,k]
//                    distances [q,n] = |q|^2 - 2 q.p + |p|^2 -- negate -- top_k
//   points  [n,d] --'                                                          '-- indices [q,k] --
//   take labels  [n]
//   ----------------------------------------------------------------------------------'
#include <anabranch/anabranch.h>

#include <iostream>
#include <tuple>

namespace ab = anabranch;

constexpr std::int64_t classes = 3, neighbours = 9;

// Squared distances between all rows of x and of y.
ab::Array distances(ab::Array x, ab::Array y) {
  const ab::Array of_x = ab::sum(x * x, 1, ab::keepdims);
  const ab::Array of_y = ab::expand_dims(ab::sum(y * y, 1), 0);
  return of_x - ab::matmul(x, ab::matrix_transpose(y)) * 2 + of_y;
}

int main() {
  // Each class is a cloud of points around a corner of a triangle.
  auto cloud = [](std::uint64_t seed, std::int64_t count) {
    auto keys = ab::random::split(ab::random::key(seed));
    ab::Array labels = ab::random::randint(keys[0], {count}, 0, classes);
    ab::Array corners = ab::array({0.f, 0.f, 4.f, 0.f, 2.f, 3.f}, {classes, 2});
    ab::Array points = ab::take(corners, labels, 0) + ab::random::normal(keys[1], {count, 2});
    return std::tuple{points, labels};
  };

  auto classify = ab::jit([](ab::Array points, ab::Array labels, ab::Array queries) {
    auto [nearness, nearest] = ab::top_k(-distances(queries, points), neighbours);
    ab::Array votes = ab::expand_dims(ab::take(labels, nearest, 0), 2);  // [queries, k, 1]
    ab::Array counts = ab::sum(votes == ab::arange(classes), 1);         // [queries, classes]
    return std::tuple{ab::argmax(counts, 1), -nearness};
  });

  auto [points, labels] = cloud(1, 20'000);
  auto [queries, truth] = cloud(2, 500);
  auto [found, squares] = classify(points, labels, queries);

  const double hits = ab::mean(ab::astype(found == truth, ab::f32)).item<float>();
  std::cout << neighbours << " neighbours of " << queries.shape()[0] << " points among "
            << points.shape()[0] << ": " << 100 * hits << "% get their own cloud\n"
            << "the nearest three of the first are " << ab::sqrt(ab::slice(squares, {0, 0}, {1, 3}))
            << " away\n";
  return hits > 0.85 ? 0 : 1;
}
