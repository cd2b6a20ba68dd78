#include "codegen/cpu/emit/transpose.h"

#include <llvm/IR/DerivedTypes.h>

#include <algorithm>

namespace anabranch::cpu {
namespace {

using llvm::Value;

/// Each pair of rows whose numbers differ in one bit becomes what two masks choose of both.
void shuffle_pairs(llvm::IRBuilderBase& b, llvm::MutableArrayRef<Value*> rows, std::size_t bit,
                   llvm::ArrayRef<int> first, llvm::ArrayRef<int> second) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i & bit) continue;
    Value *x = rows[i], *y = rows[i | bit];
    rows[i] = b.CreateShuffleVector(x, y, first);
    rows[i | bit] = b.CreateShuffleVector(x, y, second);
  }
}

/// In each lane of `lane` elements, the units of `unit` elements of the lower half (or the upper)
/// of two vectors by turns.
llvm::SmallVector<int, 16> interleaved(int size, int lane, int unit, bool upper) {
  llvm::SmallVector<int, 16> mask;
  for (int at = 0; at < size; ++at) {
    const int within = at % lane, pair = within / (2 * unit);
    const bool of_second = within / unit % 2 == 1;
    mask.push_back(at - within + (upper ? lane / 2 : 0) + pair * unit + within % unit +
                   (of_second ? size : 0));
  }
  return mask;
}

/// Every second lane of two vectors, one after the other, from the first or the second lane on.
llvm::SmallVector<int, 16> every_second(int size, int lane, bool odd) {
  llvm::SmallVector<int, 16> mask;
  for (int at = 0; at < size; ++at) {
    mask.push_back((2 * (at / lane) + (odd ? 1 : 0)) * lane + at % lane);
  }
  return mask;
}

/// The number with the lowest bits, those below `size`, in reverse order.
std::size_t reversed(std::size_t number, std::size_t size) {
  std::size_t made = 0;
  for (std::size_t bit = 1; bit < size; bit *= 2) made = 2 * made + (number / bit & 1);
  return made;
}

}  // namespace

llvm::SmallVector<Value*, 16> emit_transpose(llvm::IRBuilderBase& b, llvm::ArrayRef<Value*> rows) {
  const int size = static_cast<int>(rows.size());
  const auto bits = static_cast<int>(rows[0]->getType()->getScalarSizeInBits());
  const int lane = std::min(128 / bits, size);  // elements
  const auto in_lane = static_cast<std::size_t>(lane);
  llvm::SmallVector<Value*, 16> now(rows.begin(), rows.end());
  for (int unit = 1; unit < lane; unit *= 2) {
    shuffle_pairs(b, now, static_cast<std::size_t>(unit), interleaved(size, lane, unit, false),
                  interleaved(size, lane, unit, true));
  }
  // Row i of each `lane` rows now has their column reversed(i) of every lane.
  for (std::size_t bit = in_lane; bit < rows.size(); bit *= 2) {
    shuffle_pairs(b, now, bit, every_second(size, lane, false), every_second(size, lane, true));
  }
  llvm::SmallVector<Value*, 16> columns(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    columns[i / in_lane * in_lane + reversed(i % in_lane, in_lane)] = now[i];
  }
  return columns;
}

}  // namespace anabranch::cpu
