#include "codegen/lower/reduction_scalars.h"

#include <utility>

#include "codegen/kernel/combine_op.h"

namespace anabranch {

std::vector<Ref> initial_scalars(const Combiner& combiner, const Node& reduction,
                                 InlineProducers& producers, KernelBuilder& builder) {
  std::vector<Ref> initial;
  if (combiner.combine == Combine::carry) {
    for (std::size_t i = 0; i < combiner.dtypes.size(); ++i) {
      initial.push_back(
          producers.value_at(reduction.inputs[combiner.dtypes.size() + i], producers.point({})));
    }
    return initial;
  }
  initial.push_back(
      builder.constant(combiner.dtypes[0], identity(combiner.combine, combiner.dtypes[0])));
  if (combiner.dtypes.size() == 2) {
    // Where every element is as extreme as the identity, the first is the answer.
    initial.push_back(builder.constant(combiner.dtypes[1], 0));
  }
  return initial;
}

std::vector<Ref> element_scalars(const Combiner& combiner, const Node& reduction, Point place,
                                 Index position, Ref mask, InlineProducers& producers,
                                 KernelBuilder& builder) {
  std::vector<Ref> values;
  const std::size_t arrays = combiner.combine == Combine::carry ? combiner.dtypes.size() : 1;
  for (std::size_t i = 0; i < arrays; ++i) {
    values.push_back(producers.value_at(reduction.inputs[i], place, mask));
  }
  if (builder.kernel()[values[0]].dtype != combiner.dtypes[0]) {
    values[0] = builder.compute(Op::convert, combiner.dtypes[0], {values[0]});
  }
  if (has_position(combiner.combine)) {
    Ref at = builder.scalar(position);
    values.push_back(
        combiner.dtypes[1] == i64 ? at : builder.compute(Op::convert, combiner.dtypes[1], {at}));
  }
  return values;
}

Reduction make_reduction(const Combiner& combiner, const Node& reduction, std::vector<Ref> initial,
                         std::vector<Ref> values, KernelBuilder& builder) {
  Reduction made;
  made.combine = combiner.combine;
  made.initial = std::move(initial);
  if (combiner.combine != Combine::carry) {
    made.values = std::move(values);
    return made;
  }
  const Graph& body = reduction.regions[0];
  const std::size_t count = combiner.dtypes.size();
  InlineProducers producers(body, builder);
  const Point place = producers.point({});
  for (std::size_t i = 0; i < count; ++i) {
    made.so_far.push_back(builder.argument(combiner.dtypes[i]));
    producers.bind({static_cast<std::uint32_t>(i), 0}, place, made.so_far[i]);
    producers.bind({static_cast<std::uint32_t>(count + i), 0}, place, values[i]);
  }
  for (Value output : body.outputs()) made.values.push_back(producers.value_at(output, place));
  return made;
}

void bind_results(const Combiner& combiner, std::uint32_t node, const Node& reduction, Point row,
                  const std::vector<Ref>& carried, InlineProducers& producers,
                  KernelBuilder& builder) {
  if (combiner.combine == Combine::carry) {
    for (std::uint32_t i = 0; i < carried.size(); ++i) producers.bind({node, i}, row, carried[i]);
    return;
  }
  Ref result = carried.back();  // the position, where there is one
  const Dtype dtype = reduction.types[0].dtype;
  if (combiner.dtypes.back() != dtype) result = builder.compute(Op::convert, dtype, {result});
  producers.bind({node, 0}, row, result);
}

}  // namespace anabranch
