// Trees: plain structs, tuples, pairs, arrays, vectors, optionals and string maps of arrays,
// nested, taken apart into leaves without registration.
//
// Leaves are Arrays, which are traced, and what is static: static_arg<T>, and numbers, bools, enums
// and strings inside a struct or a list. They have no room for what is traced, so a call compiles
// for their values. A number that changes from call to call (a learning rate) belongs in an Array
// (scalar(v)), or outside the struct: an argument that is itself a number is traced.
#pragma once

#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/array.h"
#include "anabranch/detail/fields.h"
#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// A value that is part of what is compiled: a new one compiles anew. It reads as the T it holds.
template <class T>
struct static_arg {
  T value;

  operator const T&() const { return value; }
};
template <class T>
static_arg(T) -> static_arg<T>;

namespace tree {

template <class T>
inline constexpr bool is_static = false;
template <class T>
inline constexpr bool is_static<static_arg<T>> = true;

template <class T>
inline constexpr bool is_list = false;  // whose length is part of the tree's form
template <class T, class A>
inline constexpr bool is_list<std::vector<T, A>> = true;

template <class T>
inline constexpr bool is_map = false;
template <class T, class C, class A>
inline constexpr bool is_map<std::map<std::string, T, C, A>> = true;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// What stands for itself inside a tree: part of what is compiled.
template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, std::string>;

template <class T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};

template <class T>
inline constexpr bool is_leaf = std::same_as<T, Array> || is_static<T> || Plain<T>;

template <class T>
concept PointerLike = std::is_pointer_v<T> || requires(const T& pointer) {
  pointer.get();
  *pointer;
};

template <class T, class... Outer>
consteval bool is_tree();

template <class... Outer, class... Fields>
consteval bool are_trees(const std::tuple<detail::Address<Fields>...>*) {
  return (is_tree<Fields, Outer...>() && ...);
}

/// is_tree of a struct; `Outer` are the structs that it is part of, where it may be a part again.
template <class T, class... Outer>
consteval bool is_tree_struct() {
  if constexpr ((std::is_same_v<T, Outer> || ...)) {
    return true;
  } else {
    static_assert(
        !PointerLike<T>,
        "a tree of arrays holds no pointers: hold the ab::Array itself, which is a handle "
        "that copies cheaply, or a std::optional of it");
    static_assert(PointerLike<T> || (std::is_aggregate_v<T> && !std::is_union_v<T>),
                  "a tree is made of Arrays, static_arg, numbers, enums, strings, plain structs "
                  "(aggregates, without constructors or private members), tuples, pairs, "
                  "std::array, std::vector, std::optional and std::map<std::string, T>");
    if constexpr (std::is_aggregate_v<T> && !std::is_union_v<T>) {
      static_assert(!has_base<T>,
                    "a struct of a tree has no base class: make the base a member of it");
      if constexpr (!has_base<T>) {
        static_assert(field_count<T> <= max_fields,
                      "a struct of a tree has at most 26 fields: group some of them in a struct of "
                      "their own, or in a std::array or std::vector");
        if constexpr (field_count<T> <= max_fields) {
          return are_trees<Outer..., T>(
              static_cast<const decltype(detail::field_addresses<T>())*>(nullptr));
        }
      }
    }
    return false;
  }
}

/// Whether T is a tree. Where it is not, the first error of the compiler says why, and what to
/// write instead.
template <class T, class... Outer>
consteval bool is_tree() {
  using Part = std::remove_const_t<T>;
  if constexpr (is_leaf<Part>) {
    return true;
  } else if constexpr (is_list<Part> || is_optional<Part>) {
    return is_tree<typename Part::value_type, Outer...>();
  } else if constexpr (is_map<Part>) {
    return is_tree<typename Part::mapped_type, Outer...>();
  } else if constexpr (std::is_array_v<Part>) {
    return is_tree<std::remove_extent_t<Part>, Outer...>();
  } else if constexpr (TupleLike<Part>) {
    return []<std::size_t... At>(std::index_sequence<At...>) {
      return (is_tree<std::tuple_element_t<At, Part>, Outer...>() && ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Part>>());
  } else {
    return is_tree_struct<Part, Outer...>();
  }
}

template <class T>
const T& static_value(const static_arg<T>& part) {
  return part.value;
}
template <Plain T>
const T& static_value(const T& part) {
  return part;
}

/// Where a field of a struct is: its name.
struct Field {
  std::string_view name;
};

/// What a walk does by default: nothing. Visitors override what they care for.
struct Visitor {
  template <class Leaf>
  void leaf(Leaf&) {}
  void length(std::size_t) {}
  void key(const std::string&) {}
  template <class Place, class Body>
  void within(const Place&, Body&& body) {
    body();
  }
};

template <class Tree, class Visitor>
void walk_parts(Tree& tree, Visitor& visitor);

/// Shows `visitor` each leaf in order, each length and each key of a map, and where they are.
template <class Tree, class Visitor>
void walk(Tree& tree, Visitor& visitor) {
  using T = std::remove_const_t<Tree>;
  if constexpr (is_leaf<T>) {
    visitor.leaf(tree);
  } else {
    walk_parts(tree, visitor);
  }
}

template <class Tree, class Visitor>
void walk_parts(Tree& tree, Visitor& visitor) {
  using T = std::remove_const_t<Tree>;
  std::size_t position = 0;
  auto part = [&](auto& item) { visitor.within(position++, [&] { walk(item, visitor); }); };
  if constexpr (is_list<T>) {
    visitor.length(tree.size());
    for (auto& item : tree) part(item);
  } else if constexpr (is_map<T>) {
    visitor.length(tree.size());
    for (auto& [key, item] : tree) {
      visitor.key(key);
      visitor.within(std::string_view(key), [&] { walk(item, visitor); });
    }
  } else if constexpr (is_optional<T>) {
    visitor.length(tree.has_value() ? 1 : 0);
    if (tree) walk(*tree, visitor);
  } else if constexpr (std::is_array_v<T>) {
    for (auto& item : tree) part(item);
  } else if constexpr (TupleLike<T>) {
    std::apply([&](auto&... items) { (part(items), ...); }, tree);
  } else {
    static_assert(is_tree<T>());
    for_each_field(tree, [&](std::string_view name, auto& item) {
      visitor.within(Field{name}, [&] { walk(item, visitor); });
    });
  }
}

template <class Function>
struct ArrayVisitor : Visitor {
  Function& function;
  explicit ArrayVisitor(Function& called) : function(called) {}

  void leaf(Array& array) { function(array); }
  void leaf(const Array& array) { function(array); }
  template <class Other>
  void leaf(Other&) {}
};

/// Calls `function(array)` for every Array of a tree, in order.
template <class Tree, class Function>
void for_each_array(Tree& tree, Function&& function) {
  ArrayVisitor<std::remove_reference_t<Function>> visitor(function);
  walk(tree, visitor);
}

}  // namespace tree
}  // namespace anabranch
