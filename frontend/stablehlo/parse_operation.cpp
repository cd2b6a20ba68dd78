// Operations: the generic form, and the parts that pretty forms are made of.
#include "frontend/stablehlo/parser.h"

namespace anabranch::stablehlo {
namespace {

std::size_t count_of_results(const Operation& op) {
  std::size_t count = 0;
  for (const ResultName& result : op.results) count += result.count;
  return count;
}

bool is_constant(const Attribute& attribute) {
  return attribute.kind == Attribute::Kind::dense || attribute.kind == Attribute::Kind::resource;
}

}  // namespace

// "%0:2, %name = "
void Parser::result_names(Operation& op) {
  if (!scan_.at('%')) return;
  do {
    ResultName result{scan_.name_after('%', "the name of a result")};
    if (scan_.accept(":")) {
      const std::int64_t count = scan_.integer("the number of results");
      if (count < 1 || count > 1 << 20) {
        scan_.fail("a name stands for " + std::to_string(count) + " results; 1 or more");
      }
      result.count = static_cast<std::size_t>(count);
    }
    op.results.push_back(std::move(result));
  } while (scan_.accept(","));
  scan_.expect("=", "after the names of results");
}

ValueUse Parser::value_use() {
  ValueUse use;
  use.at = scan_.position();
  use.name = scan_.name_after('%', "a value, such as %0");
  if (scan_.accept("#")) {
    const std::int64_t index = scan_.integer("the number of a result");
    if (index < 0) scan_.fail_at(use.at, "results are counted from 0");
    use.index = static_cast<std::size_t>(index);
  }
  return use;
}

void Parser::operands_until(Operation& op, std::string_view close) {
  if (scan_.accept(close)) return;
  do op.operands.push_back(value_use());
  while (scan_.accept(","));
  scan_.expect(close, "after the operands");
}

BlockArgument Parser::block_argument() {
  BlockArgument argument;
  argument.at = scan_.position();
  argument.name = scan_.name_after('%', "an argument, such as %arg0");
  scan_.expect(":", "after the argument's name");
  argument.type = type();
  if (scan_.accept("{")) entries("}");
  skip_location();
  return argument;
}

// "%a: tensor<f32>, ...)", from behind the opening bracket.
std::vector<BlockArgument> Parser::block_arguments() {
  std::vector<BlockArgument> arguments;
  if (scan_.accept(")")) return arguments;
  do arguments.push_back(block_argument());
  while (scan_.accept(","));
  scan_.expect(")", "after the arguments of a block");
  return arguments;
}

// The operations up to the closing bracket, which stays.
void Parser::block(RegionSyntax& region) {
  while (!scan_.at('}')) {
    if (scan_.at('^')) {
      scan_.fail("a region with several blocks; StableHLO's regions have one");
    }
    region.operations.push_back(operation());
  }
}

RegionSyntax Parser::region() {
  Nesting nesting(*this);
  RegionSyntax region;
  region.at = scan_.position();
  scan_.expect("{", "before a region");
  if (scan_.at('^')) {
    scan_.name_after('^', "a block");
    if (scan_.accept("(")) region.arguments = block_arguments();
    scan_.expect(":", "after the name of a block");
  }
  block(region);
  scan_.expect("}", "after a region");
  return region;
}

Operation Parser::operation() {
  Operation op;
  result_names(op);
  op.at = scan_.position();
  if (scan_.at('"')) {
    op.name = scan_.quoted();
    generic_form(op);
  } else {
    op.name = scan_.word("an operation, such as stablehlo.add");
    if (op.name == "call" || op.name == "return" || op.name == "constant") {
      op.name = "func." + op.name;
    }
    if (!special_form(op)) pretty_form(op);
    rename_attributes(op);
  }
  skip_location();
  return op;
}

void Parser::generic_form(Operation& op) {
  scan_.expect("(", "after the name of an operation in quotes");
  operands_until(op, ")");
  if (scan_.at('[')) scan_.fail("successors; StableHLO's operations have none");
  if (scan_.accept("<")) {
    scan_.expect("{", "after <");
    op.attributes = entries("}");
    scan_.expect(">", "after the properties");
  }
  if (scan_.accept("(")) {
    do op.regions.push_back(region());
    while (scan_.accept(","));
    scan_.expect(")", "after the regions");
  }
  if (scan_.accept("{")) {
    for (auto& entry : entries("}")) op.attributes.push_back(std::move(entry));
  }
  scan_.expect(":", "and the types of operands and results");
  signature(op);
}

// After the colon: "(a, b) -> c", "a -> b", or a list: what it means depends on the op.
void Parser::signature(Operation& op) {
  if (scan_.accept("{")) {  // check.expect_close has its dictionary here
    for (auto& entry : entries("}")) op.attributes.push_back(std::move(entry));
  }
  std::vector<TypeSyntax> types = type_list();
  if (types.size() == 1 && types[0].kind == TypeSyntax::Kind::function) {
    auto& parts = types[0].parts;
    const auto middle = parts.begin() + static_cast<std::ptrdiff_t>(types[0].inputs);
    op.operand_types.assign(parts.begin(), middle);
    op.result_types.assign(middle, parts.end());
    return;
  }
  op.operand_types = types;
  if (scan_.accept("->")) {
    if (scan_.accept("(")) {
      op.result_types = type_list();
      scan_.expect(")", "after the types of results");
    } else {
      op.result_types = type_list();
    }
    return;
  }
  const std::size_t count = count_of_results(op);
  if (count == 0) return;
  if (types.size() == count) {
    op.result_types = std::move(types);
  } else {
    one_result(op, types.back());  // of select: the type of what is chosen
  }
}

// Each of several results has a type of its own in the text.
void Parser::one_result(Operation& op, const TypeSyntax& type) {
  const std::size_t count = count_of_results(op);
  if (count > 1) {
    scan_.fail_at(op.at, op.name + " names " + std::to_string(count) +
                             " results, and does not state a type for each");
  }
  op.result_types.assign(count, type);
}

// "key = value"; "key = [0] x [1]" has a second list.
void Parser::pretty_key(Operation& op, std::string key) {
  Attribute value = attribute();
  if (scan_.at_word("x")) {
    scan_.word("x");
    op.attributes.emplace_back("rhs_" + key, attribute());
    key = "lhs_" + key;
  }
  op.attributes.emplace_back(std::move(key), std::move(value));
}

// "[0:2, 1:3:2]" of a slice, "[0]" of a tuple.
void Parser::pretty_list(Operation& op) {
  Attribute all[3];
  for (Attribute& each : all) each.kind = Attribute::Kind::list;
  auto number = [&] { return number_attribute(scan_.position()); };
  while (!scan_.accept("]")) {
    Attribute start = number(), limit, stride;
    stride.kind = Attribute::Kind::integer;
    stride.text = "1";
    limit = start;
    if (scan_.accept(":")) limit = number();
    if (scan_.accept(":")) stride = number();
    all[0].list.push_back(start);
    all[1].list.push_back(limit);
    all[2].list.push_back(stride);
    if (!scan_.accept(",") && !scan_.at(']')) scan_.fail_expected("',' or ']' in a list of ranges");
  }
  const char* names[] = {"start_indices", "limit_indices", "strides"};
  for (int i = 0; i < 3; ++i) op.attributes.emplace_back(names[i], all[i]);
}

// One part of a pretty form; false where there is none.
bool Parser::pretty_item(Operation& op) {
  if (scan_.at('%')) {
    op.operands.push_back(value_use());
  } else if (scan_.accept("(")) {
    Nesting nesting(*this);
    while (!scan_.accept(")")) {
      if (!scan_.accept(",") && !pretty_item(op)) scan_.fail_expected("an operand, or ')'");
    }
  } else if (scan_.accept("[")) {
    pretty_list(op);
  } else if (scan_.accept("{")) {
    for (auto& entry : entries("}")) op.attributes.push_back(std::move(entry));
  } else if (scan_.at("<{")) {
    scan_.accept("<");
    scan_.accept("{");
    for (auto& entry : entries("}")) op.attributes.push_back(std::move(entry));
    scan_.expect(">", "after the properties");
  } else if (scan_.at_word() && !at_type()) {
    const std::size_t at = scan_.position();
    std::string word(scan_.word("a word"));
    if (scan_.at('=') && !scan_.at("==")) {
      scan_.accept("=");
      pretty_key(op, std::move(word));
    } else {
      scan_.move_to(at);
      Attribute value = attribute();
      op.attributes.emplace_back(is_constant(value) ? "value" : "", std::move(value));
    }
  } else if (scan_.at('"') || scan_.at('@') || scan_.at('#') || scan_.at('<') ||
             scan_.at_number()) {
    Attribute value = attribute();
    const char* name = value.kind == Attribute::Kind::symbol ? "callee" : "";
    op.attributes.emplace_back(name, std::move(value));
  } else {
    return false;
  }
  return true;
}

void Parser::pretty_form(Operation& op) {
  Nesting nesting(*this);
  const bool is_terminator = op.name.ends_with(".return");
  while (!scan_.at(':') && !scan_.at('}') && !scan_.at_word("loc")) {
    if (scan_.accept(",")) continue;
    // A value that states its type may end the op: what follows is another one.
    const bool is_complete = op.find("value") != nullptr && !scan_.at('{');
    if (is_complete && scan_.source().text()[scan_.last_end() - 1] != ',') break;
    if (is_terminator && !scan_.at('%') && !scan_.at('{') && !scan_.at('(')) break;
    if (!pretty_item(op)) scan_.fail_expected("':' and the types of " + op.name);
  }
  const Attribute* value = op.find("value");
  if (scan_.accept(":")) {
    signature(op);
  } else if (value && value->typed) {
    op.operand_types = {value->type};
    one_result(op, value->type);
  } else if (!op.operands.empty() || !op.results.empty() || !is_terminator) {
    scan_.fail_expected("':' and the types of " + op.name);
  }
}

}  // namespace anabranch::stablehlo
