#include "views.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace ab = anabranch;

namespace {

void title(const std::string& text) { std::cout << "\n=== " << text << "\n\n"; }

void print_cost(const ab::ProgramCost& cost, const ab::ProgramMemory& memory) {
  std::printf("%d kernels, %d library calls, %d streams, %d events\n", cost.kernels,
              cost.library_calls, cost.streams, cost.events);
  std::printf("%lld B read, %lld B written, %lld operations, %.0f us predicted\n",
              static_cast<long long>(cost.cost.bytes_read),
              static_cast<long long>(cost.cost.bytes_written),
              static_cast<long long>(cost.cost.operations), cost.predicted_ns / 1000);
  std::printf("%zu B of temporaries, %zu of them alive at once\n", memory.temporaries,
              memory.lower_bound);
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

void show(const Compiled& compiled, const std::filesystem::path& out) {
  title("1. The graph as traced");
  std::cout << compiled.dump(ab::Stage::trace);
  title("2. The graph after the passes: every fusion becomes one kernel");
  std::cout << compiled.dump(ab::Stage::optimized);
  title("3. What one step computes and moves");
  print_cost(compiled.cost, compiled.memory);
  title("4. The schedule: streams, and the events where they meet");
  std::cout << compiled.dump(ab::Stage::schedule);
  title("5. Pictures");
  draw(out / "traced.dot", compiled.to_dot(ab::Stage::trace));
  draw(out / "fused.dot", compiled.to_dot(ab::Stage::optimized));
  draw(out / "schedule.dot", compiled.to_dot(ab::Stage::schedule));
}
