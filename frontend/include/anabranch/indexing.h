// Parts of an array, as NumPy writes them in brackets, read and updated.
//
//   x(3)                                   the slab at position 3 of the first axis
//   x(ab::all, ab::range(1, -1))           columns 1 to the last but one
//   x(ab::ellipsis, ab::range({}, {}, -1)) the last axis turned round
//   x(rows, columns)                       the elements at pairs of positions, two integer arrays
//   x = ab::at(x, rows).add(updates)       x with updates added to these rows
//
// Subscripts go with the axes from the first on; axes without one are taken whole. Arrays of
// positions are broadcast together, and their axes stand where the first of them does if they
// follow each other, in front if not, as in NumPy; a number beside an array counts as one.
#pragma once

#include <cstdint>
#include <optional>
#include <source_location>
#include <vector>

#include "anabranch/export.h"
#include "anabranch/gather.h"
#include "anabranch/operand.h"
#include "anabranch/reduce.h"

namespace ANABRANCH_API anabranch {

/// Positions start, start + step, ... before stop, as of a Python slice: negative ones count from
/// the end, and what is beyond an end is held there. Without a start or a stop, from or to the end
/// that the step comes from or goes to.
struct Range {
  std::optional<std::int64_t> start = {}, stop = {};
  std::int64_t step = 1;
};
/// ab::range(2) is x[2:], ab::range(2, -1) is x[2:-1], ab::range({}, {}, -1) is x[::-1].
inline Range range(std::optional<std::int64_t> start, std::optional<std::int64_t> stop = {},
                   std::int64_t step = 1) {
  return {start, stop, step};
}

struct NewAxis {};
/// A new axis of size 1.
inline constexpr NewAxis newaxis;

struct Ellipsis {};
/// As many whole axes as are left.
inline constexpr Ellipsis ellipsis;

/// What picks positions of an axis: a number, a Range, `ab::all`, an array of integers; or makes an
/// axis: `ab::newaxis`. One array of bools, as the only subscript, picks elements for `at`.
class Subscript {
 public:
  enum class Kind : std::uint8_t { whole, new_axis, rest, range, position, array };

  template <std::integral T>
  requires(!std::same_as<T, bool>)
      Subscript(T position, std::source_location where = std::source_location::current())
      : kind_(Kind::position), range_{static_cast<std::int64_t>(position)}, where_(where) {}
  Subscript(Array positions, std::source_location where = std::source_location::current())
      : kind_(Kind::array), array_(std::move(positions)), where_(where) {}
  Subscript(Range positions, std::source_location where = std::source_location::current())
      : kind_(Kind::range), range_(positions), where_(where) {}
  Subscript(NewAxis, std::source_location where = std::source_location::current())
      : kind_(Kind::new_axis), where_(where) {}
  Subscript(Ellipsis, std::source_location where = std::source_location::current())
      : kind_(Kind::rest), where_(where) {}
  /// `ab::all`, which is the reduction of that name.
  Subscript(Array (*whole)(const Operand&, const Axes&, bool),
            std::source_location where = std::source_location::current());

  Kind kind() const { return kind_; }
  /// Of Kind::range, ::position and ::array.
  const Range& range() const { return range_; }
  std::int64_t position() const { return *range_.start; }
  const Array& array() const { return array_; }
  SourceLocation where() const { return where_; }
  /// The same, which errors find at `where`.
  Subscript placed_at(SourceLocation where) const {
    Subscript placed = *this;
    placed.where_ = where;
    return placed;
  }

 private:
  Kind kind_;
  Range range_ = {};  // of a position, its start
  Array array_;
  SourceLocation where_;
};

/// The part that the subscripts say: what x(a, b, ...) is. Positions in arrays count from the end
/// where they are negative, and what is out of range reads the nearest element; a number out of
/// range is an Error, as are more subscripts than axes, and arrays of bools, whose count is not
/// known before they are there: `where` and `nonzero` take those.
Array part_of(const Operand& x, const std::vector<Subscript>& subscripts);

/// A part of an array that is to be updated; made by `at`.
class PartOfArray {
 public:
  PartOfArray(const Operand& x, std::vector<Subscript> subscripts)
      : x_(x), subscripts_(std::move(subscripts)) {}

  /// The part itself.
  Array get() const;
  /// The array with `values`, broadcast to the part's shape, in its place. A number takes the
  /// array's dtype. Of several values for one element the last in row-major order stays; what is
  /// out of range is left out.
  Array set(const Operand& values) const { return combined(values, Update::replace); }
  /// The array with `values` added to the part: each of them, where one element is named more than
  /// once.
  Array add(const Operand& values) const { return combined(values, Update::add); }
  Array multiply(const Operand& values) const { return combined(values, Update::multiply); }
  Array min(const Operand& values) const { return combined(values, Update::minimum); }
  Array max(const Operand& values) const { return combined(values, Update::maximum); }

 private:
  Array combined(const Operand& values, Update update) const;

  Operand x_;
  std::vector<Subscript> subscripts_;
};

/// The part of x that the subscripts say, to be read or updated: x itself never changes.
///
///     x = ab::at(x, 0).set(1.0f);
///     counts = ab::at(counts, ids).add(1);
///     x = ab::at(x, x < 0).set(0);  // bools of x's first axes: wherever they hold
template <std::convertible_to<Subscript>... Subscripts>
PartOfArray at(const Operand& x, const Subscripts&... subscripts) {
  return {x, std::vector<Subscript>{Subscript(subscripts).placed_at(x.where())...}};
}

}  // namespace anabranch
