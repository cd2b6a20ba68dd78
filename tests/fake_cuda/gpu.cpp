#include "gpu.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace fake_cuda {
namespace {

constexpr unsigned char fresh = 0xcd, gone = 0xdd;
constexpr std::size_t alignment = 256;
constexpr std::size_t most_freed_bytes = std::size_t{64} << 20;

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Gpu& gpu() {
  static Gpu* gpu = new Gpu;  // its thread outlives main
  return *gpu;
}

Gpu::Gpu() {
  std::thread([this] { work(); }).detach();
}

Stream* Gpu::pick() {
  std::vector<Stream*> ready;
  for (Stream* stream : streams) {
    if (stream->operations.empty()) continue;
    const Operation& first = stream->operations.front();
    if (!first.waits_for || first.waits_for->coming.count(first.record) == 0)
      ready.push_back(stream);
  }
  if (ready.empty()) return nullptr;
  return ready[random_() % ready.size()];
}

void Gpu::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    Stream* stream = pick();
    if (!stream) {
      changed.wait(lock);
      continue;
    }
    const Operation operation = std::move(stream->operations.front());
    stream->operations.pop_front();
    stream->is_busy = true;
    if (operation.work && failure.empty()) {
      lock.unlock();
      operation.work();
      lock.lock();
    }
    stream->is_busy = false;
    changed.notify_all();
  }
}

void Gpu::put(Stream& stream, Work work) {
  if (stream.graph) {
    const std::size_t node = stream.graph->nodes.size();
    stream.graph->nodes.push_back({std::move(work), stream.before});
    stream.before = {node};
    return;
  }
  stream.operations.push_back({std::move(work), nullptr, 0});
  changed.notify_all();
}

void Gpu::record(Stream& stream, Event& event) {
  event.graph = stream.graph;
  event.before = stream.before;
  if (stream.graph) return;
  event.coming.insert(++event.recorded);
  put(stream, [this, &event, record = event.recorded] {
    std::lock_guard lock(mutex);
    event.coming.erase(record);
    event.ms = now_ms();
  });
}

// A wait for what was recorded by now; for an event that never was, none.
void Gpu::wait(Stream& stream, Event& event) {
  if (event.graph) {
    if (stream.graph != event.graph) stream.before.clear();  // of an earlier capture
    stream.graph = event.graph;
    stream.before.insert(event.before.begin(), event.before.end());
    return;
  }
  if (event.recorded == 0) return;
  stream.operations.push_back({nullptr, &event, event.recorded});
  changed.notify_all();
}

void Gpu::launch(Stream& stream, std::shared_ptr<const Graph> graph) {
  put(stream, [this, graph = std::move(graph)] {
    std::vector<bool> is_done(graph->nodes.size());
    for (std::size_t left = is_done.size(); left > 0; --left) {
      std::vector<std::size_t> ready;
      for (std::size_t i = 0; i < is_done.size(); ++i) {
        const auto& before = graph->nodes[i].before;
        const bool may_run = std::all_of(before.begin(), before.end(),
                                         [&](std::size_t other) { return is_done[other]; });
        if (!is_done[i] && may_run) ready.push_back(i);
      }
      const std::size_t next = ready[random_() % ready.size()];
      graph->nodes[next].work();
      is_done[next] = true;
    }
  });
}

Gpu::Block Gpu::block_of(std::size_t bytes) {
  const auto latest = std::find_if(freed_.rbegin(), freed_.rend(),
                                   [&](const Block& block) { return block.bytes == bytes; });
  Block block;
  if (reuses_memory && latest != freed_.rend()) {
    block = std::move(*latest);
    freed_.erase(std::prev(latest.base()));
    freed_bytes_ -= bytes;
    return block;
  }
  block.bytes = bytes;
  block.memory.reset(new unsigned char[bytes + alignment]);
  const auto begin = reinterpret_cast<std::uintptr_t>(block.memory.get());
  block.data = block.memory.get() + (alignment - begin % alignment);
  return block;
}

void* Gpu::allocate(Stream& stream, std::size_t bytes) {
  Block block = block_of(std::max<std::size_t>(bytes, 1));
  unsigned char* data = block.data;
  bytes_in_use += block.bytes;
  most_bytes_in_use = std::max(most_bytes_in_use, bytes_in_use);
  put(stream, [data, bytes = block.bytes] { std::memset(data, fresh, bytes); });
  blocks_.emplace(data, std::move(block));
  return data;
}

void Gpu::free(Stream& stream, void* data) {
  const auto found = blocks_.find(data);
  if (found == blocks_.end()) return fail("memory is freed that was never allocated");
  auto block = std::make_shared<Block>(std::move(found->second));
  blocks_.erase(found);
  bytes_in_use -= block->bytes;
  put(stream, [this, block] {
    std::memset(block->data, gone, block->bytes);
    std::lock_guard lock(mutex);
    retire(std::move(*block));
  });
}

void Gpu::retire(Block block) {
  freed_bytes_ += block.bytes;
  freed_.push_back(std::move(block));
  while (freed_bytes_ > most_freed_bytes) {
    const Block& oldest = freed_.front();
    const bool is_whole = std::all_of(oldest.data, oldest.data + oldest.bytes,
                                      [](unsigned char byte) { return byte == gone; });
    if (!is_whole) fail("memory was written after it had been freed");
    freed_bytes_ -= oldest.bytes;
    freed_.pop_front();
  }
}

void Gpu::fail(const std::string& why) {
  if (failure.empty()) failure = why;
}

}  // namespace fake_cuda
