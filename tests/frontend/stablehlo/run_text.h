// Runs the functions of a self-checking text, interpreted and compiled, and says what does not
// hold.
#pragma once

#include <anabranch/stablehlo.h>

#include <string>
#include <vector>

#include "codegen/compile.h"
#include "frontend/stablehlo/check.h"
#include "ir/interpret/interpret.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/read.h"

namespace anabranch::testing {

inline std::vector<Literal> compiled(const Graph& graph, const std::vector<Literal>& inputs) {
  const Options options = default_options();
  const Compilation compilation = compile(graph, options);
  std::vector<Buffer> buffers;
  for (const Literal& input : inputs) {
    buffers.push_back(copy_to_device(options.device, input.bytes()));
  }
  std::vector<Literal> results;
  std::vector<Buffer> outputs = run(compilation, std::move(buffers));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    results.push_back(read_literal(outputs[i], graph.output_type(i)));
  }
  return results;
}

inline constexpr const char* no_assertions = "the text has no assertions";

/// Empty where all assertions of all functions without arguments hold; errors are told, too.
inline std::string problems(const std::string& text) {
  std::string all;
  int checks = 0;
  try {
    for (const stablehlo::Function& function : stablehlo::parse(text, "test.mlir").functions()) {
      if (function.is_private() || !function.argument_types().empty()) continue;
      const stablehlo::SelfChecking test = stablehlo::self_checking(function);
      for (const bool interpreted : {true, false}) {
        const std::vector<Literal> results =
            interpreted ? interpret(test.graph, test.inputs) : compiled(test.graph, test.inputs);
        for (const stablehlo::Check& check : test.checks) {
          ++checks;
          const Literal& expected = check.expected ? results[*check.expected] : check.constant;
          const std::string found = stablehlo::difference(check, results[check.actual], expected);
          if (found.empty()) continue;
          all += (interpreted ? "interpreted: line " : "compiled: line ") +
                 std::to_string(check.place.line) + ": " + found + "\n";
        }
      }
    }
  } catch (const Error& error) {
    return error.what();
  }
  return checks == 0 ? no_assertions : all;
}

/// The same of the operations of one function.
inline std::string problems_of(const std::string& operations) {
  return problems("func.func @main() {\n" + operations + "\nreturn\n}\n");
}

/// What reading the text, and making graphs of its functions, throws; empty if nothing.
inline std::string error_of(const std::string& text) {
  try {
    for (const stablehlo::Function& function : stablehlo::parse(text, "test.mlir").functions()) {
      function.graph();
    }
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace anabranch::testing
