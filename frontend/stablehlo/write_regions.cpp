// Nodes as operations of StableHLO that have regions: reductions, loops, branches.
#include <algorithm>
#include <limits>

#include "frontend/stablehlo/types.h"
#include "frontend/stablehlo/writer.h"
#include "ir/scalar.h"

namespace anabranch::stablehlo {
namespace {

/// How StableHLO writes a reduction of the IR: the op, and what it begins with.
struct Applied {
  const char* op;
  Literal initial;
};

Applied applied(Op op, Dtype dtype) {
  const double infinity = std::numeric_limits<double>::infinity();
  switch (op) {
    case Op::reduce_sum:
      return {"add", Literal::scalar(dtype, 0.0)};
    case Op::reduce_product:
      return {"multiply", Literal::scalar(dtype, 1.0)};
    case Op::reduce_max:
      return {"maximum", Literal::scalar(dtype, dtype == bool_ ? 0.0 : -infinity)};
    case Op::reduce_min:
      return {"minimum", Literal::scalar(dtype, infinity)};
    case Op::reduce_any:
      return {"or", Literal::scalar(dtype, 0.0)};
    case Op::reduce_all:
      return {"and", Literal::scalar(dtype, 1.0)};
    default:
      return {nullptr, {}};
  }
}

Applied applied(Running of, Dtype dtype) {
  switch (of) {
    case Running::sum:
      return {"add", Literal::scalar(dtype, is_float(dtype) ? -0.0 : 0.0)};
    case Running::product:
      return applied(Op::reduce_product, dtype);
    case Running::maximum:
      return applied(Op::reduce_max, dtype);
    case Running::minimum:
      return applied(Op::reduce_min, dtype);
  }
  __builtin_unreachable();
}

}  // namespace

// A window over all that is before each element, or behind it, and the element.
void Writer::running(const Frame& frame, const Node& node, Names& results) {
  const auto& [axis, of, reverse] = node.as<CumulativeAttributes>();
  const Type& type = node.types[0];
  const Applied form = applied(of, type.dtype);
  const std::string initial = define("stablehlo.constant " + dense_text(form.initial));
  std::string windows, padding;
  for (int i = 0; i < type.rank(); ++i) {
    const std::int64_t size = i == axis ? std::max<std::int64_t>(type.shape[i], 1) : 1;
    const std::string reach = std::to_string(size - 1);
    windows += (i > 0 ? ", " : "") + std::to_string(size);
    padding += (i > 0 ? ", " : "") + (reverse ? "[0, " + reach + "]" : "[" + reach + ", 0]");
  }
  const std::string result = fresh(), a = fresh(), b = fresh();
  const std::string scalar = type_text({type.dtype, {}}), whole = type_text(type);
  line(result + " = \"stablehlo.reduce_window\"(" + frame(node.inputs[0]) + ", " + initial +
       ") <{window_dimensions = array<i64: " + windows + ">, padding = dense<[" + padding +
       "]> : tensor<" + std::to_string(type.rank()) + "x2xi64>}> ({");
  line("^bb0(" + a + ": " + scalar + ", " + b + ": " + scalar + "):");
  ++depth_;
  const std::string both =
      define(std::string("stablehlo.") + form.op + " " + a + ", " + b + " : " + scalar);
  line("stablehlo.return " + both + " : " + scalar);
  --depth_;
  line("}) : (" + whole + ", " + scalar + ") -> " + whole);
  results = {result};
}

bool Writer::reducing(Frame& frame, const Node& node, Names& results) {
  if (node.op == Op::argmax || node.op == Op::argmin) {
    position(frame, node, results);
    return true;
  }
  if (node.op == Op::cumulative) {
    running(frame, node, results);
    return true;
  }
  const Names given = operands(frame, node);
  if (node.op == Op::reduce) {
    const std::size_t count = node.types.size();
    std::string definition, inputs;
    results = fresh_results(node, definition);
    std::vector<Type> types;
    std::string arguments;
    Names parameters(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
      inputs += (i > 0 ? ", (" : "(") + given[i] + " init: " + given[count + i] + ")";
      for (const std::size_t which : {i, count + i}) parameters[which] = fresh();
      const std::string scalar = type_text({node.types[i].dtype, {}});
      arguments +=
          "(" + parameters[i] + ": " + scalar + ", " + parameters[count + i] + ": " + scalar + ") ";
    }
    for (Value input : node.inputs) types.push_back(frame.graph.type(input));
    std::string axes;
    for (std::int64_t axis : node.as<AxesAttributes>().axes) {
      axes += (axes.empty() ? "" : ", ") + std::to_string(axis);
    }
    const std::string gives = count == 1 ? joined(node.types) : "(" + joined(node.types) + ")";
    line(definition + " = stablehlo.reduce" + inputs + " across dimensions = [" + axes + "] : (" +
         joined(types) + ") -> " + gives);
    line(" reducer" + arguments + "{");
    ++depth_;
    const Graph& region = node.regions[0];
    const Names outputs = body(region, parameters);
    std::vector<Type> scalars;
    for (std::size_t i = 0; i < count; ++i) scalars.push_back(region.output_type(i));
    line("stablehlo.return " + joined(outputs) + " : " + joined(scalars));
    --depth_;
    line("}");
    return true;
  }
  const Dtype dtype = frame.graph.type(node.inputs.empty() ? Value{} : node.inputs[0]).dtype;
  const Applied form = applied(node.op, dtype);
  if (!form.op) return false;
  const std::string initial = define("stablehlo.constant " + dense_text(form.initial));
  std::string axes;
  for (std::int64_t axis : node.as<AxesAttributes>().axes) {
    axes += (axes.empty() ? "" : ", ") + std::to_string(axis);
  }
  results = {define("stablehlo.reduce(" + given[0] + " init: " + initial + ") applies stablehlo." +
                    form.op + " across dimensions = [" + axes + "] : (" +
                    type_text(frame.graph.type(node.inputs[0])) + ", " + type_text({dtype, {}}) +
                    ") -> " + type_text(node.types[0]))};
  return true;
}

// A reduction of elements and their positions. A NaN is before any number, the first before others;
// positions begin as the greatest there is, so that any element is before what is begun with.
void Writer::position(const Frame& frame, const Node& node, Names& results) {
  const Type& type = frame.graph.type(node.inputs[0]);
  const Dtype counted = node.types[0].dtype;
  const std::string axis = std::to_string(node.as<AxisAttributes>().axis);
  const std::string x = frame(node.inputs[0]);
  const std::string value = type_text({type.dtype, {}}), place = type_text({counted, {}});
  const std::string places =
      define("stablehlo.iota dim = " + axis + " : " + type_text({counted, type.shape}));
  const double infinity = std::numeric_limits<double>::infinity();
  const bool is_max = node.op == Op::argmax;
  const Applied extreme = applied(is_max ? Op::reduce_max : Op::reduce_min, type.dtype);
  const std::string first = define("stablehlo.constant " + dense_text(extreme.initial));
  const std::string last =
      define("stablehlo.constant " + dense_text(Literal::scalar(counted, infinity)));
  const std::string pair = fresh();
  const std::string a = fresh(), b = fresh(), i = fresh(), j = fresh();
  line(pair + ":2 = stablehlo.reduce(" + x + " init: " + first + "), (" + places +
       " init: " + last + ") across dimensions = [" + axis + "] : (" + type_text(type) + ", " +
       type_text({counted, type.shape}) + ", " + value + ", " + place + ") -> (" +
       type_text({type.dtype, node.types[0].shape}) + ", " + type_text(node.types[0]) + ")");
  line(" reducer(" + a + ": " + value + ", " + b + ": " + value + ") (" + i + ": " + place + ", " +
       j + ": " + place + ") {");
  ++depth_;
  const auto compare = [&](const char* how, const std::string& l, const std::string& r,
                           const std::string& of) {
    return define(std::string("stablehlo.compare ") + how + ", " + l + ", " + r + " : (" + of +
                  ", " + of + ") -> tensor<i1>");
  };
  const auto logic = [&](const char* op, const std::string& l, const std::string& r) {
    return define(std::string("stablehlo.") + op + " " + l + ", " + r + " : tensor<i1>");
  };
  const std::string beyond = compare(is_max ? "GT" : "LT", a, b, value);
  const std::string nan_a = compare("NE", a, a, value), nan_b = compare("NE", b, b, value);
  const std::string equal = compare("EQ", a, b, value), before = compare("LT", i, j, place);
  const std::string both_nan = logic("and", nan_a, nan_b);
  const std::string number_b = define("stablehlo.not " + nan_b + " : tensor<i1>");
  const std::string same = logic("or", equal, both_nan);
  const std::string tie = logic("and", same, before);
  const std::string only_a = logic("and", nan_a, number_b);
  const std::string wins = logic("or", beyond, only_a);
  const std::string take = logic("or", wins, tie);
  const std::string c =
      define("stablehlo.select " + take + ", " + a + ", " + b + " : tensor<i1>, " + value);
  const std::string k =
      define("stablehlo.select " + take + ", " + i + ", " + j + " : tensor<i1>, " + place);
  line("stablehlo.return " + c + ", " + k + " : " + value + ", " + place);
  --depth_;
  line("}");
  results = {pair + "#1"};
}

bool Writer::with_regions(Frame& frame, const Node& node, Names& results) {
  switch (node.op) {
    case Op::while_:
      while_text(frame, node, results);
      return true;
    case Op::case_:
      case_text(frame, node, results);
      return true;
    case Op::composite:
    case Op::fusion:
      results = body(node.regions[0], operands(frame, node));
      return true;
    case Op::custom_call: {
      std::string definition;
      results = fresh_results(node, definition);
      std::vector<Type> types;
      for (Value input : node.inputs) types.push_back(frame.graph.type(input));
      line(definition + " = stablehlo.custom_call @" +
           quoted(node.as<CustomCallAttributes>().name) + "(" + joined(operands(frame, node)) +
           ") : (" + joined(types) + ") -> (" + joined(node.types) + ")");
      return true;
    }
    default:
      return false;
  }
}

// What a region captures is named as outside; what is carried has names of its own.
void Writer::while_text(const Frame& frame, const Node& node, Names& results) {
  const Names given = operands(frame, node);
  std::string definition, carried;
  results = fresh_results(node, definition);
  Names parameters = given;
  for (std::size_t i = 0; i < node.types.size(); ++i) {
    parameters[i] = fresh();
    carried += (i > 0 ? ", " : "") + parameters[i] + " = " + given[i];
  }
  line(definition + " = stablehlo.while(" + carried + ") : " + joined(node.types));
  const char* begins[] = {"cond {", "} do {"};
  for (int which = 0; which < 2; ++which) {
    line(begins[which]);
    ++depth_;
    const Graph& region = node.regions[static_cast<std::size_t>(which)];
    const Names outputs = body(region, parameters);
    std::vector<Type> types;
    for (std::size_t i = 0; i < outputs.size(); ++i) types.push_back(region.output_type(i));
    line("stablehlo.return " + joined(outputs) + " : " + joined(types));
    --depth_;
  }
  line("}");
}

void Writer::case_text(const Frame& frame, const Node& node, Names& results) {
  const Names given = operands(frame, node);
  std::string definition;
  results = fresh_results(node, definition);
  line(definition + " = \"stablehlo.case\"(" + given[0] + ") ({");
  for (std::size_t which = 0; which < node.regions.size(); ++which) {
    if (which > 0) line("}, {");
    ++depth_;
    const Graph& region = node.regions[which];
    const Names outputs = body(region, Names(given.begin() + 1, given.end()));
    line("stablehlo.return " + joined(outputs) + " : " + joined(node.types));
    --depth_;
  }
  line("}) : (tensor<i32>) -> (" + joined(node.types) + ")");
}

}  // namespace anabranch::stablehlo
