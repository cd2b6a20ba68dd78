// StableHLO programs, as JAX, PyTorch and TensorFlow export them in MLIR's text form.
//
//   const ab::stablehlo::Module module = ab::stablehlo::read("model.mlir");
//   auto model = ab::jit(module.function("main"));
//   std::vector<ab::Array> results = model(std::vector{weights, x});
//
// What is read and what is not, and why, says docs/stablehlo.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "anabranch/array.h"
#include "anabranch/detail/any_function.h"
#include "anabranch/export.h"
#include "anabranch/graph.h"
#include "anabranch/type.h"

namespace anabranch::stablehlo {  // of the library alone, so not exported
struct ParsedModule;
}  // namespace anabranch::stablehlo

namespace ANABRANCH_API anabranch {
namespace stablehlo {

/// A function of a module: an ordinary function from arrays to arrays, which `trace`, `jit` and the
/// like take. Its calls of other functions are carried out in place. A small handle.
class Function {
 public:
  /// Of the function of that name, which is there.
  Function(std::shared_ptr<const ParsedModule> module, std::size_t index)
      : module_(std::move(module)), index_(index) {}

  const std::string& name() const;
  /// Whether the module keeps it for itself.
  bool is_private() const;
  /// Throws Error where one is dynamic, quantized or no tensor.
  std::vector<Type> argument_types() const;
  std::vector<Type> result_types() const;  ///< throws as `argument_types`

  /// The results for arguments of exactly these types. Assertions (check.expect_eq ...) have no
  /// effect. Throws Error with the file, line and column of what cannot be translated.
  std::vector<Array> operator()(const std::vector<Array>& arguments) const;
  /// Its graph; all constants are part of it, also where the function has no arguments.
  Graph graph() const;

  const std::shared_ptr<const ParsedModule>& module() const { return module_; }
  std::size_t index() const { return index_; }

 private:
  std::shared_ptr<const ParsedModule> module_;
  std::size_t index_;
};

/// A module that has been read. A small handle.
class Module {
 public:
  explicit Module(std::shared_ptr<const ParsedModule> module) : module_(std::move(module)) {}

  /// Throws Error, with the names that there are, where there is no such function.
  Function function(std::string_view name) const;
  /// All of them, in the text's order.
  std::vector<Function> functions() const;

 private:
  std::shared_ptr<const ParsedModule> module_;
};

/// The module in `text`; `file` names it in errors and in the nodes of graphs. Throws Error
/// "FILE:LINE:COLUMN: ..." with what was expected there. What an operation means is asked when its
/// function is called.
Module parse(std::string_view text, std::string_view file = {});
/// The module in a file. Throws Error where it cannot be read.
Module read(const std::string& path);

/// The modules of a text that lines `// -----` split, as MLIR's tests are written; a part that
/// cannot be read throws only when it is asked for.
struct Part {
  std::uint32_t first_line = 1;
  std::string text;
};
std::vector<Part> split(std::string_view text);
/// The module in one of them.
Module parse(const Part& part, std::string_view file);

/// The graph as the text of a module with the function @main, which `parse` reads back to a graph
/// of equal meaning. Fusions are taken apart; a function of the user's becomes a custom_call of its
/// name. Throws Error for what StableHLO has no operation for: a transfer between devices.
std::string to_stablehlo(const Graph& graph);

/// A custom_call in a program that is being translated.
struct CustomCallSite {
  std::string name;
  std::vector<Array> operands;
  std::vector<Type> results;
  std::string backend_config;  ///< a string as it is, a dictionary as its text
};
/// What a custom_call gives: one array per result, of its type.
using CustomCallTranslation = detail::AnyFunction<std::vector<Array>(const CustomCallSite& call)>;

/// From now on, and in every module, custom_calls of that name are what `translation` gives, which
/// is called while a function is traced; ab::custom_call makes it a function over plain memory. An
/// unknown name is an Error. Thread-safe.
void register_custom_call(std::string name, CustomCallTranslation translation);

}  // namespace stablehlo
}  // namespace anabranch
