#include "anabranch/type.h"

#include <ostream>

namespace anabranch {

std::string to_string(const Type& type) {
  return std::string(name(type.dtype)) + to_string(type.shape);
}

std::ostream& operator<<(std::ostream& out, const Type& type) { return out << to_string(type); }

}  // namespace anabranch
