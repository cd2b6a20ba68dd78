#include "runtime/executor/run.h"

#include <fmt/format.h>

#include "anabranch/error.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/device/device_state.h"
#include "runtime/executor/execution.h"
#include "runtime/executor/run_inline.h"
#include "runtime/fork.h"
#include "runtime/null/run_null.h"

namespace anabranch {
namespace {

void check_inputs(const Program& program, std::span<const Buffer> inputs) {
  if (inputs.size() != program.inputs.size()) {
    throw Error(fmt::format("run: {} takes {} inputs, and {} were given", program.name,
                            program.inputs.size(), inputs.size()));
  }
  for (const Slot& slot : program.slots) {
    if (slot.kind != Slot::Kind::input) continue;
    const Buffer& input = inputs[slot.index];
    const Device& device = program.devices[slot.device].device;
    const bool failed{input.ready().error()};
    if (input.device() == device && (failed || input.bytes() == slot.type.bytes())) continue;
    throw Error(
        fmt::format("run: input {} of {} is to be {} on {}: {} bytes, and has {} bytes on {}",
                    slot.index, program.name, to_string(slot.type), to_string(device),
                    slot.type.bytes(), input.bytes(), to_string(input.device())));
  }
}

// One deferred buffer per slot that is an output of its own.
std::vector<Buffer> deferred_outputs(const Program& program) {
  std::vector<Buffer> outputs(program.outputs.size());
  for (SlotId id : program.outputs) {
    const Slot& slot = program.slots[id];
    if (slot.kind != Slot::Kind::output || outputs[slot.index]) continue;
    const Device& device = program.devices[slot.device].device;
    outputs[slot.index] = Buffer::deferred(device, slot.type.bytes(), Event::pending(device));
  }
  return outputs;
}

// In the order of the program's outputs, some of which may be inputs, constants or repeated.
std::vector<Buffer> in_order(const Executable& executable, std::span<const Buffer> inputs,
                             std::vector<Buffer> outputs) {
  const Program& program = executable.program;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const Slot& slot = program.slots[program.outputs[i]];
    switch (slot.kind) {
      case Slot::Kind::input:
        outputs[i] = inputs[slot.index];
        break;
      case Slot::Kind::constant:
        outputs[i] = executable.code->constants[slot.index];
        break;
      case Slot::Kind::output:
        if (slot.index != i) outputs[i] = outputs[slot.index];
        break;
      case Slot::Kind::temporary:
        throw InternalError("run", fmt::format("output {} is a temporary", i), to_string(program));
    }
  }
  return outputs;
}

// What `program` needs to run on `inputs`, but for threads; the state of its first device.
DeviceState& checked(const Program& program, std::span<const Buffer> inputs) {
  check_no_orphan("run");
  check_inputs(program, inputs);
  DeviceState& device = device_state(program.device());
  for (const ProgramDevice& further : std::span(program.devices).subspan(1)) {
    device_state(further.device);
  }
  return device;
}

}  // namespace

void prepare_run(const Program& program, std::span<const Buffer> inputs) {
  checked(program, inputs);
  executor::make_threads(program);
}

std::vector<Buffer> run(std::shared_ptr<const Executable> executable, std::vector<Buffer> inputs,
                        std::shared_ptr<ExecutionState> state) {
  const Program& program = executable->program;
  DeviceState& device = checked(program, inputs);
  if (program.device().kind() == DeviceKind::null) {
    return in_order(*executable, inputs, null::run(program));
  }
  std::vector<Buffer> outputs(program.outputs.size());
  if (executor::run_inline(device, *executable, inputs, outputs)) {
    return in_order(*executable, inputs, std::move(outputs));
  }
  outputs = deferred_outputs(program);
  std::vector<Buffer> results = in_order(*executable, inputs, outputs);
  executor::submit(device, std::move(executable), std::move(state), std::move(inputs),
                   std::move(outputs));
  return results;
}

void wait_for_devices() {
  check_no_orphan("wait_all");
  if (cpu::ThreadPool::on_worker()) {
    throw Error(
        "wait_all: called inside a custom call, which is part of what it waits for; call it where "
        "programs are started");
  }
  for (DeviceState* device : used_device_states()) device->admission.wait_all();
}

}  // namespace anabranch
