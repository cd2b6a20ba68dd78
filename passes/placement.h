// Placement: on which device each node of a graph runs.
//
//   %1 = transfer %0 device=cpu:1      cpu:1, whatever %0 is on
//   %2 = tanh %1                       cpu:1, where its operand is
//   %3 = iota                          cpu:1 where only %4 reads it
//   %4 = add %2, %3                    cpu:1
//   %5 = transfer %4 device=cpu:1      goes: what reads it reads %4
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "anabranch/device.h"
#include "ir/graph/graph.h"

namespace anabranch {

struct PlacedGraph {
  Graph graph;
  std::vector<Device> devices;  ///< one per node; of no meaning for constants, which are anywhere
};

/// A node runs where its operands are. What has none that are anywhere runs where all its readers
/// do, else on `home`, with a transfer to each other device that reads it. Transfers to where the
/// operand is already go, and what is sent on comes from where it was at first. Throws Error,
/// naming the op, both devices and the remedy, where operands are on different devices or a loop's
/// or a branch's region holds a transfer.
///
/// Before fusion, `with_floating` is false: what depends on no parameter then gets no transfers,
/// since most of it will be computed wherever it is read.
PlacedGraph place(const Graph& graph, const ParameterDevices& parameters, const Device& home,
                  bool with_floating = true);

/// For each node whether it depends on a parameter or a transfer, which say where it is. What does
/// not may be computed on any device.
std::vector<char> nodes_on_devices(const Graph& graph);

/// For each node the part of the graph that it belongs to, parts being joined by transfers alone;
/// nodes of different parts may be on different devices. Empty where there is one part.
std::vector<std::uint32_t> parts_between_transfers(const Graph& graph);

}  // namespace anabranch
