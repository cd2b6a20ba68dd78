#include "ir/program/program.h"

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

// Broken programs are printed as well, since `verify` shows them: what is not there is "?".
std::string names(const Program& program, const std::vector<SlotId>& slots) {
  std::vector<std::string> list;
  for (SlotId id : slots) list.push_back(id < program.slots.size() ? program.slots[id].name : "?");
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

// The steps of the critical path, those in the middle of a long one left out: the stars below
// show them all.
std::string prediction_text(const Program& program) {
  constexpr std::size_t shown_at_each_end = 8;
  const Prediction& prediction = program.prediction;
  const auto& path = prediction.critical_path;
  std::string out = "critical path: ";
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i == shown_at_each_end && path.size() > 2 * shown_at_each_end) {
      i = path.size() - shown_at_each_end;
      out += fmt::format(" + {} more", path.size() - 2 * shown_at_each_end);
    }
    out += fmt::format("{}{} {:.0f}", i ? " + " : "", program.steps[path[i].step].name, path[i].ns);
  }
  return out + fmt::format(", with steps and events {:.0f} ns, {}\n", prediction.ns,
                           prediction.measured ? "measured in earlier runs"
                                               : "counted from bytes and operations");
}

std::string text(const Program& program, const Step& step) {
  std::vector<SlotId> reads;
  for (SlotId id : step.buffers) {
    if (std::find(step.writes.begin(), step.writes.end(), id) == step.writes.end()) {
      reads.push_back(id);
    }
  }
  std::string line =
      fmt::format("{}{} {}({}) -> {}", is_whole_flow(step) ? "native " : "", kind_name(step),
                  step.name, names(program, reads), names(program, step.writes));
  line += fmt::format("  # reads {} bytes, writes {}, {} operations", step.cost.bytes_read,
                      step.cost.bytes_written, step.cost.operations);
  if (step.location) line += ", " + to_string(step.location);
  for (const Program& inner : inner_programs(step)) line += "\n" + indented(to_string(inner));
  return line;
}

std::string text(const Program& program, const Command& command) {
  if (const auto* record = std::get_if<Record>(&command)) {
    return fmt::format("record e{}", record->event);
  }
  if (const auto* wait = std::get_if<Wait>(&command)) return fmt::format("wait e{}", wait->event);
  const StepId step = std::get<Launch>(command).step;
  return step < program.steps.size() ? text(program, program.steps[step]) : "?";
}

// " on cpu:1" for what is not on the program's own device.
std::string place_text(const Program& program, DeviceIndex device) {
  return device == 0 ? "" : " on " + to_string(program.devices[device].device);
}

bool is_critical(const Program& program, const Command& command) {
  const auto* launch = std::get_if<Launch>(&command);
  return launch && program.prediction.is_critical(launch->step);
}

}  // namespace

std::string to_string(const Program& program) {
  std::string out = fmt::format(
      "program {} on {}: {}, {}, arena {} bytes (at least {})\n", program.name,
      to_string(program.device()), plural(program.streams.size(), "stream"),
      plural(program.event_count, "event"), program.arena_bytes(), program.devices[0].live_bytes);
  for (const ProgramDevice& further : std::span(program.devices).subspan(1)) {
    out += fmt::format("and on {}: arena {} bytes (at least {})\n", to_string(further.device),
                       further.arena_bytes, further.live_bytes);
  }
  if (!program.prediction.critical_path.empty()) out += prediction_text(program);
  if (!program.given_up.empty()) out += "memory limit: " + program.given_up + "\n";
  out += "slots:\n";
  for (const Slot& slot : program.slots) {
    out += fmt::format("  {}: {}  {}{}\n", slot.name, to_string(slot.type), kind_text(slot),
                       place_text(program, slot.device));
  }
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
    const Stream& commands = program.streams[stream];
    out += fmt::format("stream {}{}{}:\n", stream, place_text(program, commands.device),
                       commands.kind == Stream::Kind::copy ? ", copies" : "");
    for (const Command& command : commands) {
      out += is_critical(program, command) ? "* " : "  ";
      out += text(program, command) + "\n";
    }
  }
  return out + "return " + names(program, program.outputs) + "\n";
}

}  // namespace anabranch
