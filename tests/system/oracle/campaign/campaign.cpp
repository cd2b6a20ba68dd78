#include "campaign.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <thread>
#include <vector>

#include "../ways.h"
#include "tests/support/temporary_folder.h"
#include "worker.h"

namespace anabranch {
namespace {

using Clock = std::chrono::steady_clock;

// A worker gives back what LLVM and the allocator keep by ending.
constexpr std::uint64_t most_graphs_of_a_worker = 2'000;
constexpr double shrink_seconds = 300;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Progress& shared_progress() {
  void* memory =
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return *new (memory) Progress{};
}

/// Every `jobs`-th seed, by one process after the other.
struct Job {
  Progress& progress = shared_progress();
  std::uint64_t next = 0;  // the seed
  pid_t process = 0;       // that works now
  bool shrinks = false;    // what it does
  std::uint64_t seed = 0;  // as last seen
  Clock::time_point seen;
  bool stalled = false;
};

class Supervisor {
 public:
  explicit Supervisor(const Campaign& campaign)
      : campaign_(campaign), jobs_(static_cast<std::size_t>(campaign.jobs)) {
    for (std::size_t j = 0; j < jobs_.size(); ++j) jobs_[j].next = campaign.first + j;
  }

  bool run() {
    for (Job& job : jobs_) start(job);
    while (std::ranges::any_of(jobs_, [](const Job& job) { return job.process != 0; })) {
      for (Job& job : jobs_) look_after(job);
      report_now_and_then();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    report(stdout);
    if (campaign_.times) report_times(stdout);
    return differences_ == 0;
  }

 private:
  bool is_over(const Job& job) const {
    const bool late = campaign_.seconds > 0 && seconds_since(begin_) > campaign_.seconds;
    return late || job.next >= campaign_.first + campaign_.count;
  }

  // The supervisor itself never runs a graph: its children begin without threads.
  template <class Body>
  void fork(Job& job, Body body) {
    std::fflush(stdout);
    job.seen = Clock::now();
    job.process = ::fork();
    if (job.process == 0) ::_exit(static_cast<int>(body()));
  }

  void start(Job& job) {
    if (is_over(job)) return;
    const auto step = static_cast<std::uint64_t>(jobs_.size());
    const std::uint64_t left = (campaign_.first + campaign_.count - job.next + step - 1) / step;
    job.shrinks = false;
    fork(job, [&] {
      keep_code_in(folder_.path());
      return check_seeds(job.progress, {campaign_.made, campaign_.way}, job.next, step,
                         std::min(left, most_graphs_of_a_worker));
    });
  }

  void start_shrinking(Job& job) {
    const int way = job.progress.way;
    job.shrinks = true;
    fork(job, [&] {
      const std::string text = shrunk(job.progress, campaign_.made, job.seed, way, shrink_seconds);
      std::printf("seed %llu, smallest part:\n%s\n", static_cast<unsigned long long>(job.seed),
                  text.c_str());
      std::fflush(stdout);
      return 0;
    });
  }

  void look_after(Job& job) {
    if (job.process == 0) return;
    int status = 0;
    if (::waitpid(job.process, &status, WNOHANG) == 0) {
      if (job.shrinks) return kill_if_late(job, 2 * shrink_seconds);
      if (job.progress.seed != job.seed) {
        job.seed = job.progress.seed;
        job.seen = Clock::now();
      }
      return kill_if_late(job, campaign_.stalled_seconds);
    }
    job.process = 0;
    job.seed = job.progress.seed;
    if (!job.shrinks && status != 0) {
      if (found(job, status)) return start_shrinking(job);
    }
    if (!job.shrinks && status == 0) {
      job.next = job.seed + static_cast<std::uint64_t>(jobs_.size());
    }
    start(job);
  }

  void kill_if_late(Job& job, double seconds) {
    if (seconds_since(job.seen) < seconds) return;
    ::kill(job.process, SIGKILL);
    job.seen = Clock::now();
  }

  // Names a difference; whether it is to be shrunk.
  bool found(Job& job, int status) {
    ++differences_;
    job.next = job.seed + static_cast<std::uint64_t>(jobs_.size());
    if (WIFSIGNALED(status)) set_message(job.progress, text_of_signal(WTERMSIG(status)));
    const int way = job.progress.way;
    const std::string_view name =
        way < 0 ? "making it" : ways()[static_cast<std::size_t>(way)].name;
    std::printf("seed %llu, %.*s: %s\n", static_cast<unsigned long long>(job.seed),
                static_cast<int>(name.size()), name.data(), job.progress.message);
    return ++shrunk_ <= campaign_.most_shrunk;
  }

  void report_now_and_then() {
    if (seconds_since(reported_) < 60) return;
    reported_ = Clock::now();
    report(stderr);
  }

  void report_times(std::FILE* to) const {
    for (std::size_t i = 0; i < ways().size() + 2; ++i) {
      double ns = 0;
      for (const Job& job : jobs_) ns += job.progress.ns[i];
      const std::string_view name = i < ways().size()    ? ways()[i].name
                                    : i == ways().size() ? "making graphs"
                                                         : "interpreting them";
      std::fprintf(to, "%9.1f s %.*s\n", ns * 1e-9, static_cast<int>(name.size()), name.data());
    }
  }

  void report(std::FILE* to) const {
    unsigned long long graphs = differences_, left_out = 0;
    for (const Job& job : jobs_) {
      graphs += job.progress.graphs;
      left_out += job.progress.left_out;
    }
    const double took = seconds_since(begin_);
    if (left_out > 0) std::fprintf(to, "%llu left out; ", left_out);
    std::fprintf(to, "seeds from %llu: %llu graphs in %zu ways, %llu differences, %.0f s, %.1f/s\n",
                 static_cast<unsigned long long>(campaign_.first), graphs, ways().size(),
                 differences_, took, static_cast<double>(graphs) / took);
  }

  const Campaign& campaign_;
  testing::TemporaryFolder folder_;
  std::vector<Job> jobs_;
  unsigned long long differences_ = 0;
  int shrunk_ = 0;
  Clock::time_point begin_ = Clock::now(), reported_ = begin_;
};

}  // namespace

bool run_campaign(const Campaign& campaign) { return Supervisor(campaign).run(); }

}  // namespace anabranch
