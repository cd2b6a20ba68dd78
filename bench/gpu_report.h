// What bench_gpu found: a line for each measurement as it comes, and a JSON of all.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/rounds.h"

namespace bench {

/// One measurement, and the one beside it in the same rounds.
struct Measurement {
  std::string name = {};  ///< "softmax/f32/64MiB": the peers' programs use the same names
  double seconds = 0;
  double bytes = 0;           ///< read and written; 0 where that is not the point
  double operations = 0;      ///< floating-point; 0 where that is not the point
  std::string beside = {};    ///< "device copy"; empty for none
  double beside_seconds = 0;  ///< of the other
  double beside_bytes = 0;    ///< that the other moves
  std::string note = {};
};

class Report {
 public:
  explicit Report(nlohmann::json about) : all_(std::move(about)) {
    all_["results"] = nlohmann::json::array();
    all_["failed"] = nlohmann::json::array();
  }

  /// With the seconds that went before, which say what takes the suite's time.
  void title(const std::string& text) const {
    std::printf("\n%s (after %.0f s)\n", text.c_str(), seconds_since(begin_));
  }

  void add(const Measurement& m) {
    std::printf("  %-34s %s%s", m.name.c_str(), time(m.seconds).c_str(), rate(m).c_str());
    if (!m.beside.empty()) {
      std::printf("   %s %s: %.2f of it", m.beside.c_str(), time(m.beside_seconds).c_str(),
                  share(m));
    }
    std::printf("%s%s\n", m.note.empty() ? "" : "   ", m.note.c_str());
    nlohmann::json one = {{"name", m.name}, {"seconds", m.seconds}};
    if (m.bytes > 0) one["bytes"] = m.bytes;
    if (m.operations > 0) one["operations"] = m.operations;
    if (!m.beside.empty()) {
      one["beside"] = {{"name", m.beside}, {"seconds", m.beside_seconds}, {"share", share(m)}};
    }
    if (!m.note.empty()) one["note"] = m.note;
    all_["results"].push_back(std::move(one));
  }

  /// What was not measured, since it threw.
  void fail(const std::string& name, const std::string& why) {
    std::printf("  %s: FAILED: %s\n", name.c_str(), why.c_str());
    all_["failed"].push_back({{"name", name}, {"why", why}});
  }
  bool any_failed() const { return !all_["failed"].empty(); }

  /// All or nothing: a file beside it takes its place when it is whole.
  void write(const std::filesystem::path& file) const {
    const std::filesystem::path unfinished = file.string() + ".unfinished";
    std::ofstream stream(unfinished);
    stream << all_.dump(1) << "\n";
    stream.close();
    if (!stream) throw std::runtime_error("cannot write " + unfinished.string());
    std::filesystem::rename(unfinished, file);
  }

 private:
  /// Of the other's bandwidth where both move bytes, of its speed otherwise.
  static double share(const Measurement& m) {
    const double faster = m.beside_seconds / m.seconds;
    return m.bytes > 0 && m.beside_bytes > 0 ? faster * m.bytes / m.beside_bytes : faster;
  }
  static std::string time(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, seconds < 1e-3 ? "%8.2f us" : "%8.3f ms",
                  seconds * (seconds < 1e-3 ? 1e6 : 1e3));
    return text;
  }
  static std::string rate(const Measurement& m) {
    char text[32] = "";
    if (m.operations > 0) {
      std::snprintf(text, sizeof text, "  %7.1f TFLOP/s", m.operations / m.seconds * 1e-12);
    } else if (m.bytes > 0) {
      std::snprintf(text, sizeof text, "  %7.0f GB/s", m.bytes / m.seconds * 1e-9);
    }
    return text;
  }

  const Clock::time_point begin_ = Clock::now();
  nlohmann::json all_;
};

}  // namespace bench
