#include "ir/custom_call.h"

#include <map>
#include <mutex>

#include "anabranch/error.h"

namespace anabranch {
namespace {

struct Entry {
  const void* type;
  std::weak_ptr<const CustomFunction> function;
  std::shared_ptr<const CustomFunction> kept;  // where it lasts as long as the process
};

/// The functions under one name.
struct Named {
  std::uint64_t next = 0;
  std::map<std::uint64_t, Entry> entries;
  std::map<detail::FunctionIdentity, std::uint64_t> known;
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Named> names;
};

// Never destroyed: work may be in flight while the process leaves main.
Registry& registry() {
  static auto* registry = new Registry;
  return *registry;
}

}  // namespace

const Type& CustomCall::operand_type(std::size_t index) const {
  if (index >= operands_.size()) throw Error("there is no operand " + std::to_string(index));
  return operands_[index];
}

const Type& CustomCall::result_type(std::size_t index) const {
  if (index >= results_.size()) throw Error("there is no result " + std::to_string(index));
  return results_[index];
}

void CustomCall::check(const Type& type, Dtype as) {
  if (type.dtype == as) return;
  throw Error(to_string(type) + " taken as " + std::string(anabranch::name(as)) +
              "; take it as what it is, or convert it before the call");
}

namespace {

// Forgets a function that no graph means any more. What the function holds may be anything of the
// user's, and goes without the lock.
struct Forget {
  std::string name;
  std::uint64_t number = 0;
  detail::FunctionIdentity identity;

  void operator()(const CustomFunction* function) const {
    {
      std::lock_guard lock(registry().mutex);
      Named& named = registry().names[name];
      named.entries.erase(number);
      const auto known = named.known.find(identity);
      if (known != named.known.end() && known->second == number) named.known.erase(known);
    }
    delete function;
  }
};

// The registry's mutex is held.
std::shared_ptr<const CustomFunction> add_locked(const std::string& name, CustomFunction function,
                                                 const detail::FunctionIdentity& identity) {
  Named& named = registry().names[name];
  const std::uint64_t number = named.next++;
  std::shared_ptr<const CustomFunction> made(new CustomFunction(std::move(function)),
                                             Forget{name, number, identity});
  named.entries.insert_or_assign(number,
                                 Entry{identity.type, made, identity.lasts ? made : nullptr});
  if (identity.bytes) named.known[identity] = number;
  return made;
}

}  // namespace

CustomFunctionHandle handle_of(const std::string& name, CustomFunction function,
                               detail::FunctionIdentity identity) {
  if (name.empty()) return {0, std::make_shared<const CustomFunction>(std::move(function))};
  std::lock_guard lock(registry().mutex);
  Named& named = registry().names[name];
  if (const auto known = named.known.find(identity); known != named.known.end()) {
    if (auto found = named.entries.at(known->second).function.lock()) {
      return {known->second, std::move(found)};
    }
  }
  const std::uint64_t number = named.next;
  return {number, add_locked(name, std::move(function), identity)};
}

void detail::register_custom_call(const std::string& name, CustomFunction function,
                                  const void* type) {
  if (name.empty()) {
    throw Error("register_custom_call: the name is empty; give one that graphs call it by");
  }
  std::lock_guard lock(registry().mutex);
  Named& named = registry().names[name];
  if (named.next == 0) {
    add_locked(name, std::move(function), {type, std::nullopt, true});
    return;
  }
  const auto first = named.entries.find(0);
  if (first != named.entries.end() && first->second.type == type) {
    if (auto found = first->second.function.lock()) {
      first->second.kept = std::move(found);
      return;
    }
  }
  throw Error("register_custom_call: " + name +
              ": another function is registered under this name; give one of them another");
}

std::shared_ptr<const CustomFunction> custom_function(const std::string& name,
                                                      const CustomFunctionHandle& handle) {
  if (handle.function) return handle.function;
  std::lock_guard lock(registry().mutex);
  if (const auto named = registry().names.find(name); named != registry().names.end()) {
    const auto known = named->second.entries.find(handle.number);
    if (known != named->second.entries.end()) {
      if (auto found = known->second.function.lock()) return found;
    }
  }
  if (handle.empty()) {
    throw Error("custom_call " + name +
                ": no function is registered under this name; register_custom_call does that");
  }
  throw Error("custom_call " + name + ": there is no function " + std::to_string(handle.number) +
              " under this name in this process, or none any more; keep a graph that calls it");
}

}  // namespace anabranch
