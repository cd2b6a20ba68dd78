#include "runtime/read.h"

#include <future>
#include <memory>
#include <utility>

#include "runtime/cpu/thread_pool.h"
#include "runtime/host_copy.h"
#include "runtime/staging.h"

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
      if (failure) failure.rethrow();
      staged ? read(staged.get()) : read_now(buffer, read);
    } catch (...) {
      error = std::current_exception();
    }
    done(std::move(error));
  }

  const Buffer buffer;
  std::shared_ptr<const void> staged;  // a copy of its bytes, where they are not the host's
  Failure failure;                     // of that copy
  const std::function<void(const void*)> read;
  const std::function<void(std::exception_ptr)> done;
};

bool is_on_engine(const Buffer& buffer) { return device_state(buffer.device()).engine; }

std::shared_ptr<const void> staged_now(const Buffer& buffer) {
  std::promise<std::shared_ptr<const void>> promise;
  copy_from_engine(buffer, [&](std::shared_ptr<const void> data, const Failure& error) {
    error ? promise.set_exception(error.pointer()) : promise.set_value(std::move(data));
  });
  return promise.get_future().get();
}

}  // namespace

void read_now(const Buffer& buffer, const std::function<void(const void* data)>& read) {
  if (is_on_engine(buffer)) return read(staged_now(buffer).get());
  const void* data = buffer.data();
  const HostCopy drawn("copy to the host", buffer.device(), buffer.bytes());
  read(data);
}

void read_when_ready(const Buffer& buffer, std::function<void(const void* data)> read,
                     std::function<void(std::exception_ptr error)> done) {
  auto work = std::make_unique<Read>(buffer, std::move(read), std::move(done));
  if (is_on_engine(buffer)) {
    return copy_from_engine(
        buffer, [work = work.release()](std::shared_ptr<const void> data, const Failure& error) {
          work->staged = std::move(data);
          work->failure = error;
          cpu::ThreadPool::of(Device::cpu()).post(*work);
        });
  }
  if (buffer.device().kind() != DeviceKind::cpu) return work.release()->run();  // it never waits
  buffer.ready().then(
      [work = work.release()] { cpu::ThreadPool::of(work->buffer.device()).post(*work); });
}

}  // namespace anabranch
