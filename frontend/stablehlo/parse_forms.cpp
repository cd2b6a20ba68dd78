// The pretty forms that are a grammar of their own, and the generic names of attributes.
#include <map>
#include <tuple>

#include "frontend/stablehlo/parser.h"

namespace anabranch::stablehlo {
namespace {

// What a pretty form calls an attribute, and what the generic form does.
struct Renamed {
  std::string_view op, pretty, generic;
};
constexpr Renamed renamed[] = {
    {"transpose", "dims", "permutation"},
    {"broadcast_in_dim", "dims", "broadcast_dimensions"},
    {"dynamic_broadcast_in_dim", "dims", "broadcast_dimensions"},
    {"broadcast", "sizes", "broadcast_sizes"},
    {"reverse", "dims", "dimensions"},
    {"concatenate", "dim", "dimension"},
    {"get_dimension_size", "dim", "dimension"},
    {"set_dimension_size", "dim", "dimension"},
    {"iota", "dim", "iota_dimension"},
    {"dynamic_iota", "dim", "iota_dimension"},
    {"dynamic_slice", "sizes", "slice_sizes"},
    {"pad", "low", "edge_padding_low"},
    {"pad", "high", "edge_padding_high"},
    {"pad", "interior", "interior_padding"},
    {"fft", "type", "fft_type"},
    {"fft", "length", "fft_length"},
    {"rng", "distribution", "rng_distribution"},
    {"rng_bit_generator", "algorithm", "rng_algorithm"},
    {"dot", "precision", "precision_config"},
    {"dot_general", "precision", "precision_config"},
    {"einsum", "config", "einsum_config"},
    {"unary_einsum", "config", "einsum_config"},
    {"custom_call", "callee", "call_target_name"},
    {"get_tuple_element", "start_indices", "index"},
    {"composite", "", "name"},
    {"constant", "", "value"},
    {"convolution", "stride", "window_strides"},
    {"convolution", "pad", "padding"},
    {"convolution", "lhs_dilate", "lhs_dilation"},
    {"convolution", "rhs_dilate", "rhs_dilation"},
    {"convolution", "reverse", "window_reversal"},
};

}  // namespace

void Parser::rename_attributes(Operation& op) {
  std::string_view name = std::string_view(op.name).substr(op.name.find('.') + 1);
  if (name == "dynamic_conv") name = "convolution";
  // compare LT, %a, %b, FLOAT
  const char* words[] = {"comparison_direction", "compare_type"};
  std::size_t next = 0;
  for (auto& [key, value] : op.attributes) {
    if (key.empty() && name == "compare" && next < 2) {
      key = words[next++];
      continue;
    }
    for (const Renamed& row : renamed) {
      if (row.op != name || row.pretty != key) continue;
      key = row.generic;
      break;
    }
  }
}

bool Parser::special_form(Operation& op) {
  const std::string_view name = std::string_view(op.name).substr(op.name.find('.') + 1);
  if (op.name == "chlo.scan") {
    scan_form(op);
    return true;
  }
  if (op.name == "sdy.manual_computation") {
    manual_form(op);
    return true;
  }
  if (!op.name.starts_with("stablehlo.") && !op.name.starts_with("mhlo.")) return false;
  if (name == "while") {
    while_form(op);
  } else if (name == "reduce") {
    reduce_form(op);
  } else if (name == "convolution" || name == "dynamic_conv") {
    convolution_form(op);
  } else {
    return false;
  }
  return true;
}

// while(%a = %0, %b = %1) : types [attributes {...}] cond {...} do {...}
void Parser::while_form(Operation& op) {
  RegionSyntax regions[2];
  std::vector<BlockArgument> arguments;
  scan_.expect("(", "after while");
  while (!scan_.accept(")")) {
    BlockArgument argument;
    argument.at = scan_.position();
    argument.name = scan_.name_after('%', "what the loop carries, as in %a = %0");
    scan_.expect("=", "after the name of what the loop carries");
    op.operands.push_back(value_use());
    arguments.push_back(std::move(argument));
    if (!scan_.accept(",") && !scan_.at(')')) scan_.fail_expected("',' or ')' after an operand");
  }
  if (scan_.accept(":")) op.operand_types = type_list();
  if (op.operand_types.size() != arguments.size()) {
    scan_.fail_at(op.at, op.name + " carries " + std::to_string(arguments.size()) +
                             " values and states " + std::to_string(op.operand_types.size()) +
                             " types; state one each");
  }
  op.result_types = op.operand_types;
  for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i].type = op.operand_types[i];
  if (scan_.accept_word("attributes")) {
    scan_.expect("{", "after attributes");
    op.attributes = entries("}");
  }
  for (int i = 0; i < 2; ++i) {
    const char* word = i == 0 ? "cond" : "do";
    if (!scan_.accept_word(word)) scan_.fail_expected(std::string("the word ") + word);
    regions[i] = region();
    regions[i].arguments = arguments;
    op.regions.push_back(std::move(regions[i]));
  }
}

// reduce(%x init: %c), (%y init: %d) across dimensions = [0] : types reducer(...) (...) {...}, or
// reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : types
void Parser::reduce_form(Operation& op) {
  std::vector<ValueUse> initial;
  do {
    scan_.expect("(", "before an operand of reduce");
    op.operands.push_back(value_use());
    if (!scan_.accept_word("init")) scan_.fail_expected("the word init");
    scan_.expect(":", "after init");
    initial.push_back(value_use());
    scan_.expect(")", "after the initial value");
  } while (scan_.accept(","));
  const std::size_t count = op.operands.size();
  op.operands.insert(op.operands.end(), initial.begin(), initial.end());
  std::string applied;
  const std::size_t applied_at = scan_.position();
  if (scan_.accept_word("applies")) {
    applied = scan_.at('"') ? scan_.quoted() : std::string(scan_.word("an operation"));
  }
  if (!scan_.accept_word("across")) scan_.fail_expected("the word across");
  if (!scan_.accept_word("dimensions")) scan_.fail_expected("the word dimensions");
  scan_.expect("=", "after dimensions");
  op.attributes.emplace_back("dimensions", attribute());
  if (scan_.accept("{")) {
    for (auto& entry : entries("}")) op.attributes.push_back(std::move(entry));
  }
  scan_.expect(":", "and the types of operands and results");
  signature(op);

  RegionSyntax body;
  body.at = applied_at;
  if (applied.empty()) {
    if (!scan_.accept_word("reducer")) scan_.fail_expected("the word reducer");
    std::vector<BlockArgument> next;
    for (std::size_t i = 0; i < count; ++i) {
      scan_.expect("(", "before two arguments of a reducer");
      body.arguments.push_back(block_argument());
      scan_.expect(",", "between two arguments of a reducer");
      next.push_back(block_argument());
      scan_.expect(")", "after two arguments of a reducer");
    }
    body.arguments.insert(body.arguments.end(), next.begin(), next.end());
    skip_location();
    RegionSyntax written = region();
    body.operations = std::move(written.operations);
  } else {
    TypeSyntax scalar;
    if (!op.result_types.empty()) scalar = op.result_types[0];
    scalar.sizes.clear();
    body.arguments = {{"a", scalar, applied_at}, {"b", scalar, applied_at}};
    Operation apply, give;
    apply.name = applied;
    apply.at = give.at = applied_at;
    apply.results = {{"c", 1}};
    apply.operands = {{"a", 0, applied_at}, {"b", 0, applied_at}};
    apply.result_types = {scalar};
    give.name = "stablehlo.return";
    give.operands = {{"c", 0, applied_at}};
    body.operations = {std::move(apply), std::move(give)};
  }
  op.regions.push_back(std::move(body));
}

// scan(%x, %y) inits (%c) dimension=0 [attributes {...}] {...} : types
void Parser::scan_form(Operation& op) {
  Attribute segments;
  segments.kind = Attribute::Kind::list;
  const auto operands = [&] {
    const std::size_t before = op.operands.size();
    scan_.expect("(", "before the operands of a scan");
    operands_until(op, ")");
    Attribute count;
    count.kind = Attribute::Kind::integer;
    count.text = std::to_string(op.operands.size() - before);
    segments.list.push_back(std::move(count));
  };
  operands();
  if (!scan_.accept_word("inits")) scan_.fail_expected("the word inits");
  operands();
  if (!scan_.accept_word("dimension")) scan_.fail_expected("the word dimension");
  scan_.expect("=", "after dimension");
  op.attributes.emplace_back("dimension", attribute());
  if (scan_.accept_word("attributes")) {
    scan_.expect("{", "after attributes");
    for (auto& entry : entries("}")) op.attributes.push_back(std::move(entry));
  }
  op.attributes.emplace_back("operandSegmentSizes", std::move(segments));
  op.regions.push_back(region());
  scan_.expect(":", "and the types of operands and results");
  signature(op);
}

// manual_computation(%x) in_shardings=[...] out_shardings=[...] manual_axes={"x"} (%a: type) {...}
// [{...}] : types
void Parser::manual_form(Operation& op) {
  scan_.expect("(", "after manual_computation");
  operands_until(op, ")");
  for (const char* key : {"in_shardings", "out_shardings", "manual_axes"}) {
    if (!scan_.accept_word(key)) scan_.fail_expected(std::string("the word ") + key);
    scan_.expect("=", "after " + std::string(key));
    Attribute value;
    value.kind = Attribute::Kind::dialect;
    std::tie(value.begin, value.end) = scan_.balanced(scan_.at('{') ? '{' : '[');
    op.attributes.emplace_back(key, std::move(value));
  }
  scan_.expect("(", "before the arguments of a manual computation");
  std::vector<BlockArgument> arguments = block_arguments();
  op.regions.push_back(region());
  op.regions.back().arguments = std::move(arguments);
  if (scan_.accept("{")) {
    for (auto& entry : entries("}")) op.attributes.push_back(std::move(entry));
  }
  scan_.expect(":", "and the types of operands and results");
  signature(op);
}

// convolution(%x, %w) dim_numbers = [...]x[...]->[...], window = {...} {...} : types
void Parser::convolution_form(Operation& op) {
  scan_.expect("(", "after convolution");
  operands_until(op, ")");
  while (!scan_.at(':')) {
    if (scan_.accept(",")) continue;
    if (scan_.accept("{")) {
      for (auto& entry : entries("}")) op.attributes.push_back(std::move(entry));
      continue;
    }
    const std::string key(scan_.word("dim_numbers, window or the attributes of a convolution"));
    scan_.expect("=", "after " + key);
    if (key == "dim_numbers") {
      Attribute numbers;
      numbers.kind = Attribute::Kind::dialect;
      numbers.text = "stablehlo.conv";
      numbers.begin = scan_.position();
      scan_.balanced('[');
      scan_.expect("x", "between the dimension numbers of the operands");
      scan_.balanced('[');
      scan_.expect("->", "before the dimension numbers of the result");
      scan_.balanced('[');
      numbers.end = scan_.last_end();
      op.attributes.emplace_back("dimension_numbers", std::move(numbers));
    } else if (key == "window") {
      scan_.expect("{", "after window =");
      for (auto& entry : entries("}")) op.attributes.push_back(std::move(entry));
    } else {
      op.attributes.emplace_back(key, attribute());
    }
  }
  scan_.expect(":", "and the types of operands and results");
  signature(op);
}

}  // namespace anabranch::stablehlo
