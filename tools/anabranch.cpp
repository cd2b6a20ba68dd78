// The command: run, opt, dump and devices on the text form of graphs.
#include <CLI/CLI.hpp>
#include <iostream>

#include "ir/error.h"
#include "tools/commands.h"

int main(int argc, char** argv) {
  CLI::App app("Anabranch: runs, optimises and shows graphs in their text form (.abir)");
  app.require_subcommand(1);
  app.set_version_flag("--version", ANABRANCH_VERSION);
  anabranch::add_run(app);
  anabranch::add_opt(app);
  anabranch::add_dump(app);
  anabranch::add_devices(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const anabranch::InternalError& error) {
    std::cerr << "anabranch: internal error, please report it with the graph: " << error.what()
              << "\n";
    return 3;
  } catch (const std::exception& error) {
    std::cerr << "anabranch: " << error.what() << "\n";
    return 1;
  }
}
