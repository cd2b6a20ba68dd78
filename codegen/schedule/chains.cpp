#include "codegen/schedule/chains.h"

#include <bit>
#include <span>
#include <utility>

namespace anabranch {
namespace {

constexpr std::uint32_t none = UINT32_MAX;

/// Hopcroft-Karp: each step once on the left (with a follower to find), once on the right.
class Matching {
 public:
  explicit Matching(const Dependencies& graph)
      : graph_(graph), next_(graph.size(), none), previous_(graph.size(), none) {
    // Whoever is matched stays so: steps that need no event if they are matched come first.
    for (const std::size_t most_followers : {std::size_t{1}, graph.size()}) {
      while (measure(most_followers)) {
        tried_.assign(graph.size(), 0);
        for (std::uint32_t u = 0; u < graph.size(); ++u) {
          if (is_root(u, most_followers)) augment(u);
        }
      }
    }
  }

  std::uint32_t next(std::uint32_t u) const { return next_[u]; }
  std::uint32_t previous(std::uint32_t v) const { return previous_[v]; }
  /// Whether a path of edges, by turns not matched and matched, leads from a step without a
  /// follower to this one.
  bool is_reached(std::uint32_t u) const { return distance_[u] != none; }

  void match(std::uint32_t u, std::uint32_t v) {
    next_[u] = v;
    previous_[v] = u;
  }

 private:
  bool is_root(std::uint32_t u, std::size_t most_followers) const {
    return next_[u] == none && graph_.after(u).size() <= most_followers;
  }

  // Breadth first from the free steps on the left; whether a free one on the right is reached.
  bool measure(std::size_t most_followers) {
    distance_.assign(graph_.size(), none);
    std::vector<std::uint32_t> queue;
    for (std::uint32_t u = 0; u < graph_.size(); ++u) {
      if (!is_root(u, most_followers)) continue;
      distance_[u] = 0;
      queue.push_back(u);
    }
    bool reached = false;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (std::uint32_t v : graph_.after(queue[i])) {
        const std::uint32_t w = previous_[v];
        if (w == none) {
          reached = true;
        } else if (distance_[w] == none) {
          distance_[w] = distance_[queue[i]] + 1;
          queue.push_back(w);
        }
      }
    }
    return reached;
  }

  // Depth first along growing distances, with a stack of its own: paths can be as long as the
  // program.
  void augment(std::uint32_t root) {
    std::vector<std::uint32_t> path = {root};
    while (!path.empty()) {
      const std::uint32_t u = path.back();
      const std::vector<std::uint32_t>& after = graph_.after(u);
      if (tried_[u] == after.size()) {
        path.pop_back();
        continue;
      }
      const std::uint32_t w = previous_[after[tried_[u]++]];
      if (w == none) return flip(path);
      if (distance_[w] == distance_[u] + 1) path.push_back(w);
    }
  }

  // Each step of the path takes the follower that it tried last.
  void flip(const std::vector<std::uint32_t>& path) {
    for (std::uint32_t u : path) match(u, graph_.after(u)[tried_[u] - 1]);
  }

  const Dependencies& graph_;
  std::vector<std::uint32_t> next_, previous_, distance_;
  std::vector<std::size_t> tried_;
};

/// Adds edges that are no edges of the reduced graph: a chain continues with a step that depends on
/// its last one.
///
/// A matching of all dependencies, where a reduced edge (u, v) weighs 1, or 2 if it is u's only
/// one, saves a wait and an event by weight. Vertex covers (Koenig 1931) of the reduced graph and
/// of the only edges are duals that prove the matching so far to be the heaviest: vertices in a
/// cover pay for what their edges weigh. So the heaviest matchings are those of edges that are paid
/// for exactly ("tight"), in which every paying vertex is matched (complementary slackness).
/// Augmenting paths of tight edges keep what is matched so, and when there is none left, none has
/// more edges.
class Joining {
 public:
  Joining(const Dependencies& graph, Matching matching)
      : graph_(graph),
        matching_(std::move(matching)),
        pays_nothing_((graph.size() + 63) / 64),
        ends_(pays_nothing_.size()),
        tight_(graph.size()),
        may_join_(graph.size()) {
    for (std::uint32_t u = 0; u < graph.size(); ++u) {
      if (matching_.is_reached(u)) set(pays_nothing_, u);
      if (matching_.next(u) == none) set(ends_, u);
    }
    for (std::uint32_t v = 0; v < graph.size(); ++v) find_tight(v);
  }

  Matching run() {
    for (bool grown = true; grown;) {
      grown = false;
      untried_.assign(pays_nothing_.size(), ~std::uint64_t{0});
      for (std::uint32_t v = 0; v < graph_.size(); ++v) {
        if (matching_.previous(v) == none && augment(v)) grown = true;
      }
    }
    return std::move(matching_);
  }

 private:
  using Bits = std::vector<std::uint64_t>;

  static std::uint64_t bit(std::uint32_t i) { return std::uint64_t{1} << (i % 64); }
  static void set(Bits& bits, std::uint32_t i) { bits[i / 64] |= bit(i); }
  static void clear(Bits& bits, std::uint32_t i) { bits[i / 64] &= ~bit(i); }
  static bool has(const Bits& bits, std::uint32_t i) { return bits[i / 64] & bit(i); }

  // The covers: of all reduced edges, what Koenig's theorem says; of the only edges, where they
  // end.
  void find_tight(std::uint32_t v) {
    bool pays = false, pays_for_only = false;
    for (std::uint32_t u : graph_.before(v)) {
      pays |= matching_.is_reached(u);
      pays_for_only |= is_only(u);
    }
    may_join_[v] = !pays && !pays_for_only;
    for (std::uint32_t u : graph_.before(v)) {
      const bool once = matching_.is_reached(u) || !pays;
      if (once && pays_for_only == is_only(u)) tight_[v].push_back(u);
    }
  }

  bool is_only(std::uint32_t u) const { return graph_.after(u).size() == 1; }

  // Gives `root` a step to follow, if need be another's, which then gets another; every step is
  // tried once until all have been.
  bool augment(std::uint32_t root) {
    std::vector<std::uint32_t> followers = {root}, leaders;
    while (!followers.empty()) {
      const std::uint32_t u = untried_leader(followers.back());
      if (u == none) {
        followers.pop_back();
        if (!leaders.empty()) leaders.pop_back();
        continue;
      }
      clear(untried_, u);
      leaders.push_back(u);
      if (matching_.next(u) == none) {
        clear(ends_, u);
        for (std::size_t i = 0; i < leaders.size(); ++i) matching_.match(leaders[i], followers[i]);
        return true;
      }
      followers.push_back(matching_.next(u));
    }
    return false;
  }

  // The end of a chain where there is one. The latest, so that what is joined leaves a short gap.
  std::uint32_t untried_leader(std::uint32_t v) const {
    if (may_join_[v]) {
      const std::uint32_t end = latest(v, ends_);
      if (end != none) return end;
    }
    for (std::uint32_t u : tight_[v]) {
      if (has(untried_, u)) return u;
    }
    return may_join_[v] ? latest(v, pays_nothing_) : none;
  }

  std::uint32_t latest(std::uint32_t v, const Bits& among) const {
    const std::span<const std::uint64_t> ancestors = graph_.ancestors(v);
    for (std::uint32_t w = v / 64 + 1; w-- > 0;) {
      const std::uint64_t found = ancestors[w] & among[w] & untried_[w];
      if (found) return w * 64 + 63 - static_cast<std::uint32_t>(std::countl_zero(found));
    }
    return none;
  }

  const Dependencies& graph_;
  Matching matching_;
  Bits pays_nothing_, ends_, untried_;             // of steps that may lead
  std::vector<std::vector<std::uint32_t>> tight_;  // reduced edges to each step, by their leaders
  std::vector<bool> may_join_;                     // whether its other edges can be tight
};

}  // namespace

std::vector<Chain> find_chains(const Dependencies& dependencies) {
  const Matching matching = Joining(dependencies, Matching(dependencies)).run();
  std::vector<Chain> chains;
  for (std::uint32_t u = 0; u < dependencies.size(); ++u) {
    if (matching.previous(u) != none) continue;
    Chain& chain = chains.emplace_back();
    for (std::uint32_t v = u; v != none; v = matching.next(v)) chain.push_back(v);
  }
  return chains;
}

}  // namespace anabranch
