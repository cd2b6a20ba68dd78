// Sorts, the greatest elements, and what is scattered where a window's element was chosen.
#include "anabranch/gather.h"
#include "anabranch/manipulate.h"
#if __has_include("anabranch/window.h")
#include "anabranch/sort.h"
#include "anabranch/window.h"
#endif
#include "frontend/array/expression.h"
#include "frontend/stablehlo/site.h"

namespace anabranch::stablehlo {
namespace {

#if __has_include("anabranch/window.h")
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

// The first k in descending order, or in ascending order where the least are asked for.
Results first_of_order(const Site& site, std::int64_t count, bool largest) {
  const Operand x(site.operand(0), site.where());
  const Type& type = type_of(x.array());
  if (type.rank() == 0) site.fail("takes an array of at least one axis");
  if (largest) {
    const Ranked best = top_k(x, count);
    return {best.values, site.converted(best.indices, site.result_type(1).dtype)};
  }
  const Array order = argsort(x);
  List start(static_cast<std::size_t>(type.rank()), 0);
  List limit(type.shape.begin(), type.shape.end());
  limit.back() = count;
  const Array first = slice({order, site.where()}, start, limit);
  const Array values = take_along_axis(x, {first, site.where()});
  return {values, site.converted(first, site.result_type(1).dtype)};
}

// chlo.top_k, and the custom_calls @mhlo.topk and @TopK, which say less.
Results top_k_op(const Site& site) {
  std::int64_t count = site.integer("k", -1);
  bool largest = site.boolean("largest", true);
  if (const Attribute* attributes = site.op.find("mhlo.attributes")) {
    for (const auto& [name, value] : site.entries(*attributes)) {
      if (name == "k") count = site.integers_of(value).at(0);
      if (name == "largest") largest = value.text != "false";
    }
  }
  const Shape shape = site.result_type(0).shape;
  if (count < 0 && shape.rank() > 0) count = shape[shape.rank() - 1];
  return first_of_order(site, count, largest);
}

Results select_and_scatter_op(const Site& site) {
  site.expect_operands(3);
  const Array x = site.operand(0);
  const auto axes = static_cast<std::size_t>(type_of(x).rank());
  const List sizes = site.integers("window_dimensions", List(axes, 1));
  WindowOptions options;
  options.strides = site.integers("window_strides", {});
  const List padding = site.integers("padding", {});
  for (std::size_t i = 0; i + 1 < padding.size(); i += 2) {
    options.padding_low.push_back(padding[i]);
    options.padding_high.push_back(padding[i + 1]);
  }
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
    {"select_and_scatter", select_and_scatter_op},
};

#else
constexpr std::span<const Translation> rows_of_order;
#endif

}  // namespace

std::span<const Translation> order_translations() { return rows_of_order; }

}  // namespace anabranch::stablehlo
