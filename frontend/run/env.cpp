#include "frontend/run/env.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>

#include "anabranch/error.h"
#include "anabranch/timeline.h"
#include "codegen/program_passes.h"
#include "ir/log.h"
#include "ir/write_file.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/device/device.h"
#include "runtime/device/first_devices.h"
#include "runtime/executor/run.h"
#include "runtime/fork.h"

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

// 1 or 0; `otherwise` where nothing is said.
bool flag(const char* name, bool otherwise) {
  const std::string text = variable(name);
  if (text.empty()) return otherwise;
  if (text != "0" && text != "1") {
    throw Error(std::string(name) + "=" + text + ": expected 1 or 0");
  }
  return text == "1";
}

Environment read() {
  Environment environment;
  environment.log = variable("ANABRANCH_LOG");
  if (!environment.log.empty()) set_log(log_sink(environment.log));
  for (const std::string& stage : list("ANABRANCH_DUMP")) {
    const auto known = parse_stage(stage);
    const std::vector<std::string_view> passes = pass_names();
    if (known) {
      environment.dump.push_back(*known);
    } else if (std::ranges::find(passes, stage) != passes.end()) {
      environment.dump_passes.push_back(stage);
    } else {
      throw Error("ANABRANCH_DUMP=" + stage + ": there is no such stage or pass; the stages are " +
                  stage_names());
    }
  }
  environment.dump_directory = variable("ANABRANCH_DUMP_DIR");
  environment.verify = flag("ANABRANCH_VERIFY", false);
  flag("ANABRANCH_KEEP_MEMORY", true);  // which `first_devices` heeds
  environment.disable = list("ANABRANCH_DISABLE");
  for (const std::string& pass : environment.disable) {
    named("ANABRANCH_DISABLE=" + pass, [&] { check_pass_names({&pass, 1}); });
  }
  environment.timeline = variable("ANABRANCH_TIMELINE");
  if (!environment.timeline.empty()) {
    named("ANABRANCH_TIMELINE=" + environment.timeline,
          [&] { check_writable(environment.timeline); });
  }
  environment.streams = positive("ANABRANCH_STREAMS");
  environment.cpu_devices = positive("ANABRANCH_CPU_DEVICES", max_devices);
  environment.device = named_device();
  if (environment.device && !exists(*environment.device)) {
    throw Error("ANABRANCH_DEVICE=" + variable("ANABRANCH_DEVICE") + ": " +
                missing_text(*environment.device));
  }
  environment.cache = open_cache(variable("ANABRANCH_CACHE_DIR"));
  return environment;
}

void write_timeline() noexcept;

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

void write_timeline() noexcept {
  if (is_orphan()) return;  // it is the parent's
  try {
    // A custom call that calls exit would wait for itself.
    if (!cpu::ThreadPool::on_worker()) wait_for_devices();
    process().recording->stop();
  } catch (const std::exception& error) {
    log_line(std::string("ANABRANCH_TIMELINE: ") + error.what());
  } catch (...) {
    // What a sink of the user's throws: nothing is left to report to.
  }
}

}  // namespace

FirstDevices first_devices() noexcept {
  FirstDevices first;
  try {
    first.cpu_devices = std::max(1, positive("ANABRANCH_CPU_DEVICES", max_devices));
    first.default_device = named_device();
    first.keep_memory = flag("ANABRANCH_KEEP_MEMORY", true);
  } catch (const std::exception&) {
    // `environment`, which may throw, reads them again.
  }
  return first;
}

const Environment& environment() { return process().environment; }

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
