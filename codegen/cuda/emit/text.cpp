#include "codegen/cuda/emit/text.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>

namespace anabranch::cuda {
namespace {

// The shortest text that reads back to the same bits.
template <class T>
std::string finite(T value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

bool Text::says(std::string_view text, std::string_view name) {
  const auto belongs_to_a_name = [&](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    if (!belongs_to_a_name(at - 1) && !belongs_to_a_name(at + name.size())) return true;
  }
  return false;
}

std::string comment_of(std::string_view text) {
  std::string made(text);
  const auto is_control = [](unsigned char c) { return std::iscntrl(c) != 0; };
  std::replace_if(made.begin(), made.end(), is_control, ' ');
  if (made.ends_with('\\')) made += '.';  // a line that ends so goes on in the next
  return made;
}

std::string symbol(std::string_view name) {
  std::string made(name);
  std::replace(made.begin(), made.end(), '.', '_');
  return made;
}

std::string_view type_name(Dtype dtype) { return dtype == bool_ ? "bool" : name(dtype); }

std::string literal(Dtype dtype, ElementBits element) {
  const std::uint64_t bits = element.low;
  if (is_complex(dtype)) {
    const Dtype part = part_dtype(dtype);
    const ElementBits re = part == f32 ? bits & UINT32_MAX : bits;
    const ElementBits im = part == f32 ? bits >> 32 : element.high;
    return fmt::format("{}{{{}, {}}}", name(dtype), literal(part, re), literal(part, im));
  }
  if (computes_in(dtype) != dtype) return fmt::format("{}{{{:#x}}}", name(dtype), bits);
  switch (dtype) {
    case bool_:
      return bits != 0 ? "true" : "false";
    case f32: {
      const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      return std::isfinite(value) ? finite(value) + "f" : fmt::format("bits_as<f32>({:#x}u)", bits);
    }
    case f64: {
      const auto value = std::bit_cast<double>(bits);
      return std::isfinite(value) ? finite(value) : fmt::format("bits_as<f64>(u64{{{:#x}}})", bits);
    }
    case i32:
      return bits > INT32_MAX ? fmt::format("i32({:#x})", bits) : std::to_string(bits);
    default:
      return bits < 256 ? fmt::format("{}({})", name(dtype), bits)
                        : fmt::format("{}({:#x})", name(dtype), bits);
  }
}

}  // namespace anabranch::cuda
