// Measures that take turns: medians over rounds, on machines whose speed changes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Seconds that `work` takes.
inline double time_of(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return seconds_since(begin);
}

inline double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

/// What each measured in `runs` rounds, by measure, then by round. They take turns, every other
/// round backwards, so that a noisy moment hits all of them and a machine whose speed drifts
/// favours none. Smaller numbers are better.
inline std::vector<std::vector<double>> rounds(int runs,
                                               const std::vector<std::function<double()>>& each) {
  std::vector<std::vector<double>> got(each.size());
  for (const auto& measure : each) measure();
  for (int run = 0; run < runs; ++run) {
    for (std::size_t i = 0; i < each.size(); ++i) {
      const std::size_t turn = run % 2 == 0 ? i : each.size() - 1 - i;
      got[turn].push_back(each[turn]());
    }
  }
  return got;
}

inline std::vector<double> medians(int runs, const std::vector<std::function<double()>>& each) {
  std::vector<double> middle;
  for (const std::vector<double>& all : rounds(runs, each)) middle.push_back(median(all));
  return middle;
}

/// What `a` measured as a part of what `b` measured in the same round: the median over rounds.
inline double median_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  return median(std::move(ratios));
}

}  // namespace bench
