// Where in the user's program, or in a graph's text, a node was written.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>

namespace anabranch {

/// A file and a line; `file` points to a string that outlives every graph (a literal).
struct SourceLocation {
  const char* file = nullptr;
  std::uint32_t line = 0;

  SourceLocation() = default;
  SourceLocation(const char* file, std::uint32_t line) : file(file), line(line) {}
  SourceLocation(const std::source_location& where) : file(where.file_name()), line(where.line()) {}

  explicit operator bool() const { return file != nullptr; }
};

/// "model.cpp:12" (the file without its folders); empty when unknown.
std::string to_string(const SourceLocation& where);

}  // namespace anabranch
