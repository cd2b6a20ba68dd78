// Operations of dynamic shapes whose result is static all the same, those between devices where
// there is one, and what is refused by name.
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

// --- between devices, of which there is one ------------------------------------------------------

// The number of the one device among those that run the program.
Results first_of_all(const Site& site) { return {site.scalar(0, site.result_type().dtype)}; }

Results refuse_communication(const Site& site) {
  site.fail(
      "communicates with other devices or the host, and programs here run on one device; "
      "export the program for one device");
}

bool is_of_one(const List& devices) { return devices.empty() || devices == List{0}; }

// What one device gathers, reduces or exchanges by itself is what it has.
Results collective_op(const Site& site) {
  if (!is_of_one(site.integers("replica_groups"))) return refuse_communication(site);
  return site.operands();
}

// A device that receives nothing has zeros.
Results collective_permute_op(const Site& site) {
  const List pairs = site.integers("source_target_pairs");
  if (pairs == List{0, 0}) return site.operands();
  if (!pairs.empty()) return refuse_communication(site);
  const Type type = site.result_type();
  return {site.repeated(site.scalar(0, type.dtype), type.shape)};
}

constexpr Translation rows_of_dynamic[] = {
    {"dynamic_broadcast_in_dim", dynamic_broadcast_in_dim_op},
    {"dynamic_reshape", dynamic_reshape_op},
    {"dynamic_iota", dynamic_iota_op},
    {"dynamic_pad", dynamic_pad_op},
    {"real_dynamic_slice", real_dynamic_slice_op},
    {"replica_id", first_of_all},
    {"partition_id", first_of_all},
    {"all_gather", collective_op},
    {"all_reduce", collective_op},
    {"all_to_all", collective_op},
    {"collective_broadcast", collective_op},
    {"collective_permute", collective_permute_op},
    {"reduce_scatter", collective_op},
};

// --- what is refused -----------------------------------------------------------------------------

Results refuse_quantized(const Site& site) {
  site.fail(
      "works on quantized types, which are not read; dequantize the program "
      "(stablehlo-opt --stablehlo-legalize-quant-to-math)");
}

Results refuse_dynamic(const Site& site) {
  site.fail("gives an array of dynamic size; export the program for static shapes");
}

Results refuse_asynchronous(const Site& site) {
  site.fail(
      "starts an operation here and waits for it elsewhere, which is not read; write the operation "
      "of its region in place of the two: steps of a program run side by side without them");
}

constexpr Translation rows_of_refused[] = {
    {"async_done", refuse_asynchronous},      {"async_start", refuse_asynchronous},
    {"async_update", refuse_asynchronous},    {"cross-replica-sum", refuse_communication},
    {"infeed", refuse_communication},         {"outfeed", refuse_communication},
    {"recv", refuse_communication},           {"send", refuse_communication},
    {"uniform_dequantize", refuse_quantized}, {"uniform_quantize", refuse_quantized},
    {"set_dimension_size", refuse_dynamic},
};

}  // namespace

std::span<const Translation> dynamic_translations() { return rows_of_dynamic; }
std::span<const Translation> refused_translations() { return rows_of_refused; }

}  // namespace anabranch::stablehlo
