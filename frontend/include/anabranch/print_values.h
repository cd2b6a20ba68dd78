// Shapes, types, dtypes, devices and stages to streams, in the words of the graph's text.
#pragma once

#include <concepts>
#include <ostream>

#include "anabranch/devices.h"
#include "anabranch/dtype.h"
#include "anabranch/export.h"
#include "anabranch/shape.h"
#include "anabranch/source_location.h"
#include "anabranch/stage.h"
#include "anabranch/type.h"

namespace ANABRANCH_API anabranch {

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
