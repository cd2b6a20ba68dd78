#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "anabranch/error.h"
#include "ir/program/program.h"
#include "ir/program/step_order.h"
#include "ir/program/verify_step.h"

namespace anabranch {
namespace {

void verify_part(const Program& program, std::span<const Kernel> kernels);

class Verifier {
 public:
  Verifier(const Program& program, std::span<const Kernel> kernels)
      : program_(program),
        kernels_(kernels),
        is_placed_(std::ranges::any_of(program.slots, is_placed)) {}

  void verify() {
    check_names();
    check_slots();
    check_launches();
    for (const Step& step : program_.steps) check_operands(step);
    const StepOrder order(program_);
    const SlotUses uses(program_, order);
    for (SlotId id = 0; id < program_.slots.size(); ++id) check_uses(id, uses[id], order);
    if (is_placed_) check_sharing(uses, order);
    check_outputs(uses, order);
    check_donations(uses, order);
    for (const Step& step : program_.steps) {
      if (step.writes.empty()) fail(step.name + " writes nothing");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InternalError("schedule", what, to_string(program_));
  }

  // Texts know slots and steps by name.
  void check_names() const {
    std::unordered_set<std::string_view> slots, steps;
    for (const Slot& slot : program_.slots) {
      if (!slots.insert(slot.name).second) fail("two slots are called " + slot.name);
    }
    for (const Step& step : program_.steps) {
      if (!steps.insert(step.name).second) fail("two steps are called " + step.name);
    }
  }
  const std::string& name(SlotId id) const { return program_.slots[id].name; }

  static std::string place(StepRef ref) {
    return fmt::format("step {} of stream {}", ref.position, ref.stream);
  }

  void check_slots() const {
    for (const Slot& slot : program_.slots) {
      if (slot.device >= program_.devices.size()) fail(slot.name + " is on no known device");
      std::size_t count = 0;
      switch (slot.kind) {
        case Slot::Kind::input:
          count = program_.inputs.size();
          break;
        case Slot::Kind::output:
          count = program_.outputs.size();
          break;
        case Slot::Kind::constant:
          count = program_.constants.size();
          break;
        case Slot::Kind::temporary:
          if (slot.output) {
            check_in_output(slot);
          } else if (is_placed_ && !is_inside(slot, program_.devices[slot.device].arena_bytes)) {
            fail(slot.name + " lies outside the arena");
          }
          continue;
      }
      if (slot.index >= count) fail(slot.name + " has an index that does not exist");
      if (slot.kind == Slot::Kind::input && slot.type != program_.inputs[slot.index]) {
        fail(slot.name + " is not of the type of its input");
      }
      if (slot.kind == Slot::Kind::constant && slot.type != program_.constants[slot.index].type()) {
        fail(slot.name + " is not of the type of its constant");
      }
    }
    for (SlotId id : program_.outputs) {
      if (id >= program_.slots.size()) fail(fmt::format("slot {} does not exist", id));
      const Slot& slot = program_.slots[id];
      if (slot.kind == Slot::Kind::temporary) fail(slot.name + " is a temporary and an output");
    }
  }

  void check_in_output(const Slot& slot) const {
    if (*slot.output < program_.outputs.size()) {
      const Slot& output = program_.slots.at(program_.outputs[*slot.output]);
      if (output.kind == Slot::Kind::output && output.index == *slot.output &&
          output.device == slot.device && output.type.bytes() == slot.type.bytes()) {
        return;
      }
    }
    fail(slot.name + " is in an output that does not exist, or is not of its size");
  }

  static bool is_placed(const Slot& slot) { return slot.offset != Slot::unplaced; }

  static bool is_inside(const Slot& slot, std::size_t arena_bytes) {
    return slot.offset <= arena_bytes && slot.type.bytes() <= arena_bytes - slot.offset;
  }

  void check_slot(SlotId id, bool written) const {
    if (id >= program_.slots.size()) fail(fmt::format("slot {} does not exist", id));
    const Slot::Kind kind = program_.slots[id].kind;
    if (written && (kind == Slot::Kind::input || kind == Slot::Kind::constant)) {
      fail(name(id) + " is written, and is an input or a constant");
    }
  }

  // Each step is launched once.
  void check_launches() const {
    std::vector<int> launched(program_.steps.size());
    for (const Stream& stream : program_.streams) {
      for (const Command& command : stream) {
        const auto* launch = std::get_if<Launch>(&command);
        if (!launch) continue;
        if (launch->step >= launched.size()) {
          fail(fmt::format("step {} does not exist", launch->step));
        }
        ++launched[launch->step];
      }
    }
    for (StepId id = 0; id < launched.size(); ++id) {
      if (launched[id] == 1) continue;
      fail(fmt::format("{} is launched {} times", program_.steps[id].name, launched[id]));
    }
  }

  void check_operands(const Step& step) {
    for (SlotId id : step.buffers) check_slot(id, false);
    for (SlotId id : step.writes) {
      check_slot(id, true);
      if (std::find(step.buffers.begin(), step.buffers.end(), id) == step.buffers.end()) {
        fail(fmt::format("{} writes {}, which it is not given", step.name, name(id)));
      }
    }
    check_updates(step);
    check_inner(step);
    for (std::uint32_t output : step.finishes) {
      if (output >= program_.outputs.size()) {
        fail(fmt::format("{} finishes output {}, which does not exist", step.name, output));
      }
      finishes_.push_back({program_.outputs[output], &step});
    }
  }

  // What is updated begins as what it was: nothing else that the step reads may be in its place.
  void check_updates(const Step& step) const {
    for (const auto& [read, written] : step.in_place_updates) {
      for (const auto& [other, to] : step.in_place) {
        if (to != written || other == read) continue;
        fail(fmt::format("{} updates {}, which may not be in place of {}", step.name, name(to),
                         name(other)));
      }
    }
  }

  // What it runs inside, and that its buffers are what it takes.
  void check_inner(const Step& step) const {
    if (const auto wrong = fault_of(program_, step, kernels_)) fail(step.name + " " + *wrong);
    for (const Program& inner : inner_programs(step)) verify_part(inner, kernels_);
    const auto* loop = std::get_if<LoopStep>(&step.work);
    if (loop && !loop->rotation.empty()) check_rotation(step, *loop);
  }

  // No step of a loop loses a carry: each place is handed on once, and what is written is where
  // nothing else is read.
  void check_rotation(const Step& step, const LoopStep& loop) const {
    const Program& body = loop.body();
    std::vector<std::uint32_t> places = loop.rotation;
    std::sort(places.begin(), places.end());
    for (std::uint32_t p = 0; p < places.size(); ++p) {
      if (places[p] != p) fail(step.name + " hands a place on more than once");
    }
    const StepOrder order(body);
    const SlotUses uses(body, order);
    for (std::uint32_t i = 0; i < loop.carries(); ++i) {
      const SlotId output = body.outputs[i];
      const Slot& slot = body.slots[output];
      if (slot.kind == Slot::Kind::input) {
        if (slot.index == loop.rotation[i]) continue;
      } else if (slot.kind == Slot::Kind::output && slot.index == i &&
                 loop.rotation[i] == loop.written[i]) {
        if (loop.written[i] >= loop.carries()) continue;
        const SlotId input = input_slot(body, loop.written[i]);
        if (may_alias(body, order, uses, input, uses.in_output(i))) continue;
      }
      fail(fmt::format("{} loses carry {} in a step", step.name, i));
    }
  }

  // Every read comes after a write, writes are ordered with all other uses, and a finished output
  // is not touched again by anything that writes.
  void check_uses(SlotId id, std::span<const SlotUse> uses, const StepOrder& order) const {
    const Slot& slot = program_.slots[id];
    for (const SlotUse& write : uses) {
      if (!write.writes) continue;
      for (const SlotUse& use : uses) {
        if (use.step == write.step || order.before(use.step, write.step) ||
            order.before(write.step, use.step)) {
          continue;
        }
        fail(fmt::format("{} is written by {} and used by {}, which are not ordered", slot.name,
                         place(write.step), place(use.step)));
      }
    }
    if (slot.kind == Slot::Kind::input || slot.kind == Slot::Kind::constant) return;
    if (!uses.empty() && !uses.front().writes) {
      fail(fmt::format("{} is read by {} before it is written", slot.name,
                       place(uses.front().step)));
    }
    const bool is_output =
        std::find(program_.outputs.begin(), program_.outputs.end(), id) != program_.outputs.end();
    if (is_output && uses.empty()) fail(slot.name + " is an output that nothing writes");
    for (const auto& [finished, step] : finishes_) {
      if (finished != id) continue;
      const auto last = std::find_if(uses.rbegin(), uses.rend(), [](auto& u) { return u.writes; });
      if (last == uses.rend() || step_at(program_, last->step) != step) {
        fail(fmt::format("{} finishes {} and is not its last writer", step->name, slot.name));
      }
    }
  }

  // Whether `b` may be in the bytes of `a`: all of them, where one step ends `a` and begins `b`.
  bool one_after_the_other(SlotId a, SlotId b, const SlotUses& uses, const StepOrder& order) const {
    const Slot& first = program_.slots[a];
    const Slot& second = program_.slots[b];
    const bool same = first.offset == second.offset && first.type.bytes() == second.type.bytes();
    if (same) return may_alias(program_, order, uses, a, std::span(&b, 1));
    return LiveRange(uses[a]).before(LiveRange(uses[b]), order);
  }

  // Temporaries with bytes in common live one after the other.
  void check_sharing(const SlotUses& uses, const StepOrder& order) const {
    std::vector<SlotId> temporaries;
    for (SlotId id = 0; id < program_.slots.size(); ++id) {
      const Slot& slot = program_.slots[id];
      if (slot.kind != Slot::Kind::temporary || slot.output || slot.type.bytes() == 0) continue;
      temporaries.push_back(id);
    }
    const auto place = [&](SlotId id) {
      return std::pair(program_.slots[id].device, program_.slots[id].offset);
    };
    std::sort(temporaries.begin(), temporaries.end(),
              [&](SlotId a, SlotId b) { return place(a) < place(b); });
    for (std::size_t i = 0; i < temporaries.size(); ++i) {
      const SlotId a = temporaries[i];
      const std::size_t end = program_.slots[a].offset + program_.slots[a].type.bytes();
      for (std::size_t j = i + 1; j < temporaries.size(); ++j) {
        const SlotId b = temporaries[j];
        if (place(b) >= std::pair(program_.slots[a].device, end)) break;
        if (one_after_the_other(a, b, uses, order) || one_after_the_other(b, a, uses, order)) {
          continue;
        }
        fail_sharing(a, b);
      }
    }
  }

  [[noreturn]] void fail_sharing(SlotId a, SlotId b) const {
    fail(fmt::format("{} and {} share bytes while both are live", name(a), name(b)));
  }

  // What is in the place of an output lives one after the other, and the output last.
  void check_outputs(const SlotUses& uses, const StepOrder& order) const {
    const auto is_before = [&](SlotId a, SlotId b) {
      return may_alias(program_, order, uses, a, std::span(&b, 1));
    };
    for (std::uint32_t i = 0; i < program_.outputs.size(); ++i) {
      const std::span<const SlotId> slots = uses.in_output(i);
      for (std::size_t n = 1; n < slots.size(); ++n) {
        const bool is_output = n + 1 == slots.size();
        for (SlotId other : slots.first(n)) {
          if (is_before(other, slots[n]) || (!is_output && is_before(slots[n], other))) continue;
          fail_sharing(other, slots[n]);
        }
      }
    }
  }

  // An output that is where an input was is not written while the input is read.
  void check_donations(const SlotUses& uses, const StepOrder& order) const {
    std::vector<SlotId> gone(program_.outputs), made;
    const auto is_in = [](const std::vector<SlotId>& slots, SlotId id) {
      return std::find(slots.begin(), slots.end(), id) != slots.end();
    };
    for (auto [input, output] : program_.donations) {
      if (input >= program_.inputs.size() || output >= program_.outputs.size()) {
        fail(fmt::format("output {} takes over input {}: no such pair", output, input));
      }
      const SlotId from = input_slot(program_, input), to = program_.outputs[output];
      const bool first = !is_in(gone, from) && !is_in(made, to);
      gone.push_back(from);
      made.push_back(to);
      const Slot& slot = program_.slots[to];
      const bool fits = slot.kind == Slot::Kind::output && slot.index == output &&
                        slot.type.bytes() == program_.slots[from].type.bytes();
      if (first && fits && may_alias(program_, order, uses, from, uses.in_output(output))) continue;
      fail(fmt::format("{} takes over {} while that is in use", name(to), name(from)));
    }
  }

  const Program& program_;
  const std::span<const Kernel> kernels_;
  const bool is_placed_;
  std::vector<std::pair<SlotId, const Step*>> finishes_;
};

// The steps in their order.
Program on_one_stream(Program program) {
  Stream& only = program.streams.emplace_back();
  for (StepId id = 0; id < program.steps.size(); ++id) only.commands.push_back(Launch{id});
  return program;
}

void verify_part(const Program& program, std::span<const Kernel> kernels) {
  if (program.streams.empty()) {
    const Program ordered = on_one_stream(program);
    Verifier(ordered, kernels).verify();
  } else {
    Verifier(program, kernels).verify();
  }
}

}  // namespace

void verify(const Program& program) {
  for (const Kernel& kernel : program.kernels) verify(kernel);
  verify_part(program, program.kernels);
}

}  // namespace anabranch
