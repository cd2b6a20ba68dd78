// Checks out of loops and branches: what a check inside of one finds is carried out of it as a
// number, and one check behind it guards its results.
//
//   while %0, %1 {                          while %0, %1, 0 {
//     ...                                     ...
//     %5: f32[] = check %4, %3                %5: i32[] = select %carried != 0 ? %carried : %4
//     return %2, %5                           return %2, %3, %5
//   }                                       }
//                                           check %6#2, ... messages=["..."]
#pragma once

#include <vector>

#include "ir/graph/builder.h"
#include "passes/pass.h"

namespace anabranch {

/// Whether the node is a check, or a loop, a branch or a function that holds one.
bool has_check(const Node& node);
bool has_check(const Graph& graph);

/// Makes `results` those of a check of `state`. Where they are carried by a loop, those that are
/// parameters only where all are, so that what the loop does not change is seen to be so.
void guard(GraphBuilder& builder, Value state, CheckAttributes messages,
           std::vector<Value>& results, bool are_carried);

/// The same results; the first check that fails, in the order of nodes and turns, is the one that
/// is reported. A loop that does not count its turns ends with it. Checks inside of functions
/// (`composite`) stay there.
Graph gather_checks(const Graph& graph, PassContext& context);
/// The same with the first `count` of the outputs alone. All checks count, also those that only the
/// others need.
Graph with_gathered_checks(const Graph& graph, std::size_t count, bool are_carried);

}  // namespace anabranch
