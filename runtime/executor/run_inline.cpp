#include "runtime/executor/run_inline.h"

#include <array>

#include "runtime/cpu/default_floats.h"
#include "runtime/executor/frame.h"
#include "runtime/executor/launch_event.h"
#include "runtime/timeline/record.h"

namespace anabranch::executor {
namespace {

// Handing over and coming back costs about this much: 4.6 us with other programs on the cores, half
// of it on idle ones. Predictions take memory to be cold, so what they call 5 us is mostly less.
constexpr double inline_ns = 5000;
constexpr std::size_t inline_slots = 32;
constexpr std::size_t inline_buffers = 32;

bool is_small(const Program& program, const LinkedCode& code) {
  if (program.streams.size() > 1 || program.devices.size() > 1) return false;
  if (program.slots.size() > inline_slots) return false;
  if (program.streams.empty()) return true;
  double predicted_ns = 0;
  for (const Command& command : program.streams[0]) {
    const auto* launch = std::get_if<Launch>(&command);
    if (!launch) continue;
    const Step& step = program.steps[launch->step];
    if (step.buffers.size() > inline_buffers) return false;
    if (!code.steps[launch->step].host_task()) return false;
    predicted_ns += step.predicted_ns;
    if (predicted_ns > inline_ns) return false;
  }
  return true;
}

// On the one stream. `buffers` has room for the pointers of any step.
void run_steps(const Executable& executable, Frame& frame, void** buffers) {
  const Program& program = executable.program;
  for (const Stream& stream : program.streams) {
    for (const Command& command : stream) {
      const auto* launch = std::get_if<Launch>(&command);
      if (!launch) continue;
      const Step& step = program.steps[launch->step];
      timeline::Span span(step.name, timeline::category_of(step), {},
                          timeline::details_of(program, step));
      if (!frame.may_run(step)) continue;
      frame.run(step, *executable.code->steps[launch->step].host_task(), buffers);
    }
  }
}

}  // namespace

bool run_inline(DeviceState& device, const Executable& executable, std::span<const Buffer> inputs,
                std::vector<Buffer>& outputs) {
  if (device.stream_executor) return false;
  for (const Buffer& input : inputs) {
    if (!input.ready().ready()) return false;
  }
  const Program& program = executable.program;
  const LinkedCode& code = *executable.code;
  if (!is_small(program, code)) return false;
  std::array<void*, inline_slots> data;
  std::array<void*, inline_buffers> buffers;
  Frame frame(program, code, device, std::span(data).first(program.slots.size()));
  for (SlotId id : program.outputs) {
    const Slot& slot = program.slots[id];
    if (slot.kind != Slot::Kind::output || outputs[slot.index]) continue;
    outputs[slot.index] = Buffer::deferred(device.device, slot.type.bytes(), Event());
  }
  frame.bind(inputs, outputs);
  const DefaultFloats floats;
  run_steps(executable, frame, buffers.data());
  for (SlotId id : program.outputs) {
    const Slot& slot = program.slots[id];
    if (slot.kind != Slot::Kind::output) continue;
    if (const Failure error = frame.error(id)) {
      outputs[slot.index] = Buffer::failed(device.device, error);
    }
  }
  return true;
}

}  // namespace anabranch::executor
