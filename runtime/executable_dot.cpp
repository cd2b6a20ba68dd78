#include <fmt/format.h>

#include <array>
#include <optional>

#include "runtime/executable.h"

namespace anabranch {
namespace {

// ColorBrewer "Set3" without its grey; further streams begin again.
constexpr std::array<const char*, 8> colours = {"#8dd3c7", "#ffffb3", "#bebada", "#fb8072",
                                                "#80b1d3", "#fdb462", "#b3de69", "#fccde5"};

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string label(const Executable& executable, const Step& step) {
  if (const auto* launch = std::get_if<Launch>(&step)) {
    std::string text = escaped(launch->name);
    for (SlotId id : launch->writes) {
      const Slot& slot = executable.slots[id];
      text += fmt::format("\\n{}: {}", escaped(slot.name), to_string(slot.type));
    }
    if (launch->location) text += "\\n" + escaped(to_string(launch->location));
    return text;
  }
  const Copy& copy = std::get<Copy>(step);
  return fmt::format("copy {} to {}", escaped(executable.slots[copy.from].name),
                     escaped(executable.slots[copy.to].name));
}

bool is_work(const Step& step) {
  return std::holds_alternative<Launch>(step) || std::holds_alternative<Copy>(step);
}

std::string node(std::size_t stream, std::size_t position) {
  return fmt::format("s{}_{}", stream, position);
}

// The last work before each record: where the event's dashed edges begin.
std::vector<std::optional<std::string>> sources(const Executable& executable) {
  std::vector<std::optional<std::string>> result(executable.event_count);
  for (std::size_t s = 0; s < executable.streams.size(); ++s) {
    std::optional<std::string> last;
    for (std::size_t i = 0; i < executable.streams[s].size(); ++i) {
      const Step& step = executable.streams[s][i];
      if (is_work(step)) last = node(s, i);
      if (const auto* record = std::get_if<Record>(&step)) result[record->event] = last;
    }
  }
  return result;
}

}  // namespace

std::string to_dot(const Executable& executable) {
  std::string out = fmt::format("digraph \"{}\" {{\n  node [shape=box, style=filled];\n",
                                escaped(executable.name));
  std::string edges;
  const auto from = sources(executable);
  for (std::size_t s = 0; s < executable.streams.size(); ++s) {
    const Stream& stream = executable.streams[s];
    out += fmt::format(
        "  subgraph cluster_{} {{\n    label=\"stream {}{}{}\";\n", s, s,
        executable.further.empty() ? "" : " on " + to_string(executable.device_at(stream.device)),
        stream.kind == Stream::Kind::copy ? ", copies" : "");
    std::optional<std::string> previous;
    std::vector<EventId> waits;
    for (std::size_t i = 0; i < executable.streams[s].size(); ++i) {
      const Step& step = executable.streams[s][i];
      if (const auto* wait = std::get_if<Wait>(&step)) waits.push_back(wait->event);
      if (!is_work(step)) continue;
      const std::string here = node(s, i);
      out += fmt::format("    {} [label=\"{}\", fillcolor=\"{}\"{}];\n", here,
                         label(executable, step), colours[s % colours.size()],
                         executable.prediction.is_critical(step) ? ", color=red, penwidth=3" : "");
      if (previous) edges += fmt::format("  {} -> {};\n", *previous, here);
      for (EventId event : waits) {
        if (!from[event]) continue;
        edges +=
            fmt::format("  {} -> {} [style=dashed, label=\"e{}\"];\n", *from[event], here, event);
      }
      waits.clear();
      previous = here;
    }
    out += "  }\n";
  }
  return out + edges + "}\n";
}

}  // namespace anabranch
