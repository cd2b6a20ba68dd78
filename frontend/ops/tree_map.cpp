#include "anabranch/tree_map.h"

#include <string>

#include "anabranch/error.h"
#include "frontend/ops/tree_paths.h"

namespace anabranch::detail {

std::vector<std::string> array_paths(const Form& form) {
  std::vector<std::string> paths;
  for (const auto& [path, part] : form.lines()) {
    if (part.empty()) paths.push_back(path);
  }
  return paths;
}

void demand_same_places(const char* function, std::span<const Tree> trees) {
  const std::vector<std::string> first = array_paths(trees[0].form);
  for (std::size_t i = 1; i < trees.size(); ++i) {
    const std::vector<std::string> other = array_paths(trees[i].form);
    for (std::size_t at = 0; at < std::max(first.size(), other.size()); ++at) {
      if (at < first.size() && at < other.size() && first[at] == other[at]) continue;
      const auto array_at = [at](const std::vector<std::string>& paths) {
        return at < paths.size() ? paths[at] : std::string("nothing more");
      };
      throw Error(std::string(function) + ": tree 0 has an array at " + array_at(first) +
                  ", and tree " + std::to_string(i) + " at " + array_at(other) +
                  "; give trees of the same lists, keys and structs");
    }
  }
}

}  // namespace anabranch::detail
