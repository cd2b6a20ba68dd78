// Module and Function: what users hold of a module that has been read.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "anabranch/stablehlo.h"
#include "frontend/array/expression.h"
#include "frontend/stablehlo/importer.h"
#include "frontend/stablehlo/types.h"

namespace anabranch::stablehlo {
namespace {

const FunctionSyntax& syntax_of(const Function& function) {
  return function.module()->syntax.functions[function.index()];
}

std::vector<Bound> bound_arguments(const std::vector<Array>& arrays) {
  std::vector<Bound> arguments;
  for (const Array& array : arrays) arguments.push_back(Bound::of(array));
  return arguments;
}

// The arrays of results, tuples taken apart, tokens left out.
void append_arrays(const std::vector<Bound>& results, std::vector<Array>& arrays) {
  for (const Bound& result : results) {
    if (result.kind == Bound::Kind::array) arrays.push_back(result.array);
    append_arrays(result.parts, arrays);
  }
}

// "// -----", and nothing else; more dashes are a comment.
bool is_separator(std::string_view line) {
  constexpr std::string_view dashes = "// -----";
  return line.starts_with(dashes) && line.find_first_not_of(" \t\r\n", dashes.size()) == line.npos;
}

}  // namespace

const std::string& Function::name() const { return syntax_of(*this).name; }

bool Function::is_private() const { return syntax_of(*this).is_private; }

std::vector<Type> Function::argument_types() const {
  std::vector<Type> types;
  for (const BlockArgument& argument : syntax_of(*this).body.arguments) {
    types.push_back(to_type(module_->source, argument.type));
  }
  return types;
}

std::vector<Type> Function::result_types() const {
  std::vector<Type> types;
  for (const TypeSyntax& type : syntax_of(*this).result_types) {
    types.push_back(to_type(module_->source, type));
  }
  return types;
}

std::vector<Array> Function::operator()(const std::vector<Array>& arguments) const {
  const FunctionSyntax& syntax = syntax_of(*this);
  for (const Array& argument : arguments) {
    if (!argument.expression()) {
      throw Error("@" + syntax.name + ": an argument is an empty Array; give it a value first");
    }
  }
  Importer importer(*module_);
  // Constants become part of the innermost trace of the arguments.
  for (const Array& argument : arguments) {
    const Expression& expression = *argument.expression();
    if (expression.kind != Expression::Kind::traced) continue;
    const auto& own = expression.traced.tracer;
    if (!importer.tracer || own->serial() > importer.tracer->serial()) importer.tracer = own;
  }
  std::vector<Array> results;
  append_arrays(importer.call(syntax, bound_arguments(arguments), syntax.at), results);
  return results;
}

Graph Function::graph() const {
  const auto tracer = std::make_shared<Tracer>(name());
  std::vector<Array> arguments;
  for (const Type& type : argument_types()) arguments.push_back(tracer->parameter(type));
  Importer importer(*module_);
  importer.tracer = tracer;
  std::vector<Array> results;
  const FunctionSyntax& syntax = syntax_of(*this);
  append_arrays(importer.call(syntax, bound_arguments(arguments), syntax.at), results);
  return tracer->finish(results);
}

Function Module::function(std::string_view name) const {
  const auto& functions = module_->syntax.functions;
  std::string known;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == name) return Function(module_, i);
    known += (known.empty() ? "@" : ", @") + functions[i].name;
  }
  throw Error("there is no function @" + std::string(name) + " in the module; " +
              (known.empty() ? "it has none" : "there are " + known));
}

std::vector<Function> Module::functions() const {
  std::vector<Function> all;
  for (std::size_t i = 0; i < module_->syntax.functions.size(); ++i) all.emplace_back(module_, i);
  return all;
}

Module parse(std::string_view text, std::string_view file) {
  return Module(parsed(std::string(text), file));
}

Module parse(const Part& part, std::string_view file) {
  return Module(parsed(part.text, file, part.first_line));
}

Module read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(path + ": cannot be opened: " + std::strerror(errno));
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (file.bad()) throw Error(path + ": cannot be read: " + std::strerror(errno));
  return Module(parsed(std::move(text), path));
}

std::vector<Part> split(std::string_view text) {
  std::vector<Part> parts(1);
  std::uint32_t line = 1;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::string_view whole = text.substr(0, newline == text.npos ? newline : newline + 1);
    if (is_separator(whole)) {
      parts.push_back({line + 1, {}});
    } else {
      parts.back().text += whole;
    }
    text.remove_prefix(whole.size());
    ++line;
  }
  return parts;
}

}  // namespace anabranch::stablehlo
