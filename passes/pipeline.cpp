#include "passes/pipeline.h"

#include "passes/canonicalize.h"
#include "passes/cse.h"
#include "passes/dce.h"
#include "passes/expand.h"
#include "passes/fold.h"
#include "passes/fusion/fuse.h"
#include "passes/inline.h"
#include "passes/outline.h"
#include "passes/row_blocks/row_blocks.h"
#include "passes/show_placement.h"
#include "passes/simplify.h"
#include "passes/simplify_control_flow.h"
#include "passes/sink.h"
#include "passes/split_carries.h"
#include "passes/transform/batch_loops.h"
#include "passes/transform/gather_checks.h"

namespace anabranch {
namespace {

constexpr Pass inline_pass = {"inline", "put functions in the place of their calls", inline_, true,
                              true};
constexpr Pass checks_pass = {"checks", "carry what checks find out of loops and branches",
                              gather_checks, true};
constexpr Pass expand_pass = {"expand", "write what no backend computes as what one does", expand,
                              false, true};
constexpr Pass canonicalize_pass = {"canonicalize", "one way of writing each thing", canonicalize};
constexpr Pass fold_pass = {"fold", "compute what only depends on constants", fold};
constexpr Pass simplify_pass = {"simplify", "algebra that keeps every bit", simplify};
constexpr Pass sink_pass = {"sink", "let loops compute what costs more to load", sink};
constexpr Pass simplify_control_flow_pass = {
    "simplify_control_flow", "take the branches, and drop the loops and checks, that are decided",
    simplify_control_flow};
constexpr Pass cse_pass = {"cse", "compute equal things once", cse};
constexpr Pass dce_pass = {"dce", "drop what no output needs", dce};
constexpr Pass batch_loops_pass = {"batch_loops", "compute independent turns of loops at once",
                                   batch_loops};
constexpr Pass split_carries_pass = {"split_carries", "carry a point's coordinates one by one",
                                     split_carries};
constexpr Pass row_blocks_pass = {"row_blocks", "keep what is between dots in the cache",
                                  row_blocks};
constexpr Pass fuse_pass = {"fuse", "group ops into few kernels", fuse};
constexpr Pass outline_pass = {"outline", "make a group of each op that is left", outline, false,
                               true};

constexpr Pass placement_pass = {"placement", "put each op on the device of its operands",
                                 show_placement, true};

constexpr Pass passes[] = {
    inline_pass,     checks_pass, expand_pass,      canonicalize_pass,
    fold_pass,       sink_pass,   simplify_pass,    simplify_control_flow_pass,
    cse_pass,        dce_pass,    batch_loops_pass, split_carries_pass,
    row_blocks_pass, fuse_pass,   outline_pass,     placement_pass};

// Simplifying brings constants together and index maps next to each other, and so does a branch
// that has been taken: fold and merge those too.
// Rules see what a loop computes with once that has sunk into it.
constexpr Pass compile_passes[] = {
    inline_pass,       checks_pass,        expand_pass,     canonicalize_pass,
    fold_pass,         sink_pass,          simplify_pass,   simplify_control_flow_pass,
    canonicalize_pass, fold_pass,          cse_pass,        dce_pass,
    batch_loops_pass,  split_carries_pass, row_blocks_pass, fuse_pass,
    outline_pass};

}  // namespace

std::span<const Pass> all_passes() { return passes; }

Pipeline default_pipeline() { return compile_passes; }

}  // namespace anabranch
