#include "frontend/env.h"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>

#include "ir/error.h"
#include "ir/log.h"
#include "ir/write_file.h"
#include "passes/pass.h"
#include "runtime/device.h"
#include "runtime/run.h"
#include "runtime/timeline.h"

namespace anabranch {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<std::string> list(const char* name) {
  std::vector<std::string> items;
  std::string text = variable(name);
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) items.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

int positive(const char* name, int most = std::numeric_limits<int>::max()) {
  std::string text = variable(name);
  if (text.empty()) return 0;
  int value = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size() || value < 1 || value > most) {
    throw Error(std::string(name) + "=" + text + ": expected a number from 1 to " +
                std::to_string(most));
  }
  return value;
}

std::optional<Device> named_device() {
  const std::string text = variable("ANABRANCH_DEVICE");
  if (text.empty()) return std::nullopt;
  const auto device = parse_device(text);
  if (!device) {
    throw Error("ANABRANCH_DEVICE=" + text + ": expected a device like cpu:0 or cuda:0");
  }
  if (!exists(*device)) throw Error("ANABRANCH_DEVICE=" + text + ": " + missing_text(*device));
  return device;
}

LogSink log_sink(const std::string& where) {
  if (where == "stderr") return [](const std::string& line) { std::cerr << line + "\n"; };
  auto file = std::make_shared<std::ofstream>(where, std::ios::app);
  if (!*file) throw Error("ANABRANCH_LOG=" + where + ": cannot write there");
  // Flushed line by line, so that those of several processes stay whole.
  return [file](const std::string& line) { *file << line + "\n" << std::flush; };
}

// What `use` gives; an Error of its begins with the variable's name and value.
template <class Use>
auto named(const std::string& setting, const Use& use) {
  try {
    return use();
  } catch (const Error& error) {
    throw Error(setting + ": " + error.what());
  }
}

std::shared_ptr<CodeCache> open_cache(const std::string& directory) {
  if (directory.empty()) return nullptr;
  return named("ANABRANCH_CACHE_DIR=" + directory,
               [&] { return std::make_shared<CodeCache>(directory); });
}

bool flag(const char* name) {
  std::string text = variable(name);
  return !text.empty() && text != "0";
}

Environment read() {
  Environment environment;
  environment.log = variable("ANABRANCH_LOG");
  if (!environment.log.empty()) set_log(log_sink(environment.log));
  for (const std::string& stage : list("ANABRANCH_DUMP")) {
    auto known = parse_stage(stage);
    if (!known) {
      throw Error("ANABRANCH_DUMP=" + stage + ": there is no such stage; there are " +
                  stage_names());
    }
    environment.dump.push_back(*known);
  }
  environment.dump_directory = variable("ANABRANCH_DUMP_DIR");
  environment.verify = flag("ANABRANCH_VERIFY");
  environment.disable = list("ANABRANCH_DISABLE");
  for (const std::string& pass : environment.disable) {
    named("ANABRANCH_DISABLE=" + pass, [&] { find_pass(pass); });
  }
  environment.timeline = variable("ANABRANCH_TIMELINE");
  if (!environment.timeline.empty()) {
    named("ANABRANCH_TIMELINE=" + environment.timeline,
          [&] { check_writable(environment.timeline); });
  }
  environment.streams = positive("ANABRANCH_STREAMS");
  environment.cpu_devices = positive("ANABRANCH_CPU_DEVICES", max_cpu_devices);
  environment.device = named_device();
  environment.cache = open_cache(variable("ANABRANCH_CACHE_DIR"));
  return environment;
}

void write_timeline();

/// What holds for the whole process.
struct Process {
  Process() {
    if (environment.timeline.empty()) return;
    recording.emplace(environment.timeline);
    std::atexit(write_timeline);
  }

  const Environment environment = read();
  std::optional<timeline::Recording> recording;
};

// Never destroyed: it is used once more as the process ends.
Process& process() {
  static auto* process = new Process;
  return *process;
}

void write_timeline() {
  wait_for_devices();
  try {
    process().recording->stop();
  } catch (const Error& error) {
    log_line(std::string("ANABRANCH_TIMELINE: ") + error.what());
  }
}

}  // namespace

const Environment& environment() { return process().environment; }

int make_devices() noexcept {
  try {
    if (int wanted = positive("ANABRANCH_CPU_DEVICES", max_cpu_devices); wanted > 0)
      set_cpu_devices(wanted);
    if (const auto wanted = named_device()) set_default_device(*wanted);
  } catch (const Error&) {
    // There is nobody to tell yet: `environment` throws it again at the first compilation.
  }
  return static_cast<int>(devices().size());
}

Options default_options() {
  const Environment& wanted = environment();
  Options options;
  if (wanted.streams > 0) options.streams = wanted.streams;
  options.verify = wanted.verify;
  options.disabled = wanted.disable;
  options.cache = wanted.cache;
  return options;
}

}  // namespace anabranch
