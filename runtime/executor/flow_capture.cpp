// Loops and branches of steps that a device goes through alone: captured, with what decides.
#include <algorithm>
#include <variant>
#include <vector>

#include "runtime/executor/loop_run.h"
#include "runtime/executor/stream_run.h"

namespace anabranch::executor {
namespace {

// What is captured has addresses once and for all, while the carries of a loop may change places at
// every step. So a captured turn is as many steps as bring them home again, with a branch between
// two steps, and none of a turn's steps copies anything for the next; at most this many, since each
// is captured by itself. After that many the carries that are not at home are copied there.
constexpr int most_steps_of_turn = 4;

/// A program inside a loop or a branch that is being captured.
class CapturedPart final : public StreamRun {
 public:
  CapturedPart(const Program& program, const LinkedCode& code, const QueuePlace& place)
      : StreamRun(device_state(program.device()), program, code, frame_),
        data_(program.slots.size()),
        frame_(program, code, device(), data_) {
    begin_on(place);
  }

  void put(std::span<void* const> inputs, std::span<void* const> outputs, std::byte* arena) {
    frame_.bind(inputs, outputs, arena);
    start();  // all of it is on queues then
    frame_.check();
  }

  void* output(std::size_t index) const { return frame_.data(program().outputs[index]); }

 private:
  void ended() override {}

  std::vector<void*> data_;
  Frame frame_;
};

class FlowCapture {
 public:
  FlowCapture(const LinkedStep& code, Engine& engine) : code_(code), engine_(engine) {}

 protected:
  /// Sets a condition from what will lie at `data`.
  SetCondition from(const void* data) const {
    return [this, data](Condition condition, DeviceQueue& queue) {
      void* const buffers[] = {reinterpret_cast<void*>(condition), const_cast<void*>(data)};
      code_.conditional.put(code_.conditional.context.get(), buffers, queue);
    };
  }

  const LinkedCode& region(std::size_t index) const { return code_.regions[index]; }

  /// The queues for what is inside what is put on `place`.
  QueuePlace inside(const QueuePlace& place) const {
    const QueueSet set = anabranch::inside(place.set);
    return {&engine_.queue(0, set), 0, set};
  }

 private:
  const LinkedStep& code_;
  Engine& engine_;
};

class LoopCapture final : FlowCapture {
 public:
  LoopCapture(const LoopStep& loop, const LinkedStep& code, std::span<void* const> buffers,
              Engine& engine)
      : FlowCapture(code, engine),
        loop_(loop),
        buffers_(loop, buffers),
        home_(buffers_.home.begin(), buffers_.home.end()) {}

  void put(DeviceQueue& queue, const QueuePlace& place) const {
    for (std::size_t i = 0; i < loop_.carries(); ++i) {
      if (buffers_.initial[i] == home_[i]) continue;
      queue.copy(home_[i], buffers_.initial[i], loop_.body().inputs[i].bytes());
    }
    const void* flag = put_test(place, home_);
    const QueuePlace turn = inside(place);
    queue.put_loop(*turn.home, from(flag), [&] { put_turn(turn, home_, 1); });
  }

 private:
  using Places = std::vector<void*>;

  // The steps of a turn from number `step` on, where the carries are at `places`. In the end they
  // are at home, and the flag is that of the condition there.
  void put_turn(const QueuePlace& place, const Places& places, int step) const {
    put_step(place, places);
    const Places next = turned(places);
    if (is_home(next)) return void(put_test(place, home_));
    if (step == most_steps_of_turn) {
      bring_home(place, next);
      return void(put_test(place, home_));
    }
    const void* flag = put_test(place, next);
    const QueuePlace branch = inside(place);
    place.home->put_branches(*branch.home, 2, from(flag), [&](std::size_t goes_on) {
      goes_on ? put_turn(branch, next, step + 1) : bring_home(branch, next);
    });
  }

  // Returns where the flag will be.
  const void* put_test(const QueuePlace& place, const Places& places) const {
    CapturedPart condition(loop_.condition(), region(0), place);
    void* const flag = buffers_.flag;
    condition.put(inputs(places), std::span(&flag, 1), buffers_.arena);
    return condition.output(0);
  }

  void put_step(const QueuePlace& place, const Places& places) const {
    Places outputs;
    for (std::uint32_t written : loop_.written) outputs.push_back(places[written]);
    CapturedPart body(loop_.body(), region(1), place);
    body.put(inputs(places), outputs, buffers_.arena);
  }

  void bring_home(const QueuePlace& place, Places places) const {
    bring_home_on(*place.home, Carries(loop_), home_.data(), places.data(), buffers_.arena);
  }

  std::vector<void*> inputs(const Places& places) const {
    std::vector<void*> all(places.begin(), places.begin() + static_cast<long>(loop_.carries()));
    all.insert(all.end(), buffers_.captures.begin(), buffers_.captures.end());
    return all;
  }

  Places turned(const Places& places) const {
    Places next;
    for (std::uint32_t from : loop_.turn) next.push_back(places[from]);
    return next;
  }

  // What lies in the further places is nothing that matters.
  bool is_home(const Places& places) const {
    return std::equal(home_.begin(), home_.begin() + static_cast<long>(loop_.carries()),
                      places.begin());
  }

  const LoopStep& loop_;
  const LoopBuffers buffers_;
  const Places home_;
};

class BranchCapture final : FlowCapture {
 public:
  BranchCapture(const BranchStep& branch, const LinkedStep& code, std::span<void* const> buffers,
                Engine& engine)
      : FlowCapture(code, engine), branches_(branch.branches), buffers_(buffers) {}

  void put(DeviceQueue& queue, const QueuePlace& place) const {
    const QueuePlace branch = inside(place);
    queue.put_branches(*branch.home, branches_.size(), from(buffers_[0]),
                       [&](std::size_t number) { put_branch(branch, number); });
  }

 private:
  void put_branch(const QueuePlace& place, std::size_t number) const {
    const BranchBuffers buffers(branches_[number], buffers_);
    CapturedPart branch(branches_[number], region(number), place);
    branch.put(buffers.operands, buffers.results, buffers.arena);
  }

  const std::vector<Program>& branches_;
  const std::span<void* const> buffers_;
};

}  // namespace

void capture_flow(const Step& step, const LinkedStep& code, std::span<void* const> buffers,
                  Strand& strand) {
  DeviceQueue& queue = *strand.queue();
  Engine& engine = *strand.device().engine;
  if (const auto* loop = std::get_if<LoopStep>(&step.work)) {
    LoopCapture(*loop, code, buffers, engine).put(queue, strand.place_inside());
  } else {
    const auto& branch = std::get<BranchStep>(step.work);
    BranchCapture(branch, code, buffers, engine).put(queue, strand.place_inside());
  }
}

}  // namespace anabranch::executor
