#include "frontend/run/program_cache.h"

#include <list>
#include <mutex>
#include <new>
#include <unordered_map>

#include "anabranch/error.h"
#include "frontend/run/dump.h"
#include "runtime/cpu/default_floats.h"
#include "runtime/fork.h"
#include "runtime/timeline/record.h"

namespace anabranch {
namespace {

struct Entry {
  Graph graph;
  Options options;
  std::mutex compiling;  // held by the one thread that compiles it
  std::shared_ptr<const Compilation> compilation;
  std::size_t bytes = 0;   // of the compilation, once there is one; guarded by the cache's mutex
  bool forgotten = false;  // likewise
};

// What it keeps: constants are in the graph, and on the device where it cannot read them there.
std::size_t bytes_of(const Compilation& compilation) {
  std::size_t bytes = compilation.code().bytes;
  for (const Buffer& constant : compilation.code().constants) {
    bytes += constant.bytes() * (constant.is_borrowed() ? 1 : 2);
  }
  return bytes;
}

class ProgramCache {
 public:
  std::shared_ptr<const Compilation> get(const Graph& graph, const Options& options) {
    std::shared_ptr<Entry> entry = find_or_add(graph, options);
    std::lock_guard lock(entry->compiling);
    if (!entry->compilation) {  // an earlier thread may have failed: try again, and fail for this
                                // one
      timeline::Span span("compile " + graph.name(), timeline::Category::compile);
      const DefaultFloats floats;  // constants are folded here
      entry->compilation = std::make_shared<const Compilation>(compile_dumped(graph, options));
      weigh(*entry);
    }
    return entry->compilation;
  }

  ProgramCacheUse use() {
    std::lock_guard lock(mutex_);
    return {hits_, misses_, recent_.size(), bytes_};
  }

 private:
  using Position = std::list<std::shared_ptr<Entry>>::iterator;

  std::shared_ptr<Entry> find_or_add(const Graph& graph, const Options& options) {
    const std::uint64_t hash = graph.hash();
    std::lock_guard lock(mutex_);
    auto [first, last] = by_hash_.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      const Entry& entry = **at->second;
      if (entry.options == options && entry.graph == graph) {
        ++hits_;
        recent_.splice(recent_.begin(), recent_, at->second);
        return *at->second;
      }
    }
    ++misses_;
    auto entry = std::make_shared<Entry>();
    entry->graph = graph;
    entry->options = options;
    recent_.push_front(entry);
    by_hash_.emplace(hash, recent_.begin());
    if (recent_.size() > program_cache_limit) forget_oldest();
    return entry;
  }

  void weigh(Entry& entry) {
    std::lock_guard lock(mutex_);
    if (entry.forgotten) return;
    entry.bytes = bytes_of(*entry.compilation);
    bytes_ += entry.bytes;
    while (bytes_ > program_cache_bytes && recent_.size() > 1) forget_oldest();
  }

  void forget_oldest() {
    Position oldest = std::prev(recent_.end());
    bytes_ -= (*oldest)->bytes;
    (*oldest)->forgotten = true;
    auto [first, last] = by_hash_.equal_range((*oldest)->graph.hash());
    for (auto at = first; at != last; ++at) {
      if (at->second != oldest) continue;
      by_hash_.erase(at);
      break;
    }
    recent_.erase(oldest);
  }

  std::mutex mutex_;
  std::list<std::shared_ptr<Entry>> recent_;  // most recently used first
  std::unordered_multimap<std::uint64_t, Position> by_hash_;
  std::uint64_t hits_ = 0, misses_ = 0;
  std::size_t bytes_ = 0;
};

// Never destroyed: work may be in flight while the process leaves main.
ProgramCache& programs() {
  static auto* cache = new ProgramCache;
  return *cache;
}

}  // namespace

std::shared_ptr<const Compilation> compile_once(const Graph& graph, const Options& options) {
  check_no_orphan("compile");
  try {
    return programs().get(graph, options);
  } catch (const std::bad_alloc&) {
    throw Error("compile: " + graph.name() +
                ": the machine has no memory left to compile it; let go of arrays that are no "
                "longer needed");
  }
}

ProgramCacheUse program_cache_use() { return programs().use(); }

}  // namespace anabranch
