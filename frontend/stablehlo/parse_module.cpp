// Modules and functions, in their own and in the generic form.
#include <algorithm>
#include <tuple>

#include "frontend/stablehlo/parser.h"

namespace anabranch::stablehlo {
namespace {

void add_part(Extent& whole, std::size_t node, const Extent& part) {
  whole.bytes += node + part.bytes;
  whole.depth = std::max(whole.depth, 1 + part.depth);
}

Extent extent_of(const TypeSyntax& type) {
  Extent whole;
  whole.bytes = type.element.size() + type.sizes.size() * sizeof(type.sizes[0]);
  for (const TypeSyntax& part : type.parts) add_part(whole, sizeof part, extent_of(part));
  return whole;
}

Extent extent_of(const Attribute& attribute) {
  Extent whole = extent_of(attribute.type);
  whole.bytes += attribute.text.size();
  for (const Attribute& part : attribute.list) add_part(whole, sizeof part, extent_of(part));
  for (const auto& entry : attribute.entries) {
    add_part(whole, sizeof entry + entry.name.size(), extent_of(entry.value));
  }
  return whole;
}

}  // namespace

ModuleSyntax parse_module(const SourceText& source) { return Parser(source).module(); }

ModuleSyntax Parser::module() {
  ModuleSyntax module;
  module_body(module, "");
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (module.functions[j].name != module.functions[i].name) continue;
      const auto line = scan_.source().place(module.functions[j].at).line;
      scan_.fail_at(module.functions[i].at, "@" + module.functions[i].name +
                                                " is defined on line " + std::to_string(line) +
                                                ", too; rename one, or split the file with "
                                                "'// -----'");
    }
  }
  return module;
}

void Parser::module_body(ModuleSyntax& module, std::string_view close) {
  while (close.empty() ? !scan_.at_end() : !scan_.at(close)) module_item(module);
  if (!close.empty()) scan_.expect(close, "after a module");
}

void Parser::module_item(ModuleSyntax& module) {
  Nesting nesting(*this);
  if (scan_.at('#') || scan_.at('!')) return top_level_alias();
  if (scan_.at("{-#")) return resources(module);
  if (scan_.at('"')) {
    generic_functions(operation(), module);
  } else if (scan_.at_word("module") || scan_.at_word("builtin.module")) {
    scan_.word("module");
    if (scan_.at('@')) module.name = scan_.name_after('@', "the name of the module");
    if (scan_.accept_word("attributes")) {
      scan_.expect("{", "after attributes");
      entries("}");
    }
    scan_.expect("{", "before the functions of a module");
    module_body(module, "}");
    skip_location();
  } else if (scan_.at_word("func.func") || scan_.at_word("func")) {
    module.functions.push_back(function());
  } else if (scan_.at_word("loc")) {
    skip_location();
  } else if (scan_.peek_word().starts_with("sdy.")) {
    mesh(module);
  } else {
    scan_.fail_expected("a module, a function (func.func @name) or an alias (#name = ...)");
  }
}

// A mesh of devices: "sdy.mesh @mesh = <[...]> {...}". One device runs all of it.
void Parser::mesh(ModuleSyntax& module) {
  NamedAttribute mesh;
  scan_.word("sdy.mesh");
  if (scan_.at('@')) mesh.name = scan_.name_after('@', "the name of a mesh");
  if (scan_.accept("=") && scan_.at('<')) {
    std::tie(mesh.value.begin, mesh.value.end) = scan_.balanced('<');
    module.meshes.push_back(std::move(mesh));
  }
  if (scan_.accept("{")) entries("}");
  skip_location();
}

// "#map = affine_map<...>", "#loc1 = loc(...)", "!t = tensor<...>"
void Parser::top_level_alias() {
  const std::size_t at = scan_.position();
  const bool is_type = scan_.at('!');
  const std::string name = scan_.name_after(is_type ? '!' : '#', "an alias");
  scan_.expect("=", "after the name of an alias");
  bool is_new = true;
  if (is_type) {
    TypeSyntax own = type();
    const Extent extent = extent_of(own);
    is_new = type_aliases_.emplace(name, Alias<TypeSyntax>{std::move(own), extent}).second;
  } else if (scan_.at_word("loc")) {
    skip_location();
  } else {
    Attribute own = attribute();
    const Extent extent = extent_of(own);
    is_new = aliases_.emplace(name, Alias<Attribute>{std::move(own), extent}).second;
  }
  if (!is_new) scan_.fail_at(at, "the alias " + name + " is defined already");
}

// Aliases of aliases may stand for any amount of syntax.
void Parser::take_alias(const Extent& extent, std::size_t at) {
  if (depth_ + extent.depth - 1 > most_nested_syntax) {
    scan_.fail_at(at, "an alias here nests brackets more than " +
                          std::to_string(most_nested_syntax) + " deep");
  }
  if (extent.bytes > alias_bytes_left_) {
    scan_.fail_at(at, "aliases stand for more than " + std::to_string(most_alias_bytes) +
                          " bytes of types and attributes; use fewer of them");
  }
  alias_bytes_left_ -= extent.bytes;
}

// {-# dialect_resources: { builtin: { name: "0x..." } } #-}
void Parser::resources(ModuleSyntax& module) {
  scan_.expect("{-#", "before resources");
  int depth = 0;
  std::string key;
  while (!scan_.accept("#-}")) {
    if (scan_.accept("{")) {
      ++depth;
    } else if (scan_.accept("}")) {
      --depth;
    } else if (!scan_.accept(",")) {
      key = scan_.at('"') ? scan_.quoted() : std::string(scan_.word("the name of a resource"));
      scan_.expect(":", "after the name of a resource");
      if (scan_.at('{')) continue;
      if (!scan_.at('"')) {
        attribute();
        continue;
      }
      Attribute blob;
      blob.kind = Attribute::Kind::string;
      blob.begin = scan_.position();
      scan_.quoted();
      blob.end = scan_.last_end();
      module.resources.emplace_back(key, std::move(blob));
    }
    if (scan_.at_end()) scan_.fail_expected("'#-}' after resources");
  }
}

void Parser::function_arguments(FunctionSyntax& function) {
  scan_.expect("(", "before the arguments of a function");
  if (scan_.accept(")")) return;
  do {
    if (scan_.at('%')) {
      function.body.arguments.push_back(block_argument());
    } else {
      BlockArgument argument;
      argument.at = scan_.position();
      argument.type = type();
      if (scan_.accept("{")) entries("}");
      skip_location();
      function.body.arguments.push_back(std::move(argument));
    }
  } while (scan_.accept(","));
  scan_.expect(")", "after the arguments of a function");
}

void Parser::function_results(FunctionSyntax& function) {
  if (!scan_.accept("->")) return;
  if (!scan_.accept("(")) {
    function.result_types.push_back(type());
    return;
  }
  if (scan_.accept(")")) return;
  do {
    function.result_types.push_back(type());
    if (scan_.accept("{")) entries("}");
  } while (scan_.accept(","));
  scan_.expect(")", "after the types of results");
}

FunctionSyntax Parser::function() {
  FunctionSyntax function;
  function.at = scan_.position();
  scan_.word("func.func");
  for (std::string_view visibility : {"public", "private", "nested"}) {
    if (scan_.accept_word(visibility)) function.is_private = visibility != "public";
  }
  function.name = scan_.name_after('@', "the name of a function, such as @main");
  function_arguments(function);
  function_results(function);
  if (scan_.accept_word("attributes")) {
    scan_.expect("{", "after attributes");
    entries("}");
  }
  if (scan_.at('{')) {
    RegionSyntax body = region();
    function.body.operations = std::move(body.operations);
  } else {
    function.is_declaration = true;
  }
  function.body.at = function.at;
  skip_location();
  return function;
}

void Parser::generic_functions(const Operation& op, ModuleSyntax& module) {
  const Attribute* name = op.find("sym_name");
  if (op.name.starts_with("sdy.")) {
    const Attribute* mesh = op.find("mesh");
    if (name && mesh) module.meshes.emplace_back(name->text, *mesh);
    return;
  }
  if (op.name == "builtin.module" && op.regions.size() == 1) {
    if (name) module.name = name->text;
    for (const Operation& inner : op.regions[0].operations) generic_functions(inner, module);
    return;
  }
  const Attribute* type = op.find("function_type");
  if (op.name != "func.func" || !name || !type || type->type.kind != TypeSyntax::Kind::function) {
    scan_.fail_at(op.at, "expected a func.func with its sym_name and function_type, found " +
                             op.name + "; a module has functions alone");
  }
  FunctionSyntax function;
  function.at = op.at;
  function.name = name->text;
  const Attribute* visibility = op.find("sym_visibility");
  function.is_private = visibility && visibility->text != "public";
  const auto& parts = type->type.parts;
  function.result_types.assign(parts.begin() + static_cast<std::ptrdiff_t>(type->type.inputs),
                               parts.end());
  if (op.regions.empty() || op.regions[0].operations.empty()) {
    function.is_declaration = true;
  } else {
    function.body = op.regions[0];
  }
  module.functions.push_back(std::move(function));
}

}  // namespace anabranch::stablehlo
