#include "anabranch/indexing.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>

#include "anabranch/creation.h"
#include "anabranch/elementwise.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/positions.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/subscripts.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

using PartKind = Picked::AxisPart::Kind;
using SizeList = std::vector<std::int64_t>;

Array shaped(const Array& array, const SizeList& sizes, SourceLocation where) {
  return reshape({array, where}, Sizes(sizes, where));
}

// --- without arrays: a slice ---------------------------------------------------------------------

// What is picked with axes that go still there.
Array sliced(const Array& array, const Picked& picked, SourceLocation where) {
  SliceAttributes a;
  AxesAttributes turned;
  for (std::size_t i = 0; i < picked.axes.size(); ++i) {
    const auto& part = picked.axes[i];
    const std::int64_t last = part.start + std::max<std::int64_t>(part.count - 1, 0) * part.step;
    a.start.push_back(std::min(part.start, last));
    a.limit.push_back(part.count == 0 ? a.start.back() : std::max(part.start, last) + 1);
    a.stride.push_back(part.step < 0 ? -part.step : part.step);
    if (part.step < 0) turned.axes.push_back(static_cast<std::int64_t>(i));
  }
  const Array kept = record(Op::slice, {array}, where, a);
  return turned.axes.empty() ? kept : record(Op::reverse, {kept}, where, turned);
}

Array with_block(const Array& array, const Picked& picked, const Array& block,
                 SourceLocation where) {
  SizeList sizes;
  std::vector<Array> operands = {array, block};
  for (const auto& part : picked.axes) {
    sizes.push_back(part.count);
    operands.push_back(number_as("at", Number(part.start), i64, where));
  }
  operands[1] = shaped(block, sizes, where);
  return record(Op::dynamic_update_slice, operands, where);
}

// --- with arrays: a gather -----------------------------------------------------------------------

/// What is picked as a gather says it: the result's axes but the new ones, and the vectors.
class Vectors {
 public:
  Vectors(const Picked& picked, SourceLocation where) : picked_(picked), where_(where) {
    find_axes();
    find_components();
  }

  GatherAttributes attributes() const {
    GatherAttributes a{offsets_, collapsed_, {}, {}, starts_, vector_axis(), {}};
    for (const auto& part : picked_.axes)
      a.sizes.push_back(part.kind == PartKind::block ? part.count : 1);
    return a;
  }
  ScatterDimensions dimensions() const {
    return {offsets_, collapsed_, {}, {}, starts_, vector_axis()};
  }
  const Array& indices() const { return indices_; }
  /// Of what is gathered: without new axes.
  const SizeList& sizes() const { return sizes_; }

 private:
  std::int64_t vector_axis() const { return static_cast<std::int64_t>(batch_.size()); }

  void find_axes() {
    for (const Picked::Item& item : picked_.items) {
      if (item.axis == Picked::Item::new_axis) continue;
      if (item.axis == Picked::Item::arrays) {
        arrays_at_ = batch_.size();
        for (std::int64_t size : picked_.arrays) add_batch(size);
        continue;
      }
      const auto& part = picked_.axes[static_cast<std::size_t>(item.axis)];
      if (part.kind == PartKind::block) {
        offsets_.push_back(static_cast<std::int64_t>(sizes_.size()));
        sizes_.push_back(part.count);
      } else {
        spaced_at_.push_back({item.axis, batch_.size()});
        add_batch(part.count);
      }
    }
  }

  void add_batch(std::int64_t size) {
    batch_.push_back(size);
    sizes_.push_back(size);
  }

  void find_components() {
    std::vector<std::size_t> axes;
    Dtype dtype = i32;
    for (std::size_t i = 0; i < picked_.axes.size(); ++i) {
      const auto& part = picked_.axes[i];
      if (part.kind != PartKind::block) collapsed_.push_back(static_cast<std::int64_t>(i));
      if (part.kind == PartKind::block && part.start == 0) continue;
      starts_.push_back(static_cast<std::int64_t>(i));
      axes.push_back(i);
      const std::int64_t last = part.start + part.count * std::abs(part.step);
      const bool is_wide = part.kind == PartKind::array
                               ? type_of(part.positions).dtype == i64
                               : last > std::numeric_limits<std::int32_t>::max();
      if (is_wide) dtype = i64;
    }
    std::vector<Array> components;
    for (std::size_t axis : axes) components.push_back(component(axis, dtype));
    if (components.size() == 1) {
      indices_ = components[0];
      return;
    }
    SizeList column = batch_;
    column.push_back(1);
    for (Array& each : components) each = shaped(each, column, where_);
    column.back() = 0;
    indices_ = components.empty()
                   ? zeros(i32, Sizes(column, where_))
                   : record(Op::concatenate, components, where_, AxisAttributes{vector_axis()});
  }

  Type batch_type(Dtype dtype) const { return {dtype, Shape(batch_)}; }

  Array spread(const Array& array, SizeList axes) const {
    return record(Op::broadcast_in_dim, {array}, where_, AxesAttributes{std::move(axes)},
                  batch_type(type_of(array).dtype));
  }

  Array number(std::int64_t value, Dtype dtype) const {
    return number_as("at", Number(value), dtype, where_);
  }

  // Where windows begin on one axis, for all vectors.
  Array component(std::size_t axis, Dtype dtype) const {
    const auto& part = picked_.axes[axis];
    if (part.kind == PartKind::array) {
      Array positions = part.positions;
      if (type_of(positions).dtype != dtype) {
        positions = record(Op::convert, {positions}, where_, NoAttributes{},
                           Type{dtype, type_of(positions).shape});
      }
      const auto rank = static_cast<std::size_t>(type_of(positions).rank());
      SizeList places(rank);
      std::iota(places.begin(), places.end(),
                static_cast<std::int64_t>(arrays_at_ + picked_.arrays.sizes().size() - rank));
      return spread(positions, places);
    }
    if (part.kind != PartKind::spaced) return spread(number(part.start, dtype), {});
    const auto at = std::find_if(spaced_at_.begin(), spaced_at_.end(), [&](const auto& spaced) {
      return spaced.first == static_cast<int>(axis);
    });
    const SourceLocation w = where_;
    const Array counted = record(Op::iota, {}, w, AxisAttributes{0}, Type{dtype, {part.count}});
    const Array all =
        add(Operand(multiply(Operand(counted, w), Operand(number(part.step, dtype), w)), w),
            Operand(number(part.start, dtype), w));
    return spread(all, {static_cast<std::int64_t>(at->second)});
  }

  const Picked& picked_;
  const SourceLocation where_;
  SizeList sizes_, batch_, offsets_, collapsed_, starts_;
  std::size_t arrays_at_ = 0;
  std::vector<std::pair<int, std::size_t>> spaced_at_;
  Array indices_;
};

bool lacks_elements(const Picked& picked, const Shape& shape) {
  for (std::size_t i = 0; i < picked.axes.size(); ++i) {
    if (picked.axes[i].kind == PartKind::array && shape[static_cast<int>(i)] == 0) return true;
  }
  return false;
}

// The only subscript, where it is an array of bools.
std::optional<Array> mask_of(const std::vector<Subscript>& subscripts) {
  if (subscripts.size() != 1) return std::nullopt;
  const Array& array = subscripts[0].array();
  if (!array.expression() || type_of(array).dtype != bool_) return std::nullopt;
  return array;
}

Array combined_by(Update update, const Operand& x, const Operand& values) {
  switch (update) {
    case Update::add:
      return add(x, values);
    case Update::multiply:
      return multiply(x, values);
    case Update::minimum:
      return minimum(x, values);
    case Update::maximum:
      return maximum(x, values);
    default:
      return values.array();
  }
}

// bool has no arithmetic of its own: its sum is or, its product and.
Array combined_elements(Update update, const Array& x, const Array& values, SourceLocation where) {
  if (update == Update::replace) return values;
  if (type_of(x).dtype != bool_) return combined_by(update, {x, where}, {values, where});
  const bool is_or = update == Update::add || update == Update::maximum;
  return record(is_or ? Op::or_ : Op::and_, {x, values}, where);
}

// What a part of x of this shape is combined with.
Array part_updates(const Operand& values, const Array& x, const Shape& shape) {
  const Type& type = type_of(x);
  const Array updates =
      broadcast_to_shape("at", updates_of("at", values, type.dtype), shape, values.where());
  if (type_of(updates).dtype == type.dtype) return updates;
  fail("at: " + describe(values) + " for a part of " + to_string(type) + "; convert it with " +
           astype_call(type.dtype),
       values.where());
}

Array where_mask(const Array& x, const Array& mask, const Operand& values, Update update,
                 SourceLocation at) {
  const Shape &shape = type_of(x).shape, &held = type_of(mask).shape;
  const bool fits =
      held.rank() <= shape.rank() && std::equal(held.begin(), held.end(), shape.begin());
  if (!fits) {
    fail("at: bools of shape " + to_string(held) + " are not of the first axes of " +
             to_string(type_of(x)),
         at);
  }
  SizeList axes(held.sizes().size());
  std::iota(axes.begin(), axes.end(), 0);
  const Array everywhere =
      record(Op::broadcast_in_dim, {mask}, at, AxesAttributes{axes}, Type{bool_, shape});
  const Array given = part_updates(values, x, shape);
  return record(Op::select, {everywhere, combined_elements(update, x, given, at), x}, at);
}

}  // namespace

Subscript::Subscript(Array (*whole)(const Operand&, const Axes&, bool), std::source_location where)
    : kind_(Kind::whole), where_(where) {
  if (whole != static_cast<decltype(whole)>(&all)) {
    fail("a subscript is a function other than ab::all; call it first", where);
  }
}

Array part_of(const Operand& x, const std::vector<Subscript>& subscripts) {
  const Array array = as_array("subscripts", x);
  const Shape& shape = type_of(array).shape;
  const Picked picked = pick("subscripts", shape, subscripts, x.where());
  if (!picked.has_arrays) return shaped(sliced(array, picked, x.where()), picked.shape, x.where());
  if (lacks_elements(picked, shape)) {
    const Array nothing = zeros(type_of(array).dtype, Sizes(picked.shape, x.where()));
    if (nothing.size() == 0) return nothing;
    fail("subscripts: an array of positions picks from an axis of " + to_string(type_of(array)) +
             " that has none",
         x.where());
  }
  const Vectors vectors(picked, x.where());
  const Array gathered =
      record(Op::gather, {array, vectors.indices()}, x.where(), vectors.attributes());
  return shaped(gathered, picked.shape, x.where());
}

Array PartOfArray::get() const { return part_of(x_, subscripts_); }

Array PartOfArray::combined(const Operand& values, Update update) const {
  const SourceLocation where = x_.where();
  const Array array = as_array("at", x_);
  if (const auto mask = mask_of(subscripts_)) {
    return where_mask(array, *mask, values, update, where);
  }
  const Shape& shape = type_of(array).shape;
  const Picked picked = pick("at", shape, subscripts_, where);
  const Array updates = part_updates(values, array, Sizes(picked.shape, where).shape("at"));
  if (!picked.has_arrays && !picked.has_spaces) {
    SizeList sizes;
    for (const auto& part : picked.axes) sizes.push_back(part.count);
    const Array block = shaped(updates, sizes, where);
    if (update == Update::replace) return with_block(array, picked, block, where);
    const Array before = sliced(array, picked, where);
    return with_block(array, picked, combined_elements(update, before, block, where), where);
  }
  const Vectors vectors(picked, where);
  return scatter({array, where}, {vectors.indices(), where},
                 {shaped(updates, vectors.sizes(), where), where}, vectors.dimensions(), update);
}

namespace {

Array subscribed(const Array& array, std::vector<Subscript> subscripts) {
  const SourceLocation where = subscripts[0].where();
  return part_of({array, where}, subscripts);
}

}  // namespace

Array Array::operator()(const Subscript& a) const { return subscribed(*this, {a}); }
Array Array::operator()(const Subscript& a, const Subscript& b) const {
  return subscribed(*this, {a, b});
}
Array Array::operator()(const Subscript& a, const Subscript& b, const Subscript& c) const {
  return subscribed(*this, {a, b, c});
}
Array Array::operator()(const Subscript& a, const Subscript& b, const Subscript& c,
                        const Subscript& d) const {
  return subscribed(*this, {a, b, c, d});
}
Array Array::operator()(const Subscript& a, const Subscript& b, const Subscript& c,
                        const Subscript& d, const Subscript& e) const {
  return subscribed(*this, {a, b, c, d, e});
}
Array Array::operator()(const Subscript& a, const Subscript& b, const Subscript& c,
                        const Subscript& d, const Subscript& e, const Subscript& f) const {
  return subscribed(*this, {a, b, c, d, e, f});
}

}  // namespace anabranch
