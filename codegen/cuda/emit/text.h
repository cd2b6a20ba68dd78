// Writing CUDA C++: indented lines, the names of types, constants.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "anabranch/detail/element_bits.h"
#include "anabranch/dtype.h"

namespace anabranch::cuda {

/// What can stand behind `//`: on one line, and not going on in the next.
std::string comment_of(std::string_view text);

class Text {
 public:
  explicit Text(std::size_t depth = 0) : depth_(depth) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(2 * depth_, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  /// What follows stands inside, until `close`.
  template <class... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    line(format, std::forward<Args>(args)...);
    ++depth_;
  }
  void close() {
    --depth_;
    line("}}");
  }

  /// A line that defines `name`, and what `write` writes after it; the line is left out where that
  /// does not say the name.
  template <class Write>
  void line_if_used(std::string_view name, std::string_view definition, Write write) {
    const std::size_t begin = text_.size();
    line("{}", definition);
    const std::size_t end = text_.size();
    write();
    if (!says(std::string_view(text_).substr(end), name)) text_.erase(begin, end - begin);
  }

  std::string take() { return std::move(text_); }

 private:
  static bool says(std::string_view text, std::string_view name);

  std::string text_;
  std::size_t depth_;
};

/// What a function of that name is called in the text: "while3.body.kernel4" is
/// while3_body_kernel4.
std::string symbol(std::string_view name);

/// As device.cuh calls it.
std::string_view type_name(Dtype dtype);

/// A constant of that type, with these bits: "0.5f".
std::string literal(Dtype dtype, ElementBits bits);

}  // namespace anabranch::cuda
