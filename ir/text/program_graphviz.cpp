#include <fmt/format.h>

#include <array>
#include <optional>

#include "ir/program/program.h"
#include "ir/text/graphviz.h"

namespace anabranch {
namespace {

std::string label(const Program& program, const Step& step) {
  std::string text = escaped(step.name);
  for (SlotId id : step.writes) {
    const Slot& slot = program.slots[id];
    text += fmt::format("\\n{}: {}", escaped(slot.name), to_string(slot.type));
  }
  if (step.location) text += "\\n" + escaped(to_string(step.location));
  return text;
}

/// Draws a program; those that its loops and branches run are inside it, each a box of its own.
class Drawing {
 public:
  std::string draw(const Program& program) {
    out_ = fmt::format("digraph \"{}\" {{\n  node [shape=box, style=filled];\n",
                       escaped(program.name));
    add(program, "", 2);
    return out_ + edges_ + "}\n";
  }

 private:
  static std::string node(std::string_view prefix, std::size_t stream, std::size_t position) {
    return fmt::format("{}s{}_{}", prefix, stream, position);
  }

  // The last work before each record: where the event's dashed edges begin.
  static std::vector<std::optional<std::string>> sources(const Program& program,
                                                         std::string_view prefix) {
    std::vector<std::optional<std::string>> result(program.event_count);
    for (std::size_t s = 0; s < program.streams.size(); ++s) {
      std::optional<std::string> last;
      for (std::size_t i = 0; i < program.streams[s].size(); ++i) {
        const Command& command = program.streams[s][i];
        if (std::holds_alternative<Launch>(command)) last = node(prefix, s, i);
        if (const auto* record = std::get_if<Record>(&command)) result[record->event] = last;
      }
    }
    return result;
  }

  void add(const Program& program, const std::string& prefix, int indent) {
    const auto from = sources(program, prefix);
    for (std::size_t s = 0; s < program.streams.size(); ++s) {
      const Stream& stream = program.streams[s];
      out_ += fmt::format("{:{}}subgraph cluster_{}{} {{\n{:{}}label=\"stream {}{}{}\";\n", "",
                          indent, prefix, s, "", indent + 2, s,
                          program.devices.size() == 1
                              ? ""
                              : " on " + to_string(program.devices[stream.device].device),
                          stream.kind == Stream::Kind::copy ? ", copies" : "");
      add_steps(program, s, from, prefix, indent + 2);
      out_ += fmt::format("{:{}}}}\n", "", indent);
    }
  }

  void add_steps(const Program& program, std::size_t s,
                 const std::vector<std::optional<std::string>>& from, const std::string& prefix,
                 int indent) {
    std::optional<std::string> previous;
    std::vector<EventId> waits;
    for (std::size_t i = 0; i < program.streams[s].size(); ++i) {
      const Command& command = program.streams[s][i];
      if (const auto* wait = std::get_if<Wait>(&command)) waits.push_back(wait->event);
      const auto* launch = std::get_if<Launch>(&command);
      if (!launch) continue;
      const Step& step = program.steps[launch->step];
      const std::string here = node(prefix, s, i);
      out_ += fmt::format(
          "{:{}}{} [label=\"{}\", fillcolor=\"{}\"{}];\n", "", indent, here, label(program, step),
          stream_colour(s),
          program.prediction.is_critical(launch->step) ? ", color=red, penwidth=3" : "");
      add_inner(step, here, indent);
      if (previous) edges_ += fmt::format("  {} -> {};\n", *previous, here);
      for (EventId event : waits) {
        if (!from[event]) continue;
        edges_ +=
            fmt::format("  {} -> {} [style=dashed, label=\"e{}\"];\n", *from[event], here, event);
      }
      waits.clear();
      previous = here;
    }
  }

  void add_inner(const Step& step, const std::string& here, int indent) {
    const std::span<const Program> inner = inner_programs(step);
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const std::string prefix = fmt::format("{}_{}_", here, i);
      out_ += fmt::format("{:{}}subgraph cluster_{} {{\n{:{}}label=\"{}\";\n", "", indent, prefix,
                          "", indent + 2, escaped(inner[i].name));
      add(inner[i], prefix, indent + 2);
      out_ += fmt::format("{:{}}}}\n", "", indent);
    }
  }

  std::string out_, edges_;
};

}  // namespace

const char* stream_colour(std::size_t stream) {
  // ColorBrewer "Set3" without its grey.
  constexpr std::array colours = {"#8dd3c7", "#ffffb3", "#bebada", "#fb8072",
                                  "#80b1d3", "#fdb462", "#b3de69", "#fccde5"};
  return colours[stream % colours.size()];
}

std::string to_dot(const Program& program) { return Drawing().draw(program); }

}  // namespace anabranch
