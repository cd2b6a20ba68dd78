// Sizes and axes as a user writes them, with the line where they were written.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <type_traits>
#include <vector>

#include "anabranch/export.h"
#include "anabranch/shape.h"
#include "anabranch/source_location.h"

namespace ANABRANCH_API anabranch {

/// One size, from any C++ integer, so that {rows.size(), 3} is a shape too.
struct Extent {
  std::int64_t value;

  template <std::integral T>
  requires(!std::same_as<T, bool>) Extent(T size) : value(static_cast<std::int64_t>(size)) {}
};

/// The sizes of a shape: {64, 128}, one number, a vector, or another array's shape.
class Sizes {
 public:
  Sizes(std::initializer_list<Extent> sizes,
        std::source_location where = std::source_location::current())
      : where_(where) {
    for (Extent size : sizes) sizes_.push_back(size.value);
  }
  template <std::integral T>
  Sizes(std::initializer_list<T> sizes,
        std::source_location where = std::source_location::current())
      : sizes_(sizes.begin(), sizes.end()), where_(where) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>)
      Sizes(T size, std::source_location where = std::source_location::current())
      : sizes_{static_cast<std::int64_t>(size)}, where_(where) {}
  template <std::integral T>
  Sizes(const std::vector<T>& sizes, std::source_location where = std::source_location::current())
      : sizes_(sizes.begin(), sizes.end()), where_(where) {}
  /// The same sizes, written elsewhere.
  Sizes(std::vector<std::int64_t> sizes, SourceLocation where)
      : sizes_(std::move(sizes)), where_(where) {}
  Sizes(const Shape& shape, std::source_location where = std::source_location::current())
      : sizes_(shape.begin(), shape.end()), where_(where) {}

  const std::vector<std::int64_t>& list() const { return sizes_; }
  SourceLocation where() const { return where_; }
  /// Throws Error, on the user's line, for a negative size or too many elements.
  Shape shape(const char* function) const;

 private:
  std::vector<std::int64_t> sizes_;
  SourceLocation where_;
};

/// What names an axis: any C++ integer, or an enumerator that counts as one. A bool is none.
template <class T>
concept AxisNumber = std::convertible_to<T, std::int64_t> && !std::same_as<T, bool> &&
                     (std::integral<T> || std::is_enum_v<T>);

/// One axis. Negative ones count from the last: -1.
struct Axis {
  std::int64_t value;

  template <AxisNumber T>
  Axis(T axis) : value(static_cast<std::int64_t>(axis)) {}
  template <std::same_as<bool> Bool>
  Axis(Bool) = delete;
};

/// Which axes: none given (all of them), one, or a list. Negative ones count from the last: -1.
class Axes {
 public:
  Axes() = default;
  template <AxisNumber T>
  Axes(T axis) : Axes(Axis(axis)) {}
  Axes(Axis axis) : axes_(std::vector<std::int64_t>{axis.value}) {}
  Axes(std::initializer_list<Axis> axes) : axes_(std::in_place) {
    for (Axis axis : axes) axes_->push_back(axis.value);
  }
  Axes(std::vector<std::int64_t> axes) : axes_(std::move(axes)) {}
  // The axes come before keepdims. sum(x, {}, keepdims) is of all axes.
  template <std::same_as<bool> Bool>
  Axes(Bool) = delete;

  bool all() const { return !axes_; }
  /// Axes of an array of that rank, ascending, each once. Throws Error for an axis that it does not
  /// have, or named twice.
  std::vector<std::int64_t> of_rank(const char* function, const Shape& shape,
                                    SourceLocation where) const;
  /// The same in the order in which they were given.
  std::vector<std::int64_t> in_order(const char* function, const Shape& shape,
                                     SourceLocation where) const;

 private:
  std::optional<std::vector<std::int64_t>> axes_;
};

/// One axis of an array of that shape, negative ones counted from the last.
std::int64_t axis_of(const char* function, Axis axis, const Shape& shape, SourceLocation where);

}  // namespace anabranch
