#include "tests/support/identities.h"

#include <algorithm>
#include <numeric>

namespace anabranch {
namespace {

// As many axes as there were, or others whose sizes have the same product.
Shape random_factors(Random& random, const Shape& shape) {
  std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  const std::int64_t changes = 1 + random.below(3);
  for (std::int64_t k = 0; k < changes; ++k) {
    const auto count = static_cast<std::int64_t>(sizes.size());
    const std::int64_t at = random.below(count + 1);
    const auto here = sizes.begin() + at;
    if (random.percent(50) && at + 1 < count) {  // two become one
      here[1] *= here[0];
      sizes.erase(here);
    } else if (count < 8) {  // one becomes two
      const std::int64_t size = at < count ? *here : 1;
      std::int64_t factor = 1 + random.below(9);
      while (size % factor != 0) --factor;
      if (at < count) *here /= factor;
      sizes.insert(here, factor);
    }
  }
  return Shape(sizes);
}

}  // namespace

std::vector<Identity> of_certain_ops(std::span<const Rewrite> rows) {
  std::vector<Identity> all;
  for (const auto& [equation, write] : rows) all.push_back({equation, write, false});
  return all;
}

Value IdentityWriter::again(const Node& node, std::vector<Value> inputs) {
  std::optional<Type> stated;
  if (info(node.op).has(OpInfo::typed)) stated = node.types[0];
  return add(node.op, std::move(inputs), node.attributes, stated, node.regions);
}

Value IdentityWriter::splat(const Type& type, double number) {
  const Value one = scalar(type.dtype, number);
  return type.rank() == 0 ? one : add(Op::broadcast_in_dim, {one}, AxesAttributes{}, type);
}

Value IdentityWriter::reshape(Value x, const Shape& shape) {
  return add(Op::reshape, {x}, NoAttributes{}, Type{dtype(x), shape});
}

Value IdentityWriter::convert(Value x, Dtype to) {
  return add(Op::convert, {x}, NoAttributes{}, Type{to, shape(x)});
}

Value IdentityWriter::part(Value x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  const Shape whole = shape(x);
  const auto at = static_cast<std::size_t>(axis);
  const auto rank = static_cast<std::size_t>(whole.rank());
  SliceAttributes slice{std::vector<std::int64_t>(rank, 0),
                        std::vector<std::int64_t>(whole.begin(), whole.end()),
                        std::vector<std::int64_t>(rank, 1)};
  slice.start[at] = begin;
  slice.limit[at] = end;
  return add(Op::slice, {x}, slice);
}

Value IdentityWriter::concatenate(std::vector<Value> parts, std::int64_t axis) {
  return add(Op::concatenate, std::move(parts), AxisAttributes{axis});
}

Value IdentityWriter::positions(Value x, Dtype dtype, std::int64_t axis) {
  return add(Op::iota, {}, AxisAttributes{axis}, Type{dtype, shape(x)});
}

Value IdentityWriter::mask(Value x) {
  const auto axis = axis_of(x);
  if (axis && random.percent(50)) {
    const Value limit = splat({i32, shape(x)}, static_cast<double>(random.below(9)));
    return add(Op::compare, {positions(x, i32, *axis), limit}, CompareAttributes{Comparison::lt});
  }
  return add(Op::compare, {x, other(x)}, CompareAttributes{Comparison::eq});
}

Value IdentityWriter::other(Value x) {
  const auto axis = axis_of(x);
  const std::int64_t choice = random.below(3);
  if (choice == 0) return x;
  if (choice == 1 || !axis) return splat(type(x), static_cast<double>(random.below(4)));
  return add(Op::reverse, {x}, AxesAttributes{{*axis}});
}

std::int64_t IdentityWriter::cut(std::int64_t size) {
  if (size > 0 && random.percent(30)) return random.percent(50) ? 1 : size - 1;
  return random.below(size + 1);
}

std::optional<std::int64_t> IdentityWriter::axis_of(Value x) {
  const int rank = type(x).rank();
  if (rank == 0) return std::nullopt;
  return random.below(rank);
}

std::vector<std::int64_t> random_order(Random& random, int rank) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  for (std::size_t i = axes.size(); i > 1; --i) {
    const auto other = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)));
    std::swap(axes[i - 1], axes[other]);
  }
  return axes;
}

Move random_move(Random& random, const Shape& shape) {
  std::vector<std::int64_t> axes = random_order(random, shape.rank());
  const std::int64_t choice = random.below(3);
  if (choice == 0) {
    std::erase_if(axes, [&](std::int64_t) { return random.percent(40); });
    std::ranges::sort(axes);
    const auto turn = [axes](IdentityWriter& to, Value x) {
      return to.add(Op::reverse, {x}, AxesAttributes{axes});
    };
    return {turn, turn};
  }
  if (choice == 1) {
    std::vector<std::int64_t> inverse(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      inverse[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
    }
    const auto by = [](std::vector<std::int64_t> order) {
      return [order](IdentityWriter& to, Value x) {
        return to.add(Op::transpose, {x}, AxesAttributes{order});
      };
    };
    return {by(axes), by(inverse)};
  }
  const auto under = [](Shape sizes) {
    return [sizes](IdentityWriter& to, Value x) { return to.reshape(x, sizes); };
  };
  return {under(random_factors(random, shape)), under(shape)};
}

}  // namespace anabranch
