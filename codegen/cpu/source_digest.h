// What this library was built from.
#pragma once

#include <string_view>

namespace anabranch::cpu {

/// SHA-256 of the library's sources and headers: code that another version of them made from equal
/// kernels may differ.
std::string_view source_digest();

}  // namespace anabranch::cpu
