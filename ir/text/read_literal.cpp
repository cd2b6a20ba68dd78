#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/scalar.h"
#include "ir/text/text_form.h"
#include "ir/text/text_reader.h"

namespace anabranch {
namespace {

class LiteralReader {
 public:
  LiteralReader(TextReader& reader, const Type& type)
      : reader_(reader), type_(type), number_(part_dtype(type.dtype)) {}

  Literal read() {
    const std::size_t start = reader_.position();
    if (!reader_.take_constant(type_.bytes())) {
      reader_.fail("a constant of " + to_string(type_) +
                   " takes the constants of the text above 2^30 bytes; broadcast_in_dim makes one "
                   "of a scalar");
    }
    if (type_.rank() > 0 && !reader_.at('[')) {
      splat();
    } else if (type_.size() == 0 && empty_brackets()) {
      return Literal(type_, {});
    } else {
      axis(0);
    }
    if (bytes_.size() != type_.bytes()) reader_.fail_at(start, "the constant has too few elements");
    return Literal(type_, std::move(bytes_));
  }

 private:
  void splat() {
    element();
    const std::vector<std::byte> one = std::move(bytes_);
    bytes_.clear();
    bytes_.reserve(type_.bytes());
    for (std::int64_t i = 0; i < type_.size(); ++i)
      bytes_.insert(bytes_.end(), one.begin(), one.end());
  }

  // "[]" for any type without elements, however deep.
  bool empty_brackets() {
    TextReader ahead = reader_;
    if (!ahead.accept('[') || !ahead.accept(']')) return false;
    reader_ = ahead;
    return true;
  }

  void axis(int axis) {
    if (axis == type_.rank()) return element();
    const std::int64_t size = type_.shape[axis];
    const std::size_t start = reader_.position();
    reader_.expect('[', "to open axis " + std::to_string(axis) + " of " + to_string(type_));
    for (std::int64_t i = 0; i < size; ++i) {
      if (reader_.at(']')) wrong_count(start, axis, std::to_string(i));
      if (i > 0) reader_.expect(',', "between the elements of a constant");
      this->axis(axis + 1);
    }
    if (size > 0 ? reader_.at(',') : !reader_.at(']') && !reader_.at_end()) {
      wrong_count(start, axis, "more");
    }
    reader_.expect(']', "to close axis " + std::to_string(axis) + " of " + to_string(type_));
  }

  [[noreturn]] void wrong_count(std::size_t start, int axis, const std::string& found) {
    reader_.fail_at(start, "axis " + std::to_string(axis) + " of " + to_string(type_) + " has " +
                               std::to_string(type_.shape[axis]) +
                               " elements, and the text gives " + found);
  }

  void element() {
    if (reader_.at('[')) {
      reader_.fail("nested deeper than the " + std::to_string(type_.rank()) + " axes of " +
                   to_string(type_));
    }
    if (!is_complex(type_.dtype)) return number();
    reader_.expect('(', "to open a complex number, as in (1, -2)");
    number();
    reader_.expect(',', "between the parts of a complex number");
    number();
    reader_.expect(')', "to close a complex number");
  }

  void number() {
    const std::size_t start = reader_.position();
    const std::string_view token = reader_.number();
    visit_dtype(number_, [&]<class T>() { store(convert<T>(token, start)); });
  }

  template <class T>
  void store(T value) {
    const std::size_t end = bytes_.size();
    bytes_.resize(end + sizeof(T));
    std::memcpy(bytes_.data() + end, &value, sizeof(T));
  }

  [[noreturn]] void refuse(std::string_view token, std::size_t start, const std::string& why) {
    reader_.fail_at(start, "'" + std::string(token.substr(0, 40)) + "' " + why);
  }

  template <class T>
  T convert(std::string_view token, std::size_t start) {
    if constexpr (std::is_same_v<T, bool>) {
      if (token != "true" && token != "false") refuse(token, start, "is neither true nor false");
      return token == "true";
    } else if constexpr (std::is_integral_v<T>) {
      return decimal<T>(token, start);
    } else {
      if (token == "inf") return T(std::numeric_limits<float>::infinity());
      if (token == "-inf") return T(-std::numeric_limits<float>::infinity());
      if (token.starts_with("nan")) return nan<T>(token, start);
      if constexpr (std::is_floating_point_v<T>) {
        return decimal<T>(token, start);
      } else {
        const auto exact = decimal<double>(token, start);
        const T half = convert_scalar<T>(exact);
        const float rounded = half;
        if (std::isinf(rounded) || (rounded == 0 && exact != 0)) out_of_range(token, start);
        return half;
      }
    }
  }

  template <class T>
  T decimal(std::string_view token, std::size_t start) {
    T value{};
    const char* last = token.data() + token.size();
    // from_chars would take "infinity" and its like as well.
    const bool word = starts_identifier(token[token[0] == '-' && token.size() > 1 ? 1 : 0]);
    auto [end, error] = std::from_chars(token.data(), last, value);
    if (error == std::errc::result_out_of_range) out_of_range(token, start);
    if (word || error != std::errc{} || end != last) {
      const std::string_view dtype = name(number_);
      // A minus sign before an unsigned number is a range error, not a typing error.
      const bool negative = token[0] == '-' && is_unsigned_integer(number_);
      if (negative) out_of_range(token, start);
      refuse(token, start, "is no " + std::string(dtype));
    }
    return value;
  }

  [[noreturn]] void out_of_range(std::string_view token, std::size_t start) {
    refuse(token, start, "is out of range for " + std::string(name(number_)));
  }

  // "nan", or "nan(0x7fc00001)" with all the bits.
  template <class T>
  T nan(std::string_view token, std::size_t start) {
    std::uint64_t bits = quiet_nan_bits(number_);
    if (token != "nan") {
      if (!token.starts_with("nan(0x")) refuse(token, start, "is no NaN; write nan or nan(0x...)");
      const char* last = token.data() + token.size() - 1;
      auto [end, error] = std::from_chars(token.data() + 6, last, bits, 16);
      if (error != std::errc{} || end != last) {
        refuse(token, start, "needs hexadecimal digits, at most 64 bits");
      }
    }
    std::array<std::byte, sizeof(T)> low;
    std::memcpy(low.data(), &bits, sizeof(T));
    const T value = std::bit_cast<T>(low);
    const bool fits = bits <= std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * sizeof(T));
    if (!fits || !std::isnan(static_cast<double>(value))) {
      refuse(token, start, "holds no bits of a NaN of " + std::string(name(number_)));
    }
    return value;
  }

  TextReader& reader_;
  const Type& type_;
  Dtype number_;  // of an element, or of a complex one's parts
  std::vector<std::byte> bytes_;
};

}  // namespace

Literal read_literal(TextReader& reader, const Type& type) {
  return LiteralReader(reader, type).read();
}

}  // namespace anabranch
