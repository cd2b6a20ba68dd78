#include "anabranch/custom_call.h"

#include <utility>

#include "frontend/trace/record.h"
#include "ir/custom_call.h"

namespace anabranch::detail {

std::vector<Array> call_custom(const CallName& name, std::vector<Type> results,
                               CustomFunction function, FunctionIdentity identity,
                               const std::vector<Array>& operands) {
  const bool one = results.size() == 1;
  CustomCallAttributes attributes{name.name, std::move(results),
                                  handle_of(name.name, std::move(function), std::move(identity))};
  if (one) return {record(Op::custom_call, operands, name.where, std::move(attributes))};
  return record_all(Op::custom_call, operands, name.where, std::move(attributes));
}

}  // namespace anabranch::detail
