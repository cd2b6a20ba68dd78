#include "ir/text/parse.h"

#include <algorithm>
#include <type_traits>
#include <unordered_map>

#include "ir/error.h"
#include "ir/graph/builder.h"
#include "ir/infer/infer.h"
#include "ir/text/text_reader.h"

namespace anabranch {
namespace {

// Deeper text is hostile or broken; real graphs nest a few levels.
constexpr std::size_t most_nested = 64;
constexpr std::size_t most_axes = 64;

std::string list_of_dtypes() {
  std::string text;
  for (int i = 0; i < dtype_count; ++i) {
    text += (i ? ", " : "") + std::string(name(static_cast<Dtype>(i)));
  }
  return text;
}

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
    if (reader_.at('"')) return reader_.quoted();
    return std::string(reader_.peek_identifier().empty() ? "" : reader_.identifier("a name"));
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
    stated.type = type();
    return stated;
  }

  Type type() {
    const std::size_t start = reader_.position();
    const std::string_view word = reader_.identifier("a type, such as f32[3]");
    const auto dtype = parse_dtype(word);
    if (!dtype) {
      reader_.fail_at(start,
                      "unknown dtype '" + std::string(word) + "'; there are " + list_of_dtypes());
    }
    if (!reader_.at('['))
      reader_.fail_expected("the sizes, such as [3,4], after " + std::string(word));
    std::vector<std::int64_t> sizes = list("a size");
    if (sizes.size() > most_axes) {
      reader_.fail_at(start, "a type has at most " + std::to_string(most_axes) + " axes");
    }
    return located(start, [&] { return Type{*dtype, Shape(std::move(sizes))}; });
  }

  std::vector<std::int64_t> list(std::string_view what) {
    std::vector<std::int64_t> list;
    reader_.expect('[', "to open a list");
    if (reader_.accept(']')) return list;
    do {
      list.push_back(reader_.integer(what));
    } while (reader_.accept(','));
    reader_.expect(']', "to close the list");
    return list;
  }

  // Errors of others, with the place in the text.
  template <class Call>
  std::invoke_result_t<Call> located(std::size_t position, Call call) {
    try {
      return call();
    } catch (const Error& error) {
      reader_.fail_at(position, error.what());
    }
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
        located(start, [&] { return infer(op, operands, attributes, type, regions, {}); });
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
    const std::string_view word = reader_.identifier("an op");
    const auto op = parse_op(word);
    if (!op) {
      reader_.fail_at(start, "unknown op '" + std::string(word) + "'; docs/ir.md lists the ops");
    }
    if (*op == Op::parameter) {
      reader_.fail_at(start, "parameters are written in the graph's head: graph name(%0: f32[3])");
    }
    return *op;
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

  // Why a name means nothing here: it comes later, it belongs to a graph outside, or nobody defines
  // it.
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
    std::vector<std::string_view> seen;
    while (reader_.at_identifier() && reader_.peek_identifier() != "return" &&
           reader_.peek_identifier() != "graph") {
      const std::size_t start = reader_.position();
      const std::string_view word = reader_.identifier("an attribute");
      if (std::find(seen.begin(), seen.end(), word) != seen.end()) {
        reader_.fail_at(start, std::string(word) + " is given twice");
      }
      seen.push_back(word);
      attribute(op, all, word, start);
    }
    demand_required(op, all, seen);
    if (auto* call = std::get_if<CustomCallAttributes>(&all); call && !call->function.empty()) {
      call->function.function =
          located(reader_.position(), [&] { return custom_function(call->name, call->function); });
    }
  }

  void attribute(Op op, Attributes& all, std::string_view word, std::size_t start) {
    bool known = false;
    std::string names;
    std::visit(
        [&](auto& attributes) {
          fields(attributes, [&](const char* name, auto& field) {
            names += (names.empty() ? "" : ", ") + std::string(name);
            if (word != name) return;
            known = true;
            reader_.expect('=', "after " + std::string(word));
            read_field(field, word);
          });
        },
        all);
    if (known) return;
    const std::string takes = names.empty() ? "takes no attributes" : "takes " + names;
    reader_.fail_at(start, "unknown attribute '" + std::string(word) + "'; " +
                               std::string(name(op)) + " " + takes);
  }

  // Lists are empty where the text leaves them out; the rest must be there.
  void demand_required(Op op, const Attributes& all, std::span<const std::string_view> seen) {
    std::visit(
        [&](const auto& attributes) {
          fields(attributes, [&](const char* field, const auto& value) {
            if constexpr (!requires { value.empty(); }) {
              if (std::find(seen.begin(), seen.end(), field) == seen.end()) {
                reader_.fail_expected(std::string(field) + "=... after " + std::string(name(op)));
              }
            }
          });
        },
        all);
  }

  void read_field(std::vector<std::int64_t>& field, std::string_view word) {
    field = list("an integer of " + std::string(word));
  }
  void read_field(std::int64_t& field, std::string_view word) {
    field = reader_.integer("the integer " + std::string(word));
  }
  void read_field(std::string& field, std::string_view word) {
    field = reader_.at('"') ? reader_.quoted()
                            : std::string(reader_.identifier("the word " + std::string(word)));
  }
  void read_field(CustomFunctionHandle& field, std::string_view word) {
    const std::size_t start = reader_.position();
    const std::int64_t number = reader_.integer("the number of the " + std::string(word));
    if (number < 0) reader_.fail_at(start, "a function's number is 0 or more");
    field.number = static_cast<std::uint64_t>(number);
  }
  void read_field(std::vector<Type>& field, std::string_view) {
    reader_.expect('[', "to open a list of types");
    if (reader_.accept(']')) return;
    do {
      field.push_back(type());
    } while (reader_.accept(','));
    reader_.expect(']', "to close the list of types");
  }
  void read_field(Device& field, std::string_view) {
    const std::size_t start = reader_.position();
    std::string text(reader_.identifier("a device, such as cpu:1"));
    reader_.expect(':', "and a number after " + text);
    text += ":" + std::to_string(reader_.integer("the number of the device"));
    const auto device = parse_device(text);
    if (!device) {
      reader_.fail_at(start, "there is no device '" + text + "'; write cpu:0, cuda:0 or null:0");
    }
    field = *device;
  }
  void read_field(Comparison& field, std::string_view word) {
    field = static_cast<Comparison>(one_of(comparison_names, word));
  }
  void read_field(FusionKind& field, std::string_view word) {
    field = static_cast<FusionKind>(one_of(fusion_kind_names, word));
  }

  std::size_t one_of(std::span<const std::string_view> names, std::string_view what) {
    const std::size_t start = reader_.position();
    const std::string_view word = reader_.identifier("a word for " + std::string(what));
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) {
      std::string text;
      for (std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
      reader_.fail_at(start, "unknown " + std::string(what) + " '" + std::string(word) +
                                 "'; there are " + text);
    }
    return static_cast<std::size_t>(found - names.begin());
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
