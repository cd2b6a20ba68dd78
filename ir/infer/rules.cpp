#include "ir/infer/rules.h"

#include <algorithm>

#include "anabranch/error.h"

namespace anabranch {

void Application::demand_parameters(std::size_t region, std::string_view what,
                                    std::span<const Type> wanted) const {
  const Graph& graph = regions[region];
  if (graph.parameter_count() != wanted.size()) {
    refuse(std::string(what) + " takes " + std::to_string(graph.parameter_count()) +
           " parameters, not " + std::to_string(wanted.size()));
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (graph.parameter_type(i) == wanted[i]) continue;
    refuse("parameter " + std::to_string(i) + " of " + std::string(what) + " has the wrong type",
           to_string(graph.parameter_type(i)) + " instead of " + to_string(wanted[i]));
  }
}

std::string list_text(std::span<const std::int64_t> list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i) text += ',';
    text += std::to_string(list[i]);
  }
  return text + "]";
}

void Application::refuse(const std::string& problem, const std::string& detail) const {
  std::string text = std::string(name(op)) + ": " + problem;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    text += (i ? " x " : ": ") + to_string(operands[i]);
  }
  if (!detail.empty()) text += " (" + detail + ")";
  if (location) text += ", at " + to_string(location);
  throw Error(text);
}

Type Application::result(Dtype dtype, std::vector<std::int64_t> sizes) const {
  try {
    return Type{dtype, Shape(std::move(sizes))};
  } catch (const Error& error) {
    refuse("no array can have the result's size", error.what());
  }
}

void Application::demand_equal_types() const {
  for (const Type& operand : operands) {
    if (operand.dtype != operands[0].dtype) {
      refuse("operand dtypes differ",
             std::string(anabranch::name(operands[0].dtype)) + " against " +
                 std::string(anabranch::name(operand.dtype)) + "; convert one of them first");
    }
    demand_equal_shapes(operands[0], operand, "broadcast_in_dim them to one shape first");
  }
}

void Application::demand_equal_shapes(const Type& a, const Type& b, std::string_view remedy) const {
  if (a.shape == b.shape) return;
  refuse("operand shapes differ",
         to_string(a.shape) + " against " + to_string(b.shape) + "; " + std::string(remedy));
}

void Application::demand_axis(std::int64_t axis, int rank, std::string_view what) const {
  if (axis >= 0 && axis < rank) return;
  refuse(std::string(what) + " is out of range",
         std::to_string(axis) + "; " +
             (rank == 0 ? std::string("rank 0 has no axes")
                        : "the axes are 0 to " + std::to_string(rank - 1)));
}

void Application::demand_unique_axes(std::span<const std::int64_t> axes, int rank,
                                     std::string_view what) const {
  std::vector<bool> seen(static_cast<std::size_t>(rank));
  for (std::int64_t axis : axes) {
    demand_axis(axis, rank, "an axis of " + std::string(what));
    auto index = static_cast<std::size_t>(axis);
    if (seen[index]) {
      refuse("an axis appears twice in " + std::string(what),
             std::to_string(axis) + " in " + list_text(axes));
    }
    seen[index] = true;
  }
}

void Application::demand_ascending_axes(std::span<const std::int64_t> axes, int rank,
                                        std::string_view what) const {
  demand_unique_axes(axes, rank, what);
  if (!std::is_sorted(axes.begin(), axes.end())) {
    refuse(std::string(what) + " must ascend", list_text(axes) + "; sort them");
  }
}

void Application::demand_per_axis(std::span<const std::int64_t> list, std::string_view what) const {
  if (list.size() == static_cast<std::size_t>(operands[0].rank())) return;
  refuse(std::string(what) + " needs one entry per axis",
         std::to_string(list.size()) + " entries for rank " + std::to_string(operands[0].rank()));
}

}  // namespace anabranch
