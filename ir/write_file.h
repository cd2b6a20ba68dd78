// write_file: a file that appears whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace anabranch {

/// Writes what `write` gives into a new file beside `path`, then renames it: whatever happens,
/// `path` is as before or whole, and nothing is left beside it. Throws Error, naming the path and
/// the reason, where that fails; and where `path` is there and is no regular file (a device, a
/// pipe, a folder), since a file would take its place.
void write_file(const std::filesystem::path& path,
                const std::function<void(std::ostream& file)>& write);

/// Throws the Error that `write_file` would, where it can be told before there is anything to
/// write.
void check_writable(const std::filesystem::path& path);

}  // namespace anabranch
