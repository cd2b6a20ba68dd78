#include "anabranch/named_scope.h"

#include <algorithm>
#include <string>

#include "anabranch/error.h"
#include "anabranch/source_location.h"

namespace anabranch {
namespace {

thread_local const char* innermost = nullptr;

}  // namespace

NamedScope::NamedScope(std::string_view name) : outer_(innermost) {
  const bool broken =
      std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 127; });
  if (name.empty() || broken) {
    throw Error(std::string("named_scope: the name ") +
                (name.empty() ? "is empty" : "has control characters") +
                "; give it a word, such as \"encoder\"");
  }
  innermost = kept_text((outer_ ? std::string(outer_) + "/" : "") + std::string(name));
}

NamedScope::~NamedScope() { innermost = outer_; }

const char* current_scope() { return innermost; }

}  // namespace anabranch
