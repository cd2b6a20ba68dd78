#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "anabranch/stablehlo.h"
#include "codegen/compile.h"
#include "frontend/run/dump.h"
#include "frontend/run/env.h"
#include "frontend/stablehlo/check.h"
#include "frontend/stablehlo/importer.h"
#include "ir/interpret/interpret.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/read.h"
#include "tools/commands.h"

namespace anabranch {
namespace {

namespace fs = std::filesystem;

struct CheckChoices {
  std::vector<std::string> paths;
  std::string device;
  int streams = 0;  // as the environment wants
  int jobs = 0;     // one per core
  bool interpret = false;
  bool no_fuse = false;
  bool table = false;
};

/// What became of the tests of a file. A test is a function.
struct Counts {
  int passed = 0, failed = 0, skipped = 0;
  std::string messages;  // a line or more for each failure

  void fail(const std::string& message) {
    ++failed;
    messages += message + "\n";
  }
};

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file() && entry.path().extension() == ".mlir") {
        found.push_back(entry.path().string());
      }
    }
    if (found.empty()) throw Error(path + ": has no .mlir files");
    std::ranges::sort(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

std::vector<Literal> compiled_results(const stablehlo::SelfChecking& test, const Options& options) {
  const Compilation compilation = compile_dumped(test.graph, options);
  std::vector<Buffer> inputs;
  for (const Literal& input : test.inputs) {
    inputs.push_back(copy_to_device(options.device, input.bytes()));
  }
  std::vector<Buffer> outputs = run(compilation, std::move(inputs));
  std::vector<Literal> results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    results.push_back(read_literal(outputs[i], test.graph.output_type(i)));
  }
  return results;
}

void run_test(const stablehlo::Function& function, const std::string& file,
              const CheckChoices& choices, const Options& options, Counts& counts) {
  const auto begin = [&](const stablehlo::LineAndColumn& place) {
    return file + ":" + std::to_string(place.line) + ": @" + function.name() + ": ";
  };
  const auto& syntax = function.module()->syntax.functions[function.index()];
  const auto start = function.module()->source.place(syntax.at);
  try {
    const stablehlo::SelfChecking test = stablehlo::self_checking(function);
    const std::vector<Literal> results = choices.interpret
                                             ? interpret_in_xla_order(test.graph, test.inputs)
                                             : compiled_results(test, options);
    std::string message;
    for (const stablehlo::Check& check : test.checks) {
      const Literal& expected = check.expected ? results[*check.expected] : check.constant;
      const std::string differs = stablehlo::difference(check, results[check.actual], expected);
      if (differs.empty()) continue;
      message += (message.empty() ? "" : "\n") + begin(check.place) + check.name + ": " + differs;
    }
    if (!message.empty()) return counts.fail(message);
    ++counts.passed;
  } catch (const stablehlo::ReadError& error) {
    counts.fail(error.what());
  } catch (const std::exception& error) {
    counts.fail(begin(start) + error.what());
  }
}

// The names of the functions that others of the module call.
std::set<std::string> called_functions(const std::vector<stablehlo::Operation>& operations) {
  std::set<std::string> names;
  for (const stablehlo::Operation& op : operations) {
    for (const char* attribute : {"callee", "decomposition"}) {
      if (const auto* found = op.find(attribute)) names.insert(found->text);
    }
    for (const stablehlo::RegionSyntax& region : op.regions) {
      names.merge(called_functions(region.operations));
    }
  }
  return names;
}

void check_module(const stablehlo::Module& module, const std::string& file,
                  const CheckChoices& choices, const Options& options, Counts& counts) {
  std::set<std::string> called;
  for (const stablehlo::Function& function : module.functions()) {
    const auto& syntax = function.module()->syntax.functions[function.index()];
    called.merge(called_functions(syntax.body.operations));
  }
  for (const stablehlo::Function& function : module.functions()) {
    const auto& syntax = function.module()->syntax.functions[function.index()];
    if (syntax.is_declaration || (function.is_private() && function.name() != "main")) continue;
    if (syntax.body.arguments.empty()) {
      run_test(function, file, choices, options, counts);
    } else if (!called.contains(function.name())) {
      ++counts.skipped;  // nothing says what to give it
    }
  }
}

Counts check_file(const std::string& file, const CheckChoices& choices, const Options& options) {
  Counts counts;
  std::string text;
  try {
    text = read_text(file);
  } catch (const std::exception& error) {
    counts.fail(error.what());
    return counts;
  }
  for (const stablehlo::Part& part : stablehlo::split(text)) {
    try {
      check_module(stablehlo::parse(part, file), file, choices, options, counts);
    } catch (const std::exception& error) {
      counts.fail(error.what());
    }
  }
  return counts;
}

// What a file of the public suite is about: its name up to the first dtype.
std::string subject_of(const std::string& file) {
  const std::string name = fs::path(file).stem().string();
  std::string subject;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    const std::string word = name.substr(at, end - at);
    for (const char* dtype : {"bool", "int", "uint", "float", "bfloat", "complex"}) {
      const std::string_view kind = dtype;
      if (!word.starts_with(kind)) continue;
      const bool is_bare = word == kind && kind == "bool";
      if (is_bare || (word.size() > kind.size() &&
                      std::isdigit(static_cast<unsigned char>(word[kind.size()])))) {
        return subject.empty() ? word : subject;
      }
    }
    if (!word.empty()) subject += (subject.empty() ? "" : "_") + word;
    at = end + 1;
  }
  return subject;
}

void print_table(const std::vector<std::string>& files, const std::vector<Counts>& counts) {
  std::map<std::string, Counts> rows;
  for (std::size_t i = 0; i < files.size(); ++i) {
    Counts& row = rows[subject_of(files[i])];
    row.passed += counts[i].passed;
    row.failed += counts[i].failed;
    row.skipped += counts[i].skipped;
  }
  std::cout << "| op | passed | failed | skipped |\n|---|---|---|---|\n";
  for (const auto& [name, row] : rows) {
    std::cout << "| " << name << " | " << row.passed << " | " << row.failed << " | " << row.skipped
              << " |\n";
  }
}

void check_command(const CheckChoices& choices) {
  Options options = default_options();
  if (choices.streams > 0) options.streams = choices.streams;
  if (choices.no_fuse) options.disabled.push_back("fuse");
  if (!choices.device.empty()) {
    const std::optional<Device> device = parse_device(choices.device);
    if (!device) throw Error("--device " + choices.device + ": no device; write cpu:0 or cuda:0");
    options.device = *device;
  }
  const std::vector<std::string> files = files_of(choices.paths);
  std::vector<Counts> counts(files.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < files.size();) {
      counts[i] = check_file(files[i], choices, options);
    }
  };
  const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int jobs = choices.jobs > 0 ? choices.jobs : cores;
  {
    std::vector<std::jthread> threads;
    for (int i = 1; i < jobs; ++i) threads.emplace_back(work);
    work();
  }
  Counts all;
  for (const Counts& each : counts) {
    std::cout << each.messages;
    all.passed += each.passed;
    all.failed += each.failed;
    all.skipped += each.skipped;
  }
  if (choices.table) print_table(files, counts);
  std::cout << all.passed << " passed, " << all.failed << " failed, " << all.skipped
            << " skipped\n";
  if (all.failed > 0) throw CLI::RuntimeError(1);
}

}  // namespace

void add_check(CLI::App& app) {
  auto choices = std::make_shared<CheckChoices>();
  CLI::App* command = app.add_subcommand("check", "run self-checking StableHLO files");
  command->add_option("paths", choices->paths, "files, or folders of .mlir files")->required();
  command->add_flag("--interpret", choices->interpret, "by the interpreter, without compiling");
  command->add_flag("--no-fuse", choices->no_fuse, "a kernel for each operation");
  command->add_option("--device", choices->device, "where to run: cpu:0, cuda:0 ...");
  command->add_option("--jobs", choices->jobs, "so many files at a time; one per core by default")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--table", choices->table, "also a table of what passed, by the files' names");
  add_streams(*command, choices->streams);
  command->callback([choices] { check_command(*choices); });
}

}  // namespace anabranch
