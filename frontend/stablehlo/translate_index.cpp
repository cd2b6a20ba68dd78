// Windows picked and replaced where arrays say: gather, scatter and what is made of them.
#include "anabranch/gather.h"
#include "frontend/array/expression.h"
#include "frontend/stablehlo/site.h"

namespace anabranch::stablehlo {
namespace {

// The numbers of a dialect attribute: "#stablehlo.gather<offset_dims = [0], ...>".
class DimensionNumbers {
 public:
  DimensionNumbers(const Site& site, std::string_view attribute) : site_(site) {
    const Attribute* found = site.op.find(attribute);
    if (!found) site.fail("needs the attribute " + std::string(attribute));
    entries_ = site.entries(*found);
  }
  List operator()(std::string_view name) const {
    for (const auto& [key, value] : entries_) {
      if (key == name) return site_.integers_of(value);
    }
    return {};
  }
  std::int64_t number(std::string_view name) const {
    for (const auto& [key, value] : entries_) {
      if (key == name) return site_.integer_of(value, name);
    }
    return 0;
  }

 private:
  const Site& site_;
  std::vector<NamedAttribute> entries_;
};

Results gather_with(const Site& site, const List& sizes) {
  const DimensionNumbers numbers(site, "dimension_numbers");
  const GatherDimensions dimensions{
      numbers("offset_dims"),           numbers("collapsed_slice_dims"),
      numbers("operand_batching_dims"), numbers("start_indices_batching_dims"),
      numbers("start_index_map"),       numbers.number("index_vector_dim")};
  return {
      gather({site.operand(0), site.where()}, {site.operand(1), site.where()}, dimensions, sizes)};
}

Results gather_op(const Site& site) {
  site.expect_operands(2);
  return gather_with(site, site.integers("slice_sizes"));
}

Results dynamic_gather_op(const Site& site) {
  site.expect_operands(3);
  return gather_with(site, site.constant_integers(2, "slice sizes"));
}

Results scatter_op(const Site& site) {
  if (site.count() < 3 || site.count() % 2 == 0) {
    site.fail("takes arrays, indices and as many updates, and has " + std::to_string(site.count()) +
              " operands");
  }
  const DimensionNumbers numbers(site, "scatter_dimension_numbers");
  const ScatterDimensions dimensions{
      numbers("update_window_dims"),           numbers("inserted_window_dims"),
      numbers("input_batching_dims"),          numbers("scatter_indices_batching_dims"),
      numbers("scatter_dims_to_operand_dims"), numbers.number("index_vector_dim")};
  const std::size_t count = site.count() / 2;
  const std::vector<Array> xs = site.operands(0, count);
  std::vector<Array> updates = site.operands(count + 1, count);
  for (std::size_t i = 0; i < count; ++i) {
    updates[i] = site.converted(updates[i], type_of(xs[i]).dtype);
  }
  const ScatterBody body = [&](const std::vector<Array>& scalars) {
    return site.run_body(site.region(0), scalars);
  };
  return scatter(site.located(xs), {site.operand(count), site.where()}, site.located(updates),
                 dimensions, body);
}

// The slabs of an axis at the places that an array says, batch by batch.
Results torch_index_select_op(const Site& site) {
  site.expect_operands(2);
  const Array x = site.operand(0), indices = site.operand(1);
  const std::int64_t axis = site.integer("dim"), batches = site.integer("batch_dims", 0);
  const int rank = type_of(x).rank(), index_rank = type_of(indices).rank();
  if (axis < 0 || axis >= rank || batches < 0 || batches > axis || batches > index_rank) {
    site.fail("there is no axis " + std::to_string(axis) + " after " + std::to_string(batches) +
              " batch axes");
  }
  GatherDimensions dimensions;
  List sizes(type_of(x).shape.begin(), type_of(x).shape.end());
  sizes[static_cast<std::size_t>(axis)] = 1;
  dimensions.collapsed_slice_dims = {axis};
  dimensions.start_index_map = {axis};
  dimensions.index_vector_dim = index_rank;
  for (std::int64_t i = 0; i < batches; ++i) {
    sizes[static_cast<std::size_t>(i)] = 1;
    dimensions.operand_batching_dims.push_back(i);
    dimensions.start_indices_batching_dims.push_back(i);
  }
  for (std::int64_t i = batches; i < rank; ++i) {
    if (i < axis) dimensions.offset_dims.push_back(i);
    if (i > axis) dimensions.offset_dims.push_back(i - 1 + index_rank - batches);
  }
  return {gather({x, site.where()}, {indices, site.where()}, dimensions, sizes)};
}

constexpr Translation rows_of_index[] = {
    {"gather", gather_op},
    {"dynamic_gather", dynamic_gather_op},
    {"scatter", scatter_op},
    {"torch_index_select", torch_index_select_op},
};

}  // namespace

std::span<const Translation> index_translations() { return rows_of_index; }

}  // namespace anabranch::stablehlo
