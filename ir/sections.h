// Bytes for a file or a wire that say what they are and whether they are whole: sections of bytes
// behind a header with a checksum.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace anabranch {

/// What the sections hold, and in which edition of that form.
struct SectionsFormat {
  std::array<char, 8> magic;
  std::uint64_t version = 0;
};

/// In this machine's byte order.
std::string pack_sections(const SectionsFormat& format, const std::vector<std::string_view>& all);

/// Why `bytes` are not what `pack_sections` made.
struct SectionsFault {
  std::string what;  ///< "is truncated"
};

/// The sections, which are parts of `bytes`.
std::variant<std::vector<std::string_view>, SectionsFault> unpack_sections(
    const SectionsFormat& format, std::string_view bytes);

}  // namespace anabranch
