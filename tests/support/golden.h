// Golden files: what is given, a line "----", and the text that is expected of it. BLESS=1 in the
// environment writes the second part anew.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace anabranch {

struct GoldenText {
  static constexpr std::string_view separator = "----\n";

  std::filesystem::path path;
  std::string input, expected;

  explicit GoldenText(std::filesystem::path file) : path(std::move(file)) {
    std::stringstream all;
    all << std::ifstream(path).rdbuf();
    const std::string text = all.str();
    const std::size_t cut = text.find(separator);
    input = text.substr(0, cut);
    if (cut != std::string::npos) expected = text.substr(cut + separator.size());
  }

  void expect(const std::string& actual) const {
    if (std::getenv("BLESS")) {
      std::ofstream(path) << input << separator << actual;
      return;
    }
    EXPECT_EQ(actual, expected) << path.string()
                                << " differs; if that is right, run the test with BLESS=1";
  }
};

/// The files below `root` that end like this, by their paths from there.
inline std::vector<std::string> golden_files(const std::filesystem::path& root,
                                             std::string_view extension) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != extension) continue;
    files.push_back(std::filesystem::relative(entry.path(), root).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The file's name as a test's.
inline std::string golden_test_name(std::string file) {
  for (char& c : file) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return file;
}

}  // namespace anabranch
