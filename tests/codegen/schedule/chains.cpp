// Chains, streams and events against the theory, computed here by other and slower ways.
#include "codegen/schedule/chains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <functional>
#include <ostream>
#include <random>
#include <set>

#include "codegen/schedule/stream_layout.h"
#include "runtime/null/run_null.h"
#include "tests/support/fake_program.h"

namespace anabranch {
namespace {

using testing::FakeProgram;

/// A directed acyclic graph as a matrix: edge[i][j] says that j reads what i writes, i < j.
struct Dag {
  std::size_t size = 0;
  std::vector<std::vector<bool>> edge;

  Dag(std::size_t size) : size(size), edge(size, std::vector<bool>(size)) {}

  Dag closure() const {
    Dag all = *this;
    for (std::size_t k = 0; k < size; ++k) {
      for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = k + 1; j < size; ++j) {
          if (all.edge[i][k] && all.edge[k][j]) all.edge[i][j] = true;
        }
      }
    }
    return all;
  }

  /// Without the edges that two others imply.
  Dag reduction() const {
    const Dag all = closure();
    Dag reduced = all;
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = i + 1; k < size; ++k) {
        for (std::size_t j = k + 1; j < size; ++j) {
          if (all.edge[i][k] && all.edge[k][j]) reduced.edge[i][j] = false;
        }
      }
    }
    return reduced;
  }

  std::size_t edges() const {
    std::size_t count = 0;
    for (const auto& row : edge)
      count += static_cast<std::size_t>(std::count(row.begin(), row.end(), true));
    return count;
  }

  FakeProgram program() const {
    FakeProgram program(1);
    const SlotId in = program.input();
    std::vector<SlotId> slots;
    for (std::size_t j = 0; j < size; ++j) {
      std::vector<SlotId> reads;
      for (std::size_t i = 0; i < j; ++i) {
        if (edge[i][j]) reads.push_back(slots[i]);
      }
      if (reads.empty()) reads.push_back(in);
      const bool is_read = std::count(edge[j].begin(), edge[j].end(), true) > 0;
      slots.push_back(is_read ? program.temporary() : program.output());
      program.step(reads, slots.back());
    }
    return program;
  }
};

// Any edges, or edges only from each four steps to the next few fours.
Dag random_dag(std::mt19937& random, std::size_t size) {
  Dag dag(size);
  const double density = std::uniform_real_distribution<>(0.02, 0.6)(random);
  const bool in_layers = random() % 2;
  std::bernoulli_distribution has_edge(density);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) {
      if (in_layers && (i / 4 == j / 4 || j / 4 - i / 4 > 2)) continue;
      dag.edge[i][j] = has_edge(random);
    }
  }
  return dag;
}

// The most edges of which no two begin or end in the same place: augmenting paths one by one, each
// found depth first.
std::size_t maximum_matching(const Dag& dag) {
  std::vector<std::size_t> matched_to(dag.size, SIZE_MAX);
  std::size_t matched = 0;
  for (std::size_t root = 0; root < dag.size; ++root) {
    std::vector<bool> seen(dag.size);
    const std::function<bool(std::size_t)> augment = [&](std::size_t i) {
      for (std::size_t j = 0; j < dag.size; ++j) {
        if (!dag.edge[i][j] || seen[j]) continue;
        seen[j] = true;
        if (matched_to[j] != SIZE_MAX && !augment(matched_to[j])) continue;
        matched_to[j] = i;
        return true;
      }
      return false;
    };
    matched += augment(root);
  }
  return matched;
}

// The same by trying every set of edges.
std::size_t maximum_matching_by_force(const Dag& dag) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t i = 0; i < dag.size; ++i) {
    for (std::size_t j = 0; j < dag.size; ++j) {
      if (dag.edge[i][j]) edges.emplace_back(i, j);
    }
  }
  std::size_t most = 0;
  for (std::size_t set = 0; set < std::size_t{1} << edges.size(); ++set) {
    std::set<std::size_t> from, to;
    std::size_t count = 0;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (!(set >> e & 1)) continue;
      ++count;
      from.insert(edges[e].first);
      to.insert(edges[e].second);
    }
    if (from.size() == count && to.size() == count) most = std::max(most, count);
  }
  return most;
}

/// What a layout costs, by what counts first.
struct Counts {
  std::size_t waits = 0, events = 0, streams = 0;
  auto operator<=>(const Counts&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  return out << counts.waits << " waits, " << counts.events << " events, " << counts.streams
             << " streams";
}

Counts counts_of(const Program& program) {
  Counts counts{0, 0, program.streams.size()};
  for (const Stream& stream : program.streams) {
    for (const Command& command : stream) {
      counts.waits += std::holds_alternative<Wait>(command);
      counts.events += std::holds_alternative<Record>(command);
    }
  }
  return counts;
}

// The fewest waits, of those layouts the fewest events, of those the fewest streams, for steps
// that share a stream only where one depends on the other. What follows a step on its stream is a
// matching of all dependencies: a reduced edge in it saves a wait, one that is its step's only
// one an event, any edge a stream. The heaviest is found by shortest paths with potentials (Kuhn's
// Hungarian method, as Jonker and Volgenant have it), which has nothing of chains.cpp in it.
Counts fewest_by_weight(const Dag& all, const Dag& reduced) {
  const std::size_t n = all.size;
  const auto followers = [&](std::size_t i) {
    return std::count(reduced.edge[i].begin(), reduced.edge[i].end(), true);
  };
  const auto step = static_cast<std::int64_t>(n + 1);
  std::vector<std::vector<std::int64_t>> cost(n + 1, std::vector<std::int64_t>(n + 1));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (!all.edge[i][j]) continue;
      cost[i + 1][j + 1] = -1;
      if (reduced.edge[i][j]) cost[i + 1][j + 1] -= step * step + (followers(i) == 1 ? step : 0);
    }
  }
  // Row 0 and column 0 stand for nobody.
  std::vector<std::int64_t> row(n + 1), column(n + 1);
  std::vector<std::size_t> row_of(n + 1);
  for (std::size_t root = 1; root <= n; ++root) {
    std::vector<std::int64_t> least(n + 1, INT64_MAX);
    std::vector<std::size_t> from(n + 1);
    std::vector<bool> done(n + 1);
    std::size_t at = 0;
    row_of[0] = root;
    do {
      done[at] = true;
      std::size_t next = 0;
      for (std::size_t j = 1; j <= n; ++j) {
        if (done[j]) continue;
        const std::int64_t slack = cost[row_of[at]][j] - row[row_of[at]] - column[j];
        if (slack < least[j]) {
          least[j] = slack;
          from[j] = at;
        }
        if (next == 0 || least[j] < least[next]) next = j;
      }
      const std::int64_t delta = least[next];
      for (std::size_t j = 0; j <= n; ++j) {
        if (done[j]) {
          row[row_of[j]] += delta;
          column[j] -= delta;
        } else {
          least[j] -= delta;
        }
      }
      at = next;
    } while (row_of[at] != 0);
    for (; at != 0; at = from[at]) row_of[at] = row_of[from[at]];
  }
  Counts counts{reduced.edges(), 0, n};
  for (std::size_t i = 0; i < n; ++i) counts.events += followers(i) > 0;
  for (std::size_t j = 1; j <= n; ++j) {
    const std::size_t i = row_of[j] - 1;
    if (!all.edge[i][j - 1]) continue;
    --counts.streams;
    counts.waits -= reduced.edge[i][j - 1];
    counts.events -= reduced.edge[i][j - 1] && followers(i) == 1;
  }
  return counts;
}

Program on_all_streams(const Dag& dag, int cap = 1000) {
  Options options;
  options.device = Device::null(3);
  options.streams = cap;
  options.use_all_streams = true;
  return testing::scheduled(dag.program().program(), options);
}

// Whether stream order and events put every step after all it depends on: walked from each step's
// launch along the commands before it on its stream and the waits among them.
bool is_ordered(const Program& program, const Dag& dependencies) {
  struct At {
    std::size_t stream, position;
  };
  std::vector<At> recorded_at(program.event_count), launched_at(dependencies.size);
  for (std::size_t s = 0; s < program.streams.size(); ++s) {
    for (std::size_t i = 0; i < program.streams[s].size(); ++i) {
      const Command& command = program.streams[s][i];
      if (auto* record = std::get_if<Record>(&command)) recorded_at[record->event] = {s, i};
      if (auto* launch = std::get_if<Launch>(&command)) launched_at[launch->step] = {s, i};
    }
  }
  for (std::size_t later = 0; later < dependencies.size; ++later) {
    // The furthest command of each stream that has ended before `later` begins.
    std::vector<std::size_t> ended(program.streams.size());
    const std::function<void(At)> include = [&](At at) {
      for (std::size_t i = at.position; i-- > ended[at.stream];) {
        if (auto* wait = std::get_if<Wait>(&program.streams[at.stream][i])) {
          const At from = recorded_at[wait->event];
          if (ended[from.stream] <= from.position) include({from.stream, from.position + 1});
        }
      }
      ended[at.stream] = std::max(ended[at.stream], at.position);
    };
    include(launched_at[later]);
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const At at = launched_at[earlier];
      if (dependencies.edge[earlier][later] && ended[at.stream] <= at.position) return false;
    }
  }
  return true;
}

std::vector<std::string> launched(const Program& program) {
  null::take_log(program.device());
  null::run(program);
  std::vector<std::string> names;
  for (const null::Entry& entry : null::take_log(program.device())) names.push_back(entry.name);
  return names;
}

TEST(Chains, AThousandRandomGraphsTakeAsFewAsTheTheorySays) {
  std::mt19937 random(11);
  std::size_t joined = 0, at_width = 0;
  for (int round = 0; round < 1000; ++round) {
    const Dag dag = random_dag(random, 1 + random() % 40);
    const Dag all = dag.closure(), reduced = dag.reduction();
    const Program made = on_all_streams(dag);
    ASSERT_NO_THROW(verify(made));
    ASSERT_TRUE(is_ordered(made, dag)) << to_string(made);
    const Counts counts = counts_of(made);
    ASSERT_EQ(counts, fewest_by_weight(all, reduced)) << to_string(made);
    // A wait per reduced edge that is not on a chain, and no more streams than such chains.
    const std::size_t matched = maximum_matching(reduced);
    ASSERT_EQ(counts.waits, reduced.edges() - matched);
    ASSERT_EQ(counts.events, made.event_count);
    const std::size_t width = dag.size - maximum_matching(all);  // Dilworth
    ASSERT_GE(counts.streams, width);
    joined += counts.streams < dag.size - matched;
    at_width += counts.streams == width;
  }
  EXPECT_GT(joined, 100u);
  EXPECT_GT(at_width, 990u);
}

// Three streams would do for this one, with a wait more.
TEST(Chains, FewerStreamsAreNotWorthAWait) {
  Dag dag(19);
  const std::vector<std::pair<std::size_t, std::size_t>> edges = {
      {1, 2},   {2, 3},   {3, 4},   {0, 5},   {2, 6},   {5, 7},   {3, 8},   {7, 8},
      {4, 9},   {8, 9},   {6, 10},  {9, 10},  {10, 11}, {8, 12},  {9, 13},  {12, 13},
      {10, 14}, {11, 15}, {14, 15}, {12, 16}, {15, 16}, {15, 17}, {16, 18}, {17, 18}};
  for (auto [from, to] : edges) dag.edge[from][to] = true;
  const Dag all = dag.closure();
  EXPECT_EQ(dag.size - maximum_matching(all), 3u);
  const Counts made = counts_of(on_all_streams(dag));
  EXPECT_EQ(made.streams, 4u);
  EXPECT_EQ(made, fewest_by_weight(all, dag.reduction()));
}

TEST(Chains, StepsThatCouldRunAtTheSameTimeNeverShareAStream) {
  std::mt19937 random(12);
  for (int round = 0; round < 300; ++round) {
    const Dag dag = random_dag(random, 1 + random() % 40), all = dag.closure();
    for (const Stream& stream : on_all_streams(dag).streams) {
      std::vector<StepId> steps;
      for (const Command& command : stream) {
        if (auto* launch = std::get_if<Launch>(&command)) steps.push_back(launch->step);
      }
      for (std::size_t i = 1; i < steps.size(); ++i) {
        ASSERT_TRUE(all.edge[steps[i - 1]][steps[i]]);
      }
    }
  }
}

// Every way to put steps on streams that keeps all concurrency, and every set of waits on it:
// the best with which all dependencies are ordered, and the fewest recording steps of any.
std::pair<Counts, std::size_t> fewest_by_force(const Dag& all) {
  Counts fewest{SIZE_MAX, SIZE_MAX, SIZE_MAX};
  std::size_t fewest_events = SIZE_MAX;
  std::vector<std::size_t> stream_of(all.size);
  const auto try_waits = [&](std::size_t used) {
    std::vector<std::pair<std::size_t, std::size_t>> crossing;
    Dag streams(all.size);
    for (std::size_t i = 0; i < all.size; ++i) {
      for (std::size_t j = i + 1; j < all.size; ++j) {
        if (stream_of[i] == stream_of[j]) {
          streams.edge[i][j] = true;
        } else if (all.edge[i][j]) {
          crossing.emplace_back(i, j);
        }
      }
    }
    for (std::size_t set = 0; set < std::size_t{1} << crossing.size(); ++set) {
      Dag ordered = streams;
      std::set<std::size_t> sources;
      std::size_t waits = 0;
      for (std::size_t e = 0; e < crossing.size(); ++e) {
        if (!(set >> e & 1)) continue;
        ++waits;
        sources.insert(crossing[e].first);
        ordered.edge[crossing[e].first][crossing[e].second] = true;
      }
      const Counts counts{waits, sources.size(), used};
      if (counts >= fewest && counts.events >= fewest_events) continue;
      if (ordered.closure().edge != all.edge) continue;
      fewest = std::min(fewest, counts);
      fewest_events = std::min(fewest_events, counts.events);
    }
  };
  const std::function<void(std::size_t, std::size_t)> place = [&](std::size_t i, std::size_t used) {
    if (i == all.size) return try_waits(used);
    for (std::size_t stream = 0; stream <= used; ++stream) {
      bool keeps_concurrency = true;
      for (std::size_t j = 0; j < i; ++j) {
        if (stream_of[j] == stream && !all.edge[j][i]) keeps_concurrency = false;
      }
      if (!keeps_concurrency) continue;
      stream_of[i] = stream;
      place(i + 1, std::max(used, stream + 1));
    }
  };
  place(0, 0);
  return {fewest, fewest_events};
}

TEST(Chains, NoLayoutTakesFewerWaitsOrEventsOrThenStreams) {
  std::mt19937 random(13);
  for (int round = 0; round < 200; ++round) {
    const Dag dag = random_dag(random, 1 + random() % 5);
    const Dag all = dag.closure(), reduced = dag.reduction();
    ASSERT_EQ(maximum_matching(reduced), maximum_matching_by_force(reduced));
    const auto [fewest, fewest_events] = fewest_by_force(all);
    ASSERT_EQ(counts_of(on_all_streams(dag)), fewest) << to_string(on_all_streams(dag));
    ASSERT_EQ(fewest_by_weight(all, reduced), fewest);
    ASSERT_EQ(fewest.events, fewest_events);  // fewer events are not to be had for more waits
  }
}

TEST(Chains, ACapIsKeptAndNothingWaitsForEver) {
  std::mt19937 random(14);
  for (int round = 0; round < 400; ++round) {
    const Dag dag = random_dag(random, 1 + random() % 40);
    const int cap = 1 + static_cast<int>(random() % 6);
    const Program made = on_all_streams(dag, cap);
    ASSERT_LE(made.streams.size(), static_cast<std::size_t>(cap));
    ASSERT_NO_THROW(verify(made));
    ASSERT_TRUE(is_ordered(made, dag)) << to_string(made);
    ASSERT_EQ(launched(made).size(), dag.size);
  }
}

}  // namespace
}  // namespace anabranch
