#include "frontend/run/dump.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "anabranch/error.h"
#include "frontend/run/env.h"

namespace anabranch {
namespace {

/// Those of one compilation.
class AskedDumps {
 public:
  /// Before `graph` is compiled.
  explicit AskedDumps(const Graph& graph);

  /// After each pass.
  void write_pass(const PassResult& made);
  void write_stages(const Compilation& compilation) const;

 private:
  void write(const std::string& what, const std::string& file, const std::string& text) const;

  std::string program_;
  int passes_ = 0;  // that have been seen
};

AskedDumps::AskedDumps(const Graph& graph) {
  const Environment& wanted = environment();
  if (wanted.dump.empty() && wanted.dump_passes.empty()) return;
  static std::atomic<int> programs = 0;
  program_ = graph.name() + "." + std::to_string(programs++);
}

void AskedDumps::write_pass(const PassResult& made) {
  const std::vector<std::string>& wanted = environment().dump_passes;
  const int count = passes_++;
  if (std::ranges::find(wanted, made.pass) == wanted.end()) return;
  const std::string pass(made.pass);
  write("after " + pass, "after_" + std::to_string(count) + "_" + pass, made.text());
}

void AskedDumps::write_stages(const Compilation& compilation) const {
  for (Stage stage : environment().dump) {
    const std::string name(anabranch::name(stage));
    write("stage " + name, name, dump(compilation, stage));
  }
}

void AskedDumps::write(const std::string& what, const std::string& file,
                       const std::string& text) const {
  const std::string& directory = environment().dump_directory;
  if (directory.empty()) {
    // At once: other threads compile as well.
    std::cerr << "# " + program_ + ", " + what + "\n" + text + "\n";
    return;
  }
  const std::filesystem::path folder = directory;
  std::error_code ignored;  // where it cannot be made, no file can be written there
  std::filesystem::create_directories(folder, ignored);
  std::ofstream out(folder / (program_ + "." + file + ".txt"));
  out << text;
  if (!out.flush()) throw Error("ANABRANCH_DUMP_DIR=" + directory + ": cannot write there");
}

}  // namespace

Compilation compile_dumped(const Graph& graph, const Options& options, const PassObserver& after) {
  AskedDumps dumps(graph);
  PassObserver observer = after;
  if (!environment().dump_passes.empty()) {
    observer = [&](const PassResult& made) {
      dumps.write_pass(made);
      if (after) after(made);
    };
  }
  Compilation compilation = compile(graph, options, observer);
  dumps.write_stages(compilation);
  return compilation;
}

}  // namespace anabranch
