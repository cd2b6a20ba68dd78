// Types: tensor<2x?xf32, encoding>, tuples, tokens, functions, scalars, and names for them.
#include "frontend/stablehlo/parser.h"

namespace anabranch::stablehlo {
namespace {

bool is_scalar_word(std::string_view word) {
  if (word == "index" || word == "bf16" || word == "tf32" || word == "complex") return true;
  std::size_t at = word.starts_with("ui") || word.starts_with("si") ? 2 : 1;
  if (word.size() <= at || (word[0] != 'i' && word[0] != 'f' && at == 1)) return false;
  return word[at] >= '0' && word[at] <= '9';
}

}  // namespace

bool Parser::at_type() const {
  const std::string_view word = scan_.peek_word();
  return word == "tensor" || word == "tuple" || word == "none" || word == "vector" ||
         word == "memref" || is_scalar_word(word) || scan_.at('!');
}

std::string Parser::element_type() {
  if (scan_.accept_word("complex")) {
    scan_.expect("<", "after complex");
    const std::string part(scan_.word("the type of a complex number's parts"));
    scan_.expect(">", "after the type of a complex number's parts");
    return "complex<" + part + ">";
  }
  if (scan_.at('!')) {
    const std::size_t begin = scan_.position();
    dialect_type(begin);
    return std::string(scan_.source().part(begin, scan_.last_end()));
  }
  return std::string(scan_.word("an element type"));
}

TypeSyntax Parser::tensor_type(std::size_t at) {
  TypeSyntax type;
  type.kind = TypeSyntax::Kind::tensor;
  type.at = at;
  scan_.expect("<", "after tensor");
  if (scan_.accept("*")) {
    scan_.expect("x", "after the * of an unranked tensor");
    type.unranked = true;
  }
  while (!type.unranked) {
    if (scan_.accept("?")) {
      scan_.expect("x", "after the ? of a shape");
      type.sizes.push_back(dynamic_size);
    } else if (auto size = scan_.size_of_shape()) {
      type.sizes.push_back(*size);
    } else {
      break;
    }
  }
  type.element = element_type();
  if (scan_.accept(",")) attribute();
  scan_.expect(">", "after the element type of a tensor");
  return type;
}

// "(a, b) -> (c)" or "(a) -> c".
TypeSyntax Parser::function_type(std::size_t at) {
  TypeSyntax type;
  type.kind = TypeSyntax::Kind::function;
  type.at = at;
  scan_.expect("(", "before a function's types");
  if (!scan_.accept(")")) {
    type.parts = type_list();
    scan_.expect(")", "after the types of operands");
  }
  type.inputs = type.parts.size();
  scan_.expect("->", "between the types of operands and of results");
  std::vector<TypeSyntax> results;
  if (scan_.accept("(")) {
    if (!scan_.accept(")")) {
      results = type_list();
      scan_.expect(")", "after the types of results");
    }
  } else {
    results.push_back(this->type());
  }
  for (TypeSyntax& result : results) type.parts.push_back(std::move(result));
  return type;
}

TypeSyntax Parser::dialect_type(std::size_t at) {
  TypeSyntax type;
  type.at = at;
  const std::string name = scan_.name_after('!', "a type");
  if (auto alias = type_aliases_.find(name); alias != type_aliases_.end()) {
    take_alias(alias->second.extent, at);
    type = alias->second.syntax;
    type.at = at;
    return type;
  }
  if (scan_.at('<')) scan_.balanced('<');
  if (name == "stablehlo.token" || name == "mhlo.token") type.kind = TypeSyntax::Kind::token;
  type.element = scan_.source().part(at, scan_.last_end());
  return type;
}

TypeSyntax Parser::type() {
  Nesting nesting(*this);
  const std::size_t at = scan_.position();
  if (scan_.at('(')) return function_type(at);
  if (scan_.at('!')) return dialect_type(at);
  if (!at_type()) scan_.fail_expected("a type, such as tensor<2x3xf32>");
  TypeSyntax type;
  type.at = at;
  if (scan_.accept_word("tensor")) return tensor_type(at);
  if (scan_.accept_word("tuple")) {
    type.kind = TypeSyntax::Kind::tuple;
    scan_.expect("<", "after tuple");
    if (scan_.accept(">")) return type;
    type.parts = type_list();
    scan_.expect(">", "after the types of a tuple");
    return type;
  }
  if (is_scalar_word(scan_.peek_word())) {
    type.kind = TypeSyntax::Kind::scalar;
    type.element = element_type();
    return type;
  }
  scan_.word("a type");
  if (scan_.at('<')) scan_.balanced('<');
  type.element = scan_.source().part(at, scan_.last_end());
  return type;
}

std::vector<TypeSyntax> Parser::type_list() {
  std::vector<TypeSyntax> types;
  do types.push_back(type());
  while (scan_.accept(","));
  return types;
}

std::string to_string(const TypeSyntax& type) {
  std::string text;
  switch (type.kind) {
    case TypeSyntax::Kind::tensor:
      text = "tensor<";
      if (type.unranked) text += "*x";
      for (std::int64_t size : type.sizes) {
        text += (size == dynamic_size ? "?" : std::to_string(size)) + "x";
      }
      return text + type.element + ">";
    case TypeSyntax::Kind::tuple:
    case TypeSyntax::Kind::function:
      text = type.kind == TypeSyntax::Kind::tuple ? "tuple<" : "(";
      for (std::size_t i = 0; i < type.parts.size(); ++i) {
        text += (i > 0 ? ", " : "") + to_string(type.parts[i]);
      }
      return text + (type.kind == TypeSyntax::Kind::tuple ? ">" : ")");
    case TypeSyntax::Kind::token:
      return "!stablehlo.token";
    case TypeSyntax::Kind::scalar:
    case TypeSyntax::Kind::other:
      break;
  }
  return type.element;
}

}  // namespace anabranch::stablehlo
