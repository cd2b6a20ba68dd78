#include "codegen/cpu/square_stores.h"

#include <algorithm>

namespace anabranch::cpu {
namespace {

bool is_read_back(const Kernel& kernel, std::uint32_t buffer) {
  return std::ranges::any_of(kernel.instructions, [&](const Instruction& instruction) {
    const auto* load = std::get_if<Load>(&instruction.operation);
    return load && load->buffer == buffer;
  });
}

}  // namespace

bool fits_square(Dtype dtype) {
  return !is_complex(dtype) && (byte_size(dtype) == 4 || byte_size(dtype) == 8);
}

std::vector<SquareStores> square_stores(const Kernel& kernel, Ref loop) {
  const Loop& lanes = std::get<Loop>(kernel[loop].operation);
  const auto width = static_cast<std::size_t>(lanes.vector_width);
  const auto index_of = [&](Ref ref) -> const IndexTable::Expression& {
    return kernel.indices[std::get<Store>(kernel[ref].operation).index];
  };
  // Those that differ by a constant.
  std::vector<SquareStores> alike;
  for (Ref ref : lanes.body) {
    const auto* store = std::get_if<Store>(&kernel[ref].operation);
    if (!store || !fits_square(kernel.buffers[store->buffer].dtype)) continue;
    if (!kernel.indices.is_linear_in(store->index, loop.index)) continue;
    if (kernel.indices.factor(store->index, loop.index) < lanes.vector_width) continue;
    const auto found = std::ranges::find_if(alike, [&](const SquareStores& others) {
      const auto& other = std::get<Store>(kernel[others[0]].operation);
      return other.buffer == store->buffer && index_of(others[0]).terms == index_of(ref).terms;
    });
    if (found != alike.end()) {
      found->push_back(ref);
    } else {
      alike.push_back({ref});
    }
  }
  std::erase_if(alike, [&](SquareStores& stores) {
    std::ranges::sort(stores, {}, [&](Ref ref) { return index_of(ref).constant; });
    const std::int64_t apart = index_of(stores.back()).constant - index_of(stores[0]).constant;
    return stores.size() != width || apart != lanes.vector_width - 1 ||
           is_read_back(kernel, std::get<Store>(kernel[stores[0]].operation).buffer);
  });
  return alike;
}

}  // namespace anabranch::cpu
