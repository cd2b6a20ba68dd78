// What the processes of a campaign do: check seeds one after the other, or shrink one.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tests/support/random_transform.h"

namespace anabranch {

/// In memory that a worker shares with the process that started it.
struct Progress {
  std::atomic<std::uint64_t> seed;      ///< being checked
  std::atomic<std::uint64_t> graphs;    ///< checked and found right
  std::atomic<std::uint64_t> left_out;  ///< of which nothing is made
  std::atomic<int> way;                 ///< being tried: its index, -1 for the interpreter
  std::atomic<double> ns[16];           ///< of CPU: in each way, making, interpreting
  char message[4096];                   ///< what is wrong with `seed`
};
static_assert(std::atomic<double>::is_always_lock_free);

/// How a worker ends that has not crashed.
enum class Outcome : int { done = 0, differs = 1 };

/// What is run instead of random graphs.
struct MadeOf {
  bool twins = false;                          ///< their equal twins
  std::vector<testing::Transform> transforms;  ///< what these make of them
};

/// Which graphs are run, in which ways.
struct Checked {
  MadeOf made;
  std::string_view way;  ///< those whose names have this in them
};

/// Checks `count` seeds from `first`, every `step`-th, until one differs.
Outcome check_seeds(Progress& progress, const Checked& checked, std::uint64_t first,
                    std::uint64_t step, std::uint64_t count);

/// The text of the smallest part of the seed's graph that differs in this way, crashes or hangs;
/// each part is tried in a process of its own. Takes at most about `seconds`.
std::string shrunk(Progress& progress, const MadeOf& made, std::uint64_t seed, int way,
                   double seconds);

/// What is run for a seed, and what it is held against; nothing where a transform makes nothing of
/// the graph.
struct Run {
  GraphCase tested, original;
};
std::optional<Run> run_of(const MadeOf& made, std::uint64_t seed);

void set_message(Progress& progress, const std::string& message);

/// "aborted", "killed by signal 11 (Segmentation fault)".
std::string text_of_signal(int signal);

}  // namespace anabranch
