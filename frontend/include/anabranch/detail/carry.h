// Carry: a tree of arrays handed from one turn of a loop, or one branch, to what comes after it.
//
// Its numbers are traced, unlike those of other trees: in `std::tuple{0, x}` the 0 becomes an array
// that takes the dtype of what it meets.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/detail/signature.h"
#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/tree.h"

namespace ANABRANCH_API anabranch {
namespace detail {

using Leaves = std::vector<Array>;

/// The parts of a tree by their paths: "" for an array, else what it is ("static 3", a length).
using Form = Description;

/// A tree without its C++ type.
struct Tree {
  Leaves leaves;
  Form form;
};

struct FormVisitor : DescriptionVisitor {
  using DescriptionVisitor::DescriptionVisitor;

  void leaf(const Array&) { description.add(path, ""); }
  template <class T>
  void leaf(const T& part) {
    DescriptionVisitor::leaf(part);
  }
};

template <class T>
struct Carried {
  using type = std::conditional_t<NumberType<T>, Array, T>;
};
template <class A, class B>
struct Carried<std::pair<A, B>> {
  using type = std::pair<typename Carried<A>::type, typename Carried<B>::type>;
};
template <class... Parts>
struct Carried<std::tuple<Parts...>> {
  using type = std::tuple<typename Carried<Parts>::type...>;
};

/// A tree's type with arrays in place of the numbers that are its own, or its tuples'.
template <class T>
using CarriedType = typename Carried<std::decay_t<T>>::type;

template <class T>
inline constexpr bool is_tuple_like = false;
template <class A, class B>
inline constexpr bool is_tuple_like<std::pair<A, B>> = true;
template <class... Parts>
inline constexpr bool is_tuple_like<std::tuple<Parts...>> = true;

/// Whether `From` becomes `To` by arrays taking the place of numbers.
template <class To, class From>
constexpr bool is_carried_as() {
  if constexpr (is_tuple_like<To> && is_tuple_like<From>) {
    if constexpr (std::tuple_size_v<To> != std::tuple_size_v<From>) {
      return false;
    } else {
      return []<std::size_t... At>(std::index_sequence<At...>) {
        return (is_carried_as<std::tuple_element_t<At, To>, std::tuple_element_t<At, From>>() &&
                ...);
      }
      (std::make_index_sequence<std::tuple_size_v<To>>());
    }
  } else {
    return std::is_convertible_v<From, To> || (NumberType<From> && std::same_as<To, Array>);
  }
}

template <class To, class From>
To carried_as(const From& value) {
  if constexpr (std::is_convertible_v<const From&, To>) {
    return value;
  } else if constexpr (NumberType<From>) {
    return as_array("loop", value);
  } else {
    return [&]<std::size_t... At>(std::index_sequence<At...>) {
      return To{carried_as<std::tuple_element_t<At, To>>(std::get<At>(value))...};
    }
    (std::make_index_sequence<std::tuple_size_v<To>>());
  }
}

/// The arrays of `value` and its form, whose paths begin with `name`.
template <class T>
Tree taken_apart(const T& value, const char* name) {
  Tree tree;
  FormVisitor visitor(tree.form, name);
  tree::walk(value, visitor);
  tree::for_each_array(value, [&](const Array& array) { tree.leaves.push_back(array); });
  return tree;
}

/// `like` with these arrays in place of its own, from `leaves[first]` on.
template <class T>
T put_together(T like, const Leaves& leaves, std::size_t first = 0) {
  tree::for_each_array(like, [&](Array& array) { array = leaves[first++]; });
  return like;
}

}  // namespace detail
}  // namespace anabranch
