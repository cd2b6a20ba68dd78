#include "codegen/cuda/dot/parts.h"

#include "codegen/cuda/dot/products.h"
#include "ir/graph/builder.h"

namespace anabranch::cuda {
namespace {

// A fusion that gives the operand's axes another order; none where that is empty.
std::optional<Node> layout_of(const Type& from, const std::vector<std::int64_t>& order) {
  if (order.empty()) return std::nullopt;
  GraphBuilder builder("layout");
  const Value result = builder.add(Op::transpose, {builder.parameter(from)}, AxesAttributes{order});
  Node fusion;
  fusion.op = Op::fusion;
  fusion.types = {builder.type(result)};
  fusion.attributes = FusionAttributes{FusionKind::elementwise};
  fusion.regions.push_back(builder.build({result}));
  return fusion;
}

// Whether the library takes the epilogue too.
bool take_epilogue(const Graph& epilogue, const Options& options, int gpu, DotParts& parts) {
  const std::int64_t columns =
      dot_products(parts.dot.lhs, parts.dot.rhs, parts.dot.attributes)->rows;
  const auto found = library_epilogue(epilogue, columns, options.fast_math);
  if (!found) return false;
  Dot whole = parts.dot;
  whole.has_bias = found->bias.has_value();
  whole.activation = found->activation;
  if (!dot_workspace(whole, gpu)) return false;
  parts.dot = std::move(whole);
  // Parameter 0 of the epilogue is the dot's result, the others are the extra inputs.
  if (found->bias) parts.bias = *found->bias - 1;
  return true;
}

}  // namespace

std::optional<DotParts> dot_parts(const DotSplit& split, const Options& options, int gpu) {
  const LaidOutDot laid_out = lay_out(split.dot.lhs, split.dot.rhs, split.dot.attributes);
  DotParts parts;
  parts.dot = {.lhs = laid_out.lhs,
               .rhs = laid_out.rhs,
               .result = split.dot.result,
               .attributes = laid_out.attributes,
               .tf32 = options.tf32};
  if (split.epilogue) {
    parts.needs_epilogue = !take_epilogue(split.epilogue->regions[0], options, gpu, parts);
  }
  const auto workspace = dot_workspace(parts.dot, gpu);
  if (!workspace) return std::nullopt;
  parts.workspace_bytes = *workspace;
  parts.lhs_layout = layout_of(split.dot.lhs, laid_out.lhs_order);
  parts.rhs_layout = layout_of(split.dot.rhs, laid_out.rhs_order);
  return parts;
}

}  // namespace anabranch::cuda
