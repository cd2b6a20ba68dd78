// Loops and branches of steps that a device goes through alone: captured, with what decides.
#include <algorithm>
#include <variant>
#include <vector>

#include "runtime/executor/loop_run.h"
#include "runtime/executor/stream_run.h"

namespace anabranch::executor {
namespace {

// What is captured has addresses once and for all, while the carries of a loop may change places at
// every iteration. So a captured rotation is as many iterations as bring them back to the base,
// with a branch between two iterations, and no iteration copies anything for the next; at most this
// many, since each is captured by itself. After that many the carries are copied back.
constexpr int most_iterations = 4;

/// A program inside a loop or a branch that is being captured.
class CapturedPart final : public StreamRun {
 public:
  CapturedPart(const Program& program, const LinkedCode& code, const DeviceStreams& streams)
      : StreamRun(device_state(program.device()), program, code, frame_),
        data_(program.slots.size()),
        frame_(program, code, device(), data_) {
    begin_on(streams);
  }

  void enqueue(std::span<void* const> inputs, std::span<void* const> outputs, std::byte* arena) {
    frame_.bind(inputs, outputs, arena);
    start();  // all of it is on streams then
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
  FlowCapture(const LinkedStep& code, StreamExecutor& stream_executor)
      : code_(code), stream_executor_(stream_executor) {}

 protected:
  /// Sets a condition from what will be at `data`.
  SetCondition from(const void* data) const {
    return [this, data](Condition condition, DeviceStream& stream) {
      void* const buffers[] = {reinterpret_cast<void*>(condition), const_cast<void*>(data)};
      code_.conditional.enqueue(code_.conditional.context.get(), buffers, stream);
    };
  }

  const LinkedCode& region(std::size_t index) const { return code_.regions[index]; }

  /// The streams for what is inside what is enqueued on `streams`.
  DeviceStreams inside(const DeviceStreams& streams) const {
    const StreamSet set = anabranch::inside(streams.set);
    return {&stream_executor_.stream(0, set), 0, set};
  }

 private:
  const LinkedStep& code_;
  StreamExecutor& stream_executor_;
};

class LoopCapture final : FlowCapture {
 public:
  LoopCapture(const LoopStep& loop, const LinkedStep& code, std::span<void* const> buffers,
              StreamExecutor& stream_executor)
      : FlowCapture(code, stream_executor),
        loop_(loop),
        buffers_(loop, buffers),
        base_(buffers_.base.begin(), buffers_.base.end()) {}

  void enqueue(DeviceStream& stream, const DeviceStreams& streams) const {
    for (std::size_t i = 0; i < loop_.carries(); ++i) {
      if (buffers_.initial[i] == base_[i]) continue;
      stream.copy(base_[i], buffers_.initial[i], loop_.body().inputs[i].bytes());
    }
    const void* flag = enqueue_condition(streams, base_);
    const DeviceStreams loop = inside(streams);
    stream.enqueue_loop(*loop.main, from(flag), [&] { enqueue_rotation(loop, base_, 1); });
  }

 private:
  using Places = std::vector<void*>;

  // The iterations of a rotation from number `iteration` on, where the carries are at `places`. In
  // the end they are at the base, and the flag is that of the condition there.
  void enqueue_rotation(const DeviceStreams& streams, const Places& places, int iteration) const {
    enqueue_iteration(streams, places);
    const Places next = rotated(places);
    if (is_rotated_back(next)) return void(enqueue_condition(streams, base_));
    if (iteration == most_iterations) {
      copy_back(streams, next);
      return void(enqueue_condition(streams, base_));
    }
    const void* flag = enqueue_condition(streams, next);
    const DeviceStreams branch = inside(streams);
    streams.main->enqueue_branches(*branch.main, 2, from(flag), [&](std::size_t goes_on) {
      goes_on ? enqueue_rotation(branch, next, iteration + 1) : copy_back(branch, next);
    });
  }

  // Returns where the flag will be.
  const void* enqueue_condition(const DeviceStreams& streams, const Places& places) const {
    CapturedPart condition(loop_.condition(), region(0), streams);
    void* const flag = buffers_.flag;
    condition.enqueue(inputs(places), std::span(&flag, 1), buffers_.arena);
    return condition.output(0);
  }

  void enqueue_iteration(const DeviceStreams& streams, const Places& places) const {
    Places outputs;
    for (std::uint32_t written : loop_.written) outputs.push_back(places[written]);
    CapturedPart body(loop_.body(), region(1), streams);
    body.enqueue(inputs(places), outputs, buffers_.arena);
  }

  void copy_back(const DeviceStreams& streams, Places places) const {
    enqueue_copy_back(*streams.main, Carries(loop_), base_.data(), places.data(), buffers_.arena);
  }

  std::vector<void*> inputs(const Places& places) const {
    std::vector<void*> all(places.begin(), places.begin() + static_cast<long>(loop_.carries()));
    all.insert(all.end(), buffers_.captures.begin(), buffers_.captures.end());
    return all;
  }

  Places rotated(const Places& places) const {
    Places next;
    for (std::uint32_t from : loop_.rotation) next.push_back(places[from]);
    return next;
  }

  // What is in the further places does not matter.
  bool is_rotated_back(const Places& places) const {
    return std::equal(base_.begin(), base_.begin() + static_cast<long>(loop_.carries()),
                      places.begin());
  }

  const LoopStep& loop_;
  const LoopBuffers buffers_;
  const Places base_;
};

class BranchCapture final : FlowCapture {
 public:
  BranchCapture(const BranchStep& branch, const LinkedStep& code, std::span<void* const> buffers,
                StreamExecutor& stream_executor)
      : FlowCapture(code, stream_executor), branches_(branch.branches), buffers_(buffers) {}

  void enqueue(DeviceStream& stream, const DeviceStreams& streams) const {
    const DeviceStreams branch = inside(streams);
    stream.enqueue_branches(*branch.main, branches_.size(), from(buffers_[0]),
                            [&](std::size_t number) { enqueue_branch(branch, number); });
  }

 private:
  void enqueue_branch(const DeviceStreams& streams, std::size_t number) const {
    const BranchBuffers buffers(branches_[number], buffers_);
    CapturedPart branch(branches_[number], region(number), streams);
    branch.enqueue(buffers.operands, buffers.results, buffers.arena);
  }

  const std::vector<Program>& branches_;
  const std::span<void* const> buffers_;
};

}  // namespace

void capture_flow(const Step& step, const LinkedStep& code, std::span<void* const> buffers,
                  Strand& strand) {
  DeviceStream& stream = *strand.device_stream();
  StreamExecutor& stream_executor = *strand.device().stream_executor;
  if (const auto* loop = std::get_if<LoopStep>(&step.work)) {
    LoopCapture(*loop, code, buffers, stream_executor).enqueue(stream, strand.streams_inside());
  } else {
    const auto& branch = std::get<BranchStep>(step.work);
    BranchCapture(branch, code, buffers, stream_executor).enqueue(stream, strand.streams_inside());
  }
}

}  // namespace anabranch::executor
