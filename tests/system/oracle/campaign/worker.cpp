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
  GraphCase original, tested;
  std::vector<Bounded> expected;
  try {
    {
      const Timer timer(progress, ways().size());
      original = random_graph(seed);
      tested = checked.twins ? equal_twin(original, seed).twin : original;
      verify(tested.graph);
    }
    const Timer timer(progress, ways().size() + 1);
    expected = interpret_bounded(original.graph, original.inputs);
  } catch (const std::exception& error) {
    set_message(progress, std::string("the graph cannot be made or interpreted: ") + error.what());
    return false;
  }
  for (const Way& way : ways()) {
    if (way.name.find(checked.way) == std::string_view::npos) continue;
    const auto index = static_cast<std::size_t>(&way - ways().data());
    progress.way = static_cast<int>(index);
    const Timer timer(progress, index);
    if (auto wrong = problem(way, tested, expected)) {
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
    if (!check_seed(progress, checked, first + k * step)) return Outcome::differs;
    ++progress.graphs;
  }
  return Outcome::done;
}

std::string shrunk(Progress& progress, bool of_twin, std::uint64_t seed, int way, double seconds) {
  const GraphCase original = random_graph(seed);
  const GraphCase whole = of_twin ? equal_twin(original, seed).twin : original;
  if (way < 0) return describe(whole);
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
