// Team: the threads that work on one matrix together.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "codegen/host/phases.h"
#include "codegen/linalg/matrix_task.h"

namespace anabranch::lapack {

/// What one of the threads that work on a matrix knows of the others. All of them call `run` in the
/// same order with the same items.
class Team {
 public:
  /// `phases` is null where one thread does all of it.
  Team(host::Phases* phases, std::atomic<bool>& failed) : phases_(phases), failed_(failed) {}

  /// Calls `work(item)` for items [0, items) that no other thread has taken, and returns once all
  /// are done.
  template <class Work>
  void run(std::int64_t items, Work work) {
    host::Phases::run(phases_, next_phase_++, items, work);
  }

  /// Says that the matrix has no result.
  void fail() { failed_.store(true, std::memory_order_relaxed); }
  /// Whether a thread has said so. All threads agree on what an earlier `run` has said; they may
  /// see more.
  bool has_failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  host::Phases* const phases_;
  std::atomic<bool>& failed_;
  std::int64_t next_phase_ = 0;
};

/// `Task::run_matrix<T>(buffers, index, team)` for each of `count` matrices, in `Task::phases()`
/// calls of `Team::run` at most. Where matrices are fewer than threads, threads work on all of them
/// together, one matrix after the other.
template <class Task>
class TeamTask {
 public:
  TeamTask(const Task& task, std::int64_t count, bool is_together)
      : task_(task), count_(count), is_together_(is_together) {}

  double work() const { return task_.work(); }

  template <class T>
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
    if (is_together_) begin = 0, end = count_;
    for (std::int64_t i = begin; i < end; ++i) {
      if (shared_.empty()) {
        std::atomic<bool> failed{false};
        run_matrix<T>(buffers, i, Team(nullptr, failed));
      } else {
        Shared& shared = *shared_[static_cast<std::size_t>(i)];
        run_matrix<T>(buffers, i, Team(&shared.phases, shared.failed));
      }
    }
  }

  static std::shared_ptr<const void> share(const void* context, void* const*) {
    auto task = std::make_shared<TeamTask>(*static_cast<const TeamTask*>(context));
    for (std::int64_t i = 0; i < task->count_; ++i) {
      task->shared_.push_back(std::make_shared<Shared>(task->task_.phases()));
    }
    return task;
  }

 private:
  // Of one matrix.
  struct Shared {
    host::Phases phases;
    std::atomic<bool> failed{false};
    explicit Shared(std::int64_t phase_count) : phases(phase_count) {}
  };

  template <class T>
  void run_matrix(void* const* buffers, std::int64_t index, Team team) const {
    task_.template run_matrix<T>(buffers, index, team);
  }

  Task task_;
  std::int64_t count_;
  bool is_together_;
  std::vector<std::shared_ptr<Shared>> shared_;  // none where one thread does all of it
};

template <class Task>
MatrixTask team_task_of(const CallStep& call, const Task& task, std::int64_t count,
                        std::int64_t threads) {
  const bool is_together = count < threads;
  MatrixTask made = task_of(call, TeamTask<Task>(task, count, is_together), count);
  if (is_together) {
    made.task.share = TeamTask<Task>::share;
    made.task.extent = threads;
    made.task.grain = 1;
  }
  return made;
}

}  // namespace anabranch::lapack
