// Sorts, the greatest elements, and what is scattered where a window's element was chosen.
#include "anabranch/arrange.h"
#include "anabranch/gather.h"
#include "anabranch/manipulate.h"
#include "anabranch/sort.h"
#include "anabranch/window.h"
#include "frontend/array/expression.h"
#include "frontend/stablehlo/site.h"

namespace anabranch::stablehlo {
namespace {

Array one_result(const Site& site, const RegionSyntax& body, const std::vector<Array>& scalars) {
  const std::vector<Array> results = site.run_body(body, scalars);
  if (results.size() != 1) site.fail("its body has to return one value");
  return results[0];
}

Results sort_op(const Site& site) {
  const Comparator comparator = [&](const std::vector<Array>& scalars) {
    return one_result(site, site.region(0), scalars);
  };
  return sort(site.located(site.operands()), comparator, site.integer("dimension", -1),
              site.boolean("is_stable", false));
}

Array first_along(const Site& site, const Array& array, std::int64_t axis, std::int64_t count) {
  return slice_in_dim({array, site.where()}, 0, count, Axis(axis));
}

// The first k in descending order, or in ascending order where the least are asked for; floats by
// IEEE 754's totalOrder, as chlo.top_k decomposes.
Results first_of_order(const Site& site, std::int64_t count, bool largest) {
  const Array x = site.operand(0);
  const Type& type = type_of(x);
  if (type.rank() == 0) site.fail("takes an array of at least one axis");
  const std::int64_t axis = type.rank() - 1;
  if (count < 0 || count > type.shape[type.rank() - 1]) {
    site.fail("asks for " + std::to_string(count) + " of the elements along the last axis of " +
              to_string(type));
  }
  const Array key = is_float(type.dtype) ? total_order_key(site, x) : x;
  const Array order = argsort({key, site.where()}, Axis(axis), {.descending = largest});
  const Array first = first_along(site, order, axis, count);
  const Array values = take_along_axis({x, site.where()}, {first, site.where()});
  return {values, site.converted(first, site.result_type(1).dtype)};
}

// chlo.top_k, and the custom_calls @mhlo.topk and @TopK, which say less.
Results top_k_op(const Site& site) {
  std::int64_t count = site.integer("k", -1);
  bool largest = site.boolean("largest", true);
  if (const Attribute* attributes = site.op.find("mhlo.attributes")) {
    for (const auto& [name, value] : site.entries(*attributes)) {
      if (name == "k") count = site.integer_of(value, "k");
      if (name == "largest") largest = value.text != "false";
    }
  }
  const Shape shape = site.result_type(0).shape;
  if (count < 0 && shape.rank() > 0) count = shape[shape.rank() - 1];
  return first_of_order(site, count, largest);
}

// What XLA's approximate top_k gives where it is exact: the elements that its comparator, a
// function of the module, puts first. Its operands are the arrays and what an empty line reads.
Results approx_top_k_op(const Site& site) {
  const std::size_t arrays = site.count() / 2;
  const Attribute* called = site.op.find("called_computations");
  if (!called || called->list.size() != 1 || arrays == 0) {
    site.fail("needs arrays, an initial value of each, and called_computations = [@comparator]");
  }
  const FunctionSyntax* function = site.importer.module().find(called->list[0].text);
  if (!function) site.fail("there is no function @" + called->list[0].text);
  std::int64_t axis = -1;
  for (const char* name : {"mhlo.backend_config", "backend_config"}) {
    const Attribute* config = site.op.find(name);
    if (!config || config->kind != Attribute::Kind::dictionary) continue;
    for (const auto& [key, value] : site.entries(*config)) {
      if (key == "reduction_dim") axis = site.integer_of(value, key);
    }
  }
  const Type type = type_of(site.operand(0));
  if (axis < 0 || axis >= type.rank()) site.fail("its reduction_dim is no axis of its operand");
  const Type result = site.result_type(0);
  if (result.rank() != type.rank()) {
    site.fail("gives " + to_string(result) + " of " + to_string(type) + ", which has other axes");
  }
  const Comparator comparator = [&](const std::vector<Array>& scalars) {
    std::vector<Bound> arguments;
    for (const Array& scalar : scalars) arguments.push_back(Bound::of(scalar));
    const std::vector<Bound> results = site.importer.call(*function, arguments, site.op.at);
    if (results.size() != 1 || results[0].kind != Bound::Kind::array) {
      site.fail("its comparator has to return one value");
    }
    return results[0].array;
  };
  Results results = sort(site.located(site.operands(0, arrays)), comparator, Axis(axis), true);
  const std::int64_t count = result.shape[static_cast<int>(axis)];
  for (Array& sorted : results) sorted = first_along(site, sorted, axis, count);
  return results;
}

Results select_and_scatter_op(const Site& site) {
  site.expect_operands(3);
  const Array x = site.operand(0);
  const auto axes = static_cast<std::size_t>(type_of(x).rank());
  const List sizes = site.integers("window_dimensions", List(axes, 1));
  WindowOptions options;
  options.strides = site.integers("window_strides", {});
  Site::Paddings paddings = site.paddings_of(site.integers("padding", {}));
  options.padding_low = std::move(paddings.low);
  options.padding_high = std::move(paddings.high);
  const Comparator select = [&](const std::vector<Array>& scalars) {
    return one_result(site, site.region(0), scalars);
  };
  const ScalarBody scatter = [&](const std::vector<Array>& scalars) {
    return site.run_body(site.region(1), scalars);
  };
  return {select_and_scatter({x, site.where()}, {site.operand(1), site.where()},
                             {site.operand(2), site.where()}, select, scatter, sizes, options)};
}

constexpr Translation rows_of_order[] = {
    {"sort", sort_op},
    {"top_k", top_k_op},
    {"topk", top_k_op},
    {"TopK", top_k_op},
    {"ApproxTopK", approx_top_k_op},
    {"select_and_scatter", select_and_scatter_op},
};

}  // namespace

std::span<const Translation> order_translations() { return rows_of_order; }

}  // namespace anabranch::stablehlo
