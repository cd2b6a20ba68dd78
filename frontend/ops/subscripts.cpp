#include "frontend/ops/subscripts.h"

#include <algorithm>
#include <optional>

#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/positions.h"
#include "frontend/ops/promote.h"

namespace anabranch {
namespace {

using AxisPart = Picked::AxisPart;

std::size_t axes_taken(const std::vector<Subscript>& subscripts) {
  return static_cast<std::size_t>(
      std::count_if(subscripts.begin(), subscripts.end(), [](const Subscript& subscript) {
        return subscript.kind() != Subscript::Kind::new_axis &&
               subscript.kind() != Subscript::Kind::rest;
      }));
}

AxisPart part_of_range(const char* function, const Range& range, std::int64_t size,
                       SourceLocation where) {
  const auto& [start, stop, step] = range;
  if (step == 0) {
    fail(std::string(function) + ": the step of a range is 0; give a positive or a negative one",
         where);
  }
  // A Python slice: ends are held within [0, size], or [-1, size - 1] on the way back.
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto held = [&](std::optional<std::int64_t> end, std::int64_t otherwise) {
    if (!end) return otherwise;
    return std::clamp(*end < 0 ? *end + size : *end, low, high);
  };
  const std::int64_t first = held(start, step > 0 ? low : high);
  const std::int64_t last = held(stop, step > 0 ? high : low);
  const std::int64_t span = step > 0 ? last - first : first - last;
  const std::int64_t most = std::max<std::int64_t>(size, 1);
  const std::int64_t pace =
      step > 0 ? std::min(step, most) : std::min(-std::max(step, -most), most);
  AxisPart part;
  part.count = span > 0 ? (span - 1) / pace + 1 : 0;
  part.start = part.count > 0 ? first : 0;
  part.step = step > 0 ? pace : -pace;
  if (part.count <= 1) part.step = 1;
  part.kind = part.step == 1 ? AxisPart::Kind::block : AxisPart::Kind::spaced;
  return part;
}

/// Takes the subscripts one after the other.
class Picker {
 public:
  Picker(const char* function, const Shape& shape, const std::vector<Subscript>& subscripts,
         SourceLocation where)
      : function_(function), shape_(shape), subscripts_(subscripts), where_(where) {}

  Picked run() {
    check_count();
    bool has_ellipsis = false;
    for (const Subscript& subscript : subscripts_) {
      if (subscript.kind() == Subscript::Kind::rest) {
        if (has_ellipsis) {
          fail(std::string(function_) + ": two ellipses; give one, and ab::all for other axes",
               subscript.where());
        }
        has_ellipsis = true;
        whole_axes(static_cast<std::size_t>(shape_.rank()) - axes_taken(subscripts_));
      } else {
        take(subscript);
      }
    }
    whole_axes(shape_.sizes().size() - picked_.axes.size());
    place_arrays();
    find_shape();
    return std::move(picked_);
  }

 private:
  void check_count() const {
    if (axes_taken(subscripts_) <= shape_.sizes().size()) return;
    fail(std::string(function_) + ": " + std::to_string(axes_taken(subscripts_)) +
             " subscripts for the " + std::to_string(shape_.rank()) + " axes of " +
             to_string(shape_) + "; give at most one per axis",
         where_);
  }

  std::int64_t size() const { return shape_[static_cast<int>(picked_.axes.size())]; }

  void add(AxisPart part) {
    picked_.items.push_back({static_cast<int>(picked_.axes.size())});
    picked_.axes.push_back(std::move(part));
  }

  void whole_axes(std::size_t count) {
    for (; count > 0; --count) add({AxisPart::Kind::block, 0, size(), 1, {}});
  }

  void take(const Subscript& subscript) {
    using Kind = Subscript::Kind;
    switch (subscript.kind()) {
      case Kind::new_axis:
        picked_.items.push_back({Picked::Item::new_axis});
        break;
      case Kind::whole:
        whole_axes(1);
        break;
      case Kind::range:
        add(part_of_range(function_, subscript.range(), size(), subscript.where()));
        picked_.has_spaces |= picked_.axes.back().kind == AxisPart::Kind::spaced;
        break;
      case Kind::position:
        take_point(subscript.position(), subscript.where());
        break;
      case Kind::array:
        take_array(Operand(subscript.array(), subscript.where()));
        break;
      case Kind::rest:
        break;  // taken by run
    }
  }

  void take_point(std::int64_t position, SourceLocation where) {
    const std::int64_t at = position < 0 ? position + size() : position;
    if (at < 0 || at >= size()) {
      fail_out_of_range(function_, position, picked_.axes.size(), to_string(shape_), size(), where);
    }
    add({AxisPart::Kind::point, at, 1, 1, {}});
  }

  void take_array(const Operand& positions) {
    const Array array = as_array(function_, positions);
    if (type_of(array).dtype == bool_) {
      fail(std::string(function_) +
               ": how many elements an array of bools picks is not known before it is there; use "
               "where, or nonzero with a size",
           positions.where());
    }
    picked_.has_arrays = true;
    add({AxisPart::Kind::array, 0, 1, 1, positions_from_end(function_, positions, size())});
  }

  bool is_array_like(const Picked::Item& item) const {
    if (item.axis < 0) return false;
    const auto kind = picked_.axes[static_cast<std::size_t>(item.axis)].kind;
    return kind == AxisPart::Kind::array || (picked_.has_arrays && kind == AxisPart::Kind::point);
  }

  // Of what arrays and points make together, one item where NumPy puts its axes.
  void place_arrays() {
    auto& items = picked_.items;
    const auto first = std::find_if(items.begin(), items.end(),
                                    [this](const auto& item) { return is_array_like(item); });
    const auto place = first - items.begin();
    auto end = first;
    while (end != items.end() && is_array_like(*end)) ++end;
    const bool together =
        std::none_of(end, items.end(), [this](const auto& item) { return is_array_like(item); });
    std::erase_if(items, [this](const Picked::Item& item) {
      return item.axis >= 0 &&
             picked_.axes[static_cast<std::size_t>(item.axis)].kind >= AxisPart::Kind::point;
    });
    if (!picked_.has_arrays) return;
    items.insert(items.begin() + (together ? place : 0), {Picked::Item::arrays});
    std::vector<Array> arrays;
    for (const AxisPart& part : picked_.axes) {
      if (part.kind == AxisPart::Kind::array) arrays.push_back(part.positions);
    }
    broadcast(function_, arrays, where_);
    picked_.arrays = type_of(arrays[0]).shape;
  }

  void find_shape() {
    for (const Picked::Item& item : picked_.items) {
      if (item.axis == Picked::Item::new_axis) {
        picked_.shape.push_back(1);
      } else if (item.axis == Picked::Item::arrays) {
        picked_.shape.insert(picked_.shape.end(), picked_.arrays.begin(), picked_.arrays.end());
      } else {
        picked_.shape.push_back(picked_.axes[static_cast<std::size_t>(item.axis)].count);
      }
    }
  }

  const char* const function_;
  const Shape& shape_;
  const std::vector<Subscript>& subscripts_;
  const SourceLocation where_;
  Picked picked_;
};

}  // namespace

Picked pick(const char* function, const Shape& shape, const std::vector<Subscript>& subscripts,
            SourceLocation where) {
  return Picker(function, shape, subscripts, where).run();
}

}  // namespace anabranch
