#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "codegen/backends.h"
#include "codegen/program_passes.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/pipeline.h"
#include "tools/commands.h"

namespace anabranch {
namespace {

struct OptChoices {
  std::string file;
  std::vector<std::string> passes, parameters;
  std::string device = "cpu:0";
  bool fast_math = false;
  bool list = false;
  Options options;
};

template <class Pass>
void print_list(const std::string& of, std::span<const Pass> passes) {
  if (!passes.empty()) std::cout << "# " << of << "\n";
  for (const Pass& pass : passes) std::cout << pass.name << ": " << pass.help << "\n";
}

// Those of these names, or all where none are given.
template <class Pass>
std::vector<Pass> chosen(std::span<const Pass> all, const std::vector<std::string>& names) {
  std::vector<Pass> list;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &Pass::name);
    if (found == all.end()) {
      std::string known;
      for (const Pass& pass : all) known += (known.empty() ? "" : ", ") + std::string(pass.name);
      throw Error("there is no pass " + name + " for this text; there are " + known);
    }
    list.push_back(*found);
  }
  if (names.empty()) list.assign(all.begin(), all.end());
  return list;
}

const PassRun verified = {.verify = true};

void opt_graph(const OptChoices& choices, const std::string& text) {
  const Pipeline all = choices.passes.empty() ? default_pipeline() : all_passes();
  const std::vector<Pass> list = chosen(all, choices.passes);
  PassContext context;
  context.fast_math = choices.fast_math;
  for (const std::string& device : choices.parameters) {
    context.parameters.push_back(parse_device(device));
    if (!context.parameters.back()) {
      throw Error("--parameters " + device + ": no device; write cpu:0,cpu:1, one per parameter");
    }
  }
  Graph graph = graph_of_text(text, choices.file);
  std::cout << run_passes(list, std::move(graph), context, verified);
  for (const std::string& note : context.notes) std::cout << "# " << note << "\n";
}

void opt_kernels(const OptChoices& choices, const std::string& text) {
  const std::optional<Device> device = parse_device(choices.device);
  if (!device) throw Error("--device " + choices.device + ": no device; write cpu:0 or cuda:0");
  const Backend& backend = backend_of(*device);
  const std::vector<KernelPass> list =
      chosen<KernelPass>(backend.all_kernel_passes(), choices.passes);
  const auto kernels = named_in_errors(choices.file, [&] { return parse_kernels(text); });
  for (const Kernel& kernel : kernels) {
    std::cout << to_string(run_passes(list, kernel, {.target = backend.kernel_target()}, verified));
  }
}

void opt_program(const OptChoices& choices, const std::string& text) {
  const std::vector<ProgramPass> list = chosen(program_passes(), choices.passes);
  Program program = named_in_errors(choices.file, [&] { return parse_program(text); });
  ProgramContext context{.options = choices.options, .run = verified};
  std::cout << to_string(run_passes(list, std::move(program), context, verified));
}

// A program's text may begin with its kernels.
void opt_command(const OptChoices& choices) {
  if (choices.list) {
    print_list("graphs", all_passes());
    for (const Device& device : {Device::cpu(), Device::cuda()}) {
      print_list<KernelPass>("kernels on " + to_string(device),
                             backend_of(device).all_kernel_passes());
    }
    print_list("programs", program_passes());
    return;
  }
  if (choices.file.empty()) throw Error("opt: give a FILE, or --list for the passes there are");
  const std::string text = read_text(choices.file);
  const auto begins = [&](const char* word) {
    const std::size_t at = text.find(word);
    return at != text.npos && (at == 0 || text[at - 1] == '\n');
  };
  if (begins("program")) return opt_program(choices, text);
  if (begins("kernel ")) return opt_kernels(choices, text);
  opt_graph(choices, text);
}

}  // namespace

void add_opt(CLI::App& app) {
  auto choices = std::make_shared<OptChoices>();
  CLI::App* command =
      app.add_subcommand("opt", "run passes on a graph, on kernels or on a program, and print it");
  command->add_option("file", choices->file, "their text, or - for standard input");
  command->add_option("--device", choices->device, "whose passes to run on kernels");
  command
      ->add_option("--passes", choices->passes, "names in order, a comma between; all by default")
      ->delimiter(',');
  command
      ->add_option("--parameters", choices->parameters,
                   "for placement: the parameters' devices, as in cpu:0,cpu:1")
      ->delimiter(',');
  command->add_flag("--fast-math", choices->fast_math,
                    "let passes reorder floating-point arithmetic");
  add_streams(*command, choices->options.streams);
  command->add_flag("--list", choices->list, "list the passes");
  command->callback([choices] { opt_command(*choices); });
}

}  // namespace anabranch
