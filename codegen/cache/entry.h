// An entry of the code cache as the bytes of a file: key and code.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "ir/sections.h"

namespace anabranch::cache_entry {

/// The name of the file for `key`.
std::string name(std::string_view key);

std::string encode(std::string_view key, std::string_view code);

/// The code of an entry for `key`, which is in `content`, or why it is no such entry.
std::variant<std::string_view, SectionsFault> code(std::string_view content, std::string_view key);

/// How the names of all entries end.
inline constexpr std::string_view suffix = ".code";

}  // namespace anabranch::cache_entry
