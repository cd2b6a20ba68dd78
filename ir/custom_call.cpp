#include "ir/custom_call.h"

#include <map>
#include <mutex>
#include <typeindex>

#include "ir/error.h"

namespace anabranch {
namespace {

struct Entry {
  std::type_index kind;
  std::shared_ptr<const CustomFunction> function;
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Entry> functions;
};

// Never destroyed: work may be in flight while the process leaves main.
Registry& registry() {
  static auto* registry = new Registry;
  return *registry;
}

}  // namespace

void CustomCall::fail(const std::string& what) const {
  throw Error("custom_call " + std::string(name_) + ": " + what);
}

const Type& CustomCall::operand_type(std::size_t index) const {
  if (index >= operands_.size()) fail("there is no operand " + std::to_string(index));
  return operands_[index];
}

const Type& CustomCall::result_type(std::size_t index) const {
  if (index >= results_.size()) fail("there is no result " + std::to_string(index));
  return results_[index];
}

void CustomCall::check(const Type& type, Dtype as) const {
  if (type.dtype == as) return;
  fail(to_string(type) + " taken as " + std::string(anabranch::name(as)) +
       "; take it as what it is, or convert it before the call");
}

void register_custom_call(const std::string& name, CustomFunction function,
                          const std::type_info& kind) {
  std::lock_guard lock(registry().mutex);
  auto shared = std::make_shared<const CustomFunction>(std::move(function));
  auto [known, added] = registry().functions.try_emplace(name, Entry{kind, std::move(shared)});
  if (added || known->second.kind == std::type_index(kind)) return;
  throw Error("custom_call " + name +
              ": another function is registered under this name; give one of them another");
}

std::shared_ptr<const CustomFunction> custom_function(const std::string& name) {
  std::lock_guard lock(registry().mutex);
  const auto known = registry().functions.find(name);
  if (known == registry().functions.end()) {
    throw Error("custom_call " + name +
                ": no function is registered under this name; register_custom_call does that");
  }
  return known->second.function;
}

}  // namespace anabranch
