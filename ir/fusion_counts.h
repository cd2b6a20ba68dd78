// What a planned fusion group computes, counted.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/fusion_members.h"
#include "ir/fusion_plan.h"
#include "ir/operand_index.h"

namespace anabranch {

/// Sets `operations`, `instructions`, `recompute` and `side_by_side` of `plan`. `demand`: per
/// member the places that it is asked for, `whole` being that of the whole domain; `times_of`: how
/// often what is at a place is computed in one stage.
void count_operations(const FusionMembers& members, std::span<const Value> outputs,
                      std::span<const std::vector<Point>> demand, Point whole,
                      const std::function<std::int64_t(Point)>& times_of, FusionPlan& plan);

}  // namespace anabranch
