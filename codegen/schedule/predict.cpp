#include "codegen/schedule/predict.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace anabranch {
namespace {

constexpr StepId no_step = UINT32_MAX;

/// Something that is used by one step after the other: a stream, or a unit of a device.
struct Resource {
  double free_at = 0;
  StepId last_user = no_step;
};

// Of the units that are free at `start`, which of a CPU's have been free for the longest: and of a
// GPU's, for the shortest. So one of its streams does not keep those busy one after the other that
// another one, which comes later in the program, could have had all the time.
std::vector<Resource>::iterator first_taken(std::vector<Resource>& units, std::size_t taken,
                                            double start, const DeviceModel& device) {
  if (!device.works_by_itself) return units.begin();
  const auto busy = std::ranges::upper_bound(units, start, {}, &Resource::free_at);
  return busy - static_cast<std::ptrdiff_t>(taken);
}

}  // namespace

struct Predictor::Played {
  std::vector<double> done;       // when each step ends
  std::vector<StepId> waits_for;  // the step that each one's start waited for, or no_step
  StepId last = no_step;          // the step that the end waits for
  double ns = 0;                  // until then
};

Predictor::Predictor(const Program& program, const Dependencies* dependencies,
                     std::vector<DeviceModel> devices)
    : program_(program), dependencies_(dependencies), devices_(std::move(devices)) {
  for (const Step& step : program.steps) {
    device_.push_back(device_of(program, step));
    shares_.push_back(devices_[device_.back()].share(step));
  }
}

double Predictor::handover_ns(StepId before, StepId step) const {
  const DeviceModel &from = devices_[device_[before]], &to = devices_[device_[step]];
  return device_[before] == device_[step] ? to.event_ns : std::max(from.apart_ns, to.apart_ns);
}

Predictor::Played Predictor::play(const Assignment& stream_of) const {
  const std::size_t steps = program_.steps.size();
  Played played{std::vector<double>(steps), std::vector<StepId>(steps, no_step)};
  const std::uint32_t streams =
      steps == 0 ? 0 : *std::max_element(stream_of.begin(), stream_of.end()) + 1;
  std::vector<std::vector<Resource>> units_of;
  for (const DeviceModel& device : devices_) units_of.emplace_back(device.units);
  std::vector<Resource> stream(streams);
  for (StepId i = 0; i < steps; ++i) {
    const DeviceModel& device = devices_[device_[i]];
    double start = 0;
    const auto wait_for = [&](StepId user, double until) {
      if (user == no_step || until < start) return;
      start = until;
      played.waits_for[i] = user;
    };
    Resource& mine = stream[stream_of[i]];
    // Another worker has to come for another stream, and a GPU's waits for its main one.
    if (mine.last_user == no_step && stream_of[i] != stream_of[0]) start = device.event_ns;
    wait_for(mine.last_user, mine.free_at);
    if (streams > 1) {
      for (StepId before : dependencies_->before(i)) {
        const double handed_over = stream_of[before] == stream_of[i] ? 0 : handover_ns(before, i);
        wait_for(before, played.done[before] + handed_over);
      }
    }
    auto& units = units_of[device_[i]];
    const DeviceModel::Share& share = shares_[i];
    std::sort(units.begin(), units.end(),
              [](const Resource& a, const Resource& b) { return a.free_at < b.free_at; });
    if (share.units > 0) {
      const Resource& latest = units[share.units - 1];
      if (latest.free_at > start) wait_for(latest.last_user, latest.free_at);
    }
    played.done[i] = start + device.step_ns + share.ns;
    mine = {played.done[i], i};
    std::fill_n(first_taken(units, share.units, start, device), share.units, mine);
    const double end = played.done[i] + (stream_of[i] == stream_of[0] ? 0 : device.join_ns);
    if (played.last != no_step && end <= played.ns) continue;
    played.last = i;
    played.ns = end;
  }
  return played;
}

double Predictor::ns(const Assignment& stream_of) const { return play(stream_of).ns; }

Prediction Predictor::predict(const Assignment& stream_of) const {
  const Played played = play(stream_of);
  Prediction prediction;
  for (StepId i = played.last; i != no_step; i = played.waits_for[i]) {
    prediction.critical_path.push_back({i, shares_[i].ns});
  }
  std::reverse(prediction.critical_path.begin(), prediction.critical_path.end());
  prediction.ns = played.ns;
  return prediction;
}

}  // namespace anabranch
