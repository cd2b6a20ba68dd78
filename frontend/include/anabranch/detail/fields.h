// The fields of a plain struct, found without registration.
//
// Counting follows from what an aggregate can be initialized with; structured bindings then name
// that many. Boost.PFR does the same for most structs, but stumbles over a std::array or a C array
// among the fields, which stand for several initializers each by the elision of braces; and its
// names of fields came with Boost 1.84, which would have to be installed wherever these headers
// are included.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {
namespace tree {

/// The most fields that a struct may have.
inline constexpr std::size_t max_fields = 26;

namespace detail {

/// Converts to whatever a field is, but not to the struct itself.
template <class Struct>
struct AnyField {
  std::size_t position;  // so that a pack can number them

  template <class Field>
  requires(!std::is_same_v<Struct, Field>) operator Field() const;
};

template <class T, std::size_t... Before, std::size_t... Inside, std::size_t... After>
constexpr bool takes_braces(std::index_sequence<Before...>, std::index_sequence<Inside...>,
                            std::index_sequence<After...>) {
  return requires { T{AnyField<T>{Before}..., {AnyField<T>{Inside}...}, AnyField<T>{After}...}; };
}

template <class T, std::size_t... Positions>
constexpr bool takes(std::index_sequence<Positions...>) {
  return requires { T{AnyField<T>{Positions}...}; };
}

/// The most initializers without inner braces: one per field, or one per element of a C array. A
/// struct takes fewer, too, down to where a field that has no default is left out.
template <class T, std::size_t Count = 0, bool Taken = false>
constexpr std::size_t initializer_count() {
  if constexpr (Count <= 2 * max_fields && takes<T>(std::make_index_sequence<Count>())) {
    return initializer_count<T, Count + 1, true>();
  } else if constexpr (Taken) {
    return Count - 1;
  } else if constexpr (Count < 2 * max_fields) {
    return initializer_count<T, Count + 1>();
  } else {
    return 0;
  }
}

/// How many initializers the field that starts at initializer `At` of `Total` takes.
template <class T, std::size_t At, std::size_t Total, std::size_t Size = Total - At>
constexpr std::size_t width() {
  if constexpr (Size <= 1) {
    return 1;
  } else {
    // A field that is no C array may also take several in braces, but then stands for one outside.
    constexpr auto before = std::make_index_sequence<At>();
    constexpr auto inside = std::make_index_sequence<Size>();
    constexpr std::size_t rest = Total - At - Size;
    if constexpr (takes_braces<T>(before, inside, std::make_index_sequence<rest>()) &&
                  !takes_braces<T>(before, inside, std::make_index_sequence<rest + 1>())) {
      return Size;
    } else {
      return width<T, At, Total, Size - 1>();
    }
  }
}

template <class T, std::size_t At, std::size_t Total>
constexpr std::size_t count_from() {
  if constexpr (At >= Total) {
    return 0;
  } else {
    return 1 + count_from<T, At + width<T, At, Total>(), Total>();
  }
}

/// Converts to the bases of a struct alone.
template <class Struct>
struct AnyBase {
  template <class Base>
  requires(std::is_base_of_v<Base, Struct> && !std::is_same_v<Struct, Base>) operator Base() const;
};

}  // namespace detail

/// Whether an aggregate has a base class, which is its first initializer.
template <class T>
inline constexpr bool has_base = requires {
  T{detail::AnyBase<T>{}};
};

/// How many fields an aggregate without bases has.
template <class T>
inline constexpr std::size_t field_count =
    detail::count_from<T, 0, detail::initializer_count<T>()>();

/// `use(fields...)`.
template <class Struct, class Use>
constexpr auto with_fields(Struct& object, Use&& use) {
  constexpr std::size_t count = field_count<std::remove_const_t<Struct>>;
  static_assert(count <= max_fields, "a struct of a tree has at most 26 fields; nest some of them");
  if constexpr (count == 0) return use();
    // clang-format off
#define ANABRANCH_FIELDS(number, ...) \
  if constexpr (count == number) { auto& [__VA_ARGS__] = object; return use(__VA_ARGS__); }
  ANABRANCH_FIELDS(1, a)
  ANABRANCH_FIELDS(2, a, b)
  ANABRANCH_FIELDS(3, a, b, c)
  ANABRANCH_FIELDS(4, a, b, c, d)
  ANABRANCH_FIELDS(5, a, b, c, d, e)
  ANABRANCH_FIELDS(6, a, b, c, d, e, f)
  ANABRANCH_FIELDS(7, a, b, c, d, e, f, g)
  ANABRANCH_FIELDS(8, a, b, c, d, e, f, g, h)
  ANABRANCH_FIELDS(9, a, b, c, d, e, f, g, h, i)
  ANABRANCH_FIELDS(10, a, b, c, d, e, f, g, h, i, j)
  ANABRANCH_FIELDS(11, a, b, c, d, e, f, g, h, i, j, k)
  ANABRANCH_FIELDS(12, a, b, c, d, e, f, g, h, i, j, k, l)
  ANABRANCH_FIELDS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
  ANABRANCH_FIELDS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
  ANABRANCH_FIELDS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
  ANABRANCH_FIELDS(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
  ANABRANCH_FIELDS(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
  ANABRANCH_FIELDS(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
  ANABRANCH_FIELDS(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
  ANABRANCH_FIELDS(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
  ANABRANCH_FIELDS(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
  ANABRANCH_FIELDS(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
  ANABRANCH_FIELDS(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
  ANABRANCH_FIELDS(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
  ANABRANCH_FIELDS(25, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)
  ANABRANCH_FIELDS(26, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z)
#undef ANABRANCH_FIELDS
  // clang-format on
}

namespace detail {

template <class Struct>
struct Example {
  Struct value;
};
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-internal"
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif
template <class Struct>
extern const Example<Struct> example;  // never defined: only the addresses of its fields are named
/// clang before 18 takes the address of a part of an object as a template argument only in a class.
template <class Field>
struct Address {
  const Field* address;
};

template <class Struct>
consteval auto field_addresses() {
  return with_fields(example<Struct>.value, [](const auto&... fields) {
    return std::tuple{
        Address<std::remove_const_t<std::remove_reference_t<decltype(fields)>>>{&fields}...};
  });
}

/// How the compiler writes the address: "...::value.main()::Layer::weights)}]" under g++,
/// "...&example.value.weights}]" under clang.
template <auto Address>
constexpr auto address_text() {
  return __PRETTY_FUNCTION__;  // not as a std::string_view, whose meaning g++ would add to the text
}

constexpr bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

/// The name that `text` ends with, closing brackets aside.
constexpr std::string_view last_name(std::string_view text) {
  while (!text.empty() && (text.back() == ']' || text.back() == '}' || text.back() == ')')) {
    text.remove_suffix(1);
  }
  std::size_t begin = text.size();
  while (begin > 0 && is_name_part(text[begin - 1])) --begin;
  return text.substr(begin);
}

template <class Struct, std::size_t At>
constexpr std::string_view written_name() {
  return last_name(address_text<std::get<At>(field_addresses<Struct>())>());
}

struct NameProbe {
  int first_field, second_field;
};
/// Whether this compiler writes addresses in a way that is understood.
inline constexpr bool names_are_written =
    last_name(address_text<Address<int>{&example<NameProbe>.value.first_field}>()) ==
        "first_field" &&
    last_name(address_text<Address<int>{&example<NameProbe>.value.second_field}>()) ==
        "second_field";

#ifdef __clang__
#pragma clang diagnostic pop
#endif

/// "field 12"
template <std::size_t At>
inline constexpr std::array<char, 9> numbered_name = [] {
  std::array<char, 9> name = {'f', 'i', 'e', 'l', 'd', ' '};
  std::size_t end = 6;
  if (At >= 10) name[end++] = static_cast<char>('0' + At / 10);
  name[end] = static_cast<char>('0' + At % 10);
  return name;
}();

}  // namespace detail

/// The name of field `At` of an aggregate, as its definition writes it; "field 0" where the
/// compiler does not tell.
template <class Struct, std::size_t At>
constexpr std::string_view field_name() {
  if constexpr (detail::names_are_written) {
    return detail::written_name<Struct, At>();
  } else {
    return detail::numbered_name<At>.data();
  }
}

/// The same, found once.
template <class Struct, std::size_t At>
inline constexpr std::string_view name_of = field_name<Struct, At>();

/// Calls `visit(name, field)` for each field in order.
template <class Struct, class Visit>
void for_each_field(Struct& object, Visit&& visit) {
  with_fields(object, [&](auto&... fields) {
    [&]<std::size_t... At>(std::index_sequence<At...>) {
      (visit(name_of<std::remove_const_t<Struct>, At>, fields), ...);
    }
    (std::make_index_sequence<sizeof...(fields)>());
  });
}

}  // namespace tree
}  // namespace anabranch
