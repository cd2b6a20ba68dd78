#include "frontend/stablehlo/importer.h"

#include <algorithm>

#include "anabranch/creation.h"
#include "frontend/array/expression.h"
#include "frontend/stablehlo/parser.h"
#include "frontend/stablehlo/types.h"
#include "frontend/trace/record.h"

namespace anabranch::stablehlo {
namespace {

// Calls and regions within each other, which are carried out in place.
constexpr int most_nested_blocks = 200;

}  // namespace

bool is_return(const Operation& op) {
  return op.name == "func.return" || op.name == "stablehlo.return" || op.name == "mhlo.return" ||
         op.name == "sdy.return";
}

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
  if (!is_splat && type.rank() > 0) return *found.value;
  const DenseValue value = read_dense(source(), module_.syntax, attribute, type);
  Bound bound = Bound::of(this->constant(value, type, source().location(constant->at)));
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
    const std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end());
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
  calls_.push_back(&function);
  std::vector<Bound> results = isolated(name, function.body, std::move(arguments), at);
  calls_.pop_back();
  if (results.size() != function.result_types.size()) {
    source().fail(function.at, name + " states " + std::to_string(function.result_types.size()) +
                                   " results and returns " + std::to_string(results.size()));
  }
  return results;
}

std::vector<Bound> Importer::isolated(const std::string& name, const RegionSyntax& region,
                                      std::vector<Bound> arguments, std::size_t at) {
  const auto& parameters = region.arguments;
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
  return block(region, scope);
}

std::vector<Array> Importer::run(const RegionSyntax& region, const Scope& outer,
                                 const std::vector<Array>& arguments) {
  const auto tokens = static_cast<std::size_t>(std::ranges::count_if(
      region.arguments, [](const BlockArgument& argument) { return is_token(argument.type); }));
  if (region.arguments.size() - tokens != arguments.size()) {
    source().fail(region.at, "the region has " + std::to_string(region.arguments.size() - tokens) +
                                 " arguments, and " + std::to_string(arguments.size()) +
                                 " are given");
  }
  Scope scope(&outer);
  auto next = arguments.begin();
  for (const BlockArgument& argument : region.arguments) {
    const Bound bound = is_token(argument.type) ? Bound::of_token() : Bound::of(*next++);
    scope.bind(source(), argument.at, argument.name, {bound});
  }
  ++regions_;
  std::vector<Array> results;
  for (Bound& bound : block(region, scope)) {
    if (bound.kind == Bound::Kind::token) continue;
    if (bound.kind != Bound::Kind::array) {
      source().fail(region.at, "the region returns a tuple, and not tensors");
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

void Importer::verify(const Operation& op, const std::vector<Bound>& results) {
  const std::size_t stated = op.result_types.size();
  if (results.size() != stated) {
    source().fail(op.at, op.name + " gives " + std::to_string(results.size()) +
                             " results, and states " + std::to_string(stated) + " types");
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].kind != Bound::Kind::array) continue;
    const Type wanted = to_type(source(), op.result_types[i]);
    const Type& found = type_of(results[i].array);
    if (found == wanted) continue;
    source().fail(op.at, op.name + ": result " + std::to_string(i) + " is " + type_text(found) +
                             ", and the text states " + type_text(wanted));
  }
}

}  // namespace anabranch::stablehlo
