// How often random graphs make each rule of the passes apply.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace anabranch {

/// Applications by equation over `count` graphs, exact passes and fast math together; 0 for the
/// rules that never apply.
std::map<std::string, std::int64_t> applied_rules(std::uint64_t first, std::uint64_t count);

}  // namespace anabranch
