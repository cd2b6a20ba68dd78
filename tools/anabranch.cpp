// The command: run, check, opt, dump and devices on graphs in their text form and in StableHLO's.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <limits>

#include "anabranch/error.h"
#include "tools/commands.h"

void anabranch::add_streams(CLI::App& command, int& streams) {
  command.add_option("--streams", streams, "at most so many streams, 1 or more")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
}

namespace {

int run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::RequiredError& error) {
    const std::vector<std::string> words = app.remaining();
    if (!app.get_subcommands().empty() || words.empty()) return app.exit(error);
    std::string known;
    for (const CLI::App* command : app.get_subcommands({})) {
      known += (known.empty() ? "" : ", ") + command->get_name();
    }
    return app.exit(CLI::ParseError("there is no subcommand " + words[0] + "; there are " + known,
                                    CLI::ExitCodes::RequiredError));
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Anabranch: runs, checks, optimises and shows graphs in their text form (.abir) and "
      "StableHLO's "
      "(.mlir)");
  app.require_subcommand(1);
  app.set_version_flag("--version", ANABRANCH_VERSION);
  anabranch::add_run(app);
  anabranch::add_check(app);
  anabranch::add_opt(app);
  anabranch::add_dump(app);
  anabranch::add_devices(app);
  try {
    // What does not reach the reader of the standard output is an error, at once.
    std::cout.exceptions(std::ios::badbit);
    const int status = run(app, argc, argv);
    std::cout.flush();
    return status;
  } catch (const std::ios_base::failure&) {
    const int reason = errno;
    std::cout.exceptions(std::ios::goodbit);  // what is left in it is dropped as the process ends
    std::cerr << "anabranch: standard output: cannot be written: " << std::strerror(reason)
              << "; what it has is not whole\n";
    return 1;
  } catch (const anabranch::InternalError& error) {
    std::cerr << "anabranch: internal error, please report it with the graph: " << error.what()
              << "\n";
    return 3;
  } catch (const std::exception& error) {
    std::cerr << "anabranch: " << error.what() << "\n";
    return 1;
  }
}
