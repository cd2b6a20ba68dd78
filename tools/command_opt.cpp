#include <iostream>
#include <memory>

#include "ir/text/print.h"
#include "passes/pipeline.h"
#include "tools/commands.h"

namespace anabranch {
namespace {

struct OptChoices {
  std::string file;
  std::vector<std::string> passes, parameters;
  bool fast_math = false;
  bool list = false;
};

void opt_command(const OptChoices& choices) {
  if (choices.list) {
    for (const Pass& pass : all_passes()) std::cout << pass.name << ": " << pass.help << "\n";
    return;
  }
  if (choices.file.empty()) throw Error("opt: give a FILE, or --list for the passes there are");
  std::vector<Pass> pipeline;
  for (const std::string& name : choices.passes) pipeline.push_back(find_pass(name));
  if (choices.passes.empty()) {
    pipeline.assign(default_pipeline().begin(), default_pipeline().end());
  }
  PassContext context;
  context.fast_math = choices.fast_math;
  for (const std::string& text : choices.parameters) {
    context.parameters.push_back(parse_device(text));
    if (!context.parameters.back()) {
      throw Error("--parameters " + text + ": no device; write cpu:0,cpu:1, one per parameter");
    }
  }
  PassRun options;
  options.verify = true;
  std::cout << run_passes(pipeline, read_graph(choices.file), context, options);
  for (const std::string& note : context.notes) std::cout << "# " << note << "\n";
}

}  // namespace

void add_opt(CLI::App& app) {
  auto choices = std::make_shared<OptChoices>();
  CLI::App* command =
      app.add_subcommand("opt", "run passes on a graph and print what they make of it");
  command->add_option("file", choices->file, "graph text, or - for standard input");
  command
      ->add_option("--passes", choices->passes, "names in order, a comma between; all by default")
      ->delimiter(',');
  command
      ->add_option("--parameters", choices->parameters,
                   "for placement: the parameters' devices, as in cpu:0,cpu:1")
      ->delimiter(',');
  command->add_flag("--fast-math", choices->fast_math,
                    "let passes reorder floating-point arithmetic");
  command->add_flag("--list", choices->list, "list the passes");
  command->callback([choices] { opt_command(*choices); });
}

}  // namespace anabranch
