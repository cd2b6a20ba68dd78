#include "codegen/chains.h"

#include <algorithm>

namespace anabranch {
namespace {

constexpr std::uint32_t none = UINT32_MAX;

/// Hopcroft-Karp: each launch once on the left (with a follower to find), once on the right.
class Matching {
 public:
  explicit Matching(const Dependencies& graph)
      : graph_(graph), next_(graph.size(), none), previous_(graph.size(), none) {
    // Whoever is matched stays so: launches that need no event if they are matched come first.
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

 private:
  bool is_root(std::uint32_t u, std::size_t most_followers) const {
    return next_[u] == none && graph_.after(u).size() <= most_followers;
  }

  // Breadth first from the free launches on the left; whether a free one on the right is reached.
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

  // Each launch of the path takes the follower that it tried last.
  void flip(const std::vector<std::uint32_t>& path) {
    for (std::uint32_t u : path) {
      const std::uint32_t v = graph_.after(u)[tried_[u] - 1];
      next_[u] = v;
      previous_[v] = u;
    }
  }

  const Dependencies& graph_;
  std::vector<std::uint32_t> next_, previous_, distance_;
  std::vector<std::size_t> tried_;
};

// Joins a chain to the one that ends latest of those it follows wholly. Looking at a bounded number
// of them keeps very wide programs cheap.
std::vector<Chain> join(std::vector<Chain> chains, const Dependencies& graph) {
  constexpr std::size_t looked_at = 256;
  std::vector<Chain> joined;
  for (Chain& chain : chains) {
    Chain* best = nullptr;
    const std::size_t begin = joined.size() > looked_at ? joined.size() - looked_at : 0;
    for (std::size_t i = begin; i < joined.size(); ++i) {
      if (!graph.depends(chain.front(), joined[i].back())) continue;
      if (!best || joined[i].back() > best->back()) best = &joined[i];
    }
    if (best) {
      best->insert(best->end(), chain.begin(), chain.end());
    } else {
      joined.push_back(std::move(chain));
    }
  }
  return joined;
}

}  // namespace

std::vector<Chain> cover_with_chains(const Dependencies& dependencies) {
  const Matching matching(dependencies);
  std::vector<Chain> chains;
  for (std::uint32_t u = 0; u < dependencies.size(); ++u) {
    if (matching.previous(u) != none) continue;
    Chain& chain = chains.emplace_back();
    for (std::uint32_t v = u; v != none; v = matching.next(v)) chain.push_back(v);
  }
  return chains;
}

std::vector<Chain> find_chains(const Dependencies& dependencies) {
  return join(cover_with_chains(dependencies), dependencies);
}

}  // namespace anabranch
