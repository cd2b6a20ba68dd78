// The subcommands: each adds itself to the command line with what runs when it is chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "ir/graph/graph.h"

namespace anabranch {

void add_run(CLI::App& app);
void add_opt(CLI::App& app);
void add_dump(CLI::App& app);
void add_devices(CLI::App& app);

/// The option --streams NUMBER.
void add_streams(CLI::App& command, int& streams);

/// The graph in a text file, whose lines its nodes then know, or on standard input where the path
/// is "-". Throws Error that names the file.
Graph read_graph(const std::string& path);

/// Writes a whole text, or nothing (write_file). Throws Error that names the file.
void write_text(const std::string& path, const std::string& text);

}  // namespace anabranch
