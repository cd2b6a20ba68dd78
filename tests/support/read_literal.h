// The bytes of a buffer, wherever they are, as a literal.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "ir/literal.h"
#include "runtime/memory/read.h"

namespace anabranch::testing {

/// Waits for them; throws what stopped the buffer.
inline Literal read_literal(const Buffer& buffer, const Type& type) {
  buffer.ready().wait();
  std::vector<std::byte> bytes;
  read_in_pieces(buffer, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  return {type, std::move(bytes)};
}

}  // namespace anabranch::testing
