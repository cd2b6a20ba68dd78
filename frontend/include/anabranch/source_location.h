// Where in the user's program, or in a graph's text, a node was written.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// A file, a line and the named scope around it; the strings outlive every graph (literals, or
/// `kept_text`).
struct SourceLocation {
  const char* file = nullptr;
  std::uint32_t line = 0;
  const char* scope = nullptr;  ///< "encoder/layer1"; null outside every scope

  SourceLocation() = default;
  SourceLocation(const char* path, std::uint32_t number) : file(path), line(number) {}
  SourceLocation(const std::source_location& where) : file(where.file_name()), line(where.line()) {}

  explicit operator bool() const { return file != nullptr; }
};

/// "model.cpp:12", inside a scope "model.cpp:12 in encoder/layer1" (the file without its folders);
/// empty when the file is not known.
std::string to_string(const SourceLocation& where);

/// The same text, for as long as the process lives: for files and scopes named while it runs. Equal
/// texts are kept once. Thread-safe.
const char* kept_text(std::string_view text);

}  // namespace anabranch
