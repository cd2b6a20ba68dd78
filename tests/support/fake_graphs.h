// Fake programs shaped like those that people write, with random sizes, for tests of memory plans.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/fake_program.h"

namespace anabranch::testing {

/// A fake program whose slots have sizes of their own.
class SizedProgram : public FakeProgram {
 public:
  SizedProgram() : FakeProgram(1) {}

  SlotId input(std::int64_t size) { return sized(FakeProgram::input(), size); }
  SlotId output(std::int64_t size) { return sized(FakeProgram::output(), size); }
  /// A new temporary that a step makes from these.
  SlotId made(const std::vector<SlotId>& from, std::int64_t size) {
    const SlotId to = sized(temporary(), size);
    step(from, to);
    return to;
  }
  void make_output(const std::vector<SlotId>& from, std::int64_t size) { step(from, output(size)); }

 private:
  SlotId sized(SlotId id, std::int64_t size) {
    Slot& slot = program().slots[id];
    slot.type.shape = Shape{size};
    if (slot.kind == Slot::Kind::input) program().inputs[slot.index] = slot.type;
    return id;
  }
};

/// One step of training through so many layers, 8 to 400 wide: forward, backward, and an update of
/// each layer's weights and of their momentum.
inline SizedProgram training_program(std::mt19937& random, int layers) {
  const auto width = [&] { return static_cast<std::int64_t>(8 + random() % 393); };
  SizedProgram program;
  const std::int64_t batch = 8 + static_cast<std::int64_t>(random() % 121);
  std::vector<std::int64_t> widths = {width()};
  std::vector<SlotId> weights = {0}, momenta = {0}, values = {program.input(batch * widths[0])};
  for (int i = 1; i <= layers; ++i) {
    widths.push_back(width());
    const std::int64_t size = widths[widths.size() - 2] * widths.back();
    weights.push_back(program.input(size));
    momenta.push_back(program.input(size));
  }
  for (std::size_t i = 1; i < widths.size(); ++i) {
    const SlotId sum = program.made({values.back(), weights[i]}, batch * widths[i]);
    values.push_back(program.made({sum}, batch * widths[i]));
  }
  SlotId slope = program.made({values.back()}, batch * widths.back());
  for (std::size_t i = widths.size(); --i > 0;) {
    const std::int64_t size = widths[i - 1] * widths[i];
    const SlotId gradient = program.made({values[i - 1], slope}, size);
    const SlotId step = program.made({momenta[i], gradient}, size);
    program.make_output({weights[i], step}, size);
    program.make_output({momenta[i], gradient}, size);
    if (i == 1) break;
    const SlotId back = program.made({slope, weights[i]}, batch * widths[i - 1]);
    slope = program.made({back, values[i - 1]}, batch * widths[i - 1]);
  }
  return program;
}

/// So many transformer blocks, one to eight heads each computed by itself.
inline SizedProgram transformer_program(std::mt19937& random, int blocks) {
  const auto heads = static_cast<std::int64_t>(1 + random() % 8);
  const std::int64_t width = heads * static_cast<std::int64_t>(8 + random() % 57);
  const auto length = static_cast<std::int64_t>(16 + random() % 113);
  const std::int64_t all = length * width, part = all / heads;
  SizedProgram program;
  const SlotId weights = program.input(4 * width * width);
  SlotId x = program.input(all);
  for (int block = 0; block < blocks; ++block) {
    const SlotId scale = program.made({x}, length), y = program.made({x, scale}, all);
    std::vector<SlotId> attended = {weights};
    for (std::int64_t head = 0; head < heads; ++head) {
      const SlotId query = program.made({y, weights}, part), key = program.made({y, weights}, part);
      const SlotId scores = program.made({query, key}, length * length);
      const SlotId shares = program.made({scores}, length * length);
      attended.push_back(program.made({shares, program.made({y, weights}, part)}, part));
    }
    const SlotId out = program.made(attended, all), sum = program.made({x, out}, all);
    const SlotId again = program.made({sum}, length), z = program.made({sum, again}, all);
    const SlotId wide = program.made({z, weights}, 4 * all), bent = program.made({wide}, 4 * all);
    const SlotId narrow = program.made({bent, weights}, all);
    x = program.made({sum, narrow}, all);
  }
  program.make_output({x}, all);
  return program;
}

/// Steps that each read two of the `reach` values before them, of 1 to 128 KB.
inline SizedProgram reaching_program(std::mt19937& random, int steps, std::size_t reach) {
  SizedProgram program;
  std::vector<SlotId> values = {program.input(64)};
  for (int i = 1; i < steps; ++i) {
    const std::size_t back = std::min(reach, values.size());
    const auto some = [&] { return values[values.size() - 1 - random() % back]; };
    const SlotId a = some(), b = some();
    values.push_back(program.made({a, b}, static_cast<std::int64_t>(128 + random() % 16257)));
  }
  program.make_output({values.back()}, 64);
  return program;
}

}  // namespace anabranch::testing
