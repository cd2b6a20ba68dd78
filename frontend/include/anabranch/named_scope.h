// named_scope: names for the parts of a program, as its dumps, pictures and timelines show them.
#pragma once

#include <string_view>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// While it lives, operations recorded on its thread carry its name; made by `named_scope`.
class [[nodiscard]] NamedScope {
 public:
  explicit NamedScope(std::string_view name);
  ~NamedScope();
  NamedScope(const NamedScope&) = delete;
  NamedScope& operator=(const NamedScope&) = delete;

 private:
  const char* outer_;
};

/// `auto scope = ab::named_scope("encoder");` names what is recorded until the end of the block, on
/// this thread; scopes nest into paths, "encoder/layer1". A kernel has the name of the operation it
/// ends with; equal graphs share a program and with it the names of the first. Throws Error for a
/// name that is empty or has control characters.
inline NamedScope named_scope(std::string_view name) { return NamedScope(name); }

/// The path of this thread's innermost scope; null outside every scope.
const char* current_scope();

}  // namespace anabranch
