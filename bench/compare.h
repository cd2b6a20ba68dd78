// Us beside a peer in one run: medians of interleaved repetitions, and their ratio.
//
// Name a pair of benchmarks "softmax/ours" and "softmax/peer, what it is"; every "peer" of the same
// first part is compared with its "ours".
#pragma once

#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace bench {

/// Prints as Google Benchmark does, keeps the medians, and ends with the table of ratios.
class Comparison : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Aggregate && run.aggregate_name == "median") {
        keep(run.run_name.function_name, run.GetAdjustedRealTime(),
             benchmark::GetTimeUnitString(run.time_unit));
      }
    }
    ConsoleReporter::ReportRuns(runs);
  }

  /// One line a pair: our median, the peer's, and peer / ours (above 1: we are faster). Then ours
  /// that have no peer.
  void Finalize() override {
    auto& out = GetOutputStream();
    out << "\nmedians (ratio: the peer's time over ours, above 1 we are faster)\n";
    std::set<std::string> paired;
    for (const std::string& name : order_) {
      auto slash = name.rfind("/peer");
      if (slash == name.npos) continue;
      const std::string what = name.substr(0, slash);
      auto ours = medians_.find(what + "/ours");
      if (ours == medians_.end()) continue;
      const Median& peer = medians_.at(name);
      char line[256];
      std::snprintf(line, sizeof line, "%-34s ours %9.3f %s   %-44s %9.3f %s   ratio %5.2f\n",
                    what.c_str(), ours->second.time, ours->second.unit.c_str(),
                    name.substr(slash + 1).c_str(), peer.time, peer.unit.c_str(),
                    peer.time / ours->second.time);
      out << line;
      paired.insert(what);
    }
    for (const std::string& name : order_) {
      const std::string what = name.substr(0, name.rfind("/ours"));
      if (what.size() == name.size() || paired.contains(what)) continue;
      const Median& ours = medians_.at(name);
      char line[256];
      std::snprintf(line, sizeof line, "%-34s ours %9.3f %s\n", what.c_str(), ours.time,
                    ours.unit.c_str());
      out << line;
    }
  }

 private:
  struct Median {
    double time;
    std::string unit;
  };

  void keep(const std::string& name, double time, const char* unit) {
    if (medians_.emplace(name, Median{time, unit}).second) order_.push_back(name);
  }

  std::map<std::string, Median> medians_;
  std::vector<std::string> order_;
};

/// The main function of every benchmark here: 31 interleaved repetitions of at least 0.1 s unless
/// the command line says otherwise, so that a machine whose speed changes changes it for both.
inline int run(int argc, char** argv) {
  std::vector<std::string> defaults = {"--benchmark_repetitions=31", "--benchmark_min_time=0.1",
                                       "--benchmark_enable_random_interleaving=true",
                                       "--benchmark_report_aggregates_only=true"};
  std::vector<char*> arguments = {argv[0]};
  for (std::string& flag : defaults) arguments.push_back(flag.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
  Comparison comparison;
  benchmark::RunSpecifiedBenchmarks(&comparison);
  return 0;
}

}  // namespace bench
