#include "codegen/cpu/dot/maker.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace anabranch::cpu {

DotTasks DotMaker::operator()(const Type& lhs, const Type& rhs, const Type& result,
                              const DotAttributes& attributes,
                              const std::optional<Epilogue>& epilogue) {
  std::string key = to_string(lhs) + " " + to_string(rhs) + " " + to_string(result);
  auto add = [&](const auto& number) { key += " " + std::to_string(number); };
  for (const auto* axes : {&attributes.lhs_batch, &attributes.rhs_batch,
                           &attributes.lhs_contracting, &attributes.rhs_contracting}) {
    add(axes->size());
    std::for_each(axes->begin(), axes->end(), add);
  }
  if (epilogue) {
    const HostTask& task = epilogue->task;
    add(reinterpret_cast<std::uintptr_t>(task.function));
    add(reinterpret_cast<std::uintptr_t>(task.context.get()));
    for (std::int64_t number : {task.extent, task.grain}) add(number);
    for (std::size_t number : {epilogue->inputs, epilogue->outputs}) add(number);
    add(static_cast<int>(epilogue->in_place));
  }
  auto known = made_.find(key);
  if (known == made_.end()) {
    known = made_.emplace(std::move(key), make_dot(lhs, rhs, result, attributes, epilogue)).first;
  }
  return known->second;
}

}  // namespace anabranch::cpu
