#include "runtime/memory/read.h"

#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/cpu/thread_pool.h"
#include "runtime/fork.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/host_copy.h"
#include "runtime/memory/staging.h"

namespace anabranch {
namespace {

struct Read final : cpu::Work {
  Read(Buffer buffer, ReadPiece read, std::function<void(Failure)> done)
      : Work([](Work& work) { static_cast<Read&>(work).run(); }),
        buffer(std::move(buffer)),
        read(std::move(read)),
        done(std::move(done)) {}

  void run() {
    const std::unique_ptr<Read> self(this);
    Failure failure;
    try {
      read_in_pieces(buffer, read);
    } catch (...) {
      failure = std::current_exception();
    }
    buffer = {};  // what is called may ask what memory is in use
    done(std::move(failure));
  }

  Buffer buffer;
  const ReadPiece read;
  const std::function<void(Failure)> done;
};

bool is_on_stream_executor(const Buffer& buffer) {
  return device_state(buffer.device()).stream_executor;
}

}  // namespace

void read_in_pieces(const Buffer& buffer, const ReadPiece& read) {
  if (is_on_stream_executor(buffer)) {
    std::promise<Failure> promise;
    copy_to_host(buffer, read, [&promise](const Failure& failure) { promise.set_value(failure); });
    if (const Failure failure = promise.get_future().get()) failure.rethrow();
    return;
  }
  const auto* data = static_cast<const std::byte*>(buffer.data());
  const HostCopy drawn("copy to the host", buffer.device(), buffer.bytes());
  read({data, buffer.bytes()});
}

void read_now(const Buffer& buffer, const std::function<void(const void* data)>& read) {
  if (!is_on_stream_executor(buffer)) {
    return read_in_pieces(buffer, [&](std::span<const std::byte> all) { read(all.data()); });
  }
  std::vector<std::byte> all;
  all.reserve(buffer.bytes());
  read_in_pieces(buffer, [&all](std::span<const std::byte> piece) {
    all.insert(all.end(), piece.begin(), piece.end());
  });
  read(all.data());
}

Literal read_literal(const Buffer& buffer, const Type& type) {
  buffer.ready().wait();
  std::vector<std::byte> bytes;
  bytes.reserve(type.bytes());
  read_in_pieces(buffer, [&bytes](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  return {type, std::move(bytes)};
}

void read_when_ready(const Buffer& buffer, ReadPiece read,
                     std::function<void(Failure failure)> done) {
  if (is_on_stream_executor(buffer)) {
    return copy_to_host(buffer, std::move(read), std::move(done));
  }
  auto work = std::make_unique<Read>(buffer, std::move(read), std::move(done));
  const bool is_host_only = is_orphan() && buffer.ready().ready();  // no other thread would do it
  if (!is_host_only) check_no_orphan("reading an array");
  if (is_host_only || buffer.device().kind() != DeviceKind::cpu) return work.release()->run();
  auto& pool = cpu::ThreadPool::of(buffer.device());  // which may throw
  buffer.ready().then([work = work.release(), &pool] { pool.post(*work); });
}

}  // namespace anabranch
