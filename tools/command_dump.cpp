#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "anabranch/stablehlo.h"
#include "codegen/compile.h"
#include "codegen/program_passes.h"
#include "frontend/run/dump.h"
#include "frontend/run/env.h"
#include "ir/text/graphviz.h"
#include "tools/commands.h"
#include "tools/draw_svg.h"

namespace anabranch {
namespace {

struct DumpChoices {
  std::string file;
  std::string stage = "optimized";
  std::string after;  // a pass
  std::string format = "text";
  std::string output;
  int streams = 0;  // as the environment wants
};

// What a pass made, each time that it ran.
std::string text_after(const DumpChoices& choices, const Options& options) {
  const std::vector<std::string_view> names = pass_names();
  if (std::ranges::find(names, choices.after) == names.end()) {
    throw Error("dump: there is no pass " + choices.after + "; 'opt --list' names them");
  }
  std::string text;
  compile_dumped(read_graph(choices.file), options, [&](const PassResult& made) {
    if (made.pass == choices.after) text += (text.empty() ? "" : "\n") + made.text();
  });
  return text;
}

void write(const DumpChoices& choices, const std::string& text) {
  if (choices.output.empty()) {
    std::cout << text;
  } else {
    write_text(choices.output, text);
  }
}

void dump_command(const DumpChoices& choices) {
  const std::optional<Stage> stage = parse_stage(choices.stage);
  if (!stage) {
    throw Error("dump: no stage '" + choices.stage + "'; the stages are " + stage_names());
  }
  Options options = default_options();
  if (choices.streams > 0) options.streams = choices.streams;
  if (!choices.after.empty()) return write(choices, text_after(choices, options));
  if (choices.format == "stablehlo") {
    return write(choices, stablehlo::to_stablehlo(read_graph(choices.file)));
  }
  const Compilation compilation = compile_dumped(read_graph(choices.file), options);
  std::string text;
  if (choices.format == "text") {
    text = dump(compilation, *stage);
  } else {
    text = to_dot(compilation, *stage);
    if (choices.format == "svg") text = draw_svg(text);
  }
  write(choices, text);
}

}  // namespace

void add_dump(CLI::App& app) {
  auto choices = std::make_shared<DumpChoices>();
  CLI::App* command = app.add_subcommand("dump", "show one stage of a graph's compilation");
  command->add_option("file", choices->file, "graph text, or - for standard input")->required();
  command->add_option("--stage", choices->stage, stage_names());
  command->add_option("--after", choices->after, "a pass: what it made, each time that it ran");
  command
      ->add_option("--format", choices->format,
                   "stablehlo: the graph itself, whatever the stage, as a module of StableHLO")
      ->check(CLI::IsMember({"text", "dot", "svg", "stablehlo"}));
  command->add_option("--output", choices->output, "a file to write instead of printing");
  add_streams(*command, choices->streams);
  command->callback([choices] { dump_command(*choices); });
}

void add_devices(CLI::App& app) {
  app.add_subcommand("devices", "list the devices of this machine")->callback([] {
    for (const Device& device : devices()) std::cout << to_string(device) << "\n";
  });
}

}  // namespace anabranch
