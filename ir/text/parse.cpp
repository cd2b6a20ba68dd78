#include "ir/text/parse.h"

#include <algorithm>
#include <type_traits>
#include <unordered_map>

#include "anabranch/error.h"
#include "ir/graph/builder.h"
#include "ir/infer/infer.h"
#include "ir/text/read_fields.h"

namespace anabranch {
namespace {

struct Definition {
  Value value;
  std::size_t position = 0;
};
using Scope = std::unordered_map<std::string_view, Definition>;

// "%2: f32[3]" on the left of "=".
struct Stated {
  std::string_view name;
  Type type;
  std::size_t position = 0;
};

class Parser {
 public:
  explicit Parser(std::string_view text, std::string_view file = {})
      : reader_(text), file_(file.empty() ? nullptr : kept_text(file)) {}

  bool at_end() const { return reader_.at_end(); }

  void expect_end() {
    if (!at_end()) reader_.fail_expected("the end of the text after the graph");
  }

  Graph graph() {
    if (!reader_.accept_word("graph")) reader_.fail_expected("'graph'");
    if (scopes_.size() == most_nested) {
      reader_.fail("graphs are nested more than " + std::to_string(most_nested) + " deep");
    }
    GraphBuilder builder(graph_name());
    scopes_.emplace_back();
    parameters(builder);
    reader_.expect('{', "to open the graph");
    while (!reader_.accept_word("return")) {
      if (!reader_.at('%'))
        reader_.fail_expected("a node, such as '%2: f32[3] = ...', or 'return'");
      node(builder);
    }
    std::vector<Value> outputs;
    if (reader_.at('%')) outputs = values();
    reader_.expect('}', "to close the graph after its 'return'");
    scopes_.pop_back();
    return builder.build(std::move(outputs));
  }

 private:
  std::string graph_name() {
    return reader_.at('"') || reader_.at_identifier() ? read_name(reader_, "a name") : "";
  }

  void parameters(GraphBuilder& builder) {
    reader_.expect('(', "to open the parameters");
    if (reader_.accept(')')) return;
    do {
      const Stated stated = this->stated();
      define(stated, builder.parameter(stated.type));
    } while (reader_.accept(','));
    reader_.expect(')', "to close the parameters");
  }

  Stated stated() {
    Stated stated;
    stated.position = reader_.position();
    stated.name = reader_.value_name();
    reader_.expect(':', "and a type after " + std::string(stated.name));
    stated.type = read_type(reader_);
    return stated;
  }

  void define(const Stated& stated, Value value) {
    auto [known, added] = scopes_.back().emplace(stated.name, Definition{value, stated.position});
    if (!added) {
      reader_.fail_at(stated.position, std::string(stated.name) + " is defined already, on line " +
                                           std::to_string(reader_.line_of(known->second.position)));
    }
  }

  void node(GraphBuilder& builder) {
    statement_ = reader_.position();
    const SourceLocation location = location_of_statement();
    std::vector<Stated> results;
    do {
      results.push_back(stated());
    } while (reader_.accept(','));
    reader_.expect('=', "and an op after the types of the results");
    const std::size_t start = reader_.position();
    const Op op = this->op();
    std::vector<Value> inputs;
    if (reader_.at('%')) inputs = values();
    Attributes attributes = default_attributes(op);
    if (op == Op::constant) {
      attributes = ConstantAttributes{read_literal(reader_, results[0].type)};
    }
    read_attributes(op, attributes);
    std::vector<Graph> regions = this->regions(op);
    std::optional<Type> type;
    if (info(op).has(OpInfo::typed)) type = results[0].type;
    std::vector<Type> operands;
    for (Value input : inputs) operands.push_back(builder.type(input));
    // Without the location, since what is wrong is said with the line and column.
    std::vector<Type> types =
        located(reader_, start, [&] { return infer(op, operands, attributes, type, regions, {}); });
    const Value value = builder.append(Node{op, std::move(types), std::move(inputs),
                                            std::move(attributes), std::move(regions), location});
    define_results(builder, op, results, value);
  }

  SourceLocation location_of_statement() {
    if (!file_) return {};
    for (; counted_ < statement_; ++counted_) line_ += reader_.text()[counted_] == '\n';
    return {file_, line_};
  }

  Op op() {
    const std::size_t start = reader_.position();
    const Op op = read_op(reader_);
    if (op == Op::parameter) {
      reader_.fail_at(start, "parameters are written in the graph's head: graph name(%0: f32[3])");
    }
    return op;
  }

  void define_results(const GraphBuilder& builder, Op op, std::span<const Stated> results,
                      Value value) {
    const std::vector<Type>& types = builder.node(value).types;
    if (types.size() != results.size()) {
      reader_.fail_at(results[0].position,
                      std::string(name(op)) + " gives " + std::to_string(types.size()) +
                          (types.size() == 1 ? " result" : " results") + ", and the text names " +
                          std::to_string(results.size()));
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].type != types[i]) {
        reader_.fail_at(results[i].position, "the text says that " + std::string(results[i].name) +
                                                 " is " + to_string(results[i].type) + ", and " +
                                                 std::string(name(op)) + " gives " +
                                                 to_string(types[i]));
      }
      define(results[i], Value{value.node, static_cast<std::uint32_t>(i)});
    }
  }

  std::vector<Value> values() {
    std::vector<Value> values;
    do {
      const std::size_t start = reader_.position();
      const std::string_view name = reader_.value_name();
      auto found = scopes_.back().find(name);
      if (found == scopes_.back().end()) undefined(name, start);
      values.push_back(found->second.value);
    } while (reader_.accept(','));
    return values;
  }

  // Why a name means nothing here: it comes later, it belongs to a graph outside, or nothing
  // defines it.
  [[noreturn]] void undefined(std::string_view name, std::size_t position) {
    const std::string text(name);
    for (std::size_t outer = 0; outer + 1 < scopes_.size(); ++outer) {
      if (scopes_[outer].contains(name)) {
        reader_.fail_at(position, text +
                                      " belongs to a graph outside; a region sees its own values "
                                      "alone, so hand it over as an operand");
      }
    }
    const std::size_t later = definition_below(name);
    if (later == std::string_view::npos) reader_.fail_at(position, text + " is not defined");
    reader_.fail_at(position,
                    text + " is used before its definition on line " +
                        std::to_string(reader_.line_of(later)) +
                        "; a graph has no cycles, so a node uses only what stands above it");
  }

  // Where "%name:" stands in this graph from the statement at hand on.
  std::size_t definition_below(std::string_view name) {
    const std::string_view text = reader_.text();
    int depth = 0;
    for (std::size_t at = statement_; at < text.size() && depth >= 0; ++at) {
      if (text[at] == '#') at = std::min(text.find('\n', at), text.size() - 1);
      if (text[at] == '{') ++depth;
      if (text[at] == '}') --depth;
      if (depth != 0 || text.substr(at, name.size()) != name) continue;
      const std::size_t colon = text.find_first_not_of(" \t", at + name.size());
      if (colon != text.npos && text[colon] == ':') return at;
    }
    return text.npos;
  }

  std::vector<Graph> regions(Op op) {
    std::vector<Graph> regions;
    while (reader_.peek_identifier() == "graph") {
      if (!info(op).takes_regions()) {
        reader_.fail(std::string(name(op)) + " takes no region");
      }
      if (!regions.empty() && info(op).has(OpInfo::has_region))
        reader_.fail(std::string(name(op)) + " takes one region");
      regions.push_back(graph());
    }
    if (regions.empty() && info(op).takes_regions()) {
      reader_.fail_expected("the region of " + std::string(name(op)) + ", 'graph(...) {...}'");
    }
    return regions;
  }

  void read_attributes(Op op, Attributes& all) {
    const auto at_attribute = [&] {
      return reader_.at_identifier() && reader_.peek_identifier() != "return" &&
             reader_.peek_identifier() != "graph";
    };
    std::visit(
        [&](auto& attributes) {
          read_fields(
              reader_, std::string(name(op)), at_attribute,
              [&](auto&& visit) { fields(attributes, visit); },
              [&](auto& field, std::string_view word) { read_field(reader_, field, word); });
        },
        all);
    if (auto* call = std::get_if<CustomCallAttributes>(&all); call && !call->function.empty()) {
      call->function.function = located(
          reader_, reader_.position(), [&] { return custom_function(call->name, call->function); });
    }
  }

  TextReader reader_;
  const char* file_;
  std::vector<Scope> scopes_;
  std::size_t statement_ = 0;  // where the node at hand begins
  std::size_t counted_ = 0;    // the text before it is counted
  std::uint32_t line_ = 1;
};

}  // namespace

Graph parse(std::string_view text, std::string_view file) {
  Parser parser(text, file);
  Graph graph = parser.graph();
  parser.expect_end();
  return graph;
}

std::vector<Graph> parse_all(std::string_view text) {
  Parser parser(text);
  std::vector<Graph> graphs;
  while (!parser.at_end()) graphs.push_back(parser.graph());
  return graphs;
}

}  // namespace anabranch
