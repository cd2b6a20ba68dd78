// What was made of a function, on the screen and as pictures.
#pragma once

#include <anabranch/anabranch.h>

#include <filesystem>

/// Prints the traced graph, the fused graph, the kernels with what each reads and writes, and the
/// stream schedule; writes their pictures as DOT, and as SVG where Graphviz is installed, to the
/// folder `out`.
void show(const anabranch::Compilation& compilation, const std::filesystem::path& out);
