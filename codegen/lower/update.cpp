#include "codegen/lower/update.h"

#include <utility>
#include <vector>

#include "codegen/lower/inline_producers.h"
#include "ir/kernel/builder.h"

namespace anabranch {

std::optional<std::size_t> updated_parameter(const Graph& region) {
  const std::size_t parameters = region.parameter_count();
  if (region.nodes().size() != parameters + 1 || region.outputs().size() != 1) return {};
  const Node& node = region.nodes()[parameters];
  if (node.op != Op::dynamic_update_slice) return {};
  return node.inputs[0].node;
}

Lowered lower_update(const Graph& region, const std::string& name) {
  const Node& node = region.node(region.outputs()[0]);
  const Type& whole = node.types[0];
  const Shape& block = region.type(node.inputs[1]).shape;
  KernelBuilder builder(name);
  InlineProducers producers(region, builder);
  KernelCall call;
  for (std::uint32_t i = 0; i < region.parameter_count(); ++i) {
    const Type& type = region.parameter_type(i);
    builder.add_buffer({"in" + std::to_string(i), type.dtype, type.size(), Access::read});
    call.arguments.push_back({KernelArgument::Kind::input, i});
  }
  const std::uint32_t out = builder.add_buffer({"out0", whole.dtype, whole.size(), Access::write});
  call.arguments.push_back({KernelArgument::Kind::output, 0});
  if (block.size() > 0) {
    for (std::size_t i = 2; i < node.inputs.size(); ++i)
      producers.value_at(node.inputs[i], producers.point({}));
    std::vector<Index> place = producers.starts(node, producers.point({})), inner;
    std::size_t loops = 0;
    for (std::size_t axis = 0; axis < place.size(); ++axis) {
      inner.push_back(builder.indices().constant(0));
      const std::int64_t size = block[static_cast<int>(axis)];
      if (size == 1) continue;
      inner.back() = builder.index_of(builder.open_loop(size));
      place[axis] = builder.indices().add(place[axis], inner.back());
      ++loops;
    }
    const Ref value = producers.value_at(node.inputs[1], producers.point(std::move(inner)));
    builder.set_location(node.location);
    builder.store(out, builder.indices().flatten(place, whole.shape.sizes()), value);
    for (; loops > 0; --loops) builder.close_loop();
  }
  call.kernel = builder.take();
  return {{std::move(call)}, {}};
}

}  // namespace anabranch
