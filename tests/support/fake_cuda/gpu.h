// A GPU for tests: streams that one thread of this process works off, as unkindly as CUDA allows.
//
// Of the operations that may run, any may run next: only the order within a stream, events, and the
// edges of a graph count. Memory is full of garbage once it has been allocated, in stream order,
// and again once it has been freed; what was freed is looked at later for late writes. So a missing
// wait gives wrong results here sooner or later, where a real GPU may hide it for years.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace fake_cuda {

using Work = std::function<void()>;

struct Graph;

/// A node that does its bodies by a condition.
struct Conditional {
  enum class Kind { loop, branches };
  Kind kind = Kind::loop;
  std::uint64_t condition = 0;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<Graph*> handles;  ///< of the bodies, as the driver gives them out
};

/// Work with the work before it.
struct Node {
  Work work;
  std::unique_ptr<Conditional> conditional;  ///< in place of work
  std::set<const Node*> before;
};

/// What was captured from streams.
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  Graph* parent = nullptr;   ///< of the body of a conditional node
  bool is_captured = false;  ///< it is, at the moment
  bool is_given_up = false;  ///< what was done meanwhile cannot be captured
  int launchable = 0;        ///< how many are made of it

  /// Whether it is `other` or somewhere inside it.
  bool is_inside(const Graph& other) const {
    return this == &other || (parent && parent->is_inside(other));
  }
};

/// What decides about a conditional node.
struct Condition {
  Graph* graph = nullptr;
  bool has_node = false;
  bool is_set = false;  ///< in this launch
  unsigned value = 0;
};

struct Event {
  std::uint64_t recorded = 0;      ///< how often `record` was called on it
  std::set<std::uint64_t> coming;  ///< those of them, from 1, that the GPU has not come to yet
  double ms = 0;                   ///< when
  std::shared_ptr<Graph> graph;    ///< where it was recorded last, if in a capture
  std::set<const Node*> before;

  bool has_happened() const { return coming.count(recorded) == 0; }
};

struct Operation {
  Work work;
  Event* waits_for = nullptr;
  std::uint64_t record = 0;
};

struct Stream {
  std::deque<Operation> operations;
  bool is_busy = false;
  std::shared_ptr<Graph> graph;  ///< while it is captured
  std::set<const Node*> before;
  std::vector<const Node*> last;  ///< `before`, as the driver gives it out
  bool began_capture = false;
};

/// Memory that was given out.
struct Unmap {
  std::size_t bytes = 0;
  void operator()(unsigned char* data) const;
};
struct Block {
  std::unique_ptr<unsigned char, Unmap> memory;
  unsigned char* data = nullptr;
  std::size_t bytes = 0;
};

class Gpu {
 public:
  Gpu();

  std::mutex mutex;  ///< guards streams and events
  std::condition_variable changed;

  // With `mutex` held.
  void put(Stream& stream, Work work);
  void record(Stream& stream, Event& event);
  /// Whether it may.
  bool wait(Stream& stream, Event& event);
  void launch(Stream& stream, std::shared_ptr<const Graph> graph);

  /// By their handles.
  std::map<std::uint64_t, Condition> conditions;
  /// What a kernel does, without `mutex`.
  void set_condition(std::uint64_t handle, unsigned value);

  void* allocate(Stream& stream, std::size_t bytes);
  void free(Stream& stream, void* data);
  std::size_t bytes_in_use = 0, most_bytes_in_use = 0;
  /// Whether what is allocated lies where something of its size was freed, if it can.
  bool reuses_memory = false;

  /// Once something has gone wrong, nothing goes right any more.
  void fail(const std::string& why);
  std::string failure;

  std::set<Stream*> streams;

 private:
  void work();
  Stream* pick();
  void run(const Graph& graph);
  void run(const Conditional& conditional);
  bool get_condition(std::uint64_t handle, unsigned& value);
  std::size_t random_below(std::size_t end);
  void retire(Block block);
  Block block_of(std::size_t bytes);

  std::mt19937 random_{1};
  std::map<void*, Block> blocks_;
  std::deque<Block> freed_;
  std::size_t freed_bytes_ = 0;
};

Gpu& gpu();

}  // namespace fake_cuda
