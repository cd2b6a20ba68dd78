#include "runtime/memory/host_copy.h"

#include "runtime/timeline/record.h"

namespace anabranch {

HostCopy::HostCopy(const char* name, const Device& device, std::size_t bytes)
    : name_(name), bytes_(bytes) {
  if (!timeline::recording()) return;
  device_ = &device_state(device);
  row_ = device_->timeline_copies.take(0);
  begin_ = timeline::Clock::now();
}

HostCopy::~HostCopy() {
  if (!device_) return;
  try {
    const timeline::Track track{timeline::Track::Kind::copies, device_->device, row_};
    timeline::add(track, name_, timeline::Category::copy, begin_, timeline::Clock::now(),
                  {.bytes = static_cast<std::int64_t>(bytes_)});
  } catch (...) {
    // Out of memory: the event is lost, the program continues.
  }
  device_->timeline_copies.give_back(row_);
}

std::shared_ptr<EnqueuedCopy> EnqueuedCopy::begin(const char* name, DeviceState& device,
                                                  DeviceStream& stream, std::size_t bytes) {
  if (!timeline::recording()) return nullptr;
  return std::shared_ptr<EnqueuedCopy>(new EnqueuedCopy(name, device, stream, bytes));
}

void EnqueuedCopy::draw() const noexcept {
  try {
    const timeline::Track track{timeline::Track::Kind::copies, device_.device, row_};
    timeline::add(track, name_, timeline::Category::copy, begin_->time(), end_->time(),
                  {.bytes = static_cast<std::int64_t>(bytes_)});
  } catch (...) {
    // Out of memory, or the device has failed since: the event is lost, the program continues.
  }
}

}  // namespace anabranch
