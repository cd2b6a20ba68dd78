// The type of a value: its dtype and its shape, printed as f32[64,128].
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "anabranch/dtype.h"
#include "anabranch/export.h"
#include "anabranch/shape.h"

namespace ANABRANCH_API anabranch {

struct Type {
  Dtype dtype = Dtype::f32;
  Shape shape;

  int rank() const { return shape.rank(); }
  std::int64_t size() const { return shape.size(); }
  /// Bytes that the elements take, without padding.
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * byte_size(dtype); }

  bool operator==(const Type&) const = default;
};

/// "f32[64,128]"
std::string to_string(const Type& type);
std::ostream& operator<<(std::ostream& out, const Type& type);

}  // namespace anabranch
