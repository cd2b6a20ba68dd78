// What was made of a function, on the screen and as pictures.
#pragma once

#include <anabranch/anabranch.h>

#include <filesystem>
#include <functional>
#include <string>

/// A jitted function for the types of one call.
struct Compiled {
  std::function<std::string(anabranch::Stage)> dump, to_dot;
  anabranch::ProgramCost cost;
  anabranch::ProgramMemory memory;
};

template <class Jit, class... Args>
Compiled compiled_for(const Jit& function, const Args&... args) {
  return {[=](anabranch::Stage stage) { return function.dump(stage, args...); },
          [=](anabranch::Stage stage) { return function.to_dot(stage, args...); },
          function.cost(args...), function.memory(args...)};
}

/// Prints the traced graph, the fused graph, what one call computes and moves, and the stream
/// schedule; writes their pictures as DOT, and as SVG where Graphviz is installed, to the folder
/// `out`.
void show(const Compiled& compiled, const std::filesystem::path& out);
