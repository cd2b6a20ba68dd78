#include "runtime/executor/run_inline.h"

#include <array>

#include "runtime/cpu/default_floats.h"
#include "runtime/executor/frame.h"
#include "runtime/executor/launch_event.h"
#include "runtime/timeline/timeline.h"

namespace anabranch::executor {
namespace {

// Handing over and coming back costs about this much: 4.6 us with other programs on the cores, half
// of it on idle ones. Predictions take memory to be cold, so what they call 5 us is mostly less.
constexpr double inline_ns = 5000;
constexpr double copy_ns_per_byte = 0.05;
constexpr std::size_t inline_slots = 32;
constexpr std::size_t inline_buffers = 32;

bool is_small(const Executable& executable) {
  if (executable.streams.size() > 1 || !executable.further.empty()) return false;
  if (executable.slots.size() > inline_slots) return false;
  if (executable.streams.empty()) return true;
  double predicted_ns = 0;
  for (const Step& step : executable.streams[0]) {
    if (const auto* launch = std::get_if<Launch>(&step)) {
      if (launch->buffers.size() > inline_buffers) return false;
      if (!launch->one_task()) return false;
      predicted_ns += launch->predicted_ns;
    } else if (const auto* copy = std::get_if<Copy>(&step)) {
      predicted_ns +=
          copy_ns_per_byte * static_cast<double>(executable.slots[copy->from].type.bytes());
    }
    if (predicted_ns > inline_ns) return false;
  }
  return true;
}

}  // namespace

bool run_inline(DeviceState& device, const Executable& executable, std::span<const Buffer> inputs,
                std::vector<Buffer>& outputs) {
  if (device.engine) return false;
  for (const Buffer& input : inputs) {
    if (!input.ready().ready()) return false;
  }
  if (!is_small(executable)) return false;
  std::array<void*, inline_slots> data;
  std::array<void*, inline_buffers> buffers;
  Frame frame(executable, device, std::span(data).first(executable.slots.size()));
  for (SlotId id : executable.outputs) {
    const Slot& slot = executable.slots[id];
    if (slot.kind != Slot::Kind::output || outputs[slot.index]) continue;
    outputs[slot.index] = Buffer::deferred(executable.device, slot.type.bytes(), Event());
  }
  frame.bind(inputs, outputs);
  const DefaultFloats floats;
  for (const Stream& steps : executable.streams) {
    for (const Step& step : steps) {
      if (const auto* launch = std::get_if<Launch>(&step)) {
        timeline::Span span(launch->name, timeline::category_of(*launch), {},
                            timeline::details_of(*launch));
        if (frame.may_run(*launch)) frame.run(*launch, buffers.data());
      } else if (const auto* copy = std::get_if<Copy>(&step)) {
        frame.run(*copy);
      }
    }
  }
  for (SlotId id : executable.outputs) {
    const Slot& slot = executable.slots[id];
    if (slot.kind != Slot::Kind::output) continue;
    if (const Failure error = frame.error(id)) {
      outputs[slot.index] = Buffer::failed(executable.device, error);
    }
  }
  return true;
}

}  // namespace anabranch::executor
