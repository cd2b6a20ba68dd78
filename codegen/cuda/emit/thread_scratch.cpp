#include "codegen/cuda/emit/thread_scratch.h"

#include <algorithm>
#include <optional>

namespace anabranch::cuda {
namespace {

/// How the one loop that a buffer's accesses move with is shared out.
struct Shares {
  std::int64_t extent = 0;
  int width = 1;
  bool operator==(const Shares&) const = default;
};

/// Of each buffer: the shares in which every access touches element i in iteration i, if all do so
/// in equal shares.
class Walk {
 public:
  explicit Walk(const Kernel& kernel)
      : kernel_(kernel), shares_(kernel.buffers.size()), broken_(kernel.buffers.size()) {
    block(kernel.body, {});
  }

  std::optional<Shares> of(std::uint32_t buffer) const {
    return broken_[buffer] ? std::nullopt : shares_[buffer];
  }

 private:
  void block(const Block& block, Ref around) {
    for (Ref ref : block) {
      const Operation& operation = kernel_[ref].operation;
      if (auto* load = std::get_if<Load>(&operation)) touch(load->buffer, load->index, around);
      if (auto* store = std::get_if<Store>(&operation)) touch(store->buffer, store->index, around);
      if (auto* loop = std::get_if<Loop>(&operation)) this->block(loop->body, ref);
    }
  }

  void touch(std::uint32_t buffer, Index index, Ref around) {
    if (!around || !kernel_.indices.is_loop(index, around.index)) {
      broken_[buffer] = true;
      return;
    }
    const auto& loop = std::get<Loop>(kernel_[around].operation);
    const Shares found{loop.extent, loop.vector_width};
    if (shares_[buffer] && *shares_[buffer] != found) broken_[buffer] = true;
    shares_[buffer] = found;
  }

  const Kernel& kernel_;
  std::vector<std::optional<Shares>> shares_;
  std::vector<bool> broken_;
};

}  // namespace

ThreadScratch::ThreadScratch(const Kernel& kernel, const ThreadMap& map)
    : kernel_(kernel), storage_(kernel.buffers.size()), kept_(kernel.buffers.size()) {
  const Walk walk(kernel);
  for (std::uint32_t i = 0; i < kernel.buffers.size(); ++i) {
    const KernelBuffer& buffer = kernel.buffers[i];
    if (buffer.access != Access::scratch) continue;
    storage_[i] = map.members == 1 ? Storage::thread : Storage::shared;
    if (map.members == 1) continue;
    const auto bytes = static_cast<std::int64_t>(byte_size(buffer.dtype));
    if (const auto shares = walk.of(i)) {
      kept_[i] = map.turns(shares->extent, shares->width) * shares->width;
      if (kept_[i] * bytes <= most_kept_bytes) {
        storage_[i] = Storage::registers;
        continue;
      }
    }
    shared_bytes_ += bytes * buffer.size * map.groups;
  }
}

bool ThreadScratch::any(Storage storage) const {
  return std::find(storage_.begin(), storage_.end(), storage) != storage_.end();
}

bool ThreadScratch::touches(const Loop& loop, Storage storage) const {
  return std::any_of(loop.body.begin(), loop.body.end(),
                     [&](Ref ref) {
                       const auto* load = std::get_if<Load>(&kernel_[ref].operation);
                       return load && storage_[load->buffer] == storage;
                     }) ||
         stores(loop, storage);
}

bool ThreadScratch::stores(const Loop& loop, Storage storage) const {
  return std::any_of(loop.body.begin(), loop.body.end(), [&](Ref ref) {
    const auto* store = std::get_if<Store>(&kernel_[ref].operation);
    return store && storage_[store->buffer] == storage;
  });
}

}  // namespace anabranch::cuda
