#include "ir/sections.h"

#define XXH_INLINE_ALL  // the header alone, no library to link
#include <xxhash.h>

#include <cstring>
#include <type_traits>

namespace anabranch {
namespace {

// The sizes of the sections follow, then the sections.
struct Header {
  std::array<char, 8> magic;
  std::uint64_t version;
  std::uint64_t sections;
  std::uint64_t bytes;        // of all that follows
  std::uint64_t checksum[2];  // of all bytes, with zeros here
};
static_assert(std::has_unique_object_representations_v<Header>);

template <class T>
T read(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void append(std::string& bytes, const auto& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

Header with_checksum(Header header, std::string_view rest) {
  header.checksum[0] = header.checksum[1] = 0;
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, &header, sizeof header);
  XXH3_128bits_update(&state, rest.data(), rest.size());
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  header.checksum[0] = hash.low64;
  header.checksum[1] = hash.high64;
  return header;
}

}  // namespace

std::string pack_sections(const SectionsFormat& format, const std::vector<std::string_view>& all) {
  std::string rest;
  for (std::string_view section : all) append(rest, std::uint64_t{section.size()});
  for (std::string_view section : all) rest += section;
  std::string bytes;
  append(bytes, with_checksum({format.magic, format.version, all.size(), rest.size(), {}}, rest));
  return bytes + rest;
}

std::variant<std::vector<std::string_view>, SectionsFault> unpack_sections(
    const SectionsFormat& format, std::string_view bytes) {
  const auto fault = [](std::string what) { return SectionsFault{std::move(what)}; };
  if (bytes.size() < sizeof(Header)) return fault("is truncated");
  const auto header = read<Header>(bytes, 0);
  if (header.magic != format.magic) return fault("is of another kind");
  if (header.version != format.version) {
    return fault("has format " + std::to_string(header.version) + ", not " +
                 std::to_string(format.version));
  }
  const std::string_view rest = bytes.substr(sizeof header);
  if (header.bytes != rest.size()) return fault("is not as long as it says");
  const Header whole = with_checksum(header, rest);
  if (std::memcmp(&whole, &header, sizeof header) != 0) {
    return fault("has another checksum than its content");
  }
  // Sizes are checked one by one: their sum may wrap around.
  const std::size_t sizes = sizeof(std::uint64_t);
  if (header.sections > rest.size() / sizes) return fault("is not as long as it says");
  std::vector<std::string_view> all;
  std::size_t at = header.sections * sizes;
  for (std::size_t i = 0; i < header.sections; ++i) {
    const auto size = read<std::uint64_t>(rest, i * sizes);
    if (size > rest.size() - at) return fault("is not as long as it says");
    all.push_back(rest.substr(at, size));
    at += size;
  }
  if (at != rest.size()) return fault("is not as long as it says");
  return all;
}

}  // namespace anabranch
