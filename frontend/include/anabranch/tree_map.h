// tree_map: a function of arrays, applied to each array of a tree.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "anabranch/detail/carry.h"
#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/tree.h"

namespace ANABRANCH_API anabranch {

namespace detail {

/// Throws Error unless all trees have arrays at the same places.
void demand_same_places(const char* function, std::span<const Tree> trees);

}  // namespace detail

/// `tree` with f(array) in place of each of its arrays; with more trees, f(array, array of the
/// second, ...), of the arrays at the same place of each. f gives an array of any type, or a
/// number. What is static in `tree` stays; of the other trees the arrays alone are looked at.
/// Throws Error where the trees have arrays at different places.
template <class F, class T, class... More>
T tree_map(const F& f, const T& tree, const More&... more) {
  static_assert((tree::is_tree<T>() && ... && tree::is_tree<More>()));
  const detail::Tree trees[] = {detail::taken_apart(tree, "tree"),
                                detail::taken_apart(more, "tree")...};
  detail::demand_same_places("tree_map", trees);
  T mapped = tree;
  [&]<std::size_t... At>(std::index_sequence<At...>) {
    std::size_t leaf = 0;
    tree::for_each_array(mapped, [&](Array& array) {
      array = as_array("tree_map", f(trees[At].leaves[leaf]...));
      ++leaf;
    });
  }
  (std::make_index_sequence<1 + sizeof...(More)>());
  return mapped;
}

}  // namespace anabranch
