// Attributes: numbers, strings, symbols, lists, dictionaries, dense constants, and those of
// dialects.
#include "frontend/stablehlo/parser.h"

namespace anabranch::stablehlo {

Attribute Parser::number_attribute(std::size_t at) {
  Attribute number;
  number.text = scan_.number("a number");
  const bool is_hex = number.text.find("0x") != number.text.npos;
  const bool is_float = !is_hex && number.text.find('.') != number.text.npos;
  number.kind = is_float ? Attribute::Kind::floating : Attribute::Kind::integer;
  number.begin = at;
  number.end = scan_.last_end();
  return number;
}

// "[a, b]", from behind the opening bracket.
Attribute Parser::list_attribute(std::string_view close) {
  Attribute list;
  list.kind = Attribute::Kind::list;
  if (scan_.accept(close)) return list;
  do list.list.push_back(attribute());
  while (scan_.accept(","));
  scan_.expect(close, "after the elements of a list");
  return list;
}

// "array<i64: 1, 2>", from behind the word.
Attribute Parser::array_attribute() {
  scan_.expect("<", "after array");
  Attribute list;
  const TypeSyntax element = type();
  if (scan_.accept(":")) {
    list = list_attribute(">");
  } else {
    scan_.expect(">", "after the element type of an empty array");
  }
  list.kind = Attribute::Kind::list;
  list.type = element;
  return list;
}

// "#stablehlo.gather<...>", "#stablehlo<...>", or the name of an alias.
Attribute Parser::hash_attribute(std::size_t at) {
  Attribute found;
  found.text = scan_.name_after('#', "an attribute");
  if (scan_.at('<')) {
    found.kind = Attribute::Kind::dialect;
    std::tie(found.begin, found.end) = scan_.balanced('<');
    return found;
  }
  if (auto alias = aliases_.find(found.text); alias != aliases_.end()) {
    take_alias(alias->second.extent, at);
    return alias->second.syntax;
  }
  found.kind = Attribute::Kind::keyword;
  found.begin = at;
  found.end = scan_.last_end();
  return found;
}

Attribute Parser::word_attribute(std::size_t at) {
  Attribute found;
  if (at_type()) {
    found.kind = Attribute::Kind::type;
    found.type = type();
    found.begin = at;
    found.end = scan_.last_end();
    return found;
  }
  found.text = scan_.word("an attribute");
  found.begin = at;
  found.end = scan_.last_end();
  if (found.text == "true" || found.text == "false") {
    found.kind = Attribute::Kind::boolean;
  } else if (found.text == "unit") {
    found.kind = Attribute::Kind::unit;
  } else if (found.text == "array" && scan_.at('<')) {
    return array_attribute();
  } else if (found.text == "loc" && scan_.at('(')) {
    scan_.balanced('(');
  } else if (scan_.at('<')) {
    std::tie(found.begin, found.end) = scan_.balanced('<');
    found.kind = Attribute::Kind::dialect;
    if (found.text == "dense") found.kind = Attribute::Kind::dense;
    if (found.text == "dense_resource") {
      found.kind = Attribute::Kind::resource;
      Scanner inside(scan_.source(), found.begin, found.end);
      found.text = inside.at('"') ? inside.quoted() : std::string(inside.word("a resource"));
    }
  } else {
    found.kind = Attribute::Kind::keyword;
  }
  return found;
}

Attribute Parser::attribute() {
  Nesting nesting(*this);
  const std::size_t at = scan_.position();
  Attribute found;
  if (scan_.at('"')) {
    found.text = scan_.quoted();
    found.kind = Attribute::Kind::string;
  } else if (scan_.at('@')) {
    found.text = scan_.name_after('@', "a symbol");
    while (scan_.accept("::")) found.text = scan_.name_after('@', "a symbol");
    found.kind = Attribute::Kind::symbol;
  } else if (scan_.at_number()) {
    found = number_attribute(at);
  } else if (scan_.accept("[")) {
    found = list_attribute("]");
  } else if (scan_.accept("{")) {
    found.entries = entries("}");
    found.kind = Attribute::Kind::dictionary;
  } else if (scan_.at('#')) {
    found = hash_attribute(at);
  } else if (scan_.at('<')) {
    found.kind = Attribute::Kind::dialect;
    std::tie(found.begin, found.end) = scan_.balanced('<');
    return found;
  } else if (scan_.at('(') || scan_.at('!')) {
    found.kind = Attribute::Kind::type;
    found.type = type();
  } else if (scan_.at_word()) {
    found = word_attribute(at);
  } else {
    scan_.fail_expected("an attribute");
  }
  if (found.end == 0) {
    found.begin = at;
    found.end = scan_.last_end();
  }
  const bool may_be_typed =
      found.kind == Attribute::Kind::integer || found.kind == Attribute::Kind::floating;
  const bool is_constant =
      found.kind == Attribute::Kind::dense || found.kind == Attribute::Kind::resource;
  if ((may_be_typed || is_constant || found.kind == Attribute::Kind::string) && scan_.at(':') &&
      !scan_.at("::")) {
    // The colon of `dim = 0 : tensor<4xi32>` begins the types of the op; a number's own is scalar.
    const std::size_t colon = scan_.position();
    scan_.accept(":");
    if (is_constant ||
        (at_type() && !scan_.at_word("tensor") && !scan_.at_word("tuple") && !scan_.at('!'))) {
      found.type = type();
      found.typed = true;
    } else {
      scan_.move_to(colon);
    }
  }
  return found;
}

std::vector<NamedAttribute> Parser::entries(std::string_view close) {
  std::vector<NamedAttribute> found;
  if (close.empty() ? scan_.at_end() : scan_.accept(close)) return found;
  do {
    std::string key =
        scan_.at('"') ? scan_.quoted() : std::string(scan_.word("the name of an attribute"));
    found.emplace_back(std::move(key), Attribute());
    if (scan_.accept("=")) found.back().value = attribute();
  } while (scan_.accept(","));
  if (!close.empty()) {
    scan_.expect(close, "after the attributes");
  } else if (!scan_.at_end()) {
    scan_.fail_expected("',' or the end of the attribute");
  }
  return found;
}

void Parser::skip_location() {
  if (!scan_.at_word("loc")) return;
  scan_.word("loc");
  scan_.balanced('(');
}

}  // namespace anabranch::stablehlo
