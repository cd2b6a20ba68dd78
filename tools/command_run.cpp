#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>

#include "anabranch/timeline_summary.h"
#include "codegen/compile.h"
#include "frontend/files/npy.h"
#include "frontend/files/npz.h"
#include "frontend/run/env.h"
#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "ir/text/print.h"
#include "runtime/executor/run.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/read.h"
#include "runtime/timeline/record.h"
#include "tools/commands.h"
#include "tools/timeline_svg.h"

namespace anabranch {
namespace {

struct RunChoices {
  std::string file;
  std::vector<std::string> inputs, outputs;
  std::string timeline;
  int streams = 0;  // as the environment wants
  bool time = false;
  bool summary = false;
  bool random = false;
  bool interpret = false;
};

// "NAME=FILE" to its halves; NAME is a position, as 0, %0 or, as exported programs count, %arg0.
std::pair<std::size_t, std::string> parse_binding(const std::string& text, const char* option,
                                                  std::size_t count) {
  const auto equals = text.find('=');
  std::string name = text.substr(0, equals);
  if (name.starts_with('%')) name.erase(0, 1);
  if (name.starts_with("arg")) name.erase(0, 3);
  if (equals == text.npos || name.empty() || name.size() > 9 ||
      !std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); })) {
    throw Error(std::string(option) + " " + text + ": write NAME=FILE.npy, as in %0=x.npy");
  }
  const std::size_t position = std::stoul(name);
  if (position >= count) {
    throw Error(std::string(option) + " " + text + ": the graph has " + std::to_string(count) +
                (option == std::string("--input") ? " parameters" : " outputs") +
                ", counted from 0");
  }
  return {position, text.substr(equals + 1)};
}

// A FILE.npz by itself, which holds them all.
bool is_archive(const std::string& binding) {
  return binding.ends_with(".npz") && binding.find('=') == binding.npos;
}

Literal random_literal(const Type& type, std::mt19937_64& generator) {
  std::normal_distribution<double> normal;
  return visit_any_dtype(type.dtype, [&]<class T>() {
    std::unique_ptr<T[]> values(new T[static_cast<std::size_t>(type.size())]);
    for (std::int64_t i = 0; i < type.size(); ++i) {
      const double draw =
          is_integer(type.dtype) ? 100 * std::fabs(normal(generator)) : normal(generator);
      if constexpr (is_complex_storage<T>)
        values[static_cast<std::size_t>(i)] =
            convert_scalar<T>(std::complex(draw, normal(generator)));
      else
        values[static_cast<std::size_t>(i)] = convert_scalar<T>(draw);
    }
    return Literal::of(std::span<const T>(values.get(), static_cast<std::size_t>(type.size())),
                       type.shape);
  });
}

std::vector<Literal> read_inputs(const Graph& graph, const RunChoices& choices) {
  std::map<std::size_t, Literal> given;
  for (const std::string& binding : choices.inputs) {
    if (is_archive(binding)) {
      for (auto& [position, array] : read_numbered(binding)) {
        if (position >= graph.parameter_count()) {
          throw Error("--input " + binding + ": it holds array " + std::to_string(position) +
                      ", and the graph has " + std::to_string(graph.parameter_count()) +
                      " parameters, counted from 0");
        }
        given.insert_or_assign(position, std::move(array));
      }
      continue;
    }
    auto [position, path] = parse_binding(binding, "--input", graph.parameter_count());
    given.insert_or_assign(position, read_array(path));
  }
  std::mt19937_64 generator(0);
  std::vector<Literal> inputs;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    const Type& type = graph.parameter_type(i);
    const std::string name = "%" + std::to_string(i) + ": " + to_string(type);
    if (auto found = given.find(i); found != given.end()) {
      if (found->second.type() != type) {
        throw Error("parameter " + name + " was given " + to_string(found->second.type()));
      }
      inputs.push_back(found->second);
    } else if (choices.random) {
      inputs.push_back(random_literal(type, generator));
    } else {
      throw Error("parameter " + name + " has no value; give --input %" + std::to_string(i) +
                  "=FILE.npy, or --random for all that are missing");
    }
  }
  return inputs;
}

std::vector<Literal> run_once(const Compilation& compilation, const std::vector<Buffer>& inputs) {
  std::vector<Buffer> outputs = run(compilation, inputs);
  std::vector<Literal> literals;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Type& type = compilation.traced.type(compilation.traced.outputs()[i]);
    literals.push_back(read_literal(outputs[i], type));
  }
  return literals;
}

// Median of the wall time of a run from submission to the last output, in microseconds.
double median_time(const Compilation& compilation, const std::vector<Buffer>& inputs) {
  std::vector<double> times;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  do {
    const auto start = std::chrono::steady_clock::now();
    for (const Buffer& output : run(compilation, inputs)) output.ready().wait();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    times.push_back(took.count());
  } while (std::chrono::steady_clock::now() < end || times.size() < 5);
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  return times[times.size() / 2];
}

// Of one run by itself, once memory, caches and threads are warm.
std::string picture(const Compilation& compilation, const std::vector<Buffer>& inputs) {
  const auto run_to_the_end = [&] {
    for (const Buffer& output : run(compilation.first.executable, inputs)) output.ready().wait();
    wait_for_devices();
  };
  for (int i = 0; i < 10; ++i) run_to_the_end();
  timeline::Recording recording;
  run_to_the_end();
  return to_svg(recording.stop());
}

// To files, or to the terminal.
void write_outputs(const std::vector<Literal>& outputs, const RunChoices& choices) {
  std::map<std::size_t, std::string> files;
  bool are_printed = true;
  for (const std::string& binding : choices.outputs) {
    if (is_archive(binding)) {
      write_npz(binding, outputs);
      are_printed = false;
      continue;
    }
    const auto [position, path] = parse_binding(binding, "--output", outputs.size());
    if (path.ends_with(".npz")) {
      throw Error("--output " + binding +
                  ": one output is a .npy file; write POSITION=FILE.npy, or FILE.npz for all");
    }
    files.insert_or_assign(position, path);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (auto found = files.find(i); found != files.end()) {
      write_npy(found->second, outputs[i]);
    } else if (are_printed) {
      std::cout << "output " << i << ": " << to_string(outputs[i].type()) << " = "
                << to_string(outputs[i]) << "\n";
    }
  }
}

void run_command(const RunChoices& choices) {
  std::optional<timeline::Recording> recording;
  if (!choices.timeline.empty() || choices.summary) recording.emplace();
  const Graph graph = read_graph(choices.file);
  const std::vector<Literal> inputs = read_inputs(graph, choices);
  if (choices.interpret) return write_outputs(interpret(graph, inputs), choices);
  Options options = default_options();
  if (choices.streams > 0) options.streams = choices.streams;
  const Compilation compilation = [&] {
    timeline::Span span("compile " + graph.name(), timeline::Category::compile);
    return compile(graph, options);
  }();
  std::vector<Buffer> buffers;
  for (const Literal& input : inputs)
    buffers.push_back(copy_to_device(options.device, input.bytes()));

  write_outputs(run_once(compilation, buffers), choices);
  if (choices.time) {
    std::cout << "median of a run: " << median_time(compilation, buffers) << " us\n";
  }
  wait_for_devices();
  if (!recording) return;
  const timeline::Timeline recorded = recording->stop();
  if (choices.summary) std::cout << to_string(timeline::summarize(recorded));
  if (choices.timeline.empty()) return;
  const bool drawn = choices.timeline.ends_with(".svg");
  write_text(choices.timeline, drawn ? picture(compilation, buffers) : to_json(recorded));
}

}  // namespace

void add_run(CLI::App& app) {
  auto choices = std::make_shared<RunChoices>();
  CLI::App* command = app.add_subcommand("run", "compile a graph and run it once");
  command->add_option("file", choices->file, "graph text, or - for standard input")->required();
  command->add_option(
      "--input", choices->inputs,
      "NAME=FILE.npy, as in %0=x.npy, or NAME=FILE.npz:ARRAY, once per parameter; or "
      "FILE.npz, whose arrays arr_0, arr_1 ... are the parameters");
  command->add_option(
      "--output", choices->outputs,
      "POSITION=FILE.npy instead of printing that output; or FILE.npz for all of them");
  command->add_flag("--random", choices->random, "random values for parameters without --input");
  CLI::Option* interpret = command->add_flag(
      "--interpret", choices->interpret, "by the interpreter, without compiling: the reference");
  CLI::Option* time =
      command->add_flag("--time", choices->time, "also print the median time of many runs");
  CLI::Option* timeline = command->add_option(
      "--timeline", choices->timeline,
      "write when what ran here, for Perfetto, or as a picture: out.json, out.svg");
  CLI::Option* summary = command->add_flag(
      "--summary", choices->summary, "also print a table of what ran, all runs of --time together");
  for (CLI::Option* of_compiled : {time, timeline, summary}) interpret->excludes(of_compiled);
  add_streams(*command, choices->streams);
  command->callback([choices] { run_command(*choices); });
}

}  // namespace anabranch
