// Functions of the user that a graph calls: what they get, and how they are known.
#pragma once

#include <compare>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/detail/any_function.h"
#include "anabranch/dtype.h"
#include "anabranch/export.h"
#include "anabranch/type.h"

namespace ANABRANCH_API anabranch {

/// What a custom function gets: the elements of the operands, to read, and of the results, to
/// write, each in row-major order. Results are zeros at first.
class CustomCall {
 public:
  /// `buffers`: the operands', then the results'.
  CustomCall(std::span<const Type> operands, std::span<const Type> results, void* const* buffers)
      : operands_(operands), results_(results), buffers_(buffers) {}

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
  static void check(const Type& type, Dtype as);

  std::span<const Type> operands_, results_;
  void* const* buffers_;
};

/// Reads operands, writes results, and has no other effect: it may be called once, often or never,
/// on any thread, several at a time. What it throws becomes the error of its results.
using CustomFunction = detail::AnyFunction<void(const CustomCall&)>;

namespace detail {

/// Its address stands for a C++ type: typeid, for programs that are compiled without.
template <class T>
inline constexpr char type_tag = 0;

/// What tells a C++ function from others: its type and, where it is plain data, its bytes. Equal
/// identities are the same function.
struct FunctionIdentity {
  const void* type;
  std::optional<std::vector<std::byte>> bytes;  ///< none: like no other
  bool lasts = false;                           ///< holds nothing: kept for the whole process

  auto operator<=>(const FunctionIdentity&) const = default;
};

template <class Function>
FunctionIdentity identity_of(const Function& function) {
  if constexpr (std::is_empty_v<Function>) {
    return {&type_tag<Function>, std::vector<std::byte>(), true};
  } else if constexpr (std::is_trivially_copyable_v<Function>) {
    Function copy = function;
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&copy);
#endif
#endif
    std::vector<std::byte> bytes(sizeof copy);
    std::memcpy(bytes.data(), &copy, sizeof copy);
    return {&type_tag<Function>, std::move(bytes), std::is_pointer_v<Function>};
  } else {
    return {&type_tag<Function>, std::nullopt, false};
  }
}

/// `type` is the address of a type_tag.
void register_custom_call(const std::string& name, CustomFunction function, const void* type);

}  // namespace detail

/// Makes `function` known under `name` for the rest of the process, for graphs read from text. A
/// function of the same C++ type under the same name is the same function: the first one stays.
/// Throws Error where the name stands for one of another type.
template <class Function>
void register_custom_call(const std::string& name, Function function) {
  detail::register_custom_call(name, std::move(function), &detail::type_tag<Function>);
}

}  // namespace anabranch
