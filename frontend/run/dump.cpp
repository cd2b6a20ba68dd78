#include "frontend/run/dump.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "frontend/run/env.h"
#include "ir/error.h"

namespace anabranch {

void dump_as_asked(const Compilation& compilation) {
  const Environment& wanted = environment();
  if (wanted.dump.empty()) return;
  static std::atomic<int> programs = 0;
  const std::string program = compilation.traced.name() + "." + std::to_string(programs++);
  for (Stage stage : wanted.dump) {
    const std::string name(anabranch::name(stage));
    std::string text = dump(compilation, stage);
    if (wanted.dump_directory.empty()) {
      // At once: other threads compile as well.
      std::cerr << "# " + program + ", stage " + name + "\n" + text + "\n";
      continue;
    }
    std::filesystem::path folder = wanted.dump_directory;
    std::error_code ignored;  // where it cannot be made, no file can be written there
    std::filesystem::create_directories(folder, ignored);
    std::ofstream file(folder / (program + "." + name + ".txt"));
    file << text;
    if (!file.flush()) {
      throw Error("ANABRANCH_DUMP_DIR=" + wanted.dump_directory + ": cannot write there");
    }
  }
}

}  // namespace anabranch
