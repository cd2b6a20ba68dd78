#include "frontend/stablehlo/dense.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "frontend/stablehlo/narrow_format.h"
#include "frontend/stablehlo/scanner.h"
#include "frontend/stablehlo/types.h"
#include "ir/checked.h"
#include "ir/scalar.h"

namespace anabranch::stablehlo {
namespace {

// Whether a decimal that double cannot hold is a small one and not a large one: where its first
// digit other than 0 is says so, together with its exponent.
bool is_below_range(std::string_view digits) {
  const std::size_t e = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, e);
  const std::size_t point = std::min(mantissa.find('.'), e);
  const std::size_t first = std::min(mantissa.find_first_of("123456789"), e);
  std::string_view written = digits.substr(std::min(e + 1, digits.size()));
  if (written.starts_with('+')) written.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto read = std::from_chars(written.data(), written.data() + written.size(), exponent);
  if (read.ec == std::errc::result_out_of_range) return written.starts_with('-');
  const auto place = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  return saturating_add(exponent, place) < 0;
}

// A decimal as double, as MLIR reads floats of every width.
double decimal(std::string_view digits) {
  double value = 0;
  const char* begin = digits.data() + (digits.starts_with('+') ? 1 : 0);
  const auto read = std::from_chars(begin, digits.data() + digits.size(), value);
  if (read.ec != std::errc::result_out_of_range) return value;
  const double extreme = is_below_range(digits) ? 0.0 : std::numeric_limits<double>::infinity();
  return digits.starts_with('-') ? -extreme : extreme;
}

class DenseReader {
 public:
  DenseReader(const SourceText& source, const Attribute& attribute, const Type& type)
      : scan_(source, attribute.begin, attribute.end),
        type_(type),
        narrow_(attribute.typed ? narrow_format(attribute.type.element) : nullptr) {}

  DenseValue read() {
    if (scan_.at_end()) {
      if (type_.size() != 0)
        scan_.fail("dense<> has no elements, and " + type_text(type_) + " has");
      return {Literal(type_, {}), false};
    }
    if (scan_.at('"')) {
      const std::size_t at = scan_.position();
      return blob(scan_.quoted(), at, 0);
    }
    const bool is_list = scan_.at('[');
    if (is_list) {
      list(0);
    } else {
      element();
    }
    if (!scan_.at_end()) scan_.fail_expected("the end of the dense constant");
    const Type type = is_list ? type_ : Type{type_.dtype, {}};
    if (!is_list && type_.size() == 0) return {Literal(type_, {}), false};
    return {Literal(type, std::move(bytes_)), !is_list};
  }

  /// "0x0102...": bytes of all elements, or of one that is repeated.
  DenseValue blob(const std::string& digits, std::size_t at, std::size_t skipped) {
    if (!digits.starts_with("0x") || digits.size() % 2 != 0) {
      scan_.fail_at(at, "a constant in quotes is hexadecimal bytes: \"0x00FF\"");
    }
    std::vector<std::byte> bytes;
    for (std::size_t i = 2 + 2 * skipped; i + 1 < digits.size(); i += 2) {
      unsigned byte = 0;
      const auto read = std::from_chars(&digits[i], &digits[i] + 2, byte, 16);
      if (read.ptr != &digits[i] + 2) scan_.fail_at(at, "'" + digits.substr(i, 2) + "' is no byte");
      bytes.push_back(static_cast<std::byte>(byte));
    }
    const auto count = static_cast<std::size_t>(type_.size());
    const Type scalar{type_.dtype, {}};
    // Bools are a byte each, or packed into bits, as MLIR has printed them at different times.
    if (type_.dtype == bool_ && bytes.size() != count) {
      const bool is_splat = bytes.size() == 1 && (count > 8 || bytes[0] == std::byte{0xff});
      if (!is_splat && bytes.size() != (count + 7) / 8) fail_size(at, bytes.size());
      std::vector<std::byte> bools;
      for (std::size_t i = 0; i < (is_splat ? 1 : count); ++i) {
        bools.push_back((bytes[i / 8] >> (i % 8)) & std::byte{1});
      }
      return {Literal(is_splat ? scalar : type_, std::move(bools)), is_splat};
    }
    if (type_.dtype == bool_) {
      for (std::byte& each : bytes) each = each != std::byte{0} ? std::byte{1} : std::byte{0};
    }
    if (narrow_) return narrow_blob(bytes, at);
    if (bytes.size() == type_.bytes()) return {Literal(type_, std::move(bytes)), false};
    if (bytes.size() != byte_size(type_.dtype)) fail_size(at, bytes.size());
    return {Literal(scalar, std::move(bytes)), true};
  }

 private:
  [[noreturn]] void fail_size(std::size_t at, std::size_t bytes) {
    scan_.fail_at(at, std::to_string(bytes) + " bytes for " + type_text(type_) + ", which takes " +
                          std::to_string(type_.bytes()));
  }

  // A byte for each element, whatever carries it.
  DenseValue narrow_blob(const std::vector<std::byte>& bytes, std::size_t at) {
    const auto count = static_cast<std::size_t>(type_.size());
    if (bytes.size() != count && bytes.size() != 1) fail_size(at, bytes.size());
    const bool is_splat = bytes.size() != count;
    for (const std::byte byte : bytes) {
      const auto bits = std::to_integer<std::uint64_t>(byte);
      if (is_float(type_.dtype)) {
        append(static_cast<float>(number_of_bits(*narrow_, bits)));
      } else {
        append(static_cast<std::uint8_t>(sign_extended(bits)));
      }
    }
    return {Literal(is_splat ? Type{type_.dtype, {}} : type_, std::move(bytes_)), is_splat};
  }

  // Of a narrow integer's bits, those of its carrier.
  std::uint64_t sign_extended(std::uint64_t bits) const {
    if (!is_signed_integer(type_.dtype)) return bits;
    const int unused = 64 - narrow_->bits;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
  }

  // One list per axis; the number of axes bounds how deep this goes.
  void list(int axis) {
    const std::size_t at = scan_.position();
    if (axis >= type_.rank()) {
      scan_.fail("a list inside the lists of " + type_text(type_) + "; one level for each axis");
    }
    scan_.expect("[", "before the elements of axis " + std::to_string(axis));
    std::int64_t count = 0;
    if (!scan_.at(']')) {
      do {
        if (axis + 1 < type_.rank() || scan_.at('[')) {
          list(axis + 1);
        } else {
          element();
        }
        ++count;
      } while (scan_.accept(","));
    }
    scan_.expect("]", "after the elements of axis " + std::to_string(axis));
    if (count == type_.shape[axis]) return;
    scan_.fail_at(at, std::to_string(count) + " elements along axis " + std::to_string(axis) +
                          " of " + type_text(type_) + ", which has " +
                          std::to_string(type_.shape[axis]));
  }

  void element() {
    visit_any_dtype(type_.dtype, [&]<class T>() { append(value<T>()); });
  }

  template <class T>
  void append(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  template <class T>
  T value() {
    if constexpr (std::is_same_v<T, bool>) {
      if (scan_.accept_word("true")) return true;
      if (scan_.accept_word("false")) return false;
      return integer_bits() != 0;
    } else if constexpr (is_complex_storage<T>) {
      scan_.expect("(", "before a complex number");
      const auto re = real<typename T::value_type>();
      scan_.expect(",", "between the parts of a complex number");
      const auto im = real<typename T::value_type>();
      scan_.expect(")", "after a complex number");
      return T(re, im);
    } else if constexpr (is_float_storage<T>) {
      return real<T>();
    } else {
      return static_cast<T>(integer_bits());
    }
  }

  template <class T>
  T real() {
    const std::size_t at = scan_.position();
    const std::string_view digits = scan_.number("a number of " + element_of_dtype(type_.dtype));
    const bool is_decimal = digits.find("0x") == digits.npos;
    if (is_decimal && narrow_) return convert_scalar<T>(nearest_in(*narrow_, decimal(digits)));
    if (is_decimal) return convert_scalar<T>(decimal(digits));
    if (!digits.starts_with('0')) scan_.fail_at(at, "a float in hexadecimal bits has no sign");
    std::uint64_t word = 0;
    const std::string_view hex = digits.substr(digits.find("0x") + 2);
    const auto read = std::from_chars(hex.data(), hex.data() + hex.size(), word, 16);
    const ElementBits bits = word;
    if (read.ec != std::errc() ||
        !bits.fit(narrow_ ? static_cast<std::size_t>(width()) : 8 * sizeof(T))) {
      scan_.fail_at(at, std::string(digits) + " are more bits than " +
                            element_of_dtype(type_.dtype) + " has");
    }
    if (narrow_) return convert_scalar<T>(number_of_bits(*narrow_, word));
    T value{};
    std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
    return value;
  }

  // In two's complement; signless integers may be written either way.
  std::uint64_t integer_bits() {
    const std::size_t at = scan_.position();
    const std::string element = element_of_dtype(type_.dtype);
    const std::string_view text = scan_.number("an integer of " + element);
    const bool is_negative = text.starts_with('-');
    std::string_view digits = text.substr(is_negative || text.starts_with('+') ? 1 : 0);
    const bool is_hex = digits.starts_with("0x");
    if (is_hex) digits.remove_prefix(2);
    std::uint64_t magnitude = 0;
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, magnitude, is_hex ? 16 : 10);
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - width());
    const std::uint64_t least = std::uint64_t{1} << (width() - 1);
    const bool fits =
        is_negative ? magnitude <= least && !is_unsigned_integer(type_.dtype) : magnitude <= all;
    if (read.ec != std::errc() || read.ptr != end || !fits) {
      scan_.fail_at(at, "'" + std::string(text) + "' is no integer of " + element);
    }
    if (is_negative) return ~magnitude + 1;
    return narrow_ ? sign_extended(magnitude) : magnitude;
  }

  // Bits that an element has.
  int width() const {
    if (narrow_) return narrow_->bits;
    return type_.dtype == bool_ ? 1 : info(type_.dtype).bits;
  }

  Scanner scan_;
  const Type& type_;
  const NarrowFormat* narrow_;
  std::vector<std::byte> bytes_;
};

}  // namespace

DenseValue read_dense(const SourceText& source, const ModuleSyntax& module,
                      const Attribute& attribute, const Type& type) {
  DenseReader reader(source, attribute, type);
  if (attribute.kind != Attribute::Kind::resource) return reader.read();
  for (const auto& [name, blob] : module.resources) {
    if (name != attribute.text) continue;
    // Four bytes of alignment come first.
    return reader.blob(Scanner(source, blob.begin, blob.end).quoted(), blob.begin, 4);
  }
  source.fail(attribute.begin, "there is no resource " + attribute.text +
                                   " in the file; print the program with its constants whole "
                                   "(large constants were elided)");
}

Literal expanded(const DenseValue& value, const Type& type, std::size_t& bytes_left) {
  if (type.bytes() > bytes_left) {
    throw Error("a constant of " + type_text(type) + " takes " + std::to_string(type.bytes()) +
                " bytes, and those that are written out take at most " +
                std::to_string(most_expanded_bytes) + " together; broadcast a scalar instead");
  }
  bytes_left -= type.bytes();
  if (!value.is_splat) return value.elements;
  const auto one = value.elements.bytes();
  std::vector<std::byte> bytes(type.bytes());
  for (std::size_t at = 0; at < bytes.size(); at += one.size()) {
    std::memcpy(&bytes[at], one.data(), one.size());
  }
  return Literal(type, std::move(bytes));
}

}  // namespace anabranch::stablehlo
