// Custom calls: functions of the user that a graph calls by name.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>

#include "ir/dtype.h"
#include "ir/type.h"

namespace anabranch {

/// What a custom function gets: the elements of the operands, to read, and of the results, to
/// write, each in row-major order.
class CustomCall {
 public:
  /// `buffers`: the operands', then the results'.
  CustomCall(std::string_view name, std::span<const Type> operands, std::span<const Type> results,
             void* const* buffers)
      : name_(name), operands_(operands), results_(results), buffers_(buffers) {}

  std::size_t operand_count() const { return operands_.size(); }
  std::size_t result_count() const { return results_.size(); }
  /// Throws Error if there is no such operand, and so do the others.
  const Type& operand_type(std::size_t index) const;
  const Type& result_type(std::size_t index) const;

  /// Throws Error unless `T` stores the dtype.
  template <class T>
  std::span<const T> operand(std::size_t index) const {
    check(operand_type(index), dtype_of<T>);
    return {static_cast<const T*>(buffers_[index]), size_of(operand_type(index))};
  }
  template <class T>
  std::span<T> result(std::size_t index) const {
    check(result_type(index), dtype_of<T>);
    return {static_cast<T*>(buffers_[operands_.size() + index]), size_of(result_type(index))};
  }

 private:
  static std::size_t size_of(const Type& type) { return static_cast<std::size_t>(type.size()); }
  void check(const Type& type, Dtype as) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string_view name_;
  std::span<const Type> operands_, results_;
  void* const* buffers_;
};

/// Reads operands, writes results, and has no other effect: it may be called once, often or never,
/// on any thread, several at a time. What it throws becomes the error of its results.
using CustomFunction = std::function<void(const CustomCall&)>;

/// Makes `function` known under `name` for the rest of the process; `kind` is its C++ type. A
/// function of the same type under the same name is the same function: the first one stays. Throws
/// Error for one of another type.
void register_custom_call(const std::string& name, CustomFunction function,
                          const std::type_info& kind);

/// Throws Error where nothing is registered under `name`.
std::shared_ptr<const CustomFunction> custom_function(const std::string& name);

}  // namespace anabranch
