#include "runtime/executable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

std::string text(const Executable& executable, const Launch& launch) {
  std::vector<SlotId> reads;
  for (SlotId id : launch.buffers) {
    if (std::find(launch.writes.begin(), launch.writes.end(), id) == launch.writes.end()) {
      reads.push_back(id);
    }
  }
  std::string line =
      fmt::format("{} {}({}) -> {}", launch.kind == Launch::Kind::kernel ? "kernel" : "library",
                  launch.name, names(executable, reads), names(executable, launch.writes));
  line += fmt::format("  # reads {} bytes, writes {}, {} operations", launch.cost.bytes_read,
                      launch.cost.bytes_written, launch.cost.operations);
  if (launch.location) line += ", " + to_string(launch.location);
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
