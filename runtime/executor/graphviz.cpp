#include <fmt/format.h>

#include <array>
#include <optional>

#include "runtime/executor/executable.h"

namespace anabranch {
namespace {

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

/// Draws an executable; those that its loops and branches run lie inside it, each a box of its own.
class Drawing {
 public:
  std::string draw(const Executable& executable) {
    out_ = fmt::format("digraph \"{}\" {{\n  node [shape=box, style=filled];\n",
                       escaped(executable.name));
    add(executable, "", 2);
    return out_ + edges_ + "}\n";
  }

 private:
  static std::string node(std::string_view prefix, std::size_t stream, std::size_t position) {
    return fmt::format("{}s{}_{}", prefix, stream, position);
  }

  // The last work before each record: where the event's dashed edges begin.
  static std::vector<std::optional<std::string>> sources(const Executable& executable,
                                                         std::string_view prefix) {
    std::vector<std::optional<std::string>> result(executable.event_count);
    for (std::size_t s = 0; s < executable.streams.size(); ++s) {
      std::optional<std::string> last;
      for (std::size_t i = 0; i < executable.streams[s].size(); ++i) {
        const Step& step = executable.streams[s][i];
        if (is_work(step)) last = node(prefix, s, i);
        if (const auto* record = std::get_if<Record>(&step)) result[record->event] = last;
      }
    }
    return result;
  }

  void add(const Executable& executable, const std::string& prefix, int indent) {
    const auto from = sources(executable, prefix);
    for (std::size_t s = 0; s < executable.streams.size(); ++s) {
      const Stream& stream = executable.streams[s];
      out_ += fmt::format(
          "{:{}}subgraph cluster_{}{} {{\n{:{}}label=\"stream {}{}{}\";\n", "", indent, prefix, s,
          "", indent + 2, s,
          executable.further.empty() ? "" : " on " + to_string(executable.device_at(stream.device)),
          stream.kind == Stream::Kind::copy ? ", copies" : "");
      add_steps(executable, s, from, prefix, indent + 2);
      out_ += fmt::format("{:{}}}}\n", "", indent);
    }
  }

  void add_steps(const Executable& executable, std::size_t s,
                 const std::vector<std::optional<std::string>>& from, const std::string& prefix,
                 int indent) {
    std::optional<std::string> previous;
    std::vector<EventId> waits;
    for (std::size_t i = 0; i < executable.streams[s].size(); ++i) {
      const Step& step = executable.streams[s][i];
      if (const auto* wait = std::get_if<Wait>(&step)) waits.push_back(wait->event);
      if (!is_work(step)) continue;
      const std::string here = node(prefix, s, i);
      out_ += fmt::format("{:{}}{} [label=\"{}\", fillcolor=\"{}\"{}];\n", "", indent, here,
                          label(executable, step), stream_colour(s),
                          executable.prediction.is_critical(step) ? ", color=red, penwidth=3" : "");
      if (const auto* launch = std::get_if<Launch>(&step)) add_inner(*launch, here, indent);
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

  void add_inner(const Launch& launch, const std::string& here, int indent) {
    const auto inner = inner_executables(launch);
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const std::string prefix = fmt::format("{}_{}_", here, i);
      out_ += fmt::format("{:{}}subgraph cluster_{} {{\n{:{}}label=\"{}\";\n", "", indent, prefix,
                          "", indent + 2, escaped(inner[i]->name));
      add(*inner[i], prefix, indent + 2);
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

std::string to_dot(const Executable& executable) { return Drawing().draw(executable); }

}  // namespace anabranch
