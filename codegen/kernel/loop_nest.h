// Loop nests: a kernel under other outer loops that visit the same places.
//
//   for i < 3 { for j < 1000000 { out0[i * 1000000 + j] = ... } }
//   for j < 1000000 { for i < 3 { out0[i * 1000000 + j] = ... } }
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/index.h"
#include "ir/kernel/kernel.h"

namespace anabranch {

/// The loops around everything that a kernel stores, outermost first: each is alone with what was
/// computed before it, and none reduces.
std::vector<Ref> outer_loops(const Kernel& kernel);

/// Loops to stand in the place of the outer ones, and the old indices in terms of the new.
struct NewNest {
  std::vector<std::int64_t> extents;
  std::function<std::vector<Index>(IndexTable&, std::span<const Index>)> old_indices;
};

/// The same computation under `nest`. Each old place must have exactly one new one.
Kernel with_nest(const Kernel& kernel, std::span<const Ref> outer, const NewNest& nest);

/// How often each of these loops runs.
std::vector<std::int64_t> extents_of(const Kernel& kernel, std::span<const Ref> loops);
/// The product of them: 1 for none.
std::int64_t product(std::span<const std::int64_t> extents);

/// Outer loops [first, last) as one.
Kernel merged(const Kernel& kernel, std::size_t first, std::size_t last);
/// The loops inside the outer ones, or inside the first `kept` of them, written out, but for those
/// that reduce. What turns have in common is computed once.
Kernel unrolled(const Kernel& kernel, std::size_t kept = SIZE_MAX);
/// Outer loop order[0] outermost, and so on.
Kernel reordered(const Kernel& kernel, std::span<const std::size_t> order);

}  // namespace anabranch
