#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "anabranch/timeline_summary.h"
#include "runtime/cuda/gpus.h"
#include "runtime/device/ceiling.h"

namespace anabranch::timeline {
namespace {

enum class Part : std::uint8_t { launches, host, none };

Part part_of(Category category) {
  switch (category) {
    case Category::kernel:
    case Category::library:
    case Category::copy:
      return Part::launches;
    case Category::host_wait:
    case Category::in_flight_wait:
    case Category::trace:
    case Category::compile:
      return Part::host;
    case Category::loop:
    case Category::branch:  // their steps count
    case Category::range:   // its launch counts
    case Category::wait:
    case Category::record:
      return Part::none;
  }
  return Part::none;
}

/// Sums events that are alike: launches of one shape, whatever else of one name.
class Rows {
 public:
  void add(const Event& event) {
    const bool is_launch =
        event.category == Category::kernel || event.category == Category::library;
    const Details& details = event.details;
    const bool on_gpu = event.track.device.kind() == DeviceKind::cuda;
    const Device device = on_gpu ? event.track.device : Device::cpu();
    const auto [at, added] =
        place_.try_emplace({title(event), event.category, is_launch ? details.bytes : 0,
                            is_launch ? details.operations : 0, device},
                           rows_.size());
    if (added) rows_.push_back({std::get<0>(at->first), event.category, device});
    SummaryRow& row = rows_[at->second];
    ++row.count;
    row.total += event.end - event.begin;
    row.bytes += details.bytes;
    row.operations += details.operations;
    row.is_f64 = row.is_f64 || details.is_f64;
  }

  std::vector<SummaryRow> take() {
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const SummaryRow& a, const SummaryRow& b) { return a.total > b.total; });
    return std::move(rows_);
  }

 private:
  std::vector<SummaryRow> rows_;
  using Key = std::tuple<std::string, Category, std::int64_t, std::int64_t, Device>;
  std::map<Key, std::size_t> place_;
};

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

double per_second(std::int64_t amount, Clock::duration time) {
  return time.count() > 0 ? static_cast<double>(amount) / seconds(time) : 0;
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// "  12.3   18%": in units of 1e9, with its share of the best; blank where there is nothing.
std::string speed_text(double speed, double best) {
  if (speed == 0) return fmt::format("{:16}", "");
  return fmt::format("{:9.1f} {:5.0f}%", speed / 1e9, percent(speed, best));
}

}  // namespace

double SummaryRow::bandwidth() const { return per_second(bytes, total); }
double SummaryRow::rate() const { return per_second(operations, total); }

Summary summarize(const Timeline& timeline) {
  Rows launches, host;
  std::map<Track, std::pair<Clock::duration, Clock::time_point>> busy;  // until when
  Clock::time_point first = Clock::time_point::max(), last = Clock::time_point::min();
  for (const Event& event : timeline.events) {
    const Part part = part_of(event.category);
    if (part == Part::host) host.add(event);
    if (part != Part::launches) continue;
    launches.add(event);
    if (event.track.kind != Track::Kind::stream) continue;
    first = std::min(first, event.begin);
    last = std::max(last, event.end);
    auto& [time, until] = busy[event.track];
    time += std::max(event.end - std::max(event.begin, until), Clock::duration::zero());
    until = std::max(until, event.end);
  }
  Summary summary;
  summary.launches = launches.take();
  summary.host = host.take();
  for (const SummaryRow& row : summary.launches) summary.launched += row.total;
  for (const auto& [track, time] : busy) summary.streams.push_back({track, time.first});
  if (!busy.empty()) summary.span = last - first;
  return summary;
}

std::string to_string(const Summary& summary, const Ceiling& ceiling) {
  std::map<Device, Ceiling> ceilings = {{Device::cpu(), ceiling}};
  std::string text = "  count   total ms    mean us  share      GB/s   best   GFLOP/s   best\n";
  for (const SummaryRow& row : summary.launches) {
    if (!ceilings.contains(row.device)) {
      ceilings[row.device] = ceiling_of(cuda::gpu_facts(row.device.index()));
    }
    const Ceiling& best = ceilings[row.device];
    text += fmt::format("{:7} {:10.3f} {:10.2f} {:5.1f}% {} {}  {}\n", row.count,
                        1e3 * seconds(row.total), 1e6 * seconds(row.mean()),
                        percent(seconds(row.total), seconds(summary.launched)),
                        speed_text(row.bandwidth(), best.bytes_per_second),
                        speed_text(row.rate(), row.is_f64 ? best.f64_operations_per_second
                                                          : best.operations_per_second),
                        row.name);
  }
  for (const SummaryRow& row : summary.host) {
    text += fmt::format("{:7} {:10.3f} {:10.2f} {:40}  host: {}\n", row.count,
                        1e3 * seconds(row.total), 1e6 * seconds(row.mean()), "", row.name);
  }
  for (const StreamRow& row : summary.streams) {
    text +=
        fmt::format("{} was busy for {:.0f}% of {:.3f} ms\n", to_string(row.track),
                    percent(seconds(row.busy), seconds(summary.span)), 1e3 * seconds(summary.span));
  }
  const auto arithmetic = [](const Ceiling& best) {
    return fmt::format("multiply-adds of {:.0f} GFLOP/s (f32) and {:.0f} (f64)\n",
                       best.operations_per_second / 1e9, best.f64_operations_per_second / 1e9);
  };
  text += fmt::format("best, as measured on all cores: copies of {:.1f} GB/s, {}",
                      ceiling.bytes_per_second / 1e9, arithmetic(ceiling));
  for (const auto& [device, best] : ceilings) {
    if (device.kind() != DeviceKind::cuda) continue;
    text += fmt::format("best of {}, by its clocks: memory of {:.1f} GB/s, {}", to_string(device),
                        best.bytes_per_second / 1e9, arithmetic(best));
  }
  return text;
}

}  // namespace anabranch::timeline
