#include "runtime/executor/executable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/error.h"

namespace anabranch {
namespace {

std::string kind_text(const Slot& slot) {
  switch (slot.kind) {
    case Slot::Kind::input:
      return fmt::format("input {}", slot.index);
    case Slot::Kind::output:
      return fmt::format("output {}", slot.index);
    case Slot::Kind::constant:
      return fmt::format("constant {}", slot.index);
    case Slot::Kind::temporary:
      return fmt::format("temporary at {}, {} bytes", slot.offset, slot.type.bytes());
  }
  return {};
}

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string names(const Executable& executable, const std::vector<SlotId>& slots) {
  std::vector<std::string_view> list;
  for (SlotId id : slots) list.push_back(executable.slots[id].name);
  return fmt::format("{}", fmt::join(list, ", "));
}

// Lines two levels deeper, the last without its end.
std::string indented(const std::string& lines) {
  std::string out = "    ";
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    out += lines[i];
    if (lines[i] == '\n') out += "    ";
  }
  return out;
}

// The launches of the critical path, those in the middle of a long one left out: the stars below
// show them all.
std::string prediction_text(const Executable& executable) {
  constexpr std::size_t shown_at_each_end = 8;
  const Prediction& prediction = executable.prediction;
  const auto& path = prediction.critical_path;
  std::vector<std::string_view> names(path.back().launch + 1);
  for (const auto& stream : executable.streams) {
    for (const Step& step : stream) {
      if (prediction.is_critical(step)) {
        const auto& launch = std::get<Launch>(step);
        names[launch.number] = launch.name;
      }
    }
  }
  std::string out = "critical path: ";
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i == shown_at_each_end && path.size() > 2 * shown_at_each_end) {
      i = path.size() - shown_at_each_end;
      out += fmt::format(" + {} more", path.size() - 2 * shown_at_each_end);
    }
    out += fmt::format("{}{} {:.0f}", i ? " + " : "", names[path[i].launch], path[i].ns);
  }
  return out + fmt::format(", with steps and events {:.0f} ns, {}\n", prediction.ns,
                           prediction.measured ? "measured in earlier runs"
                                               : "counted from bytes and operations");
}

std::string text(const Executable& executable, const Launch& launch) {
  std::vector<SlotId> reads;
  for (SlotId id : launch.buffers) {
    if (std::find(launch.writes.begin(), launch.writes.end(), id) == launch.writes.end()) {
      reads.push_back(id);
    }
  }
  constexpr std::string_view kinds[] = {"kernel", "library", "loop", "branch", "copy"};
  std::string line = fmt::format("{}{} {}({}) -> {}", launch.is_native_flow() ? "native " : "",
                                 kinds[static_cast<std::size_t>(launch.kind)], launch.name,
                                 names(executable, reads), names(executable, launch.writes));
  line += fmt::format("  # reads {} bytes, writes {}, {} operations", launch.cost.bytes_read,
                      launch.cost.bytes_written, launch.cost.operations);
  if (launch.location) line += ", " + to_string(launch.location);
  for (const auto& inner : inner_executables(launch)) line += "\n" + indented(to_string(*inner));
  return line;
}

std::string text(const Executable& executable, const Copy& copy) {
  return fmt::format("copy {} -> {}", executable.slots[copy.from].name,
                     executable.slots[copy.to].name);
}
// " on cpu:1" for what is not on the executable's own device.
std::string place_text(const Executable& executable, DeviceIndex device) {
  return device == 0 ? "" : " on " + to_string(executable.device_at(device));
}

std::string text(const Executable&, const Record& record) {
  return fmt::format("record e{}", record.event);
}
std::string text(const Executable&, const Wait& wait) {
  return fmt::format("wait e{}", wait.event);
}

}  // namespace

namespace {

template <class Task>
const Task* whole_task(const Launch& launch) {
  if (const auto* task = std::get_if<Task>(&launch.task)) return task;
  if (const auto* loop = std::get_if<LoopTask>(&launch.task)) {
    return std::get_if<Task>(&loop->native);
  }
  const auto* branch = std::get_if<BranchTask>(&launch.task);
  return branch ? std::get_if<Task>(&branch->native) : nullptr;
}

}  // namespace

const HostTask* Launch::one_task() const { return whole_task<HostTask>(*this); }

const DeviceTask* Launch::device_task() const { return whole_task<DeviceTask>(*this); }

bool Launch::is_native_flow() const {
  return (kind == Kind::loop || kind == Kind::branch) && (one_task() || device_task());
}

const DeviceTask* steer_of(const Launch& launch) {
  const DeviceTask* steer = nullptr;
  if (const auto* loop = std::get_if<LoopTask>(&launch.task)) steer = &loop->steer;
  if (const auto* branch = std::get_if<BranchTask>(&launch.task)) steer = &branch->steer;
  return steer && steer->put ? steer : nullptr;
}

std::vector<std::shared_ptr<const Executable>> inner_executables(const Launch& launch) {
  if (const auto* loop = std::get_if<LoopTask>(&launch.task)) return {loop->condition, loop->body};
  if (const auto* branch = std::get_if<BranchTask>(&launch.task)) return branch->branches;
  return {};
}

SlotId input_slot(const Executable& executable, std::uint32_t index) {
  const auto is_it = [&](const Slot& slot) {
    return slot.kind == Slot::Kind::input && slot.index == index;
  };
  const auto found = std::find_if(executable.slots.begin(), executable.slots.end(), is_it);
  if (found != executable.slots.end()) {
    return static_cast<SlotId>(found - executable.slots.begin());
  }
  throw InternalError("run", fmt::format("input {} has no slot", index), to_string(executable));
}

bool Prediction::is_critical(const Step& step) const {
  const auto* launch = std::get_if<Launch>(&step);
  if (!launch) return false;
  const auto at = std::lower_bound(
      critical_path.begin(), critical_path.end(), launch->number,
      [](const Timed& timed, std::uint32_t number) { return timed.launch < number; });
  return at != critical_path.end() && at->launch == launch->number;
}

std::string to_string(const Executable& executable) {
  std::string out = fmt::format(
      "executable {} on {}: {}, {}, arena {} bytes (at least {})\n", executable.name,
      to_string(executable.device), plural(executable.streams.size(), "stream"),
      plural(executable.event_count, "event"), executable.arena_bytes, executable.live_bytes);
  for (const FurtherDevice& further : executable.further) {
    out += fmt::format("and on {}: arena {} bytes (at least {})\n", to_string(further.device),
                       further.arena_bytes, further.live_bytes);
  }
  if (!executable.prediction.critical_path.empty()) out += prediction_text(executable);
  if (!executable.given_up.empty()) out += "memory limit: " + executable.given_up + "\n";
  out += "slots:\n";
  for (const Slot& slot : executable.slots) {
    out += fmt::format("  {}: {}  {}{}\n", slot.name, to_string(slot.type), kind_text(slot),
                       place_text(executable, slot.device));
  }
  for (std::size_t stream = 0; stream < executable.streams.size(); ++stream) {
    const Stream& steps = executable.streams[stream];
    out += fmt::format("stream {}{}{}:\n", stream, place_text(executable, steps.device),
                       steps.kind == Stream::Kind::copy ? ", copies" : "");
    for (const Step& step : steps) {
      out += executable.prediction.is_critical(step) ? "* " : "  ";
      out += std::visit([&](const auto& s) { return text(executable, s); }, step) + "\n";
    }
  }
  return out + "return " + names(executable, executable.outputs) + "\n";
}

}  // namespace anabranch
