#include "codegen/cache/entry.h"

#define XXH_INLINE_ALL  // the header alone, no library to link
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace anabranch::cache_entry {
namespace {

// In this machine's byte order: code is for this machine.
struct Header {
  std::array<char, 8> magic;
  std::uint64_t version;
  std::uint64_t key_bytes, code_bytes;
  std::uint64_t checksum[2];  // of the whole file, with zeros here

  bool operator==(const Header&) const = default;
};
static_assert(std::has_unique_object_representations_v<Header>);

constexpr std::array<char, 8> magic = {'a', 'n', 'a', 'c', 'o', 'd', 'e', '\n'};
constexpr std::uint64_t format_version = 1;

Header header_of(const std::string& content) {
  Header header;
  std::memcpy(&header, content.data(), sizeof header);
  return header;
}

void set_header(std::string& content, const Header& header) {
  std::memcpy(content.data(), &header, sizeof header);
}

Header with_checksum(Header header, std::string& content) {
  header.checksum[0] = header.checksum[1] = 0;
  set_header(content, header);
  const XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
  header.checksum[0] = hash.low64;
  header.checksum[1] = hash.high64;
  return header;
}

}  // namespace

std::string name(std::string_view key) {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text + std::string(suffix);
}

std::string encode(std::string_view key, std::string_view code) {
  std::string content(sizeof(Header), '\0');
  content.append(key).append(code);
  set_header(content, with_checksum({magic, format_version, key.size(), code.size(), {}}, content));
  return content;
}

std::string fault(const std::string& content, std::string_view key) {
  if (content.size() < sizeof(Header)) return "is truncated";
  const Header header = header_of(content);
  if (header.magic != magic) return "is not an entry";
  if (header.version != format_version) {
    return "has format " + std::to_string(header.version) + ", not " +
           std::to_string(format_version);
  }
  if (header.key_bytes + header.code_bytes != content.size() - sizeof header) {
    return "is not as long as it says";
  }
  std::string copy = content;
  if (with_checksum(header, copy) != header) return "has another checksum than its content";
  if (content.substr(sizeof header, header.key_bytes) != key) return "was made for another key";
  return {};
}

std::string code(const std::string& content) {
  return content.substr(sizeof(Header) + header_of(content).key_bytes);
}

}  // namespace anabranch::cache_entry
