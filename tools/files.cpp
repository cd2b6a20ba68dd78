#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "anabranch/error.h"
#include "anabranch/stablehlo.h"
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

namespace {

// In our form a text begins with `graph`.
bool is_stablehlo(const std::string& text, const std::string& path) {
  if (path.ends_with(".mlir")) return true;
  return !path.ends_with(".abir") &&
         (text.find("func.func") != text.npos || text.find("stablehlo.") != text.npos);
}

Graph graph_of_module(const std::string& text, const std::string& path) {
  const stablehlo::Module module = stablehlo::parse(text, path == "-" ? "standard input" : path);
  const std::vector<stablehlo::Function> functions = module.functions();
  return (functions.size() == 1 ? functions[0] : module.function("main")).graph();
}

}  // namespace

Graph graph_of_text(const std::string& text, const std::string& path) {
  if (is_stablehlo(text, path)) return graph_of_module(text, path);
  return named_in_errors(path, [&] { return parse(text, path == "-" ? "" : path); });
}

Graph read_graph(const std::string& path) { return graph_of_text(read_text(path), path); }

void write_text(const std::string& path, const std::string& text) {
  write_file(path, [&](std::ostream& file) { file << text; });
}

}  // namespace anabranch
