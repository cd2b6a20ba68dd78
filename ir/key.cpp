#include "anabranch/detail/key.h"

#include <cstdint>

namespace anabranch {

Key& Key::text(std::string_view text) { return add('t', text.data(), text.size()); }

Key& Key::list(std::size_t count) {
  const std::uint64_t items = count;
  return add('l', &items, sizeof items);
}

Key& Key::add(char kind, const void* data, std::size_t size) {
  const std::uint64_t length = size;
  bytes_ += kind;
  bytes_.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes_.append(static_cast<const char*>(data), size);
  return *this;
}

}  // namespace anabranch
