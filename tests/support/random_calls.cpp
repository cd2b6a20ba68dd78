// Functions of the user, which move elements and compute nothing, and transfers.
#include <algorithm>

#include "ir/custom_call.h"
#include "ir/scalar.h"
#include "tests/support/random_recipes.h"

namespace anabranch {
namespace {

template <class Function>
void of_elements(const CustomCall& call, const Function& function) {
  visit_any_dtype(call.operand_type(0).dtype,
                  [&]<class T>() { function.template operator()<T>(); });
}

// All elements, the last first.
void turned(const CustomCall& call) {
  of_elements(call, [&]<class T>() {
    std::ranges::reverse_copy(call.operand<T>(0), call.result<T>(0).begin());
  });
}

// The first elements, and the others.
void split(const CustomCall& call) {
  of_elements(call, [&]<class T>() {
    const auto from = call.operand<T>(0);
    const auto low = call.result<T>(0), high = call.result<T>(1);
    std::ranges::copy(from.first(low.size()), low.begin());
    std::ranges::copy(from.last(high.size()), high.begin());
  });
}

// Elements of both in turns, the second operand as it is.
void zipped(const CustomCall& call) {
  of_elements(call, [&]<class T>() {
    const auto x = call.operand<T>(0), y = call.operand<T>(1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      call.result<T>(0)[2 * i] = x[i];
      call.result<T>(0)[2 * i + 1] = y[i];
    }
    std::ranges::copy(y, call.result<T>(1).begin());
  });
}

CustomCallAttributes attributes(const char* name, std::vector<Type> results) {
  static const bool registered = [] {
    register_custom_call("moves_turned", turned);
    register_custom_call("moves_split", split);
    register_custom_call("moves_zipped", zipped);
    return true;
  }();
  return {registered ? name : "", std::move(results)};
}

void add_turned(RandomBuilder& b) {
  const auto x = b.pick([](const Type&) { return true; });
  if (x) b.add(Op::custom_call, {*x}, turned_call(b.type(*x)));
}

// Long axes come of them, which other ops make longer.
std::optional<Value> short_value(RandomBuilder& b) {
  return b.pick([](const Type& type) { return type.size() <= 2'000; });
}

void add_split(RandomBuilder& b) {
  const auto x = short_value(b);
  if (!x) return;
  const std::int64_t size = b.shape(*x).size(), low = b.random.below(size + 1);
  const Dtype dtype = b.dtype(*x);
  b.add(Op::custom_call, {*x},
        attributes("moves_split", {Type{dtype, {low}}, Type{dtype, {size - low}}}));
}

void add_zipped(RandomBuilder& b) {
  const auto x = short_value(b);
  if (!x) return;
  const Type type = b.type(*x);
  b.add(Op::custom_call, {*x, b.partner(type)},
        attributes("moves_zipped", {Type{type.dtype, {2 * type.size()}}, type}));
}

// Work goes on at either end, or where nothing has come from yet.
void add_transfer(RandomBuilder& b) {
  if (b.device_count() == 1) return;
  const Device there = Device::cpu(static_cast<int>(b.random.below(b.device_count())));
  const auto x = b.pick([](const Type&) { return true; });
  if (x && b.random.percent(85)) b.add(Op::transfer, {*x}, DeviceAttributes{there});
  if (b.random.percent(60)) b.go_to(there);
}

// Of a number that is never above 0, which no pass sees.
void add_check(RandomBuilder& b) {
  const auto x = b.pick([](const Type& type) { return type.size() > 0; });
  if (!x) return;
  const Value number = b.converted(*x, i32);
  const Value state = b.add(Op::minimum, {number, b.filled(b.type(number), 0)});
  b.add(Op::check, {state, *x}, CheckAttributes{{"never"}});
}

constexpr Recipe recipes[] = {{3, 1, add_turned},
                              {2, 1, add_check},
                              {2, 1, add_split},
                              {2, 3, add_zipped},
                              {30, 1, add_transfer}};

}  // namespace

CustomCallAttributes turned_call(const Type& type) { return attributes("moves_turned", {type}); }

std::span<const Recipe> call_recipes() { return recipes; }

}  // namespace anabranch
