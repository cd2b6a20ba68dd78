// write_file: a file that appears whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace anabranch {

/// Writes what `write` gives under a temporary name beside `path`, then renames it. Throws Error,
/// naming the path and the reason, where that fails; and where `path` is there and is no regular
/// file (a device, a pipe, a folder), since a file would take its place.
void write_file(const std::filesystem::path& path,
                const std::function<void(std::ostream& file)>& write);

}  // namespace anabranch
