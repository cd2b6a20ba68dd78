#include "runtime/read.h"

#include <memory>
#include <utility>

#include "runtime/cpu/thread_pool.h"
#include "runtime/host_copy.h"

namespace anabranch {
namespace {

struct Read final : cpu::Work {
  Read(Buffer buffer, std::function<void(const void*)> read,
       std::function<void(std::exception_ptr)> done)
      : Work([](Work& work) { static_cast<Read&>(work).run(); }),
        buffer(std::move(buffer)),
        read(std::move(read)),
        done(std::move(done)) {}

  void run() {
    const std::unique_ptr<Read> self(this);
    std::exception_ptr error;
    try {
      read_now(buffer, read);
    } catch (...) {
      error = std::current_exception();
    }
    done(std::move(error));
  }

  const Buffer buffer;
  const std::function<void(const void*)> read;
  const std::function<void(std::exception_ptr)> done;
};

}  // namespace

void read_now(const Buffer& buffer, const std::function<void(const void* data)>& read) {
  const void* data = buffer.data();
  const HostCopy drawn("copy to the host", buffer.device(), buffer.bytes());
  read(data);
}

void read_when_ready(const Buffer& buffer, std::function<void(const void* data)> read,
                     std::function<void(std::exception_ptr error)> done) {
  auto work = std::make_unique<Read>(buffer, std::move(read), std::move(done));
  if (buffer.device().kind() != DeviceKind::cpu) return work.release()->run();  // it never waits
  buffer.ready().then(
      [work = work.release()] { cpu::ThreadPool::of(work->buffer.device()).post(*work); });
}

}  // namespace anabranch
