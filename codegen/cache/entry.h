// An entry of the code cache as the bytes of a file: header, key, code.
#pragma once

#include <string>
#include <string_view>

namespace anabranch::cache_entry {

/// The name of the file for `key`.
std::string name(std::string_view key);

std::string encode(std::string_view key, std::string_view code);

/// Why `content` is not an entry for `key` ("is truncated"); empty where it is one.
std::string fault(const std::string& content, std::string_view key);

/// The code of an entry without fault.
std::string code(const std::string& content);

/// How the names of all entries end.
inline constexpr std::string_view suffix = ".code";

}  // namespace anabranch::cache_entry
