#include "gpu.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

namespace fake_cuda {
namespace {

constexpr unsigned char fresh = 0xcd, gone = 0xdd;
constexpr std::size_t most_freed_bytes = std::size_t{64} << 20;

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Of the memory that only the GPU's thread may touch, as no host can read a GPU's; negative where
// the processor cannot tell threads apart. Threads begin without access to it.
int protection_key() {
  static const int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
  return key;
}

unsigned char* pages_of_gpu(std::size_t bytes) {
  constexpr int access = PROT_READ | PROT_WRITE;
  void* pages = mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  if (protection_key() >= 0) pkey_mprotect(pages, bytes, access, protection_key());
  return static_cast<unsigned char*>(pages);
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
  if (protection_key() >= 0) pkey_set(protection_key(), 0);
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
    auto& nodes = stream.graph->nodes;
    nodes.emplace_back(new Node{std::move(work), nullptr, stream.before});
    stream.before = {nodes.back().get()};
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

// A wait for what was recorded by now; for an event that never was, none. What is captured waits
// for what is captured with it, and for nothing else.
bool Gpu::wait(Stream& stream, Event& event) {
  if (event.graph) {
    if (!event.graph->is_captured) return false;
    if (stream.graph && stream.graph != event.graph) {
      stream.graph->is_given_up = event.graph->is_given_up = true;
      return false;
    }
    if (!stream.graph) stream.before.clear();  // of an earlier capture
    stream.graph = event.graph;
    stream.before.insert(event.before.begin(), event.before.end());
    return true;
  }
  if (stream.graph) {
    stream.graph->is_given_up = true;
    return false;
  }
  if (event.recorded == 0) return true;
  stream.operations.push_back({nullptr, &event, event.recorded});
  changed.notify_all();
  return true;
}

std::size_t Gpu::random_below(std::size_t end) {
  std::lock_guard lock(mutex);
  return random_() % end;
}

void Gpu::launch(Stream& stream, std::shared_ptr<const Graph> graph) {
  put(stream, [this, graph = std::move(graph)] {
    {
      std::lock_guard lock(mutex);
      for (auto& [handle, condition] : conditions) {
        if (condition.graph->is_inside(*graph)) condition.is_set = false;
      }
    }
    run(*graph);
  });
}

// In any order that the edges allow.
void Gpu::run(const Graph& graph) {
  std::set<const Node*> done;
  while (done.size() < graph.nodes.size()) {
    std::vector<const Node*> ready;
    for (const auto& node : graph.nodes) {
      const bool may_run = std::all_of(node->before.begin(), node->before.end(),
                                       [&](const Node* other) { return done.count(other) > 0; });
      if (may_run && done.count(node.get()) == 0) ready.push_back(node.get());
    }
    const Node& next = *ready[random_below(ready.size())];
    next.conditional ? run(*next.conditional) : next.work();
    done.insert(&next);
  }
}

void Gpu::run(const Conditional& conditional) {
  unsigned value = 0;
  while (get_condition(conditional.condition, value)) {
    if (conditional.kind == Conditional::Kind::branches) {
      if (value < conditional.bodies.size()) run(*conditional.bodies[value]);
      return;
    }
    if (value == 0) return;
    run(*conditional.bodies[0]);
  }
}

// Whether there is a value; a real GPU finds any there.
bool Gpu::get_condition(std::uint64_t handle, unsigned& value) {
  std::lock_guard lock(mutex);
  const Condition& condition = conditions[handle];
  if (!condition.is_set) fail("a conditional node comes before what sets its condition");
  value = condition.value;
  return failure.empty();
}

void Gpu::set_condition(std::uint64_t handle, unsigned value) {
  std::lock_guard lock(mutex);
  const auto found = conditions.find(handle);
  if (found == conditions.end()) return fail("a kernel sets a condition that there is not");
  found->second.is_set = true;
  found->second.value = value;
}

Block Gpu::block_of(std::size_t bytes) {
  Block block;
  auto first = freed_.end();  // the lowest, so that the same runs get the same memory
  for (auto it = freed_.begin(); it != freed_.end(); ++it) {
    if (it->bytes == bytes && (first == freed_.end() || it->data < first->data)) first = it;
  }
  if (reuses_memory && first != freed_.end()) {
    block = std::move(*first);
    freed_.erase(first);
    freed_bytes_ -= bytes;
    return block;
  }
  block.bytes = bytes;
  block.memory = {pages_of_gpu(bytes), Unmap{bytes}};
  block.data = block.memory.get();
  return block;
}

void Unmap::operator()(unsigned char* data) const { munmap(data, bytes); }

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
