// What a check says that has failed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "ir/attributes.h"

namespace anabranch {

/// The message of the largest number in `state`; null where none is above 0. A number that there is
/// no message of has the last one.
inline const std::string* failed_check(std::span<const std::int32_t> state,
                                       const CheckAttributes& check) {
  const auto largest = std::ranges::max_element(state);
  if (largest == state.end() || *largest <= 0) return nullptr;
  const auto index = static_cast<std::size_t>(*largest) - 1;
  return &check.messages[std::min(index, check.messages.size() - 1)];
}

}  // namespace anabranch
