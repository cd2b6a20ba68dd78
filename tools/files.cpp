#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "anabranch/error.h"
#include "ir/text/parse.h"
#include "ir/write_file.h"
#include "tools/commands.h"

namespace anabranch {

std::string read_text(const std::string& path) {
  std::string text;
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else {
    if (std::filesystem::is_directory(path)) {
      throw Error(path + ": is a folder; give the path of a graph's text, or - for standard input");
    }
    std::ifstream file(path);
    if (!file) throw Error(path + ": cannot be opened: " + std::strerror(errno));
    try {
      text.assign(std::istreambuf_iterator<char>(file), {});
    } catch (const std::ios_base::failure&) {
      throw Error(path + ": cannot be read: " + std::strerror(errno));
    }
  }
  return text;
}

Graph read_graph(const std::string& path) {
  const std::string text = read_text(path);
  return named_in_errors(path, [&] { return parse(text, path == "-" ? "" : path); });
}

void write_text(const std::string& path, const std::string& text) {
  write_file(path, [&](std::ostream& file) { file << text; });
}

}  // namespace anabranch
