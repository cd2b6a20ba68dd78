#include "views.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace ab = anabranch;

namespace {

void title(const std::string& text) { std::cout << "\n=== " << text << "\n\n"; }

void print_kernels(const ab::Compilation& compilation) {
  std::printf("%-44s %12s %12s %12s\n", "kernel", "reads", "writes", "operations");
  const ab::Program& program = compilation.program();
  for (const ab::Step& step : program.steps) {
    std::printf("%-44s %10lld B %10lld B %12lld\n", step.name.c_str(),
                static_cast<long long>(step.cost.bytes_read),
                static_cast<long long>(step.cost.bytes_written),
                static_cast<long long>(step.cost.operations));
    std::string operands;
    for (ab::SlotId slot : step.buffers) {
      const ab::Slot& place = program.slots[slot];
      operands += "  " + place.name + ": " + ab::to_string(place.type);
    }
    std::printf("    %s\n", operands.c_str());
  }
}

void draw(const std::filesystem::path& path, const std::string& dot) {
  std::ofstream file(path);
  file << dot;
  file.close();
  if (!file) throw std::runtime_error(path.string() + ": cannot be written");
  const std::string picture = std::filesystem::path(path).replace_extension(".svg");
  const std::string line = "dot -Tsvg '" + path.string() + "' -o '" + picture + "' 2>/dev/null";
  const bool drawn = std::system(line.c_str()) == 0;
  std::cout << "wrote " << (drawn ? picture : path.string()) << "\n";
}

}  // namespace

void show(const ab::Compilation& compilation, const std::filesystem::path& out) {
  title("1. The graph as traced");
  std::cout << ab::dump(compilation, ab::Stage::trace);
  title("2. The graph after the passes: every fusion becomes one kernel");
  std::cout << ab::dump(compilation, ab::Stage::optimized);
  title("3. The kernels, and what each reads and writes");
  print_kernels(compilation);
  title("4. The schedule: streams, and the events where they meet");
  std::cout << ab::dump(compilation, ab::Stage::schedule);
  title("5. Pictures");
  draw(out / "traced.dot", ab::to_dot(compilation.traced));
  draw(out / "fused.dot", ab::to_dot(compilation.optimized));
  draw(out / "schedule.dot", ab::to_dot(compilation.program()));
}
