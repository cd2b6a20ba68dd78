#include "runtime/read.h"

#include <memory>
#include <utility>

#include "runtime/cpu/thread_pool.h"
#include "runtime/host_copy.h"

namespace anabranch {
namespace {

using Reader = std::function<void(const void* data, const std::exception_ptr& error)>;

struct Read final : cpu::Work {
  Read(Buffer buffer, Reader reader)
      : Work([](Work& work) { static_cast<Read&>(work).run(); }),
        buffer(std::move(buffer)),
        reader(std::move(reader)) {}

  void run() {
    const std::unique_ptr<Read> self(this);
    try {
      if (const Failure error = buffer.ready().error()) return reader(nullptr, error.pointer());
      read_now(buffer, [this](const void* data) { reader(data, nullptr); });
    } catch (...) {
      // The reader tells whom it has to tell.
    }
  }

  const Buffer buffer;
  const Reader reader;
};

}  // namespace

void read_now(const Buffer& buffer, const std::function<void(const void* data)>& read) {
  const void* data = buffer.data();
  const HostCopy drawn("copy to the host", buffer.device(), buffer.bytes());
  read(data);
}

void read_when_ready(const Buffer& buffer, Reader reader) {
  auto read = std::make_unique<Read>(buffer, std::move(reader));
  if (buffer.device().kind() != DeviceKind::cpu) return read.release()->run();  // it never waits
  buffer.ready().then(
      [read = read.release()] { cpu::ThreadPool::of(read->buffer.device()).post(*read); });
}

}  // namespace anabranch
