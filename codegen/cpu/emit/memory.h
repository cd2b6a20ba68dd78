// Loads and stores of one element or of a vector's lanes, between memory and registers.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "anabranch/dtype.h"

namespace anabranch::cpu {

/// Set in modules for a CPU whose gathers and scatters take longer than a load or a store of each
/// lane: AMD's make dozens of micro-operations of one. On Zen 4 a gather of eight f64 that are
/// equally far apart takes 3.3 ns, eight loads 1.2 ns; a scatter 3.5 ns, eight stores 2.2 ns.
inline constexpr const char* slow_gathers_flag = "anabranch.slow_gathers";

/// Where the lanes of a vector access are: `stride` elements apart from `first` on, or, where
/// `indices` is set, at those elements of `first`. Lanes whose `mask` is false (null: none) are
/// neither read nor written; they load as zero. The first lane's is true unless `unread` is set,
/// which then stands for the address where no lane is read: a masked load from memory that is not
/// mapped costs a fault that the CPU hides, and takes a hundred times as long.
struct Lane {
  Dtype dtype = Dtype::f32;
  llvm::Value* first = nullptr;
  std::int64_t stride = 1;
  llvm::Value* indices = nullptr;
  llvm::Value* mask = nullptr;
  llvm::Value* unread = nullptr;
};

llvm::Value* element_pointer(llvm::IRBuilderBase& builder, Dtype dtype, llvm::Value* buffer,
                             llvm::Value* index);

llvm::Value* load_element(llvm::IRBuilderBase& builder, Dtype dtype, llvm::Value* pointer);
void store_element(llvm::IRBuilderBase& builder, Dtype dtype, llvm::Value* value,
                   llvm::Value* pointer);

/// Tells the first-level cache that the element `distance` after `pointer` will be read. It need
/// not exist.
void prefetch_element(llvm::IRBuilderBase& builder, Dtype dtype, llvm::Value* pointer,
                      std::int64_t distance);

/// Of lanes that lie `stride` apart.
llvm::Value* lane_pointer(llvm::IRBuilderBase& builder, const Lane& lane, std::size_t i);

llvm::Value* load_lanes(llvm::IRBuilderBase& builder, const Lane& lane, int width);

/// A non-temporal store needs its address aligned to the vector's size, or to 64 bytes if that is
/// less.
void store_lanes(llvm::IRBuilderBase& builder, const Lane& lane, llvm::Value* value,
                 bool non_temporal);

}  // namespace anabranch::cpu
