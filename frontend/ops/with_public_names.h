// Errors of the ops gather and scatter, which have names of their own for what says which axis is
// which, in the names of GatherDimensions and ScatterDimensions.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "anabranch/error.h"

namespace anabranch {

struct PublicName {
  std::string_view op, user;  // of the op's attribute, and of the field that the user sets
};

/// What `use` gives; an Error of it says `user` for each `op`, up to the place in the user's code.
template <class Use>
auto with_public_names(std::span<const PublicName> names, const Use& use) {
  try {
    return use();
  } catch (const Error& error) {
    const std::string text = error.what();
    const std::size_t end = std::min(text.rfind(", at "), text.size());
    std::string said = text.substr(0, end);
    for (const auto& [op, user] : names) {
      std::size_t at = said.find(op);
      while (at != said.npos) {
        said.replace(at, op.size(), user);
        at = said.find(op, at + user.size());
      }
    }
    if (said == text.substr(0, end)) throw;
    throw Error(said + text.substr(end));
  }
}

}  // namespace anabranch
