// Shapes, types, dtypes, devices and stages to streams, in the words of the graph's text.
#pragma once

#include <concepts>
#include <ostream>

#include "codegen/stage.h"
#include "ir/dtype.h"
#include "ir/shape.h"
#include "ir/source_location.h"
#include "ir/type.h"
#include "runtime/device/device.h"

namespace anabranch {

template <class T>
concept HasText = std::same_as<T, Shape> || std::same_as<T, Type> || std::same_as<T, Device> ||
    std::same_as<T, SourceLocation>;
template <class T>
concept HasName = std::same_as<T, Dtype> || std::same_as<T, Stage>;

/// "[64,128]", "f32[64,128]", "cpu:0", "model.cpp:12"
template <HasText T>
std::ostream& operator<<(std::ostream& out, const T& value) {
  return out << to_string(value);
}

/// "f32", "schedule"
template <HasName T>
std::ostream& operator<<(std::ostream& out, T value) {
  return out << name(value);
}

}  // namespace anabranch
