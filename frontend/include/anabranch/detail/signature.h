// Signature: what a call's arguments are made of: the key of a compilation, taken without building
// text.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/array.h"
#include "anabranch/detail/element_bits.h"
#include "anabranch/detail/key.h"
#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/spec.h"
#include "anabranch/tree.h"

namespace ANABRANCH_API anabranch {

/// The type of one number.
const Type& scalar_type(Dtype dtype);

/// One input of the traced graph, as a call gives it.
struct Leaf {
  const Type* type = nullptr;
  const Array* array = nullptr;  ///< null for a C++ number or a spec
  ElementBits bits;              ///< of a C++ number
  bool weak = false;
};

/// The leaves of a call, and everything else that tracing may depend on: lengths, keys, static
/// values. `form` says which C++ types the arguments have, and so what each part of `statics` is.
struct Signature {
  const void* form = nullptr;
  std::vector<Leaf> leaves;
  Key statics;

  Signature();
  ~Signature();
  void add(const Array& array);
  void add(const Leaf& leaf);
  bool any_traced() const;
};

/// "argument 0.weight" and "f32[3]" for each part of a call, to explain a retrace by.
class Description {
 public:
  struct Line {
    std::string path, text;
    bool operator==(const Line&) const = default;
  };

  Description();
  Description(std::initializer_list<Line> lines);
  Description(const Description&);
  Description(Description&&) noexcept;
  ~Description();
  Description& operator=(const Description&);
  Description& operator=(Description&&) noexcept;

  void add(std::string_view path, std::string_view text);
  void add(const Description& more);
  const std::vector<Line>& lines() const { return lines_; }
  bool operator==(const Description& other) const;

 private:
  std::vector<Line> lines_;
};

namespace detail {

template <class... Args>
inline constexpr char form_of = 0;

/// "f32[3]", with what else of it is part of a key: "f32[3] on cpu:1"; "empty".
std::string describe(const Array& array);
/// "f64[] (weak: from C++ numbers)"
std::string describe_weak(const Type& type);
/// In quotes, with a backslash before quotes and backslashes.
std::string quoted_text(std::string_view text);
std::string hexadecimal(std::string_view bytes);

/// A static value as a part of a key.
template <class T>
void add_static(Key& key, const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    key.text(std::string_view(value));
  } else if constexpr (tree::is_list<T>) {
    key.list(value.size());
    for (const auto& item : value) add_static(key, item);
  } else {
    static_assert(Key::is_value<T>,
                  "static_arg holds a number, an enum, text, a vector of those, or a plain struct "
                  "without padding");
    key.value(value);
  }
}

/// The same value for messages: 3, "text", [1, 2]. Different values have different texts.
template <class T>
std::string static_text(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return quoted_text(value);
  } else if constexpr (tree::is_list<T>) {
    std::string text;
    for (const auto& item : value) text += (text.empty() ? "[" : ", ") + static_text(item);
    return text.empty() ? "[]" : text + "]";
  } else if constexpr (std::is_enum_v<T>) {
    return static_text(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return to_string(Number(value));
  } else {
    return hexadecimal({reinterpret_cast<const char*>(&value), sizeof value});
  }
}

struct SignatureVisitor : tree::Visitor {
  Signature& signature;
  explicit SignatureVisitor(Signature& filled) : signature(filled) {}

  void leaf(const Array& array) { signature.add(array); }
  template <class T>
  void leaf(const T& part) {
    add_static(signature.statics, tree::static_value(part));
  }
  void length(std::size_t length) { signature.statics.list(length); }
  void key(const std::string& key) { signature.statics.text(key); }
};

struct DescriptionVisitor : tree::Visitor {
  Description& description;
  std::string path;
  /// `root` is what its paths begin with, "argument", and `position` the number after it, if any.
  DescriptionVisitor(Description& filled, const char* root, int position = -1);
  ~DescriptionVisitor();

  void leaf(const Array& array);
  template <class T>
  void leaf(const T& part) {
    static_leaf(static_text(tree::static_value(part)));
  }
  void length(std::size_t length);
  void key(const std::string& key);
  template <class Place, class Body>
  void within(const Place& place, Body&& body) {
    const std::size_t before = path.size();
    enter(place);
    body();
    path.resize(before);
  }

 private:
  void static_leaf(const std::string& text);
  void enter(std::size_t position);
  void enter(tree::Field field);
  void enter(std::string_view key);
};

/// What a traced function sees in place of an argument of type T.
template <class T>
using Traced = std::conditional_t<std::is_arithmetic_v<T> || std::same_as<T, Spec>, Array, T>;

template <class T>
void add_argument(Signature& signature, const T& argument) {
  if constexpr (std::is_arithmetic_v<T>) {
    signature.add(Leaf{&scalar_type(dtype_of<T>), nullptr, ElementBits::of(argument), true});
  } else if constexpr (std::same_as<T, Spec>) {
    signature.add(Leaf{&argument.type, nullptr, 0, false});
  } else {
    SignatureVisitor visitor(signature);
    tree::walk(argument, visitor);
  }
}

template <class T>
void describe_argument(Description& description, int position, const T& argument) {
  DescriptionVisitor visitor(description, "argument", position);
  if constexpr (std::is_arithmetic_v<T>) {
    description.add(visitor.path, describe_weak(scalar_type(dtype_of<T>)));
  } else if constexpr (std::same_as<T, Spec>) {
    description.add(visitor.path, to_string(argument.type));
  } else {
    tree::walk(argument, visitor);
  }
}

}  // namespace detail

/// The signature of a call. It points into the arguments.
template <class... Args>
Signature signature_of(const Args&... args) {
  Signature signature;
  signature.form = &detail::form_of<detail::Traced<Args>...>;
  (detail::add_argument(signature, args), ...);
  return signature;
}

template <class... Args>
Description describe_call(const Args&... args) {
  Description description;
  int position = 0;
  (detail::describe_argument(description, position++, args), ...);
  return description;
}

}  // namespace anabranch
