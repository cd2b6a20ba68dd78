// Ops that only move elements: for each place of the result, the place of the operand it comes
// from.
#include <algorithm>
#include <cstring>

#include "ir/interpret/rules.h"

namespace anabranch {
namespace {

using Place = std::vector<std::int64_t>;

// The result whose element at `place` is the operand's at `source`, which `find_source` computes.
template <class FindSource>
Results moved(const Node& node, const Literal& operand, FindSource find_source) {
  const Type& type = node.types[0];
  const std::size_t width = byte_size(type.dtype);
  const std::vector<std::int64_t> strides = operand.type().shape.strides();
  std::vector<std::byte> bytes(type.bytes());
  Place source(static_cast<std::size_t>(operand.type().rank()));
  std::byte* to = bytes.data();
  for_each_place(type.shape, [&](const Place& place) {
    find_source(place, source);
    const auto from = static_cast<std::size_t>(position_of(source, strides));
    std::memcpy(to, operand.bytes().data() + from * width, width);
    to += width;
  });
  return {Literal(type, std::move(bytes))};
}

// Where the block of these sizes begins: the scalars after the arrays, clamped so that it is
// inside.
Place clamped_starts(Operands starts, const Shape& whole, const Shape& block) {
  Place place;
  for (int axis = 0; axis < whole.rank(); ++axis) {
    const Literal& start = starts[static_cast<std::size_t>(axis)];
    const auto at = start.first_as<std::int64_t>();
    place.push_back(std::clamp<std::int64_t>(at, 0, whole[axis] - block[axis]));
  }
  return place;
}

}  // namespace

namespace rules {

Results reshape(const Node& node, Operands x) {
  std::span<const std::byte> bytes = x[0].bytes();
  return {Literal(node.types[0], std::vector<std::byte>(bytes.begin(), bytes.end()))};
}

Results broadcast_in_dim(const Node& node, Operands x) {
  const auto& axes = node.as<AxesAttributes>().axes;
  const Shape& from = x[0].type().shape;
  return moved(node, x[0], [&](const Place& place, Place& source) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      const bool repeats = from[static_cast<int>(i)] == 1;
      source[i] = repeats ? 0 : place[static_cast<std::size_t>(axes[i])];
    }
  });
}

Results transpose(const Node& node, Operands x) {
  const auto& axes = node.as<AxesAttributes>().axes;
  return moved(node, x[0], [&](const Place& place, Place& source) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      source[static_cast<std::size_t>(axes[i])] = place[i];
    }
  });
}

Results slice(const Node& node, Operands x) {
  const auto& window = node.as<SliceAttributes>();
  return moved(node, x[0], [&](const Place& place, Place& source) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      source[i] = window.start[i] + place[i] * window.stride[i];
    }
  });
}

Results reverse(const Node& node, Operands x) {
  const Shape& shape = node.types[0].shape;
  return moved(node, x[0], [&](const Place& place, Place& source) {
    source = place;
    for (std::int64_t axis : node.as<AxesAttributes>().axes) {
      auto a = static_cast<std::size_t>(axis);
      source[a] = shape[static_cast<int>(axis)] - 1 - place[a];
    }
  });
}

Results pad(const Node& node, Operands operands) {
  const Type& type = node.types[0];
  const auto& edges = node.as<PadAttributes>();
  const std::size_t width = byte_size(type.dtype);
  const std::vector<std::int64_t> strides = type.shape.strides();
  std::vector<std::byte> bytes(type.bytes());
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::memcpy(bytes.data() + at, operands[1].bytes().data(), width);
  }
  const std::byte* from = operands[0].bytes().data();
  Place target(static_cast<std::size_t>(type.rank()));
  // From `low` to the last element, and so on the way, fits in 64 bits: infer has checked it.
  for_each_place(operands[0].type().shape, [&](const Place& place) {
    bool inside = true;
    for (std::size_t i = 0; i < place.size(); ++i) {
      target[i] = edges.low[i] + (place[i] + place[i] * edges.interior[i]);
      inside = inside && target[i] >= 0 && target[i] < type.shape[static_cast<int>(i)];
    }
    if (inside) {
      const auto to = static_cast<std::size_t>(position_of(target, strides));
      std::memcpy(bytes.data() + to * width, from, width);
    }
    from += width;
  });
  return {Literal(type, std::move(bytes))};
}

Results sliding_windows(const Node& node, Operands x) {
  const auto& windows = node.as<WindowsAttributes>();
  return moved(node, x[0], [&](const Place& place, Place& source) {
    const std::size_t rank = source.size();
    for (std::size_t i = 0; i < rank; ++i) {
      source[i] = place[i] * windows.strides[i] + place[rank + i] * windows.dilations[i];
    }
  });
}

Results concatenate(const Node& node, Operands operands) {
  const Type& type = node.types[0];
  const auto axis = static_cast<std::size_t>(node.as<AxisAttributes>().axis);
  const std::size_t width = byte_size(type.dtype);
  const std::vector<std::int64_t> strides = type.shape.strides();
  std::vector<std::byte> bytes(type.bytes());
  std::int64_t offset = 0;
  for (const Literal& operand : operands) {
    const std::byte* from = operand.bytes().data();
    for_each_place(operand.type().shape, [&](const Place& place) {
      const auto to =
          static_cast<std::size_t>(position_of(place, strides) + offset * strides[axis]);
      std::memcpy(bytes.data() + to * width, from, width);
      from += width;
    });
    offset += operand.type().shape[static_cast<int>(axis)];
  }
  return {Literal(type, std::move(bytes))};
}

Results dynamic_slice(const Node& node, Operands x) {
  const Place start = clamped_starts(x.subspan(1), x[0].type().shape, node.types[0].shape);
  return moved(node, x[0], [&](const Place& place, Place& source) {
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = start[i] + place[i];
  });
}

Results dynamic_update_slice(const Node& node, Operands x) {
  const Type& type = node.types[0];
  const Shape& block = x[1].type().shape;
  const Place start = clamped_starts(x.subspan(2), type.shape, block);
  const std::size_t width = byte_size(type.dtype);
  const std::vector<std::int64_t> strides = type.shape.strides();
  std::vector<std::byte> bytes(x[0].bytes().begin(), x[0].bytes().end());
  const std::byte* from = x[1].bytes().data();
  for_each_place(block, [&](const Place& place) {
    const auto to =
        static_cast<std::size_t>(position_of(place, strides) + position_of(start, strides));
    std::memcpy(bytes.data() + to * width, from, width);
    from += width;
  });
  return {Literal(type, std::move(bytes))};
}

}  // namespace rules
}  // namespace anabranch
