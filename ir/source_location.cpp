#include "anabranch/source_location.h"

#include <mutex>
#include <unordered_set>

namespace anabranch {

std::string to_string(const SourceLocation& where) {
  if (!where) return {};
  std::string_view file = where.file;
  if (auto slash = file.rfind('/'); slash != file.npos) file.remove_prefix(slash + 1);
  std::string text = std::string(file) + ":" + std::to_string(where.line);
  return where.scope ? text + " in " + where.scope : text;
}

const char* kept_text(std::string_view text) {
  struct Kept {
    std::mutex mutex;
    std::unordered_set<std::string> texts;
  };
  // Never destroyed: graphs in static storage point into it.
  static Kept* kept = new Kept;
  std::lock_guard lock(kept->mutex);
  return kept->texts.emplace(text).first->c_str();
}

}  // namespace anabranch
