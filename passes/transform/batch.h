// batch: a graph of single arrays as a graph of whole batches of them, without a loop.
//
//   graph f(%0: f32[3], %1: f32[3]) {        graph f(%0: f32[8,3], %1: f32[3]) {
//     %2: f32[3] = tanh %1                     %2: f32[3] = tanh %1
//     %3: f32[3] = multiply %0, %2      ->     %3: f32[8,3] = broadcast_in_dim %2 axes=[1]
//     return %3                                %4: f32[8,3] = multiply %0, %3
//   }                                          return %4
//                                            }
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

struct BatchedGraph {
  Graph graph;
  std::vector<bool> batched;  ///< per output
};

/// `graph` for `size` elements at once. A batched value has one axis more, the first, of `size`;
/// `batched` says which parameters are. Nodes that depend on no batched parameter are copied as
/// they are. An output is batched where it depends on a batched parameter, or where `required` says
/// so: then it is broadcast. `required` has an entry per output, or none.
///
/// A loop whose condition depends on a batched value runs until it fails for every element; an
/// element whose own condition fails keeps its values from then on, while the body is still
/// computed for it. All branches are computed where the number of the branch is batched. A
/// custom_call is called once per element, in a loop.
///
/// Throws InternalError on a fusion, which later passes make, and where a list has the wrong
/// length; Error where a batched value has more elements than an array can have.
BatchedGraph batch(const Graph& graph, std::int64_t size, const std::vector<bool>& batched,
                   const std::vector<bool>& required = {});

}  // namespace anabranch
