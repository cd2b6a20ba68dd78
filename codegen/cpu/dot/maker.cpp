#include "codegen/cpu/dot/maker.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace anabranch::cpu {

const DotTasks& DotMaker::operator()(const DotStep& dot, const HostTask& epilogue) {
  std::string key = to_string(dot.lhs) + " " + to_string(dot.rhs) + " " + to_string(dot.result);
  auto add = [&](const auto& number) { key += " " + std::to_string(number); };
  for (const auto* axes : {&dot.attributes.lhs_batch, &dot.attributes.rhs_batch,
                           &dot.attributes.lhs_contracting, &dot.attributes.rhs_contracting}) {
    add(axes->size());
    std::for_each(axes->begin(), axes->end(), add);
  }
  if (dot.epilogue) {
    add(reinterpret_cast<std::uintptr_t>(epilogue.function));
    add(reinterpret_cast<std::uintptr_t>(epilogue.context.get()));
    for (std::int64_t number : {epilogue.extent, epilogue.grain}) add(number);
    for (std::size_t number : {dot.epilogue->inputs, dot.epilogue->outputs}) add(number);
    add(static_cast<int>(dot.epilogue->in_place));
  }
  add(static_cast<int>(dot.packed.has_value()));
  add(static_cast<int>(dot.is_symmetric));
  auto known = made_.find(key);
  if (known == made_.end()) known = made_.emplace(std::move(key), make_dot(dot, epilogue)).first;
  return known->second;
}

}  // namespace anabranch::cpu
