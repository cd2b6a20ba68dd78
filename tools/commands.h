// The subcommands: each adds itself to the command line with what runs when it is chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "anabranch/error.h"
#include "ir/graph/graph.h"

namespace anabranch {

void add_run(CLI::App& app);
void add_opt(CLI::App& app);
void add_dump(CLI::App& app);
void add_devices(CLI::App& app);
void add_check(CLI::App& app);

/// The option --streams NUMBER.
void add_streams(CLI::App& command, int& streams);

/// What is in a text file, or on standard input where the path is "-". Throws Error that names the
/// file, and so do the others.
std::string read_text(const std::string& path);
/// The graph in a text file, whose lines its nodes then know: in our text form, or @main of a
/// StableHLO module.
Graph read_graph(const std::string& path);
/// The same of what was read from there.
Graph graph_of_text(const std::string& text, const std::string& path);
/// Calls `parse()` on what was read from there; its errors name the file.
template <class Parse>
auto named_in_errors(const std::string& path, Parse parse) {
  try {
    return parse();
  } catch (const Error& error) {
    throw Error((path == "-" ? "standard input" : path) + ": " + error.what());
  }
}

/// Writes a whole text, or nothing (write_file). Throws Error that names the file.
void write_text(const std::string& path, const std::string& text);

}  // namespace anabranch
