#include "runtime/null/run_null.h"

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "anabranch/error.h"

namespace anabranch::null {
namespace {

struct Logs {
  std::mutex mutex;
  std::map<Device, std::vector<Entry>> entries;
};

Logs& logs() {
  static Logs* logs = new Logs;
  return *logs;
}

/// Walks down the streams, each as far as its events allow.
class Player {
 public:
  explicit Player(const Program& program)
      : program_(program),
        positions_(program.streams.size()),
        waits_(program.streams.size()),
        happened_(program.event_count) {}

  std::vector<Entry> play() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t stream = 0; stream < positions_.size(); ++stream) {
        while (take_next(stream)) moved = true;
      }
    }
    for (std::size_t stream = 0; stream < positions_.size(); ++stream) {
      if (positions_[stream] < program_.streams[stream].size()) {
        throw InternalError("run", "streams wait for each other", to_string(program_));
      }
    }
    return std::move(entries_);
  }

 private:
  // Whether the stream's next command could be taken.
  bool take_next(std::uint32_t stream) {
    const Stream& commands = program_.streams[stream];
    std::size_t& position = positions_[stream];
    if (position == commands.size()) return false;
    const Command& command = commands[position];
    if (const auto* wait = std::get_if<Wait>(&command)) {
      if (!happened_[wait->event]) return false;
      waits_[stream].push_back(wait->event);
    } else if (const auto* record = std::get_if<Record>(&command)) {
      happened_[record->event] = true;
    } else {
      const Step& step = *step_of(program_, command);
      entries_.push_back({program_.name, stream, step.name, std::exchange(waits_[stream], {})});
    }
    ++position;
    return true;
  }

  const Program& program_;
  std::vector<std::size_t> positions_;
  std::vector<std::vector<EventId>> waits_;
  std::vector<bool> happened_;
  std::vector<Entry> entries_;
};

}  // namespace

std::vector<Buffer> run(const Program& program) {
  std::vector<Entry> entries = Player(program).play();
  {
    std::lock_guard lock(logs().mutex);
    for (Entry& entry : entries) {
      const Device& device = program.devices[program.streams[entry.stream].device].device;
      logs().entries[device].push_back(std::move(entry));
    }
  }
  std::vector<Buffer> outputs(program.outputs.size());
  for (SlotId id : program.outputs) {
    const Slot& slot = program.slots[id];
    if (slot.kind != Slot::Kind::output || outputs[slot.index]) continue;
    Buffer& buffer = outputs[slot.index];
    const Device& device = program.devices[slot.device].device;
    try {
      buffer = Buffer::allocate(device, slot.type.bytes());
      std::memset(buffer.data(), 0, slot.type.bytes());
    } catch (const Error&) {
      buffer = Buffer::failed(device, std::current_exception());
    }
  }
  return outputs;
}

std::vector<Entry> take_log(const Device& device) {
  std::lock_guard lock(logs().mutex);
  return std::exchange(logs().entries[device], {});
}

}  // namespace anabranch::null
