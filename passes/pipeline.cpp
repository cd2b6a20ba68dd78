#include "passes/pipeline.h"

#include "passes/dce.h"
#include "passes/fuse.h"

namespace anabranch {
namespace {

constexpr Pass dce_pass = {"dce", "drop what no output needs", dce};
constexpr Pass fuse_pass = {"fuse", "group ops into few kernels", fuse};

constexpr Pass passes[] = {dce_pass, fuse_pass};

}  // namespace

std::span<const Pass> all_passes() { return passes; }

Pipeline default_pipeline() { return passes; }

}  // namespace anabranch
