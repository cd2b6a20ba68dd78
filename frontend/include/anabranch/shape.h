// The sizes of an array, outermost first; row-major ("C") order everywhere.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// Sizes of each axis. Every size is at least 0; there are at most 2^59 elements.
class Shape {
 public:
  static constexpr std::int64_t max_size = std::int64_t{1} << 59;

  Shape() = default;
  /// Throws Error on a negative size, or on more than `max_size` elements.
  Shape(std::initializer_list<std::int64_t> sizes);
  explicit Shape(std::vector<std::int64_t> sizes);
  explicit Shape(std::span<const std::int64_t> sizes);

  int rank() const { return static_cast<int>(sizes_.size()); }
  /// The number of elements: 1 for rank 0.
  std::int64_t size() const { return size_; }
  std::int64_t operator[](int axis) const { return sizes_[static_cast<std::size_t>(axis)]; }
  std::span<const std::int64_t> sizes() const { return sizes_; }
  auto begin() const { return sizes_.begin(); }
  auto end() const { return sizes_.end(); }

  /// Row-major strides in elements.
  std::vector<std::int64_t> strides() const;

  bool operator==(const Shape&) const = default;

 private:
  std::vector<std::int64_t> sizes_;
  std::int64_t size_ = 1;
};

/// "[64,128]"; "[]" for rank 0.
std::string to_string(const Shape& shape);

}  // namespace anabranch
