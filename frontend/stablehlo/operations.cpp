// What each operation of a region becomes: by the table of translations, but for those that only
// hand values on.
#include <algorithm>
#include <map>

#include "frontend/stablehlo/importer.h"
#include "frontend/stablehlo/narrow.h"
#include "frontend/stablehlo/scanner.h"
#include "frontend/stablehlo/site.h"
#include "frontend/stablehlo/types.h"

namespace anabranch::stablehlo {
namespace {

// "stablehlo.add" without its dialect; mhlo's ops are StableHLO's.
std::string_view short_name(std::string_view name) { return name.substr(name.find('.') + 1); }

// What asks for the bits of a narrow element would be given those of its carrier.
void refuse_bits_of_narrow(const Site& site) {
  if (short_name(site.op.name) != "bitcast_convert") return;
  for (const auto* types : {&site.op.operand_types, &site.op.result_types}) {
    for (const TypeSyntax& type : *types) {
      if (!narrow_format(type.element)) continue;
      site.fail("works on the bits of " + type.element +
                ", which is carried in a wider type here; convert it to one of 8 bits or more");
    }
  }
}

bool is_one_of(std::span<const Translation> rows, const Translation& translation) {
  return std::ranges::any_of(rows, [&](const Translation& row) { return &row == &translation; });
}

// What only moves elements leaves them as they are.
bool is_moving(const Translation& translation) {
  return translation.name != "iota" && is_one_of(shape_translations(), translation);
}

const Translation& translation_of(const Site& site) {
  const Operation& op = site.op;
  const Translation* translation = find_translation(short_name(op.name));
  const std::string_view dialect = std::string_view(op.name).substr(0, op.name.find('.'));
  if (translation && (dialect == "stablehlo" || dialect == "chlo" || dialect == "mhlo")) {
    return *translation;
  }
  site.importer.source().fail(op.at, "there is no operation " + op.name +
                                         "; stablehlo.*, chlo.*, func.* and check.* are read");
}

void demand_tensors(const SourceText& source, const Operation& op) {
  for (const TypeSyntax& type : op.result_types) {
    try {
      if (!is_token(type)) to_type(source, type);
    } catch (const ReadError& error) {
      source.fail(op.at, op.name + ": " + std::string(error.what()));
    }
  }
}

// --- meshes of devices ---------------------------------------------------------------------------

using AxisSizes = std::map<std::string, std::int64_t>;

// "x"=2 of a mesh; other names in quotes are axes that are named again.
void add_axis_sizes(const SourceText& source, const Attribute& mesh, AxisSizes& sizes) {
  Scanner scan(source, mesh.begin, mesh.end);
  while (!scan.at_end()) {
    if (!scan.at('"')) {
      scan.move_to(scan.position() + 1);
      continue;
    }
    std::int64_t& size = sizes[scan.quoted()];
    if (scan.accept("=")) size = std::max(size, scan.integer("the size of an axis of a mesh"));
  }
}

// Of the meshes that a sharding names (@mesh) or writes out; of an axis of none, 0.
void add_axes_of_sharding(const ParsedModule& module, const Attribute& sharding, AxisSizes& sizes) {
  add_axis_sizes(module.source, sharding, sizes);
  Scanner scan(module.source, sharding.begin, sharding.end);
  while (!scan.at_end()) {
    if (scan.at('"')) {
      scan.quoted();
    } else if (scan.at('@')) {
      const std::string name = scan.name_after('@', "the name of a mesh");
      for (const NamedAttribute& mesh : module.syntax.meshes) {
        if (mesh.name == name) add_axis_sizes(module.source, mesh.value, sizes);
      }
    } else {
      scan.move_to(scan.position() + 1);
    }
  }
}

// What is computed by hand for each device along some axes is computed as it stands where each of
// them has one device.
void refuse_several_devices(const Site& site) {
  const ParsedModule& module = site.importer.module();
  AxisSizes sizes, manual;
  for (const char* name : {"in_shardings", "out_shardings"}) {
    if (const Attribute* sharding = site.op.find(name)) {
      add_axes_of_sharding(module, *sharding, sizes);
    }
  }
  if (const Attribute* axes = site.op.find("manual_axes")) {
    add_axis_sizes(module.source, *axes, manual);
  }
  for (const auto& [axis, unused] : manual) {
    if (sizes[axis] <= 1) continue;
    site.fail("its mesh has " + std::to_string(sizes[axis]) + " devices along \"" + axis +
              "\", and programs here run on one device; export the program for one device");
  }
}

}  // namespace

std::vector<Bound> Importer::results_of(const Operation& op, Scope& scope) {
  bool done = false;
  std::vector<Bound> results = structural(op, scope, done);
  if (done) return results;
  Site site(*this, op, scope);
  const bool is_custom_call = short_name(op.name) == "custom_call";
  const std::string target = is_custom_call ? site.word("call_target_name") : op.name;
  if (target.starts_with("check.") && check(op, target.substr(6), site)) return {};
  const Translation& translation = translation_of(site);
  // What is refused may give what is no tensor: its own message says more.
  if (!is_one_of(refused_translations(), translation)) demand_tensors(source(), op);
  refuse_bits_of_narrow(site);
  const auto add_tokens = [&] {
    while (results.size() < op.result_types.size() && is_token(op.result_types[results.size()])) {
      results.push_back(Bound::of_token());
    }
  };
  for (Array& array : translation.translate(site)) {
    add_tokens();
    const bool is_stated = results.size() < op.result_types.size();
    const NarrowFormat* narrow =
        is_stated ? narrow_format(op.result_types[results.size()].element) : nullptr;
    if (narrow && !is_moving(translation)) array = narrowed(site, array, *narrow);
    results.push_back(Bound::of(std::move(array)));
  }
  add_tokens();
  return results;
}

// What hands values on: calls, tuples, tokens, constants.
std::vector<Bound> Importer::structural(const Operation& op, Scope& scope, bool& done) {
  const std::string_view name = short_name(op.name);
  done = true;
  auto operands = [&] {
    std::vector<Bound> values;
    for (const ValueUse& use : op.operands) values.push_back(value(use, scope));
    return values;
  };
  Site site(*this, op, scope);
  if (op.name == "func.call" || name == "composite") {
    const std::string callee = site.word(name == "composite" ? "decomposition" : "callee");
    const FunctionSyntax* function = module_.find(callee);
    if (!function) site.fail("there is no function @" + callee + " in the module");
    return call(*function, operands(), op.at);
  }
  if (name == "constant" || op.name == "arith.constant") {
    const Type type = site.result_type();
    const Attribute* value = op.find("value");
    if (!value ||
        (value->kind != Attribute::Kind::dense && value->kind != Attribute::Kind::resource)) {
      site.fail("needs a value, as in dense<1.0>");
    }
    Bound bound;
    const auto given = given_constants.find(&op);
    if (given != given_constants.end() && regions_ == 0) {
      bound.array = given->second;
    } else {
      const Type stated = to_type(source(), op.result_types[0]);
      bound.array = constant(read_dense(source(), module_.syntax, *value, stated), type,
                             source().location(op.at));
    }
    bound.constant = &op;
    return {bound};
  }
  if (name == "tuple") {
    Bound tuple;
    tuple.kind = Bound::Kind::tuple;
    tuple.parts = operands();
    return {tuple};
  }
  if (name == "get_tuple_element") {
    site.expect_operands(1);
    const Bound tuple = value(op.operands[0], scope);
    const std::int64_t index = site.integer("index");
    if (tuple.kind != Bound::Kind::tuple || index < 0 ||
        static_cast<std::size_t>(index) >= tuple.parts.size()) {
      site.fail("there is no element " + std::to_string(index) + " of this operand");
    }
    return {tuple.parts[static_cast<std::size_t>(index)]};
  }
  if (name == "create_token" || name == "after_all") {
    return {Bound::of_token()};
  }
  if (name == "optimization_barrier" || op.name == "sdy.sharding_constraint") return operands();
  if (op.name == "sdy.manual_computation") {
    refuse_several_devices(site);
    return isolated("the region of " + op.name, site.region(0), operands(), op.at);
  }
  if (name == "trace") return {};
  done = false;
  return {};
}

bool Importer::check(const Operation& op, const std::string& name, Site& site) {
  const bool is_const = name == "expect_eq_const" || name == "expect_almost_eq_const";
  if (!is_const && name != "expect_eq" && name != "expect_almost_eq" && name != "expect_close") {
    site.fail("check." + name +
              " is not read; there are expect_eq, expect_almost_eq, expect_close and the "
              "first two with _const");
  }
  if (!checks) return true;
  if (regions_ > 0) {
    site.fail("an assertion inside a region; return the value, and check it outside");
  }
  site.expect_operands(is_const ? 1 : 2);
  checks->push_back({&op, name, site.operands()});
  return true;
}

}  // namespace anabranch::stablehlo
