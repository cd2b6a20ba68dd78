#include "ir/source_location.h"

#include <string_view>

namespace anabranch {

std::string to_string(const SourceLocation& where) {
  if (!where) return {};
  std::string_view file = where.file;
  if (auto slash = file.rfind('/'); slash != file.npos) file.remove_prefix(slash + 1);
  return std::string(file) + ":" + std::to_string(where.line);
}

}  // namespace anabranch
