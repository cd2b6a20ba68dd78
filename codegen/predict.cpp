#include "codegen/predict.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace anabranch {
namespace {

// Measured on a 2-core Zen 5: going on to the next step of a stream takes 60 ns; an event takes 0.5
// us where another worker is looking for work, and up to 10 us where one must be woken.
constexpr double step_ns = 60;
constexpr double event_ns = 2500;

constexpr std::uint32_t none = UINT32_MAX;

/// Something that is used by one launch after the other: a stream, or a core.
struct Resource {
  double free_at = 0;
  std::uint32_t last_user = none;
};

std::size_t cores_used(const Launch& launch, std::size_t cores) {
  const HostTask* task = launch.one_task();
  if (!task) return 1;
  const std::int64_t ranges = task->extent / std::max<std::int64_t>(task->grain, 1);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(ranges, 1)), 1,
                                 cores);
}

}  // namespace

struct Predictor::Played {
  std::vector<double> done;              // when each launch ends
  std::vector<std::uint32_t> waits_for;  // the launch that each one's start waited for, or none
  std::uint32_t last = none;             // the launch that ends last
};

Predictor::Predictor(const Program& program, const Dependencies* dependencies,
                     std::vector<int> cores)
    : program_(program), dependencies_(dependencies), cores_(std::move(cores)) {
  for (const Launch& launch : program.launches) {
    const auto most = static_cast<std::size_t>(cores_[device_of(program, launch)]);
    used_.push_back(cores_used(launch, most));
  }
}

Predictor::Played Predictor::play(const Assignment& stream_of) const {
  const std::size_t launches = program_.launches.size();
  Played played{std::vector<double>(launches), std::vector<std::uint32_t>(launches, none), none};
  const std::uint32_t streams =
      launches == 0 ? 0 : *std::max_element(stream_of.begin(), stream_of.end()) + 1;
  std::vector<std::vector<Resource>> cores_of;
  for (int count : cores_) cores_of.emplace_back(count);
  std::vector<Resource> stream(streams);
  for (std::uint32_t i = 0; i < launches; ++i) {
    double start = 0;
    const auto wait_for = [&](std::uint32_t user, double until) {
      if (user == none || until < start) return;
      start = until;
      played.waits_for[i] = user;
    };
    Resource& mine = stream[stream_of[i]];
    // Another worker has to come for another stream.
    if (mine.last_user == none && stream_of[i] != stream_of[0]) start = event_ns;
    wait_for(mine.last_user, mine.free_at);
    if (streams > 1) {
      for (std::uint32_t before : dependencies_->before(i)) {
        const double handed_over = stream_of[before] == stream_of[i] ? 0 : event_ns;
        wait_for(before, played.done[before] + handed_over);
      }
    }
    auto& cores = cores_of[device_of(program_, program_.launches[i])];
    std::sort(cores.begin(), cores.end(),
              [](const Resource& a, const Resource& b) { return a.free_at < b.free_at; });
    const Resource& latest = cores[used_[i] - 1];
    if (latest.free_at > start) wait_for(latest.last_user, latest.free_at);
    played.done[i] =
        start + step_ns + program_.launches[i].predicted_ns / static_cast<double>(used_[i]);
    mine = {played.done[i], i};
    std::fill_n(cores.begin(), used_[i], mine);
    if (played.last == none || played.done[i] > played.done[played.last]) played.last = i;
  }
  return played;
}

double Predictor::ns(const Assignment& stream_of) const {
  const Played played = play(stream_of);
  return played.last == none ? 0 : played.done[played.last];
}

Prediction Predictor::predict(const Assignment& stream_of) const {
  const Played played = play(stream_of);
  Prediction prediction;
  for (std::uint32_t i = played.last; i != none; i = played.waits_for[i]) {
    const double ns = program_.launches[i].predicted_ns / static_cast<double>(used_[i]);
    prediction.critical_path.push_back({i, ns});
  }
  std::reverse(prediction.critical_path.begin(), prediction.critical_path.end());
  if (played.last != none) prediction.ns = played.done[played.last];
  return prediction;
}

}  // namespace anabranch
