#include "runtime/null/run_null.h"

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "ir/error.h"

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
  explicit Player(const Executable& executable)
      : executable_(executable),
        positions_(executable.streams.size()),
        waits_(executable.streams.size()),
        happened_(executable.event_count) {}

  std::vector<Entry> play() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t stream = 0; stream < positions_.size(); ++stream) {
        while (step(stream)) moved = true;
      }
    }
    for (std::size_t stream = 0; stream < positions_.size(); ++stream) {
      if (positions_[stream] < executable_.streams[stream].size()) {
        throw InternalError("run", "streams wait for each other", to_string(executable_));
      }
    }
    return std::move(entries_);
  }

 private:
  // Whether the stream's next step could be taken.
  bool step(std::uint32_t stream) {
    const Stream& steps = executable_.streams[stream];
    std::size_t& position = positions_[stream];
    if (position == steps.size()) return false;
    const Step& step = steps[position];
    if (const auto* wait = std::get_if<Wait>(&step)) {
      if (!happened_[wait->event]) return false;
      waits_[stream].push_back(wait->event);
    } else if (const auto* record = std::get_if<Record>(&step)) {
      happened_[record->event] = true;
    } else {
      const auto* launch = std::get_if<Launch>(&step);
      entries_.push_back({executable_.name, stream, launch ? launch->name : "copy",
                          std::exchange(waits_[stream], {})});
    }
    ++position;
    return true;
  }

  const Executable& executable_;
  std::vector<std::size_t> positions_;
  std::vector<std::vector<EventId>> waits_;
  std::vector<bool> happened_;
  std::vector<Entry> entries_;
};

}  // namespace

std::vector<Buffer> run(const Executable& executable) {
  std::vector<Entry> entries = Player(executable).play();
  {
    std::lock_guard lock(logs().mutex);
    for (Entry& entry : entries) {
      const Device& device = executable.device_at(executable.streams[entry.stream].device);
      logs().entries[device].push_back(std::move(entry));
    }
  }
  std::vector<Buffer> outputs(executable.outputs.size());
  for (SlotId id : executable.outputs) {
    const Slot& slot = executable.slots[id];
    if (slot.kind != Slot::Kind::output || outputs[slot.index]) continue;
    Buffer& buffer = outputs[slot.index];
    const Device& device = executable.device_at(slot.device);
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
