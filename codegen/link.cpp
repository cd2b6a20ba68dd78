#include "codegen/link.h"

#include <cstring>
#include <memory>
#include <set>

#include "anabranch/devices.h"
#include "anabranch/error.h"
#include "codegen/backends.h"
#include "codegen/costs.h"
#include "codegen/fft/task.h"
#include "codegen/host/cumulative.h"
#include "codegen/host/scatter.h"
#include "codegen/host/sort.h"
#include "codegen/linalg/task.h"
#include "ir/custom_call.h"
#include "ir/failed_check.h"
#include "runtime/memory/copy.h"

namespace anabranch {
namespace {

// In place where kernels of the device can read it there.
Buffer constant_on(const Device& device, const Literal& value) {
  const std::span<const std::byte> bytes = value.bytes();
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  const bool is_aligned = address % Buffer::alignment == 0;
  if (device.kind() != DeviceKind::cpu || bytes.empty() || !is_aligned) {
    return copy_to_device(device, bytes);
  }
  return Buffer::borrow(device, bytes.data(), bytes.size(), [value] {});
}

std::vector<Buffer> constants_of(const Program& program) {
  std::vector<Buffer> constants(program.constants.size());
  for (const Slot& slot : program.slots) {
    if (slot.kind != Slot::Kind::constant) continue;
    const Device& device = program.devices[slot.device].device;
    constants[slot.index] = constant_on(device, program.constants[slot.index]);
  }
  return constants;
}

// Bytes of the first buffer to the second.
void copy_bytes(const void*, void* const* buffers, std::int64_t begin, std::int64_t end) {
  const auto* from = static_cast<const std::byte*>(buffers[0]);
  auto* to = static_cast<std::byte*>(buffers[1]);
  if (begin < end) std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
}

// By one thread to or from a device that works by itself: its memory is page-locked there.
HostTask copy_task(const Program& program, const Step& step) {
  const Slot &from = program.slots[step.buffers[0]], &to = program.slots[step.buffers[1]];
  const auto bytes = static_cast<std::int64_t>(from.type.bytes());
  const bool on_host = program.devices[from.device].device.kind() == DeviceKind::cpu &&
                       program.devices[to.device].device.kind() == DeviceKind::cpu;
  return {copy_bytes, nullptr, bytes, on_host ? copy_grain : bytes};
}

struct CustomTask {
  std::vector<Type> operands, results;
  std::shared_ptr<const CustomFunction> function;
};

// What the function does not write is zero: memory is used again, and holds what others computed.
void run_custom(const void* context, void* const* buffers, std::int64_t, std::int64_t) {
  const auto& [operands, results, function] = *static_cast<const CustomTask*>(context);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::size_t bytes = results[i].bytes();
    if (bytes > 0) std::memset(buffers[operands.size() + i], 0, bytes);
  }
  (*function)(CustomCall(operands, results, buffers));
}

HostTask custom_call(const Step& step, const CallStep& call) {
  const auto& [name, results, function] = std::get<CustomCallAttributes>(call.attributes);
  auto task = std::make_shared<CustomTask>(CustomTask{call.operands, results, nullptr});
  try {
    task->function = custom_function(name, function);
  } catch (const Error& error) {
    throw Error(step.location ? error.what() + (", at " + to_string(step.location)) : error.what());
  }
  return {run_custom, std::move(task), 1, 1};
}

// What a check guards, and how many bytes each is.
struct CheckTask {
  CheckAttributes attributes;
  std::size_t state_size = 0;
  std::vector<std::size_t> bytes;
};

void run_check(const void* context, void* const* buffers, std::int64_t, std::int64_t) {
  const auto& [attributes, size, bytes] = *static_cast<const CheckTask*>(context);
  const std::span state(static_cast<const std::int32_t*>(buffers[0]), size);
  if (const std::string* message = failed_check(state, attributes)) throw Error(*message);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const void* from = buffers[1 + i];
    void* to = buffers[1 + bytes.size() + i];
    if (from != to && bytes[i] > 0) std::memcpy(to, from, bytes[i]);
  }
}

HostTask check(const CallStep& call) {
  CheckTask task{std::get<CheckAttributes>(call.attributes),
                 static_cast<std::size_t>(call.operands[0].size()),
                 {}};
  for (std::size_t i = 1; i < call.operands.size(); ++i) {
    task.bytes.push_back(call.operands[i].bytes());
  }
  return {run_check, std::make_shared<const CheckTask>(std::move(task)), 1, 1};
}

// No default: a call that has no function here fails the build.
HostTask call_task(const Program& program, const Step& step, const CallStep& call) {
  const Device& device = program.devices[device_of(program, step)].device;
  const std::int64_t cores = device.kind() == DeviceKind::cpu ? anabranch::cores(device).count : 1;
  switch (call.op) {
    case Op::scatter:
      return scatter_task(call, cores);
    case Op::custom_call:
      return custom_call(step, call);
    case Op::check:
      return check(call);
    case Op::sort:
    case Op::argsort:
      return host::sort_task(call, cores);
    case Op::cumulative:
      return host::cumulative_task(call, cores);
    case Op::cholesky:
    case Op::triangular_solve:
    case Op::lu:
    case Op::qr:
    case Op::qr_pivoted:
    case Op::householder_product:
    case Op::svd:
    case Op::eigh:
    case Op::eig:
    case Op::schur:
    case Op::tridiagonal_solve:
      return linear_algebra_task(call, cores);
    case Op::fft:
      return fft_task(call, cores);
    case Op::transfer:  // a step of its own
#define CALL_OP(name)
#define OTHER_OP(name) case Op::name:
#include "ir/ops_by_kind.def"
      break;
  }
  throw InternalError("link", std::string(name(call.op)) + " is called as no function");
}

// All that no backend is needed for: constants, and what the host runs whatever the device.
LinkedCode prepared(const Program& program) {
  LinkedCode code;
  code.constants = constants_of(program);
  code.steps.resize(program.steps.size());
  for (StepId i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    LinkedStep& linked = code.steps[i];
    for (const Program& inner : inner_programs(step)) linked.regions.push_back(prepared(inner));
    if (const auto* call = std::get_if<CallStep>(&step.work)) {
      linked.task = call_task(program, step, *call);
    } else if (std::holds_alternative<CopyStep>(step.work) ||
               std::holds_alternative<TransferStep>(step.work)) {
      linked.task = copy_task(program, step);
    }
  }
  return code;
}

// Where temporaries have no place, code would write anywhere.
void check_places(const Program& program) {
  for (const Slot& slot : program.slots) {
    if (slot.kind != Slot::Kind::temporary || slot.output) continue;
    if (slot.offset != Slot::unplaced) continue;
    throw InternalError("link", slot.name + " has no place in memory", to_string(program));
  }
  for (const Step& step : program.steps) {
    for (const Program& inner : inner_programs(step)) check_places(inner);
  }
}

}  // namespace

LinkedCode link(const Program& program, const Options& options) {
  check_places(program);
  LinkedCode code = prepared(program);
  std::set<const Backend*> done;
  for (const ProgramDevice& place : program.devices) {
    const Backend& backend = backend_of(place.device);
    if (done.insert(&backend).second) backend.link(program, options, code);
  }
  return code;
}

}  // namespace anabranch
