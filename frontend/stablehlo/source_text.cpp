#include "frontend/stablehlo/source_text.h"

#include <algorithm>

namespace anabranch::stablehlo {
namespace {

// What of a line is shown: long constants are cut around the column.
constexpr std::size_t most_shown = 100;

std::string shown_line(std::string_view line, std::size_t column) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == line.npos) return {};
  std::size_t begin = first;
  if (line.size() - begin > most_shown && column > begin + most_shown / 2) {
    begin = column - most_shown / 2;
  }
  std::string text(line.substr(begin, most_shown));
  if (begin > first) text = "..." + text;
  if (begin + most_shown < line.size()) text += "...";
  return text;
}

}  // namespace

SourceText::SourceText(std::string text, std::string_view file, std::uint32_t first_line)
    : text_(std::move(text)),
      file_(kept_text(file.empty() ? std::string_view("<stablehlo>") : file)),
      first_line_(first_line),
      line_starts_{0} {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  }
}

LineAndColumn SourceText::place(std::size_t at) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), at);
  const auto line = static_cast<std::uint32_t>(after - line_starts_.begin() - 1);
  return {first_line_ + line, static_cast<std::uint32_t>(at - line_starts_[line]) + 1};
}

SourceLocation SourceText::location(std::size_t at) const { return {file_, place(at).line}; }

void SourceText::fail(std::size_t at, const std::string& message) const {
  const LineAndColumn found = place(at);
  std::string text = std::string(file_) + ":" + std::to_string(found.line) + ":" +
                     std::to_string(found.column) + ": " + message;
  const std::size_t start = line_starts_[found.line - first_line_];
  std::string_view line = std::string_view(text_).substr(start);
  line = line.substr(0, line.find('\n'));
  const std::string shown = shown_line(line, found.column - 1);
  if (!shown.empty()) text += "\n    " + shown;
  throw ReadError(text);
}

void SourceText::fail_again(std::size_t at, const Error& error) const {
  std::string message = error.what();
  const std::string place = ", at " + to_string(location(at));
  if (message.ends_with(place)) message.resize(message.size() - place.size());
  fail(at, message);
}

}  // namespace anabranch::stablehlo
