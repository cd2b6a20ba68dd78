// Structs that name their members and enums that name their values: printing, parsing, hashing and
// binary forms derive from it.
//
// `fields(a, visit)` calls visit("name", a.member) for each member, of a constant or of a
// changeable `a`.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace anabranch {

template <class A, class B>
concept MaybeConst = std::is_same_v<std::remove_const_t<A>, B>;

/// The words of an enum's values, by their numbers; none where it has no such table.
template <class Enum>
inline constexpr std::array<std::string_view, 0> words{};

template <class Enum>
concept HasWords = std::is_enum_v<Enum> && !words<Enum>.empty();

template <HasWords Enum>
constexpr std::string_view name(Enum value) {
  return words<Enum>[static_cast<std::size_t>(value)];
}

}  // namespace anabranch
