// Operations of dynamic shapes whose result is static all the same, and what is refused by name.
#include "frontend/array/expression.h"
#include "frontend/stablehlo/site.h"

namespace anabranch::stablehlo {
namespace {

Results dynamic_broadcast_in_dim_op(const Site& site) {
  return {site.record(Op::broadcast_in_dim, {site.operand(0)},
                      AxesAttributes{site.integers("broadcast_dimensions", {})},
                      site.result_type())};
}

Results dynamic_reshape_op(const Site& site) {
  return {site.record(Op::reshape, {site.operand(0)}, NoAttributes{}, site.result_type())};
}

Results dynamic_iota_op(const Site& site) {
  return {site.importer.leaf(Op::iota, AxisAttributes{site.integer("iota_dimension")},
                             site.result_type(), site.where())};
}

Results dynamic_pad_op(const Site& site) {
  site.expect_operands(5);
  PadAttributes padding{site.constant_integers(2, "low paddings"),
                        site.constant_integers(3, "high paddings"),
                        site.constant_integers(4, "interior paddings")};
  return {site.record(Op::pad, {site.operand(0), site.operand(1)}, std::move(padding))};
}

Results real_dynamic_slice_op(const Site& site) {
  site.expect_operands(4);
  SliceAttributes bounds{site.constant_integers(1, "starts"), site.constant_integers(2, "limits"),
                         site.constant_integers(3, "strides")};
  return {site.record(Op::slice, {site.operand(0)}, std::move(bounds))};
}

// The number of the one device among those that run the program.
Results first_of_all(const Site& site) { return {site.scalar(0, site.result_type().dtype)}; }

constexpr Translation rows_of_dynamic[] = {
    {"dynamic_broadcast_in_dim", dynamic_broadcast_in_dim_op},
    {"dynamic_reshape", dynamic_reshape_op},
    {"dynamic_iota", dynamic_iota_op},
    {"dynamic_pad", dynamic_pad_op},
    {"real_dynamic_slice", real_dynamic_slice_op},
    {"replica_id", first_of_all},
    {"partition_id", first_of_all},
};

// --- what is refused -----------------------------------------------------------------------------

Results refuse_communication(const Site& site) {
  site.fail(
      "communicates with other devices or the host, and programs here run on one device; "
      "export the program for one device");
}

Results refuse_quantized(const Site& site) {
  site.fail(
      "works on quantized types, which are not read; dequantize the program "
      "(stablehlo-opt --stablehlo-legalize-quant-to-math)");
}

Results refuse_dynamic(const Site& site) {
  site.fail("gives an array of dynamic size; export the program for static shapes");
}

constexpr Translation rows_of_refused[] = {
    {"all_gather", refuse_communication},
    {"all_reduce", refuse_communication},
    {"all_to_all", refuse_communication},
    {"collective_broadcast", refuse_communication},
    {"collective_permute", refuse_communication},
    {"cross-replica-sum", refuse_communication},
    {"infeed", refuse_communication},
    {"outfeed", refuse_communication},
    {"recv", refuse_communication},
    {"reduce_scatter", refuse_communication},
    {"send", refuse_communication},
    {"uniform_dequantize", refuse_quantized},
    {"uniform_quantize", refuse_quantized},
    {"set_dimension_size", refuse_dynamic},
};

}  // namespace

std::span<const Translation> dynamic_translations() { return rows_of_dynamic; }
std::span<const Translation> refused_translations() { return rows_of_refused; }

}  // namespace anabranch::stablehlo
