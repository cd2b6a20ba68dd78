#include "worker.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "../check.h"
#include "ir/graph/verify.h"
#include "tests/support/equal_twin.h"
#include "tests/support/random_graph.h"

namespace anabranch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned most_seconds_of_a_part = 30;
constexpr std::int64_t most_elements = 100'000;  // of what is made of a graph

double cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

class Timer {
 public:
  Timer(Progress& progress, std::size_t entry) : to_(progress.ns[entry]) {}
  ~Timer() { to_ = to_ + cpu_ns() - begin_; }

 private:
  std::atomic<double>& to_;
  const double begin_ = cpu_ns();
};

// Whether the graph of a seed gives in all ways what it should.
bool check_seed(Progress& progress, const Checked& checked, std::uint64_t seed) {
  std::optional<Run> run;
  std::vector<Bounded> expected;
  try {
    {
      const Timer timer(progress, ways().size());
      run = run_of(checked.made, seed);
      if (!run) {
        ++progress.left_out;
        return true;
      }
      verify(run->tested.graph);
    }
    const Timer timer(progress, ways().size() + 1);
    expected = interpret_bounded(run->original.graph, run->original.inputs);
  } catch (const std::exception& error) {
    set_message(progress, std::string("the graph cannot be made or interpreted: ") + error.what());
    return false;
  }
  for (const Way& way : ways()) {
    if (way.name.find(checked.way) == std::string_view::npos) continue;
    const auto index = static_cast<std::size_t>(&way - ways().data());
    progress.way = static_cast<int>(index);
    const Timer timer(progress, index);
    if (auto wrong = problem(way, run->tested, expected)) {
      set_message(progress, *wrong);
      return false;
    }
  }
  return true;
}

// Whether a part differs, crashes or hangs; says how.
bool fails(Progress& progress, const Way& way, const GraphCase& tested) {
  const auto expected = interpret_bounded(tested.graph, tested.inputs);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(most_seconds_of_a_part);
    const auto wrong = problem(way, tested, expected);
    if (wrong) set_message(progress, *wrong);
    ::_exit(wrong ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) set_message(progress, text_of_signal(WTERMSIG(status)));
  return status != 0;
}

}  // namespace

void set_message(Progress& progress, const std::string& message) {
  const std::size_t length = std::min(message.size(), sizeof progress.message - 1);
  std::copy_n(message.data(), length, progress.message);
  progress.message[length] = '\0';
}

std::string text_of_signal(int signal) {
  if (signal == SIGALRM || signal == SIGKILL) return "does not end";
  return "killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

Outcome check_seeds(Progress& progress, const Checked& checked, std::uint64_t first,
                    std::uint64_t step, std::uint64_t count) {
  for (std::uint64_t k = 0; k < count; ++k) {
    progress.way = -1;
    progress.seed = first + k * step;
    const std::uint64_t left_out = progress.left_out;
    if (!check_seed(progress, checked, first + k * step)) return Outcome::differs;
    if (progress.left_out == left_out) ++progress.graphs;
  }
  return Outcome::done;
}

std::optional<Run> run_of(const MadeOf& made, std::uint64_t seed) {
  Run run;
  run.original = random_graph(seed);
  if (!made.transforms.empty()) {
    Random random(seed);
    auto transformed = testing::transformed(run.original, made.transforms, random, most_elements);
    if (!transformed) return std::nullopt;
    run.original = *std::move(transformed);
  }
  run.tested = made.twins ? equal_twin(run.original, seed).twin : run.original;
  return run;
}

std::string shrunk(Progress& progress, const MadeOf& made, std::uint64_t seed, int way,
                   double seconds) {
  if (way < 0) return describe(random_graph(seed));
  const GraphCase whole = run_of(made, seed)->tested;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  const Way& failing = ways()[static_cast<std::size_t>(way)];
  const GraphCase small = shrink(whole, [&](const GraphCase& part) {
    return Clock::now() < end && fails(progress, failing, part);
  });
  set_message(progress, "nothing, on its own");
  fails(progress, failing, small);
  return describe(small) + "# " + progress.message + "\n";
}

}  // namespace anabranch
