// What the rules of `infer` share: one application of an op, and how to refuse it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"

namespace anabranch {

/// An op about to be applied to operands of these types.
struct Application {
  Op op;
  std::span<const Type> operands;
  const Attributes& attributes;
  const std::optional<Type>& stated;
  std::span<const Graph> regions;
  SourceLocation location;

  template <class A>
  const A& as() const {
    return std::get<A>(attributes);
  }

  /// Throws Error "op: problem: f32[3] x f32[4] (detail), at model.cpp:12".
  [[noreturn]] void refuse(const std::string& problem, const std::string& detail = {}) const;

  /// A type of these sizes; refuses sizes that no array can have.
  Type result(Dtype dtype, std::vector<std::int64_t> sizes) const;

  void demand_equal_types() const;
  void demand_equal_shapes(const Type& a, const Type& b, std::string_view remedy) const;
  /// `axis` must be one of `rank`; `what` names it in the message ("axes[1]", "axis").
  void demand_axis(std::int64_t axis, int rank, std::string_view what) const;
  /// In range and no axis twice.
  void demand_unique_axes(std::span<const std::int64_t> axes, int rank,
                          std::string_view what) const;
  void demand_ascending_axes(std::span<const std::int64_t> axes, int rank,
                             std::string_view what) const;
  /// One entry per axis of the first operand.
  void demand_per_axis(std::span<const std::int64_t> list, std::string_view what) const;
  /// Region `region`, called `what` in the message ("the body"), takes these parameters.
  void demand_parameters(std::size_t region, std::string_view what,
                         std::span<const Type> wanted) const;
};

/// "[1,2]"
std::string list_text(std::span<const std::int64_t> list);

/// The types of an op's results; of one result, its type alone.
struct ResultTypes {
  std::vector<Type> types;

  ResultTypes(Type one) : types{std::move(one)} {}
  ResultTypes(std::vector<Type> several) : types(std::move(several)) {}
};

/// type_rules::transpose(call) gives the types of a `transpose`'s results, and so for every op that
/// is neither elementwise nor a reduction (a missing one fails the link).
namespace type_rules {

#define ELEMENTWISE_OP(name)
#define COMPOSED_OP(name)
#define REDUCTION_OP(name)
#define OTHER_OP(name) ResultTypes name(const Application& call);
#include "ir/ops_by_kind.def"

ResultTypes elementwise(const Application& call);
ResultTypes reduction(const Application& call);

}  // namespace type_rules
}  // namespace anabranch
