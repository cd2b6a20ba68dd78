#include "frontend/array/format_array.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "ir/scalar.h"

namespace anabranch {
namespace {

// NumPy's defaults (numpy.set_printoptions).
constexpr int precision = 8;
constexpr std::int64_t threshold = 1000;
constexpr std::int64_t edge_items = 3;
constexpr std::size_t line_width = 75;

/// A float in decimal: sign, digits, and the exponent of the first of them.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

Decimal read_scientific(std::string_view text) {
  Decimal decimal;
  decimal.negative = text.front() == '-';
  std::size_t e = text.find('e');
  for (char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') decimal.digits += c;
  }
  decimal.exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  while (decimal.digits.size() > 1 && decimal.digits.back() == '0') decimal.digits.pop_back();
  return decimal;
}

template <class Float>
std::string to_text(Float value, std::chars_format format, int digits) {
  char text[400];
  auto end = digits < 0 ? std::to_chars(text, std::end(text), value, format)
                        : std::to_chars(text, std::end(text), value, format, digits);
  return {text, end.ptr};
}

// The fewest digits that read back to the same element.
template <class T>
Decimal shortest(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return read_scientific(to_text(value, std::chars_format::scientific, -1));
  } else {
    const float wide = value;
    for (int digits = 0;; ++digits) {
      std::string text = to_text(wide, std::chars_format::scientific, digits);
      if (T(std::strtof(text.c_str(), nullptr)).bits == value.bits) return read_scientific(text);
    }
  }
}

template <class T>
double exact(T value) {
  return static_cast<double>(value);
}

// Digits before and after the point; at most `precision` after it. "3." has nothing after it.
template <class T>
std::string positional(T value, int most) {
  Decimal decimal = shortest(value);
  const int fraction = static_cast<int>(decimal.digits.size()) - 1 - decimal.exponent;
  std::string text;
  if (fraction > most) {
    text = to_text(exact(value), std::chars_format::fixed, most);
    if (most == 0) text += '.';
    while (text.back() == '0') text.pop_back();
    return text;
  }
  if (std::signbit(exact(value))) text = "-";
  std::string digits = decimal.digits;
  if (decimal.exponent < 0) digits.insert(0, static_cast<std::size_t>(-decimal.exponent), '0');
  const auto whole = static_cast<std::size_t>(std::max(decimal.exponent, 0) + 1);
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  digits.insert(whole, ".");
  while (digits.back() == '0') digits.pop_back();
  return text + digits;
}

template <class T>
std::string scientific(T value, int digits, int exponent_width) {
  std::string text = to_text(exact(value), std::chars_format::scientific, digits);
  std::size_t e = text.find('e');
  std::string mantissa = text.substr(0, e), sign = text.substr(e + 1, 1);
  std::string exponent = text.substr(e + 2);
  if (mantissa.find('.') == mantissa.npos) mantissa += '.';
  if (static_cast<int>(exponent.size()) < exponent_width) {
    exponent.insert(0, static_cast<std::size_t>(exponent_width) - exponent.size(), '0');
  }
  return mantissa + "e" + sign + exponent;
}

// Decimal digits that every value keeps (numpy.finfo(dtype).precision).
template <class T>
constexpr int decimal_digits = sizeof(T) == 8               ? 15
                               : sizeof(T) == 4             ? 6
                               : std::is_same_v<T, Float16> ? 3
                                                            : 2;

using Format = std::function<std::string(std::int64_t)>;

std::string aligned_right(std::string text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string not_finite(double value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

/// How the floats of one array print: all alike, by what the finite ones need (NumPy's
/// FloatingFormat).
template <class T>
class FloatFormat {
 public:
  FloatFormat(const T* data, const std::vector<std::int64_t>& shown) : data_(data) {
    std::vector<T> finite;
    for (std::int64_t i : shown) {
      if (std::isfinite(exact(data[i]))) finite.push_back(data[i]);
    }
    exponents_ = wants_exponents(finite);
    for (T value : finite) measure(value);
    if (finite.size() == shown.size()) return;
    for (std::int64_t i : shown) {
      if (std::isfinite(exact(data[i]))) continue;
      int width = static_cast<int>(not_finite(exact(data[i])).size());
      // NumPy makes room for "nan" and "inf" wherever anything is not finite.
      left_ = std::max({left_, width - right_ - 1, 3 - right_ - 1});
    }
  }

  std::string operator()(std::int64_t index) const {
    T value = data_[index];
    const auto width = static_cast<std::size_t>(left_ + right_ + 1);
    if (!std::isfinite(exact(value))) return aligned_right(not_finite(exact(value)), width);
    if (exponents_) return aligned_right(scientific(value, digits_, exponent_width_), width);
    std::string text = positional(value, precision);
    text.append(static_cast<std::size_t>(right_) - (text.size() - text.find('.') - 1), ' ');
    return aligned_right(std::move(text), width);
  }

 private:
  // The comparisons round to the array's dtype, as NumPy's do.
  static bool wants_exponents(const std::vector<T>& finite) {
    double most = 0, least = std::numeric_limits<double>::infinity();
    for (T value : finite) {
      double magnitude = std::fabs(exact(value));
      if (magnitude == 0) continue;
      most = std::max(most, magnitude);
      least = std::min(least, magnitude);
    }
    if (most == 0) return false;
    return most >= std::pow(10.0, std::min(8, decimal_digits<T>)) ||
           least < exact(convert_scalar<T>(1e-4)) || exact(convert_scalar<T>(most / least)) > 1000;
  }

  void measure(T value) {
    if (!exponents_) {
      std::string text = positional(value, precision);
      auto point = static_cast<int>(text.find('.'));
      left_ = std::max(left_, point);
      right_ = std::max(right_, static_cast<int>(text.size()) - point - 1);
      return;
    }
    int fraction = static_cast<int>(shortest(value).digits.size()) - 1;
    std::string text = scientific(value, std::min(fraction, precision), 2);
    if (fraction > precision) {  // what rounding left of them
      std::string mantissa = text.substr(0, text.find('e'));
      while (mantissa.back() == '0') mantissa.pop_back();
      fraction = static_cast<int>(mantissa.size() - mantissa.find('.')) - 1;
    }
    digits_ = std::max(digits_, fraction);
    left_ = std::max(left_, static_cast<int>(text.find('.')));
    exponent_width_ = std::max(exponent_width_, static_cast<int>(text.size() - text.find('e')) - 2);
    right_ = std::max(right_, exponent_width_ + 2 + digits_);
  }

  const T* data_;
  bool exponents_ = false;
  int left_ = 0, right_ = 0;  // of the point
  int digits_ = 0;            // after the point, before the exponent
  int exponent_width_ = 0;
};

/// Both parts in columns of their own, the imaginary one with its sign (NumPy's
/// ComplexFloatingFormat).
template <class T>
class ComplexFormat {
 public:
  ComplexFormat(const std::complex<T>* data, const std::vector<std::int64_t>& shown)
      : first_(shown.empty() ? 0 : shown.front()) {
    const std::int64_t last = shown.empty() ? -1 : shown.back();
    for (std::int64_t i = first_; i <= last; ++i) {
      re_->push_back(data[i].real());
      im_->push_back(std::fabs(data[i].imag()));
      is_negative_->push_back(std::signbit(data[i].imag()) && !std::isnan(data[i].imag()));
    }
    std::vector<std::int64_t> places;
    for (std::int64_t i : shown) places.push_back(i - first_);
    re_format_ = FloatFormat<T>(re_->data(), places);
    im_format_ = FloatFormat<T>(im_->data(), places);
  }

  std::string operator()(std::int64_t index) const {
    const std::int64_t place = index - first_;
    std::string im = " " + im_format_(place);
    im[im.find_first_not_of(' ') - 1] =
        (*is_negative_)[static_cast<std::size_t>(place)] ? '-' : '+';
    im.insert(im.find_last_not_of(' ') + 1, "j");
    return re_format_(place) + im;
  }

 private:
  std::int64_t first_;
  std::shared_ptr<std::vector<T>> re_ = std::make_shared<std::vector<T>>(),
                                  im_ = std::make_shared<std::vector<T>>();
  std::shared_ptr<std::vector<bool>> is_negative_ = std::make_shared<std::vector<bool>>();
  Format re_format_, im_format_;
};

template <class T>
std::string integer_text(T value) {
  return std::to_string(value);
}

template <class T>
Format element_format(const T* data, const std::vector<std::int64_t>& shown) {
  if constexpr (std::is_same_v<T, bool>) {
    return [data](std::int64_t i) -> std::string { return data[i] ? " True" : "False"; };
  } else if constexpr (std::is_integral_v<T>) {
    std::size_t width = 0;
    for (std::int64_t i : shown) width = std::max(width, integer_text(data[i]).size());
    return [data, width](std::int64_t i) { return aligned_right(integer_text(data[i]), width); };
  } else if constexpr (is_complex_storage<T>) {
    return ComplexFormat<typename T::value_type>(data, shown);
  } else {
    return FloatFormat<T>(data, shown);
  }
}

template <class T>
std::string complex_text(std::complex<T> value);

// A single number prints as NumPy's scalars do.
template <class T>
std::string scalar_text(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "True" : "False";
  } else if constexpr (std::is_integral_v<T>) {
    return integer_text(value);
  } else if constexpr (is_complex_storage<T>) {
    return complex_text(value);
  } else {
    const double wide = exact(value), size = std::fabs(wide);
    if (!std::isfinite(wide)) return not_finite(wide);
    const double most = sizeof(T) == 8 ? 1e16 : std::pow(10.0, decimal_digits<T>);
    if (wide == 0 || (size >= 1e-4 && size < most)) {
      std::string text = positional(value, std::numeric_limits<int>::max());
      return text.back() == '.' ? text + "0" : text;
    }
    Decimal decimal = shortest(value);
    std::string text = scientific(value, static_cast<int>(decimal.digits.size()) - 1, 2);
    if (std::size_t point = text.find(".e"); point != text.npos) text.erase(point, 1);
    return text;
  }
}

template <class T>
std::string complex_text(std::complex<T> value) {
  const auto part = [](T number) {
    std::string text = scalar_text(number);
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
  };
  const std::string im = part(value.imag()) + "j";
  if (value.real() == 0 && !std::signbit(value.real())) return im;
  return "(" + part(value.real()) + (im.starts_with('-') ? "" : "+") + im + ")";
}

/// Brackets, rows and lines around the elements (NumPy's _formatArray).
class Layout {
 public:
  Layout(const Shape& shape, bool summarise, const Format& format)
      : shape_(shape), strides_(shape.strides()), summarise_(summarise), format_(format) {}

  std::string text() const { return nested(0, 0, " ", line_width); }

  /// The positions that are printed.
  static std::vector<std::int64_t> shown(const Shape& shape, bool summarise) {
    std::vector<std::int64_t> positions = {0}, strides = shape.strides();
    for (int axis = 0; axis < shape.rank(); ++axis) {
      std::vector<std::int64_t> next;
      for (std::int64_t position : positions) {
        for (std::int64_t i = 0; i < shape[axis]; ++i) {
          if (summarise && skipped(i, shape[axis])) continue;
          next.push_back(position + i * strides[static_cast<std::size_t>(axis)]);
        }
      }
      positions = std::move(next);
    }
    return positions;
  }

 private:
  static bool skipped(std::int64_t i, std::int64_t size) {
    return size > 2 * edge_items && i >= edge_items && i < size - edge_items;
  }

  std::string nested(int axis, std::int64_t offset, const std::string& indent,
                     std::size_t width) const {
    if (axis == shape_.rank()) return format_(offset);
    const bool last = axis + 1 == shape_.rank();
    std::string body = last ? row(axis, offset, indent, width) : rows(axis, offset, indent, width);
    return "[" + body.substr(indent.size()) + "]";
  }

  std::string row(int axis, std::int64_t offset, const std::string& indent,
                  std::size_t width) const {
    std::string done, line = indent;
    auto extend = [&](const std::string& word) {
      if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
        line.erase(line.find_last_not_of(' ') + 1);
        done += line + "\n";
        line = indent;
      }
      line += word;
    };
    for (std::int64_t i = 0; i < shape_[axis]; ++i) {
      if (summarise_ && skipped(i, shape_[axis])) {
        extend("...");
        line += ' ';
        i = shape_[axis] - edge_items - 1;
        continue;
      }
      extend(format_(offset + i));
      if (i + 1 < shape_[axis]) line += ' ';
    }
    return done + line;
  }

  std::string rows(int axis, std::int64_t offset, const std::string& indent,
                   std::size_t width) const {
    std::string text;
    const std::string separator(static_cast<std::size_t>(shape_.rank() - axis - 1), '\n');
    for (std::int64_t i = 0; i < shape_[axis]; ++i) {
      text += indent;
      if (summarise_ && skipped(i, shape_[axis])) {
        text += "...";
        i = shape_[axis] - edge_items - 1;
      } else {
        text += nested(axis + 1, offset + i * strides_[static_cast<std::size_t>(axis)],
                       indent + " ", width - 1);
      }
      if (i + 1 < shape_[axis]) text += separator;
    }
    return text;
  }

  const Shape& shape_;
  std::vector<std::int64_t> strides_;
  bool summarise_;
  const Format& format_;
};

}  // namespace

std::string format_array(const Type& type, const void* data) {
  if (type.size() == 0) return "[]";
  return visit_any_dtype(type.dtype, [&]<class T>() -> std::string {
    auto* elements = static_cast<const T*>(data);
    if (type.rank() == 0) return scalar_text(elements[0]);
    const bool summarise = type.size() > threshold;
    Format format = element_format(elements, Layout::shown(type.shape, summarise));
    return Layout(type.shape, summarise, format).text();
  });
}

}  // namespace anabranch
