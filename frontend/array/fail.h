// Throwing Error with the user's file and line at the end of the sentence.
#pragma once

#include <string>

#include "anabranch/dtype.h"
#include "anabranch/error.h"
#include "anabranch/named_scope.h"
#include "anabranch/source_location.h"

namespace anabranch {

/// Throws Error("WHAT, at FILE:LINE"), with the scope where there is one; or only WHAT where the
/// place is not known.
[[noreturn]] inline void fail(const std::string& what, SourceLocation where) {
  if (!where.scope) where.scope = current_scope();
  throw Error(where ? what + ", at " + to_string(where) : what);
}

/// The conversion to a dtype as users write it, for messages: ".astype(ab::f32)".
inline std::string astype_call(Dtype dtype) {
  return ".astype(ab::" + std::string(name(dtype)) + (dtype == bool_ ? "_)" : ")");
}

}  // namespace anabranch
