// donate: arguments that a call may write its results over.
#pragma once

#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/array.h"
#include "anabranch/export.h"
#include "anabranch/source_location.h"
#include "anabranch/tree.h"

namespace ANABRANCH_API anabranch {

/// An argument that a call consumes; made by `donate`. `Tree` is a reference where an lvalue was
/// donated.
template <class Tree>
struct Donated {
  Tree tree;
  std::source_location where;
};

/// Gives an Array, or every Array of a tree, to the call that it is an argument of:
///
///     params = step(donate(params), x, t);
///
/// The call may write results over their memory: an output of the same size goes where an input
/// is that the schedule has done with by then, so that a training step needs no second set of
/// parameters. Afterwards each donated Array is gone, and every use of it throws Error naming this
/// line, until it is assigned to. Memory that something else can see (another Array, a call still
/// under way, `borrow`) is left as it is. A call that throws consumes nothing.
template <class Tree>
auto donate(Tree&& tree, std::source_location where = std::source_location::current()) {
  static_assert(!std::is_const_v<std::remove_reference_t<Tree>>,
                "donate consumes its argument, so it takes no const arrays");
  return Donated<Tree>{std::forward<Tree>(tree), where};
}

/// An Array that a call consumes, and where the user said so.
struct Donation {
  Array* array = nullptr;
  SourceLocation where;
};

/// Takes all values away from their Arrays. Throws Error, and takes none, where one is donated
/// twice.
void consume(std::span<const Donation> donations);

namespace detail {

template <class T>
const T& argument(const T& argument) {
  return argument;
}
template <class Tree>
const std::remove_reference_t<Tree>& argument(const Donated<Tree>& donated) {
  return donated.tree;
}

template <class T>
void add_donations(std::vector<Donation>&, const T&) {}
template <class Tree>
void add_donations(std::vector<Donation>& donations, const Donated<Tree>& donated) {
  // A donated temporary is const only by way of being an argument.
  auto& tree = const_cast<std::remove_reference_t<Tree>&>(donated.tree);
  tree::for_each_array(tree, [&](Array& array) {
    donations.push_back({&array, SourceLocation(donated.where)});
  });
}

}  // namespace detail
}  // namespace anabranch
