#include "frontend/stablehlo/importer.h"

#include "anabranch/creation.h"
#include "frontend/array/expression.h"
#include "frontend/stablehlo/narrow.h"
#include "frontend/stablehlo/parser.h"
#include "frontend/stablehlo/site.h"
#include "frontend/stablehlo/types.h"
#include "frontend/trace/record.h"

namespace anabranch::stablehlo {
namespace {

// Calls and regions within each other, which are carried out in place.
constexpr int most_nested_blocks = 200;

// "stablehlo.add" without its dialect; mhlo's ops are StableHLO's.
std::string_view short_name(std::string_view name) { return name.substr(name.find('.') + 1); }

bool is_return(const Operation& op) {
  return op.name == "func.return" || op.name == "stablehlo.return" || op.name == "mhlo.return";
}

// What asks for the bits of a narrow element would be given those of its carrier.
void refuse_bits_of_narrow(const Site& site) {
  const std::string_view name = short_name(site.op.name);
  if (name != "bitcast_convert" && name != "popcnt" && name != "count_leading_zeros" &&
      name != "shift_right_logical") {
    return;
  }
  for (const auto* types : {&site.op.operand_types, &site.op.result_types}) {
    for (const TypeSyntax& type : *types) {
      if (!narrow_format(type.element)) continue;
      site.fail("works on the bits of " + type.element +
                ", which is carried in a wider type here; convert it to one of 8 bits or more");
    }
  }
}

// What only moves elements leaves them as they are.
bool is_moving(const Translation& translation) {
  if (translation.name == "iota") return false;
  for (const Translation& row : shape_translations()) {
    if (&row == &translation) return true;
  }
  return false;
}

Bound array_bound(Array array) {
  Bound bound;
  bound.array = std::move(array);
  return bound;
}

}  // namespace

const FunctionSyntax* ParsedModule::find(std::string_view name) const {
  for (const FunctionSyntax& function : syntax.functions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

std::shared_ptr<const ParsedModule> parsed(std::string text, std::string_view file,
                                           std::uint32_t first_line) {
  auto module = std::make_shared<ParsedModule>(std::move(text), file, first_line);
  module->syntax = parse_module(module->source);
  return module;
}

// --- names ---------------------------------------------------------------------------------------

void Scope::bind(const SourceText& source, std::size_t at, const std::string& name,
                 std::vector<Bound> values) {
  if (values_.emplace(name, std::move(values)).second) return;
  source.fail(at, "%" + name + " has a value already; give each value a name of its own");
}

Scope::Found Scope::find(const SourceText& source, const ValueUse& use) const {
  for (const Scope* scope = this; scope; scope = scope->outer_) {
    const auto found = scope->values_.find(use.name);
    if (found == scope->values_.end()) continue;
    if (use.index >= found->second.size()) {
      source.fail(use.at, "%" + use.name + " has " + std::to_string(found->second.size()) +
                              " results, counted from 0, and there is no #" +
                              std::to_string(use.index));
    }
    return {&found->second[use.index], scope != this};
  }
  source.fail(use.at, "there is no value %" + use.name + " here; define it before its use");
}

// What a region takes of the constants around it is a constant of its own.
Bound Importer::value(const ValueUse& use, const Scope& scope) {
  const Scope::Found found = scope.find(source(), use);
  const Operation* constant = found.value->constant;
  if (!found.is_outer || !constant) return *found.value;
  const Type type = to_type(source(), constant->result_types[0]);
  const Attribute& attribute = *constant->find("value");
  const std::string_view text = source().part(attribute.begin, attribute.end);
  const bool is_splat =
      attribute.kind == Attribute::Kind::dense && !text.starts_with('[') && !text.starts_with('"');
  if (!is_splat && type.rank() > 0 && !lifted) return *found.value;
  const DenseValue value = read_dense(source(), module_.syntax, attribute, type);
  Bound bound = array_bound(this->constant(value, type, source().location(constant->at)));
  bound.constant = constant;
  return bound;
}

WithinTraceOf::WithinTraceOf(Importer& importer, const Array& array)
    : importer_(importer), outer_(importer.tracer) {
  const Expression& expression = *array.expression();
  if (expression.kind == Expression::Kind::traced) importer.tracer = expression.traced.tracer;
}

// --- constants -----------------------------------------------------------------------------------

Array Importer::leaf(Op op, Attributes attributes, const Type& type, SourceLocation where) {
  if (!tracer) {
    if (op != Op::constant) return record(op, {}, where, std::move(attributes), type);
    const Literal& value = std::get<ConstantAttributes>(attributes).value;
    if (type.rank() == 0) return array_of(type.dtype, value.bits(0), where);
    const List sizes(type.shape.begin(), type.shape.end());
    return array_of_bytes(type.dtype, sizes, value.bytes(), static_cast<std::size_t>(type.size()));
  }
  return tracer->record(op, {}, std::move(attributes), type, where, std::nullopt);
}

Array Importer::constant(const DenseValue& value, const Type& type, SourceLocation where) {
  const Type own = value.elements.type();
  Array elements = leaf(Op::constant, ConstantAttributes{value.elements}, own, where);
  if (own == type) return elements;
  return record(Op::broadcast_in_dim, {elements}, where, AxesAttributes{}, type);
}

// --- functions and regions -----------------------------------------------------------------------

std::vector<Bound> Importer::call(const FunctionSyntax& function, std::vector<Bound> arguments,
                                  std::size_t at) {
  const std::string name = "@" + function.name;
  if (function.is_declaration) {
    source().fail(at, name + " is declared and has no body; link the module that defines it");
  }
  for (const FunctionSyntax* open : calls_) {
    if (open != &function) continue;
    source().fail(at, name + " calls itself; write the recursion as a stablehlo.while");
  }
  const auto& parameters = function.body.arguments;
  if (parameters.size() != arguments.size()) {
    source().fail(at, name + " takes " + std::to_string(parameters.size()) +
                          " arguments, and is given " + std::to_string(arguments.size()));
  }
  Scope scope;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (arguments[i].kind == Bound::Kind::array) {
      const Type wanted = to_type(source(), parameters[i].type);
      const Type& given = type_of(arguments[i].array);
      if (given != wanted) {
        source().fail(at, name + ": argument " + std::to_string(i) + " is " + type_text(given) +
                              ", and %" + parameters[i].name + " is " + type_text(wanted));
      }
    }
    scope.bind(source(), parameters[i].at, parameters[i].name, {std::move(arguments[i])});
  }
  calls_.push_back(&function);
  std::vector<Bound> results = block(function.body, scope);
  calls_.pop_back();
  if (results.size() != function.result_types.size()) {
    source().fail(function.at, name + " states " + std::to_string(function.result_types.size()) +
                                   " results and returns " + std::to_string(results.size()));
  }
  return results;
}

std::vector<Array> Importer::run(const RegionSyntax& region, const Scope& outer,
                                 const std::vector<Array>& arguments) {
  if (region.arguments.size() != arguments.size()) {
    source().fail(region.at, "the region has " + std::to_string(region.arguments.size()) +
                                 " arguments, and " + std::to_string(arguments.size()) +
                                 " are given");
  }
  Scope scope(&outer);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    scope.bind(source(), region.arguments[i].at, region.arguments[i].name,
               {array_bound(arguments[i])});
  }
  ++regions_;
  std::vector<Array> results;
  for (Bound& bound : block(region, scope)) {
    if (bound.kind != Bound::Kind::array) {
      source().fail(region.at, "the region returns a tuple or a token, and not tensors");
    }
    results.push_back(std::move(bound.array));
  }
  --regions_;
  return results;
}

std::vector<Bound> Importer::block(const RegionSyntax& region, Scope& scope) {
  if (++blocks_ > most_nested_blocks) {
    source().fail(region.at, "calls and regions are nested more than " +
                                 std::to_string(most_nested_blocks) + " deep");
  }
  for (const Operation& op : region.operations) {
    if (!is_return(op)) {
      apply(op, scope);
      continue;
    }
    std::vector<Bound> results;
    for (const ValueUse& use : op.operands) results.push_back(value(use, scope));
    --blocks_;
    if (!lifted) return results;
    for (Bound& bound : results) {
      if (bound.kind == Bound::Kind::array && type_of(bound.array).rank() == 0) {
        bound.array = record(Op::broadcast_in_dim, {bound.array}, source().location(op.at),
                             AxesAttributes{}, Type{type_of(bound.array).dtype, *lifted});
      }
    }
    return results;
  }
  source().fail(region.at, "a region without a return; end it with stablehlo.return or return");
}

// --- operations ----------------------------------------------------------------------------------

void Importer::apply(const Operation& op, Scope& scope) {
  if (--operations_left_ < 0) {
    source().fail(op.at, "functions that call functions come to more than four million operations");
  }
  std::vector<Bound> results;
  try {
    results = results_of(op, scope);
    verify(op, results);
  } catch (const ReadError&) {
    throw;
  } catch (const Error& error) {
    source().fail_again(op.at, error);
  }
  std::size_t next = 0;
  for (const ResultName& name : op.results) {
    if (next + name.count > results.size()) {
      source().fail(op.at, op.name + " has " + std::to_string(results.size()) + " results, and %" +
                               name.name + " names more");
    }
    const auto begin = results.begin() + static_cast<std::ptrdiff_t>(next);
    scope.bind(source(), op.at, name.name,
               {begin, begin + static_cast<std::ptrdiff_t>(name.count)});
    next += name.count;
  }
}

std::vector<Bound> Importer::results_of(const Operation& op, Scope& scope) {
  bool done = false;
  std::vector<Bound> results = structural(op, scope, done);
  if (done) return results;
  for (const TypeSyntax& type : op.result_types) {
    try {
      if (type.kind != TypeSyntax::Kind::token) to_type(source(), type);
    } catch (const ReadError& error) {
      source().fail(op.at, op.name + ": " + std::string(error.what()));
    }
  }
  Site site(*this, op, scope);
  refuse_bits_of_narrow(site);
  const bool is_custom_call = short_name(op.name) == "custom_call";
  const std::string target = is_custom_call ? site.word("call_target_name") : op.name;
  if (target.starts_with("check.") && check(op, target.substr(6), site)) return {};
  const Translation* translation = find_translation(short_name(op.name));
  const std::string_view dialect = std::string_view(op.name).substr(0, op.name.find('.'));
  if (!translation || (dialect != "stablehlo" && dialect != "chlo" && dialect != "mhlo")) {
    source().fail(op.at, "there is no operation " + op.name +
                             "; stablehlo.*, chlo.*, func.* and check.* are read");
  }
  Results arrays = translation->translate(site);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const bool is_stated = i < op.result_types.size();
    const NarrowFormat* narrow = is_stated ? narrow_format(op.result_types[i].element) : nullptr;
    if (narrow && !is_moving(*translation)) arrays[i] = narrowed(site, arrays[i], *narrow);
    results.push_back(array_bound(std::move(arrays[i])));
  }
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
    Bound token;
    token.kind = Bound::Kind::token;
    return {token};
  }
  if (name == "optimization_barrier" || op.name == "sdy.sharding_constraint") return operands();
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

void Importer::verify(const Operation& op, const std::vector<Bound>& results) {
  const std::size_t stated = op.result_types.size();
  if (results.size() != stated) {
    source().fail(op.at, op.name + " gives " + std::to_string(results.size()) +
                             " results, and states " + std::to_string(stated) + " types");
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].kind != Bound::Kind::array) continue;
    Type wanted = to_type(source(), op.result_types[i]);
    if (lifted && wanted.rank() == 0) wanted.shape = *lifted;
    const Type& found = type_of(results[i].array);
    if (found == wanted) continue;
    source().fail(op.at, op.name + ": result " + std::to_string(i) + " is " + type_text(found) +
                             ", and the text states " + type_text(wanted));
  }
}

}  // namespace anabranch::stablehlo
