#include "codegen/cuda/keep_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "codegen/cuda/emit/thread_scratch.h"
#include "codegen/kernel/facts.h"

namespace anabranch::cuda {
namespace {

constexpr std::int64_t most_kept_in_all = 192;  // bytes, by one thread

/// A load of a pass over the row, element by element.
struct RowLoad {
  KernelFacts::Access access;
  Ref pass;
};

class Keeper {
 public:
  explicit Keeper(Kernel& kernel) : kernel_(kernel), facts_(kernel_) {}

  void run() {
    std::vector<RowLoad> loads = row_loads();
    for (std::size_t first = 0; first < loads.size(); ++first) {
      std::vector<RowLoad> again;
      for (std::size_t i = first + 1; i < loads.size(); ++i) {
        if (reads_the_same(loads[first], loads[i])) again.push_back(loads[i]);
      }
      const bool is_read_elsewhere = std::any_of(again.begin(), again.end(), [&](const RowLoad& l) {
        return !(l.pass == loads[first].pass);
      });
      if (!is_read_elsewhere || !has_room_for(loads[first])) continue;
      keep(loads[first], again);
      std::erase_if(loads, [&](const RowLoad& load) {
        return std::any_of(again.begin(), again.end(), [&](const RowLoad& other) {
          return other.access.ref == load.access.ref;
        });
      });
    }
  }

 private:
  const Loop& loop(Ref ref) const { return std::get<Loop>(kernel_[ref].operation); }

  // In the order in which they run.
  std::vector<RowLoad> row_loads() const {
    std::vector<RowLoad> loads;
    for (const KernelFacts::Access& access : facts_.accesses()) {
      if (access.is_store || access.loops.size() != facts_.outer().size() + 1) continue;
      if (kernel_.buffers[access.buffer].access != Access::read) continue;
      if (std::get<Load>(kernel_[access.ref].operation).mask) continue;
      const Ref pass = access.loops.back();
      const bool is_leaf = std::any_of(facts_.leaves().begin(), facts_.leaves().end(),
                                       [&](const auto& leaf) { return leaf.loop == pass; });
      if (is_leaf && facts_.stride(access, pass) == 1) loads.push_back({access, pass});
    }
    return loads;
  }

  bool reads_the_same(const RowLoad& a, const RowLoad& b) const {
    return a.access.buffer == b.access.buffer && loop(a.pass).extent == loop(b.pass).extent &&
           loop(a.pass).vector_width == loop(b.pass).vector_width &&
           facts_.is_same_place(a.access, a.pass, b.access, b.pass);
  }

  bool has_room_for(const RowLoad& load) {
    const Loop& pass = loop(load.pass);
    const std::int64_t elements =
        kernel_.threads->turns(pass.extent, pass.vector_width) * pass.vector_width;
    const auto bytes = static_cast<std::int64_t>(byte_size(kernel_[load.access.ref].dtype));
    if (elements * bytes > ThreadScratch::most_kept_bytes) return false;
    if (kept_bytes_ + elements * bytes > most_kept_in_all) return false;
    kept_bytes_ += elements * bytes;
    return true;
  }

  void keep(const RowLoad& first, const std::vector<RowLoad>& again) {
    const auto scratch = static_cast<std::uint32_t>(kernel_.buffers.size());
    const Dtype dtype = kernel_[first.access.ref].dtype;
    kernel_.buffers.push_back(
        {"row" + std::to_string(scratches_++), dtype, loop(first.pass).extent, Access::scratch});
    const Ref store{static_cast<std::uint32_t>(kernel_.instructions.size())};
    const Store kept{scratch, kernel_.index_of(first.pass), first.access.ref, false};
    kernel_.instructions.push_back({kept, dtype, kernel_[first.access.ref].location});
    Block& body = std::get<Loop>(kernel_[first.pass].operation).body;
    body.insert(std::find(body.begin(), body.end(), first.access.ref) + 1, store);
    for (const RowLoad& load : again) {
      if (load.pass == first.pass) continue;
      kernel_[load.access.ref].operation = Load{scratch, kernel_.index_of(load.pass), {}, 0};
    }
  }

  Kernel& kernel_;
  const KernelFacts facts_;  // of the kernel as it was
  std::int64_t kept_bytes_ = 0;
  int scratches_ = 0;
};

}  // namespace

Kernel keep_rows(const Kernel& kernel, KernelContext&) {
  Kernel made = kernel;
  const ThreadMap map = kernel.threads.value_or(ThreadMap());
  if (map.members > 1 && !map.in_columns && !map.in_tiles()) Keeper(made).run();
  return made;
}

}  // namespace anabranch::cuda
