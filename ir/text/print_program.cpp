#include <algorithm>
#include <cmath>

#include "ir/program/fields.h"
#include "ir/text/print.h"
#include "ir/text/print_fields.h"

namespace anabranch {
namespace {

// Prints broken programs as well, since `verify` shows them: what is not there is "?".
class ProgramPrinter {
 public:
  ProgramPrinter(const Program& program, ProgramText how, std::size_t depth = 0)
      : program_(program), how_(how), depth_(depth) {}

  std::string print() {
    line("program" + (program_.name.empty() ? "" : " " + quoted_name(program_.name)) + " {");
    ++depth_;
    for (const ProgramDevice& device : program_.devices) {
      line("device " + to_string(device.device) + all_fields(device));
    }
    for (const Slot& slot : program_.slots) line(text(slot));
    for (std::size_t i = 0; i < program_.constants.size(); ++i) constant(i);
    for (const Step& step : program_.steps) this->step(step);
    for (std::size_t i = 0; i < program_.streams.size(); ++i) stream(i);
    if (program_.event_count > 0) line("events " + std::to_string(program_.event_count));
    for (auto [input, output] : program_.donations) {
      line("output " + std::to_string(output) + " over input " + std::to_string(input));
    }
    if (!program_.degradation.empty()) line("degradation " + quoted_name(program_.degradation));
    prediction();
    line("return" + (program_.outputs.empty() ? "" : " " + names(program_.outputs)));
    --depth_;
    line("}");
    return std::move(text_);
  }

 private:
  void line(const std::string& content) {
    text_.append(2 * depth_, ' ');
    text_ += content + '\n';
  }

  // "%3: f32[4] = temporary at 64 on cpu:1", "%4: f32[4] = temporary in output 0"
  std::string text(const Slot& slot) const {
    const bool is_temporary = slot.kind == Slot::Kind::temporary;
    std::string text = slot.name + ": " + to_string(slot.type) + " = ";
    text += name(slot.kind);
    if (!is_temporary) text += " " + std::to_string(slot.index);
    if (slot.output) {
      text += " in output " + std::to_string(*slot.output);
    } else if (is_temporary && slot.offset != Slot::unplaced) {
      text += " at " + std::to_string(slot.offset);
    }
    return slot.device == 0 ? text : text + " on " + device(slot.device);
  }

  std::string device(DeviceIndex index) const {
    return index < program_.devices.size() ? to_string(program_.devices[index].device) : "?";
  }

  void constant(std::size_t index) {
    const Literal& value = program_.constants[index];
    line("constant " + std::to_string(index) + ": " + to_string(value.type()) +
         (how_.values ? " = " + to_string(value) : ""));
  }

  // "kernel kernel4(%3, out %4) kernel=1 bytes_read=64 ..."
  void step(const Step& step) {
    std::string buffers;
    for (SlotId id : step.buffers) {
      const bool written = std::ranges::find(step.writes, id) != step.writes.end();
      buffers += (buffers.empty() ? "" : ", ") + std::string(written ? "out " : "") + name_of(id);
    }
    std::string text(step_words[step.work.index()]);
    text += " " + quoted_name(step.name) + "(" + buffers + ")";
    text += std::visit([this](const auto& work) { return all_fields(work); }, step.work);
    text += all_fields(step);
    const std::span<const Program> inner = inner_programs(step);
    line(inner.empty() ? text : text + " {");
    for (const Program& region : inner) text_ += ProgramPrinter(region, how_, depth_ + 1).print();
    if (!inner.empty()) line("}");
  }

  void stream(std::size_t index) {
    const Stream& stream = program_.streams[index];
    line("stream " + std::to_string(index) + " on " + device(stream.device) +
         (stream.kind == Stream::Kind::copy ? " copy {" : " {"));
    ++depth_;
    for (const Command& command : stream) {
      if (const auto* record = std::get_if<Record>(&command)) {
        line("record e" + std::to_string(record->event));
      } else if (const auto* wait = std::get_if<Wait>(&command)) {
        line("wait e" + std::to_string(wait->event));
      } else {
        line("launch " + step_name(std::get<Launch>(command).step));
      }
    }
    --depth_;
    line("}");
  }

  // "predicted 300 ns [f0 100, f2 200]": the critical path.
  void prediction() {
    const Prediction& prediction = program_.prediction;
    const auto& path = prediction.critical_path;
    if (prediction.ns == 0 && path.empty()) return;
    constexpr std::size_t shown_at_each_end = 8;
    std::string list;
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (!how_.exact && i == shown_at_each_end && path.size() > 2 * shown_at_each_end) {
        i = path.size() - shown_at_each_end;
        list += ", " + std::to_string(path.size() - 2 * shown_at_each_end) + " more";
      }
      list += (list.empty() ? "" : ", ") + step_name(path[i].step) + " " + text(path[i].ns);
    }
    line((prediction.measured ? "measured " : "predicted ") + text(prediction.ns) + " ns [" + list +
         "]");
  }

  // " name=value name=value"
  template <class Struct>
  std::string all_fields(const Struct& of) const {
    std::string made;
    fields(of, [&](const char* name, const auto& value) {
      if (!is_left_out(value)) ((made += ' ') += name) += "=" + text(value);
    });
    return made;
  }

  template <class Value>
  std::string text(const Value& value) const {
    return field_text(value);
  }
  template <class Value>
  std::string text(const std::optional<Value>& value) const {
    return text(*value);
  }
  std::string text(double number) const {
    return field_text(how_.exact ? number : std::round(number));
  }
  std::string text(const DotStep::Epilogue& epilogue) const {
    return "{" + all_fields(epilogue).substr(1) + "}";
  }
  std::string text(const std::vector<std::pair<SlotId, SlotId>>& pairs) const {
    std::string list;
    for (auto [read, written] : pairs) {
      list += (list.empty() ? "" : ", ") + name_of(read) + " -> " + name_of(written);
    }
    return "[" + list + "]";
  }

  std::string names(const std::vector<SlotId>& slots) const {
    std::string list;
    for (SlotId id : slots) list += (list.empty() ? "" : ", ") + name_of(id);
    return list;
  }

  std::string name_of(SlotId id) const {
    return id < program_.slots.size() ? program_.slots[id].name : "?";
  }

  std::string step_name(StepId id) const {
    return id < program_.steps.size() ? quoted_name(program_.steps[id].name) : "?";
  }

  const Program& program_;
  const ProgramText how_;
  std::size_t depth_;
  std::string text_;
};

}  // namespace

std::string to_string(const Program& program, ProgramText how) {
  std::string text;
  if (how.kernels) {
    for (const Kernel& kernel : program.kernels) text += to_string(kernel, how.comments) + "\n";
  }
  return text + ProgramPrinter(program, how).print();
}

}  // namespace anabranch
