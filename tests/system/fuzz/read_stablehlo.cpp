// libFuzzer's target for the reader and the writer of StableHLO: whatever the bytes are, they are
// an Error or a module; a function of it is an Error or a graph; and what the writer makes of that
// is read back.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "anabranch/error.h"
#include "anabranch/stablehlo.h"

namespace {

namespace stablehlo = anabranch::stablehlo;

// Written forms beyond this say no more than shorter ones, and take the time of many.
constexpr std::size_t longest = 1 << 20;

void demand_readable(const std::string& text) {
  if (text.size() > longest) return;
  try {
    stablehlo::parse(text).function("main").graph();
  } catch (const anabranch::Error& error) {
    std::fprintf(stderr, "what was written does not read back: %s\n%s\n", error.what(),
                 text.c_str());
    std::abort();
  }
}

void translate(const stablehlo::Function& function) {
  std::string text;
  try {
    text = stablehlo::to_stablehlo(function.graph());
  } catch (const anabranch::Error&) {
    return;  // the user's to mend, or what StableHLO has no operation for
  }
  demand_readable(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const stablehlo::Part& part : stablehlo::split(text)) {
      const stablehlo::Module module = stablehlo::parse(part, "fuzz.mlir");
      for (const stablehlo::Function& function : module.functions()) translate(function);
    }
  } catch (const anabranch::Error&) {
  }
  return 0;
}
