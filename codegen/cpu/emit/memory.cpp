#include "codegen/cpu/emit/memory.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "codegen/cpu/emit/complex.h"
#include "codegen/cpu/emit/types.h"

namespace anabranch::cpu {
namespace {

using llvm::Value;

// A complex number stands wherever its parts may.
llvm::Align element_alignment(Dtype dtype) { return llvm::Align(byte_size(part_dtype(dtype))); }

Value* from_memory(llvm::IRBuilderBase& b, Dtype dtype, Value* value) {
  if (dtype != bool_) return value;
  return b.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
}

Value* to_memory(llvm::IRBuilderBase& b, Dtype dtype, Value* value) {
  if (dtype != bool_) return value;
  return b.CreateZExt(value, shaped_like(b.getInt8Ty(), value->getType()));
}

// The addresses of all lanes.
Value* lane_pointers(llvm::IRBuilderBase& b, const Lane& lane, int width) {
  Value* indices = lane.indices;
  if (!indices) {
    llvm::SmallVector<llvm::Constant*, 64> offsets;
    for (int i = 0; i < width; ++i) {
      // As addresses do, it wraps around: in a lane that its mask leaves out it may be anything.
      const auto stride = static_cast<std::uint64_t>(lane.stride);
      offsets.push_back(b.getInt64(static_cast<std::uint64_t>(i) * stride));
    }
    indices = llvm::ConstantVector::get(offsets);
  }
  return b.CreateGEP(memory_type(b.getContext(), lane.dtype), lane.first, indices);
}

bool is_contiguous(const Lane& lane) {
  return !lane.indices && (lane.stride == 1 || lane.stride == -1);
}

// The lowest address of a contiguous access.
Value* lowest(llvm::IRBuilderBase& b, const Lane& lane, int width) {
  if (lane.stride == 1) return lane.first;
  return b.CreateConstGEP1_64(memory_type(b.getContext(), lane.dtype), lane.first,
                              static_cast<std::uint64_t>(1 - width));
}

Value* in_lane_order(llvm::IRBuilderBase& b, const Lane& lane, Value* value) {
  return value && lane.stride == -1 ? b.CreateVectorReverse(value) : value;
}

bool has_slow_gathers(llvm::IRBuilderBase& b) {
  return b.GetInsertBlock()->getModule()->getModuleFlag(slow_gathers_flag);
}

constexpr std::int64_t most_pieces = 4;

/// Whether lanes are near enough to be chosen from all that lies between the first and the last.
bool is_near(const Lane& lane, const llvm::FixedVectorType* type) {
  const std::int64_t most = std::min<std::int64_t>(most_pieces, type->getNumElements());
  return !lane.indices && !lane.mask && lane.stride > 1 && lane.stride <= most &&
         !is_complex(lane.dtype) && byte_size(lane.dtype) >= 4;
}

// As many contiguous pieces as the stride, of which the last ends with the last lane: what is
// behind that may not exist.
Value* load_pieces(llvm::IRBuilderBase& b, const Lane& lane, llvm::FixedVectorType* type) {
  const auto width = static_cast<std::int64_t>(type->getNumElements());
  Value* chosen = nullptr;
  for (std::int64_t piece = 0; piece < lane.stride; ++piece) {
    const bool is_last = piece + 1 == lane.stride;
    const std::int64_t first = is_last ? (width - 1) * lane.stride + 1 - width : piece * width;
    Value* place =
        b.CreateConstGEP1_64(type->getElementType(), lane.first, static_cast<std::uint64_t>(first));
    Value* loaded = b.CreateAlignedLoad(type, place, element_alignment(lane.dtype));
    if (!chosen) {
      chosen = loaded;
      continue;
    }
    llvm::SmallVector<int, 16> mask;
    for (std::int64_t i = 0; i < width; ++i) {
      const std::int64_t at = i * lane.stride;
      const bool is_earlier = at < piece * width;
      mask.push_back(static_cast<int>(!is_earlier ? width + at - first : piece == 1 ? at : i));
      if (!is_earlier && at - first >= width) mask.back() = llvm::PoisonMaskElem;
    }
    chosen = b.CreateShuffleVector(chosen, loaded, mask);
  }
  return chosen;
}

// Each lane by a load of its own; those that are not to be read, from where something can be.
Value* load_each(llvm::IRBuilderBase& b, const Lane& lane, llvm::FixedVectorType* type) {
  Value* shared_mask = lane.mask ? llvm::getSplatValue(lane.mask) : nullptr;
  Value* loaded = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    Value* place = lane_pointer(b, lane, i);
    if (lane.mask) {
      Value* is_read = shared_mask ? shared_mask : b.CreateExtractElement(lane.mask, i);
      place = b.CreateSelect(is_read, place, lane.unread ? lane.unread : lane.first);
    }
    Value* value =
        b.CreateAlignedLoad(type->getElementType(), place, element_alignment(lane.dtype));
    loaded = b.CreateInsertElement(loaded, value, i);
  }
  if (!lane.mask) return loaded;
  return b.CreateSelect(lane.mask, loaded, llvm::Constant::getNullValue(type));
}

void store_each(llvm::IRBuilderBase& b, const Lane& lane, Value* values,
                llvm::FixedVectorType* type) {
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    b.CreateAlignedStore(b.CreateExtractElement(values, i), lane_pointer(b, lane, i),
                         element_alignment(lane.dtype));
  }
}

}  // namespace

Value* element_pointer(llvm::IRBuilderBase& b, Dtype dtype, Value* buffer, Value* index) {
  return b.CreateInBoundsGEP(memory_type(b.getContext(), dtype), buffer, index);
}

Value* load_element(llvm::IRBuilderBase& b, Dtype dtype, Value* pointer) {
  llvm::Type* type = memory_type(b.getContext(), dtype);
  return from_memory(b, dtype, b.CreateAlignedLoad(type, pointer, element_alignment(dtype)));
}

void store_element(llvm::IRBuilderBase& b, Dtype dtype, Value* value, Value* pointer) {
  b.CreateAlignedStore(to_memory(b, dtype, value), pointer, element_alignment(dtype));
}

void prefetch_element(llvm::IRBuilderBase& b, Dtype dtype, Value* pointer, std::int64_t distance) {
  Value* place = b.CreateConstGEP1_64(memory_type(b.getContext(), dtype), pointer,
                                      static_cast<std::uint64_t>(distance));
  constexpr int read = 0, keep_close = 3, data = 1;
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {b.getPtrTy()},
                    {place, b.getInt32(read), b.getInt32(keep_close), b.getInt32(data)});
}

Value* lane_pointer(llvm::IRBuilderBase& b, const Lane& lane, std::size_t i) {
  return b.CreateConstGEP1_64(memory_type(b.getContext(), lane.dtype), lane.first,
                              i * static_cast<std::uint64_t>(lane.stride));
}

Value* load_lanes(llvm::IRBuilderBase& b, const Lane& lane, int width) {
  auto* type =
      llvm::cast<llvm::FixedVectorType>(vector_of(memory_type(b.getContext(), lane.dtype), width));
  if (is_complex(lane.dtype) && lane.stride == 1 && is_contiguous(lane) && !lane.unread) {
    return load_complex_lanes(b, lane.dtype, lane.first, lane.mask, width);
  }
  const llvm::Align alignment = element_alignment(lane.dtype);
  llvm::Constant* zero = llvm::Constant::getNullValue(type);
  Value* loaded;
  if (is_contiguous(lane)) {
    Value* pointer = lowest(b, lane, width);
    Value* mask = in_lane_order(b, lane, lane.mask);
    if (lane.unread) pointer = b.CreateSelect(b.CreateOrReduce(lane.mask), pointer, lane.unread);
    loaded = mask ? b.CreateMaskedLoad(type, pointer, alignment, mask, zero)
                  : static_cast<Value*>(b.CreateAlignedLoad(type, pointer, alignment));
    loaded = in_lane_order(b, lane, loaded);
  } else if (is_near(lane, type)) {
    loaded = load_pieces(b, lane, type);
  } else if (!lane.indices && has_slow_gathers(b)) {
    loaded = load_each(b, lane, type);
  } else {
    Lane from = lane;
    if (lane.unread && lane.indices) {
      Value* nothing = llvm::Constant::getNullValue(lane.indices->getType());
      from.indices = b.CreateSelect(lane.mask, lane.indices, nothing);
    } else if (lane.unread) {
      from.first = b.CreateSelect(b.CreateOrReduce(lane.mask), lane.first, lane.unread);
    }
    loaded = b.CreateMaskedGather(type, lane_pointers(b, from, width), alignment, lane.mask, zero);
  }
  return from_memory(b, lane.dtype, loaded);
}

void store_lanes(llvm::IRBuilderBase& b, const Lane& lane, Value* value, bool non_temporal) {
  value = to_memory(b, lane.dtype, value);
  auto* type = llvm::cast<llvm::FixedVectorType>(value->getType());
  const int width = static_cast<int>(type->getNumElements());
  llvm::Align alignment = element_alignment(lane.dtype);
  if (!is_contiguous(lane)) {
    if (!lane.indices && !lane.mask && has_slow_gathers(b)) {
      return store_each(b, lane, value, type);
    }
    b.CreateMaskedScatter(value, lane_pointers(b, lane, width), alignment, lane.mask);
    return;
  }
  Value* pointer = lowest(b, lane, width);
  value = in_lane_order(b, lane, value);
  Value* mask = in_lane_order(b, lane, lane.mask);
  if (is_complex(lane.dtype)) {
    value = parts_of_lanes(b, lane.dtype, value);
    if (mask) mask = twice_each(b, mask);
  }
  if (mask) {
    b.CreateMaskedStore(value, pointer, alignment, mask);
    return;
  }
  if (non_temporal) {
    alignment =
        llvm::Align(std::min<std::uint64_t>(64, byte_size(lane.dtype) * type->getNumElements()));
  }
  llvm::StoreInst* store = b.CreateAlignedStore(value, pointer, alignment);
  if (non_temporal) {
    auto* one = llvm::ConstantAsMetadata::get(b.getInt32(1));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(b.getContext(), one));
  }
}

}  // namespace anabranch::cpu
