// spec: the type of an argument that is not there.
#pragma once

#include "anabranch/export.h"
#include "anabranch/sizes.h"
#include "anabranch/source_location.h"
#include "anabranch/type.h"

namespace ANABRANCH_API anabranch {

/// The type of an argument that is not there: for tracing and compiling without data.
struct Spec {
  Type type;
  SourceLocation where = {};  ///< the line where the user wrote it
};

/// spec(f32, {64, 128}). Throws Error for a negative size.
inline Spec spec(Dtype dtype, const Sizes& sizes) {
  return {Type{dtype, sizes.shape("spec")}, sizes.where()};
}

}  // namespace anabranch
