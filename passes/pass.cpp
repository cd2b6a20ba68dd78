#include "passes/pass.h"

#include "anabranch/error.h"

namespace anabranch {

const Pass& find_pass(std::string_view name) {
  std::string known;
  for (const Pass& pass : all_passes()) {
    if (pass.name == name) return pass;
    known += (known.empty() ? "" : ", ") + std::string(pass.name);
  }
  throw Error("there is no pass " + std::string(name) + "; there are " + known);
}

}  // namespace anabranch
