// Recording: one operation on arrays, into the trace of a traced operand or to be run later.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "anabranch/array.h"
#include "anabranch/source_location.h"
#include "ir/attributes.h"
#include "ir/graph/graph.h"
#include "ir/op.h"

namespace anabranch {

/// Operations that may pile up under one array before recording runs them.
inline constexpr std::uint32_t recording_limit = 256;

/// Result 0 of `op`. Throws Error, there and then, if the op does not take the operands.
Array record(Op op, const std::vector<Array>& operands, SourceLocation where,
             Attributes attributes = NoAttributes{}, std::optional<Type> stated = std::nullopt);

/// As `record`; what the op refuses is refused as `function`, its name for the user.
Array record_as(const char* function, Op op, const std::vector<Array>& operands,
                SourceLocation where, Attributes attributes = NoAttributes{},
                std::optional<Type> stated = std::nullopt);

/// All results of an op with several, or of a loop or a branch: part of the trace of a traced
/// operand, or compiled and dispatched at once. Throws as `record` does.
std::vector<Array> record_all(Op op, const std::vector<Array>& operands, SourceLocation where,
                              Attributes attributes, std::vector<Graph> regions = {});

/// As `record_all`; what the op refuses is refused as `function`, its name for the user.
std::vector<Array> record_all_as(const char* function, Op op, const std::vector<Array>& operands,
                                 SourceLocation where, Attributes attributes,
                                 std::vector<Graph> regions = {});

/// The outputs of a graph, `function`'s, for these operands, one per parameter: copied into the
/// trace of a traced operand, or compiled (once for equal graphs) and dispatched. Throws as
/// `record` does.
std::vector<Array> call_graph(std::string_view function, const Graph& graph,
                              const std::vector<Array>& operands, SourceLocation where);

}  // namespace anabranch
