// SourceText: the text of a StableHLO module, and what stands where in it, for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "anabranch/error.h"
#include "anabranch/source_location.h"

namespace anabranch::stablehlo {

/// An Error that already names its place in the text.
class ReadError : public Error {
 public:
  using Error::Error;
};

/// Where something is, from 1; columns count bytes.
struct LineAndColumn {
  std::uint32_t line = 1, column = 1;
};

/// The text outlives the syntax tree, which refers to it by offsets.
class SourceText {
 public:
  /// `first_line` is the number of the text's first line in the file.
  SourceText(std::string text, std::string_view file, std::uint32_t first_line = 1);

  std::string_view text() const { return text_; }
  std::string_view part(std::size_t begin, std::size_t end) const {
    return std::string_view(text_).substr(begin, end - begin);
  }
  LineAndColumn place(std::size_t at) const;
  /// For nodes: the file and the line.
  SourceLocation location(std::size_t at) const;

  /// Throws ReadError "FILE:LINE:COLUMN: MESSAGE" with the line of the text beneath.
  [[noreturn]] void fail(std::size_t at, const std::string& message) const;
  /// The same of an error that was thrown while the text at `at` was worked on.
  [[noreturn]] void fail_again(std::size_t at, const Error& error) const;

 private:
  std::string text_;
  const char* file_;
  std::uint32_t first_line_;
  std::vector<std::size_t> line_starts_;
};

}  // namespace anabranch::stablehlo
