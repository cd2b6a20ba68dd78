// Key: what something is made from, as bytes by which it is found again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// A sequence of parts, each written as its kind, its length and its bytes. So no part runs into
/// the next, and two keys are equal only where their parts are, one by one: {"a", "bc"} is not
/// {"ab", "c"}, "3" is not 3, and a list of two lists is not the list of what they hold. Every key
/// of the library is written by this class: those of jitted functions and of the code cache.
class Key {
 public:
  /// Any bytes.
  Key& text(std::string_view text);

  /// A number, an enum, the address of a function, or a plain struct without padding, by its bytes.
  template <class T>
  Key& value(const T& value) {
    static_assert(is_value<T>);
    return add('v', &value, sizeof value);
  }

  /// Begins a list: the next `count` parts are its items, which may be lists.
  Key& list(std::size_t count);

  /// Whether equal bytes mean equal values: padding would differ between equal ones, and an object
  /// may change while its address stays.
  template <class T>
  static constexpr bool is_value =
      std::is_trivially_copyable_v<T> &&
      (std::is_same_v<T, float> || std::is_same_v<T, double> ||
       std::has_unique_object_representations_v<T>)&&(!std::is_pointer_v<T> ||
                                                      std::is_function_v<std::remove_pointer_t<T>>);

  const std::string& bytes() const { return bytes_; }
  auto operator<=>(const Key&) const = default;

 private:
  Key& add(char kind, const void* data, std::size_t size);

  std::string bytes_;
};

}  // namespace anabranch
