#include "codegen/cache/entry.h"

#define XXH_INLINE_ALL  // the header alone, no library to link
#include <xxhash.h>

#include <cstdio>

#include "ir/sections.h"

namespace anabranch::cache_entry {
namespace {

constexpr SectionsFormat format = {{'a', 'n', 'a', 'c', 'o', 'd', 'e', '\n'}, 2};

}  // namespace

std::string name(std::string_view key) {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text + std::string(suffix);
}

std::string encode(std::string_view key, std::string_view code) {
  return pack_sections(format, {key, code});
}

std::variant<std::string_view, SectionsFault> code(std::string_view content, std::string_view key) {
  const auto read = unpack_sections(format, content);
  if (const auto* fault = std::get_if<SectionsFault>(&read)) return *fault;
  const auto& sections = std::get<std::vector<std::string_view>>(read);
  if (sections.size() != 2) return SectionsFault{"has other sections than key and code"};
  if (sections[0] != key) return SectionsFault{"was made for another key"};
  return sections[1];
}

}  // namespace anabranch::cache_entry
