#include "anabranch/shape.h"

#include "anabranch/error.h"
#include "ir/checked.h"

namespace anabranch {
namespace {

std::string text(std::span<const std::int64_t> sizes) {
  std::string out = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i) out += ',';
    out += std::to_string(sizes[i]);
  }
  return out + "]";
}

// A zero anywhere makes the count 0, but the other sizes must still be representable together.
std::int64_t checked_size(std::span<const std::int64_t> sizes) {
  std::int64_t product = 1;
  bool empty = false;
  for (std::int64_t size : sizes) {
    if (size < 0) {
      throw Error("shape " + text(sizes) + ": a size is negative; sizes are 0 or more");
    }
    if (size == 0) empty = true;
    if (size == 0) continue;
    product = saturating_multiply(product, size);
    if (product > Shape::max_size) {
      throw Error("shape " + text(sizes) +
                  ": more than 2^59 elements, whose bytes no address holds");
    }
  }
  return empty ? 0 : product;
}

}  // namespace

Shape::Shape(std::initializer_list<std::int64_t> sizes) : Shape(std::vector(sizes)) {}
Shape::Shape(std::vector<std::int64_t> sizes)
    : sizes_(std::move(sizes)), size_(checked_size(sizes_)) {}
Shape::Shape(std::span<const std::int64_t> sizes)
    : Shape(std::vector<std::int64_t>(sizes.begin(), sizes.end())) {}

std::vector<std::int64_t> Shape::strides() const {
  std::vector<std::int64_t> strides(sizes_.size());
  std::int64_t stride = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= (*this)[axis];
  }
  return strides;
}

std::string to_string(const Shape& shape) { return text(shape.sizes()); }

}  // namespace anabranch
