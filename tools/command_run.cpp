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
#include "frontend/run/dump.h"
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

// A value of a graph's that an option gives or takes.
struct Binding {
  std::size_t position;
  std::string path;
};

// "POSITION=FILE" to its halves.
std::optional<Binding> parse_binding(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (equals == text.npos || equals + 1 == text.size() || name.empty() || name.size() > 9 ||
      !std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); })) {
    return std::nullopt;
  }
  return Binding{std::stoul(name), text.substr(equals + 1)};
}

// A parameter's position may be written 0, %0 or, as exported programs count, %arg0.
Binding input_binding(const std::string& text, const Graph& graph) {
  std::string name = text;
  if (name.starts_with('%')) name.erase(0, 1);
  if (name.starts_with("arg")) name.erase(0, 3);
  const std::optional<Binding> binding = parse_binding(name);
  if (!binding) {
    throw Error("--input " + text +
                ": write NAME=FILE.npy, as in %0=x.npy, or NAME=FILE.npz:ARRAY; or FILE.npz for "
                "all parameters");
  }
  if (binding->position >= graph.parameter_count()) {
    throw Error("--input " + text + ": the graph has " + std::to_string(graph.parameter_count()) +
                " parameters, counted from 0");
  }
  return *binding;
}

Binding output_binding(const std::string& text, std::size_t count) {
  const std::optional<Binding> binding = parse_binding(text);
  if (!binding || binding->path.ends_with(".npz")) {
    throw Error("--output " + text +
                ": write POSITION=FILE.npy, as in 0=y.npy; or FILE.npz for all outputs");
  }
  if (binding->position >= count) {
    throw Error("--output " + text + ": the graph has " + std::to_string(count) +
                " outputs, counted from 0");
  }
  return *binding;
}

// For each position the one option that is for it, as the user wrote it.
class Bound {
 public:
  /// `what` is at a position: "parameter".
  Bound(std::string option, std::string what)
      : option_(std::move(option)), what_(std::move(what)) {}

  void add(std::size_t position, const std::string& text) {
    const auto [before, is_new] = texts_.emplace(position, text);
    if (is_new) return;
    throw Error(option_ + " " + before->second + " and " + option_ + " " + text +
                ": both are for " + what_ + " " + std::to_string(position) + "; give one of them");
  }

 private:
  std::string option_, what_;
  std::map<std::size_t, std::string> texts_;
};

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
  Bound bound("--input", "parameter");
  for (const std::string& binding : choices.inputs) {
    if (is_archive(binding)) {
      for (auto& [position, array] : read_numbered(binding)) {
        if (position >= graph.parameter_count()) {
          throw Error("--input " + binding + ": it holds array " + std::to_string(position) +
                      ", and the graph has " + std::to_string(graph.parameter_count()) +
                      " parameters, counted from 0");
        }
        bound.add(position, binding);
        given.emplace(position, std::move(array));
      }
      continue;
    }
    const auto [position, path] = input_binding(binding, graph);
    bound.add(position, binding);
    given.emplace(position, read_array(path));
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

/// Where outputs are written.
struct OutputFiles {
  std::vector<std::string> archives;         // of all
  std::map<std::size_t, std::string> files;  // of single ones
};

OutputFiles output_files(const RunChoices& choices, std::size_t count) {
  OutputFiles to;
  Bound bound("--output", "output");
  for (const std::string& text : choices.outputs) {
    if (is_archive(text)) {
      to.archives.push_back(text);
      continue;
    }
    const auto [position, path] = output_binding(text, count);
    bound.add(position, text);
    to.files.emplace(position, path);
  }
  return to;
}

// Those that go to no file go to the terminal.
void write_outputs(const std::vector<Literal>& outputs, const OutputFiles& to) {
  for (const std::string& archive : to.archives) write_npz(archive, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (const auto found = to.files.find(i); found != to.files.end()) {
      write_npy(found->second, outputs[i]);
    } else if (to.archives.empty()) {
      std::cout << "output " << i << ": " << to_string(outputs[i].type()) << " = "
                << to_string(outputs[i]) << "\n";
    }
  }
}

void run_command(const RunChoices& choices) {
  std::optional<timeline::Recording> recording;
  if (!choices.timeline.empty() || choices.summary) recording.emplace();
  const Graph graph = read_graph(choices.file);
  const OutputFiles output_to = output_files(choices, graph.outputs().size());
  const std::vector<Literal> inputs = read_inputs(graph, choices);
  if (choices.interpret) return write_outputs(interpret(graph, inputs), output_to);
  Options options = default_options();
  if (choices.streams > 0) options.streams = choices.streams;
  const Compilation compilation = [&] {
    timeline::Span span("compile " + graph.name(), timeline::Category::compile);
    return compile_dumped(graph, options);
  }();
  std::vector<Buffer> buffers;
  for (const Literal& input : inputs)
    buffers.push_back(copy_to_device(options.device, input.bytes()));

  write_outputs(run_once(compilation, buffers), output_to);
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
      "a file to write when what ran here: for Perfetto, or as a picture where it ends in .svg");
  CLI::Option* summary = command->add_flag(
      "--summary", choices->summary, "also print a table of what ran, all runs of --time together");
  for (CLI::Option* of_compiled : {time, timeline, summary}) interpret->excludes(of_compiled);
  add_streams(*command, choices->streams);
  command->callback([choices] { run_command(*choices); });
}

}  // namespace anabranch
