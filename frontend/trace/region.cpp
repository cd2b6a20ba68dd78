#include "frontend/trace/region.h"

#include <map>

#include "ir/graph/builder.h"
#include "ir/graph/copier.h"

namespace anabranch {
namespace {

// Equal for two handles of one array.
using Identity = std::pair<const void*, Value>;

Identity identity_of(const Array& array) {
  const Expression& expression = *array.expression();
  if (expression.kind != Expression::Kind::traced) return {&expression, {}};
  return {expression.traced.tracer.get(), expression.traced.value};
}

// `graph` with parameters like its own first `kept`, then of these types; its own parameter
// kept + i becomes number kept + place[i].
Graph with_parameters(const Graph& graph, std::size_t kept, std::span<const Type> types,
                      std::span<const std::size_t> place) {
  GraphBuilder builder(graph.name());
  GraphCopier copier(graph, builder);
  for (std::uint32_t i = 0; i < kept; ++i) {
    copier.rename(i, builder.parameter(graph.parameter_type(i)));
  }
  std::vector<Value> added;
  for (const Type& type : types) added.push_back(builder.parameter(type));
  for (std::uint32_t i = 0; i < place.size(); ++i) {
    copier.rename(static_cast<std::uint32_t>(kept) + i, added[place[i]]);
  }
  copier.copy_body();
  return builder.build(copier(graph.outputs()));
}

}  // namespace

Array Region::parameter(const Type& type, bool weak) {
  Array parameter = tracer_->parameter(type);
  parameter.expression()->weak = weak;
  ++own_parameters_;
  return parameter;
}

JoinedRegions join(std::span<const Region* const> regions) {
  JoinedRegions joined;
  std::map<Identity, std::size_t> position;
  std::vector<Type> types;
  for (const Region* region : regions) {
    for (const Array& capture : region->captures()) {
      if (!position.emplace(identity_of(capture), types.size()).second) continue;
      joined.captures.push_back(capture);
      types.push_back(capture.expression()->type);
    }
  }
  for (const Region* region : regions) {
    std::vector<std::size_t> place;
    for (const Array& capture : region->captures()) {
      place.push_back(position.at(identity_of(capture)));
    }
    joined.graphs.push_back(
        with_parameters(region->graph(), region->own_parameters(), types, place));
  }
  return joined;
}

}  // namespace anabranch
