#include "runtime/executable.h"

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

std::string text(const Executable& executable, const Launch& launch) {
  std::vector<SlotId> reads;
  for (SlotId id : launch.buffers) {
    if (std::find(launch.writes.begin(), launch.writes.end(), id) == launch.writes.end()) {
      reads.push_back(id);
    }
  }
  constexpr std::string_view kinds[] = {"kernel", "library", "loop", "branch"};
  const bool is_flow = launch.kind == Launch::Kind::loop || launch.kind == Launch::Kind::branch;
  const bool is_native = is_flow && std::holds_alternative<HostTask>(launch.task);
  std::string line = fmt::format("{}{} {}({}) -> {}", is_native ? "native " : "",
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
std::string text(const Executable&, const Record& record) {
  return fmt::format("record e{}", record.event);
}
std::string text(const Executable&, const Wait& wait) {
  return fmt::format("wait e{}", wait.event);
}

}  // namespace

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

std::string to_string(const Executable& executable) {
  std::string out = fmt::format(
      "executable {} on {}: {}, {}, arena {} bytes (at least {})\n", executable.name,
      to_string(executable.device), plural(executable.streams.size(), "stream"),
      plural(executable.event_count, "event"), executable.arena_bytes, executable.live_bytes);
  out += "slots:\n";
  for (const Slot& slot : executable.slots) {
    out += fmt::format("  {}: {}  {}\n", slot.name, to_string(slot.type), kind_text(slot));
  }
  for (std::size_t stream = 0; stream < executable.streams.size(); ++stream) {
    out += fmt::format("stream {}:\n", stream);
    for (const Step& step : executable.streams[stream]) {
      out += "  " + std::visit([&](const auto& s) { return text(executable, s); }, step) + "\n";
    }
  }
  return out + "return " + names(executable, executable.outputs) + "\n";
}

}  // namespace anabranch
