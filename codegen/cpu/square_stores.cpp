#include "codegen/cpu/square_stores.h"

#include <algorithm>

#include "codegen/kernel/facts.h"

namespace anabranch::cpu {

bool fits_square(Dtype dtype) {
  return !is_complex(dtype) && (byte_size(dtype) == 4 || byte_size(dtype) == 8);
}

std::vector<SquareStores> square_stores(const Kernel& kernel, Ref loop) {
  const Loop& lanes = std::get<Loop>(kernel[loop].operation);
  const auto width = static_cast<std::size_t>(lanes.vector_width);
  const auto index_of = [&](Ref ref) -> const IndexTable::Expression& {
    return kernel.indices[std::get<Store>(kernel[ref].operation).index];
  };
  // Those that differ by a constant, with no loop between them.
  std::vector<SquareStores> alike;
  std::ptrdiff_t before_loop = 0;
  for (Ref ref : lanes.body) {
    if (std::holds_alternative<Loop>(kernel[ref].operation)) before_loop = std::ssize(alike);
    const auto* store = std::get_if<Store>(&kernel[ref].operation);
    if (!store || !fits_square(kernel.buffers[store->buffer].dtype)) continue;
    if (!kernel.indices.is_linear_in(store->index, loop.index)) continue;
    if (kernel.indices.factor(store->index, loop.index) < lanes.vector_width) continue;
    const auto is_alike = [&](const SquareStores& others) {
      const auto& other = std::get<Store>(kernel[others[0]].operation);
      return other.buffer == store->buffer && index_of(others[0]).terms == index_of(ref).terms;
    };
    const auto found = std::find_if(alike.begin() + before_loop, alike.end(), is_alike);
    if (found != alike.end()) {
      found->push_back(ref);
    } else {
      alike.push_back({ref});
    }
  }
  std::erase_if(alike, [&](SquareStores& stores) {
    std::ranges::sort(stores, {}, [&](Ref ref) { return index_of(ref).constant; });
    for (std::size_t i = 1; i < stores.size(); ++i) {
      if (index_of(stores[i]).constant != index_of(stores[i - 1]).constant + 1) return true;
    }
    return stores.size() != width ||
           is_loaded(kernel, lanes.body, std::get<Store>(kernel[stores[0]].operation).buffer);
  });
  return alike;
}

}  // namespace anabranch::cpu
