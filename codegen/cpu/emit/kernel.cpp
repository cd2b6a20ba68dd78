#include "codegen/cpu/emit/kernel.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <numeric>

#include "anabranch/error.h"
#include "codegen/cpu/emit/compute.h"
#include "codegen/cpu/emit/kernel_emitter.h"
#include "codegen/cpu/emit/transpose.h"
#include "codegen/cpu/emit/types.h"
#include "ir/checked.h"

namespace anabranch::cpu {
namespace {

using llvm::Value;

constexpr std::int64_t stack_scratch_bytes = 64 << 10;

// Inline code of an approximate op overlaps with what surrounds it; beyond so many of one op, that
// gains less than the compiler takes.
constexpr int most_inline = 8;
constexpr int most_inline_together = 64;  // of one op in a module

// Of 64 bytes: vectors that find no register are stored there, and the stack of a call is aligned
// for 16 alone.
constexpr unsigned vector_bytes = 64;

bool has_vectors(const Kernel& kernel) {
  return std::ranges::any_of(kernel.instructions, [](const auto& instruction) {
    const auto* loop = std::get_if<Loop>(&instruction.operation);
    return loop && loop->vector_width > 1;
  });
}

llvm::Function* make_function(llvm::Module& module, const std::string& symbol, bool with_vectors) {
  llvm::LLVMContext& context = module.getContext();
  auto* pointer = llvm::PointerType::getUnqual(context);
  auto* word = llvm::Type::getInt64Ty(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {pointer, pointer, word, word}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
  function->addFnAttr("prefer-vector-width", "512");
  if (with_vectors) {
    function->addFnAttr(llvm::Attribute::getWithStackAlignment(context, llvm::Align(vector_bytes)));
  }
  return function;
}

std::int64_t scratch_bytes(const Kernel& kernel) {
  std::int64_t bytes = 0;
  for (const KernelBuffer& buffer : kernel.buffers) {
    if (buffer.access != Access::scratch) continue;
    bytes += (buffer.size * static_cast<std::int64_t>(byte_size(buffer.dtype)) + 63) / 64 * 64;
  }
  return bytes;
}

}  // namespace

void emit_kernel(llvm::Module& module, const Kernel& kernel, const std::string& symbol,
                 const MathUses& together) {
  KernelEmitter(module, kernel, symbol, together).run();
}

KernelEmitter::KernelEmitter(llvm::Module& module, const Kernel& kernel, const std::string& symbol,
                             const MathUses& together)
    : expanded_(expand_indices(kernel)),
      kernel_(expanded_.kernel),
      contracted_(contracted_products(expanded_)),
      lane_sums_(lane_sums(kernel_)),
      function_(make_function(module, symbol, has_vectors(kernel_))),
      builder_(llvm::BasicBlock::Create(module.getContext(), "entry", function_)),
      begin_(function_->getArg(2)),
      end_(function_->getArg(3)),
      emitted_(kernel_.instructions.size()) {
  MathUses uses;
  count_math(kernel, uses);
  for (const auto& [op, count] : uses) {
    const auto all = together.find(op);
    const bool is_often = all != together.end() && all->second > most_inline_together;
    if (count > most_inline || is_often) called_.insert(op);
  }
}

void KernelEmitter::run() {
  load_buffers();
  emit(kernel_.body);
  finish();
}

void KernelEmitter::load_buffers() {
  Value* pointers = function_->getArg(1);
  std::uint64_t argument = 0;
  for (const KernelBuffer& buffer : kernel_.buffers) {
    if (buffer.access == Access::scratch) {
      buffers_.push_back(allocate_scratch(buffer));
      continue;
    }
    Value* place = builder_.CreateConstInBoundsGEP1_64(builder_.getPtrTy(), pointers, argument++);
    buffers_.push_back(builder_.CreateLoad(builder_.getPtrTy(), place, buffer.name));
  }
  if (!heap_) function_->setDoesNotThrow();
}

Value* KernelEmitter::allocate_scratch(const KernelBuffer& buffer) {
  llvm::Type* type = memory_type(builder_.getContext(), buffer.dtype);
  const std::int64_t total = scratch_bytes(kernel_);
  if (total <= stack_scratch_bytes) {
    auto* memory = builder_.CreateAlloca(
        type, builder_.getInt64(static_cast<std::uint64_t>(buffer.size)), buffer.name);
    memory->setAlignment(llvm::Align(64));
    return memory;
  }
  Value* used = builder_.getInt64(0);
  if (!heap_) {
    // It may throw, through this frame.
    function_->setUWTableKind(llvm::UWTableKind::Async);
    auto allocate = function_->getParent()->getOrInsertFunction(
        allocate_scratch_name, builder_.getPtrTy(), builder_.getInt64Ty());
    heap_ = builder_.CreateCall(allocate, {builder_.getInt64(static_cast<std::uint64_t>(total))});
  } else {
    std::int64_t bytes = 0;
    for (const KernelBuffer* earlier = kernel_.buffers.data(); earlier != &buffer; ++earlier) {
      if (earlier->access != Access::scratch) continue;
      bytes +=
          (earlier->size * static_cast<std::int64_t>(byte_size(earlier->dtype)) + 63) / 64 * 64;
    }
    used = builder_.getInt64(static_cast<std::uint64_t>(bytes));
  }
  return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), heap_, used, buffer.name);
}

void KernelEmitter::finish() {
  if (heap_) {
    auto release = function_->getParent()->getOrInsertFunction(
        release_scratch_name, builder_.getVoidTy(), builder_.getPtrTy());
    builder_.CreateCall(release, {heap_});
  }
  if (stored_past_caches_) {
    // Non-temporal stores are not ordered with the release of a lock or of an atomic.
    if (llvm::Triple(function_->getParent()->getTargetTriple()).isX86()) {
      builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
    } else {
      builder_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
    }
  }
  builder_.CreateRetVoid();
}

// --- straight-line code
// ------------------------------------------------------------------------------

// Between loops, one copy after the other: each works through few registers at a time, and the CPU
// finds the parallelism between them by itself.
void KernelEmitter::emit(const Block& block) {
  for (std::size_t first = 0; first < block.size();) {
    auto is_loop = [&](Ref ref) { return std::holds_alternative<Loop>(kernel_[ref].operation); };
    if (is_loop(block[first])) {
      emit_loop(block[first++]);
      continue;
    }
    std::size_t last = first;
    while (last < block.size() && !is_loop(block[last])) ++last;
    for (int copy = 0; copy < copies(); ++copy) {
      for (std::size_t i = first; i < last; ++i) emit(block[i], copy);
    }
    first = last;
  }
}

void KernelEmitter::emit(Ref ref, int copy) {
  const Operation& operation = kernel_[ref].operation;
  if (const auto* store = std::get_if<Store>(&operation)) return emit_store(ref, *store, copy);
  const bool defines = std::holds_alternative<Compute>(operation) ||
                       std::holds_alternative<Load>(operation) ||
                       std::holds_alternative<ConstantInstruction>(operation);
  if (!defines || contracted_[ref.index]) return;
  if (scope_ && !scope_->lanes.is_needed(ref)) return;

  const Emitted& so_far = emitted_[ref.index];
  const bool wants_scalar = !is_lanes(ref) || scope_->lanes.needs_scalar(ref);
  if (wants_scalar && !so_far.scalar) emit_scalar(ref);
  const bool wants_vector = is_lanes(ref) && scope_->lanes.needs_vector(ref);
  if (wants_vector && so_far.vectors.size() <= static_cast<std::size_t>(copy))
    emit_vector(ref, copy);
}

void KernelEmitter::emit_scalar(Ref ref) {
  const Operation& operation = kernel_[ref].operation;
  if (const auto* constant = std::get_if<ConstantInstruction>(&operation)) {
    define(ref, this->constant(kernel_[ref].dtype, constant->bits));
  } else if (const auto* load = std::get_if<Load>(&operation)) {
    define(ref, scalar_load(ref, *load));
  } else if (is_index_division(ref)) {
    const auto& division = std::get<Compute>(operation);
    define(ref, emit_index_division(builder_, division.op, scalar(division.operands[0]),
                                    scalar(division.operands[1])));
  } else {
    define(ref, compute(ref, [this](Ref operand) { return scalar(operand); }));
  }
}

void KernelEmitter::emit_vector(Ref ref, int copy) {
  if (const auto* load = std::get_if<Load>(&kernel_[ref].operation)) {
    define_lanes(ref, vector_load(ref, *load, copy));
  } else if (const auto steps = scope_->lanes.steps(ref)) {
    define_lanes(ref, builder_.CreateAdd(splat(scalar(ref)),
                                         emit_lane_steps(builder_, lane_steps(*steps, copy), 64)));
  } else if (const Divisor* divisor = shared_divisor(std::get<Compute>(kernel_[ref].operation))) {
    Ref dividend = std::get<Compute>(kernel_[ref].operation).operands[0];
    define_lanes(ref, emit_quotient(builder_, vector(dividend, copy), *divisor));
  } else {
    define_lanes(ref, compute(ref, [&](Ref operand) { return vector(operand, copy); }));
  }
}

// Which asks for no divisor of 0 or -1.
bool KernelEmitter::is_index_division(Ref ref) const {
  const Op op = std::get<Compute>(kernel_[ref].operation).op;
  return (op == Op::divide || op == Op::remainder) && expanded_.is_of_places(ref);
}

LaneSteps KernelEmitter::lane_steps(const Lanes::Steps& steps, int copy) const {
  const int width = scope_->loop.vector_width;
  return {.first = scalar(steps.dividend),
          .stride = scope_->lanes.stride(steps.dividend).value(),
          .by = steps.by,
          .of_quotient = steps.quotient,
          .of_remainder = steps.remainder,
          .of_lane = steps.stride,
          .first_lane = copy * width,
          .lanes = width};
}

Value* KernelEmitter::constant(Dtype dtype, ElementBits bits) {
  llvm::Type* type = register_type(builder_.getContext(), dtype);
  const llvm::APInt value(type->getScalarSizeInBits(), {bits.low, bits.high});
  if (!type->isFloatingPointTy()) return llvm::ConstantInt::get(type, value);
  return llvm::ConstantFP::get(type, llvm::APFloat(type->getFltSemantics(), value));
}

Value* KernelEmitter::compute(Ref ref, const std::function<Value*(Ref)>& value_of) {
  const auto& compute = std::get<Compute>(kernel_[ref].operation);
  for (std::size_t i = 0; i < compute.operands.size(); ++i) {
    if (!contracted_[compute.operands[i].index]) continue;
    const auto& product = std::get<Compute>(kernel_[compute.operands[i]].operation);
    Value* x = value_of(product.operands[0]);
    Value* y = value_of(product.operands[1]);
    Value* other = value_of(compute.operands[1 - i]);
    if (compute.op == Op::subtract) (i == 0 ? other : x) = builder_.CreateFNeg(i == 0 ? other : x);
    return builder_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {x->getType()}, {x, y, other});
  }
  llvm::SmallVector<Value*, 3> operands;
  for (Ref operand : compute.operands) operands.push_back(value_of(operand));
  return emit_compute(builder_,
                      {.op = compute.op,
                       .direction = compute.direction,
                       .operand = kernel_[compute.operands.back()].dtype,
                       .result = kernel_[ref].dtype,
                       .by_call = is_called(compute)},
                      operands);
}

bool KernelEmitter::is_called(const Compute& compute) const { return called_.contains(compute.op); }

// --- memory
// ------------------------------------------------------------------------------------------

Value* KernelEmitter::scalar_load(Ref ref, const Load& load) {
  const KernelBuffer& buffer = kernel_.buffers[load.buffer];
  Value* index = scalar(expanded_[ref]);
  if (!load.mask) {
    return load_element(builder_, buffer.dtype,
                        element_pointer(builder_, buffer.dtype, buffers_[load.buffer], index));
  }
  Value* zero = llvm::Constant::getNullValue(register_type(builder_.getContext(), buffer.dtype));
  if (buffer.size == 0) return zero;
  // Element 0 can always be read: no branch.
  Value* mask = scalar(load.mask);
  Value* safe = builder_.CreateSelect(mask, index, builder_.getInt64(0));
  Value* loaded = load_element(
      builder_, buffer.dtype, element_pointer(builder_, buffer.dtype, buffers_[load.buffer], safe));
  return builder_.CreateSelect(mask, loaded, zero);
}

Value* KernelEmitter::vector_load(Ref ref, const Load& load, int copy) {
  if (const auto table = table_of(ref, load, copy)) {
    Value* found = look_up(builder_, table->first, table->second);
    if (!load.mask) return found;
    Value* zero = llvm::Constant::getNullValue(found->getType());
    return builder_.CreateSelect(vector(load.mask, copy), found, zero);
  }
  Value* mask = scope_->mask;
  if (load.mask) {
    Value* own = vector(load.mask, copy);
    mask = mask ? builder_.CreateAnd(mask, own) : own;
  }
  Lane from = lane(load.buffer, expanded_[ref], copy, mask);
  if (load.mask) from.unread = buffers_[load.buffer];
  // For all copies at once: what is loaded after that stays behind it.
  for (int each = 0; load.prefetch != 0 && copy == 0 && each < copies(); ++each) {
    Value* first = lane(load.buffer, expanded_[ref], each, mask).first;
    prefetch_element(builder_, from.dtype, first, load.prefetch);
  }
  return load_lanes(builder_, from, scope_->loop.vector_width);
}

// The table that the lanes' elements are in, and their places there: all of the buffer, or what a
// register or two hold from the lowest element on, or up to the buffer's end.
std::optional<std::pair<Table, Value*>> KernelEmitter::table_of(Ref ref, const Load& load,
                                                                int copy) {
  const Ref index = expanded_[ref];
  const auto whole = scope_->tables.find(ref.index);
  const bool is_whole = whole != scope_->tables.end();
  const std::optional<Lanes::Steps> known = scope_->lanes.steps(index);
  if (!known) {
    if (!is_whole) return std::nullopt;
    return std::pair{whole->second, vector(index, copy)};
  }
  const LaneSteps steps = lane_steps(*known, copy);
  const auto places = [&](const TableForm& form, Value* first) {
    Value* place = builder_.CreateTrunc(first, builder_.getIntNTy(form.bits));
    return builder_.CreateAdd(splat(place), emit_lane_steps(builder_, steps, form.bits));
  };
  if (is_whole) return std::pair{whole->second, places(whole->second.form, scalar(index))};
  const KernelBuffer& buffer = kernel_.buffers[load.buffer];
  const Bounds bounds = steps.bounds();
  const auto form =
      table_form(*function_->getParent(), buffer.dtype, bounds.high - bounds.low + 1, buffer.size);
  if (!form) return std::nullopt;
  const auto word = [&](std::int64_t x) {
    return builder_.getInt64(static_cast<std::uint64_t>(x));
  };
  namespace I = llvm::Intrinsic;
  Value* lowest = builder_.CreateAdd(scalar(index), word(bounds.low));
  Value* first = builder_.CreateBinaryIntrinsic(I::smin, lowest, word(buffer.size - form->size));
  if (bounds.low < 0 || load.mask) first = builder_.CreateBinaryIntrinsic(I::smax, first, word(0));
  Value* place = element_pointer(builder_, buffer.dtype, buffers_[load.buffer], first);
  return std::pair{load_table(builder_, *form, place),
                   places(*form, builder_.CreateSub(scalar(index), first))};
}

Lane KernelEmitter::lane(std::uint32_t buffer, Ref index, int copy, Value* mask) {
  const Dtype dtype = kernel_.buffers[buffer].dtype;
  Lane lane{.dtype = dtype, .first = buffers_[buffer], .mask = mask};
  if (auto stride = scope_->lanes.stride(index)) {
    lane.stride = *stride;
    lane.first = element_pointer(builder_, dtype, buffers_[buffer], scalar(index));
    if (copy > 0) {
      std::int64_t offset = copy * scope_->loop.vector_width * *stride;
      lane.first =
          builder_.CreateConstInBoundsGEP1_64(memory_type(builder_.getContext(), dtype), lane.first,
                                              static_cast<std::uint64_t>(offset));
    }
  } else {
    lane.indices = vector(index, copy);
  }
  return lane;
}

void KernelEmitter::emit_store(Ref ref, const Store& store, int copy) {
  const Ref index = expanded_[ref];
  const Dtype dtype = kernel_.buffers[store.buffer].dtype;
  if (!is_lanes(index) && !is_lanes(store.value)) {
    if (copy > 0) return;
    Value* pointer = element_pointer(builder_, dtype, buffers_[store.buffer], scalar(index));
    return store_element(builder_, dtype, scalar(store.value), pointer);
  }
  if (emit_in_square(ref, store, copy)) return;
  const bool bypass = may_bypass_caches(ref, store);
  stored_past_caches_ |= bypass;
  store_lanes(builder_, lane(store.buffer, index, copy, scope_->mask), vector(store.value, copy),
              bypass);
}

// Stores of a square wait for the last one.
bool KernelEmitter::emit_in_square(Ref ref, const Store& store, int copy) {
  if (scope_->mask) return false;
  const auto square = std::ranges::find_if(scope_->squares, [&](const SquareStores& stores) {
    return std::ranges::find(stores, ref) != stores.end();
  });
  if (square == scope_->squares.end()) return false;
  scope_->held[ref.index] = vector(store.value, copy);
  const bool has_all =
      std::ranges::all_of(*square, [&](Ref each) { return scope_->held.contains(each.index); });
  if (has_all) emit_square(*square, copy);
  return true;
}

void KernelEmitter::emit_square(const SquareStores& square, int copy) {
  llvm::SmallVector<Value*, 16> columns;
  for (Ref ref : square) columns.push_back(scope_->held.extract(ref.index).mapped());
  const auto& first = std::get<Store>(kernel_[square[0]].operation);
  const Lane lanes = lane(first.buffer, expanded_[square[0]], copy, nullptr);
  const bool bypass = first.non_temporal && is_aligned(first, 1);
  stored_past_caches_ |= bypass;
  const auto rows = emit_transpose(builder_, columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Lane row = {.dtype = lanes.dtype, .first = lane_pointer(builder_, lanes, i)};
    store_lanes(builder_, row, rows[i], bypass);
  }
}

// What divides the index of the first of each `lanes` in an unmasked turn of the vector loop.
std::int64_t KernelEmitter::known_multiple(Index index, std::int64_t lanes) const {
  const IndexTable::Expression& expression = kernel_.indices[index];
  std::int64_t multiple = expression.constant;
  for (const IndexTable::Term& term : expression.terms) {
    const IndexTable::Atom& atom = kernel_.indices.atom(term.atom);
    const bool is_own = atom.kind == IndexTable::Atom::Kind::loop && atom.loop == scope_->ref.index;
    const std::int64_t factor = saturating_multiply(term.factor, is_own ? lanes : 1);
    multiple = std::gcd(multiple, factor);
  }
  constexpr std::int64_t anything = std::int64_t{1} << 20;
  return multiple == 0 ? anything : multiple;
}

// Such stores fault unless aligned. Buffers are, so the index decides.
bool KernelEmitter::may_bypass_caches(Ref ref, const Store& store) const {
  if (!store.non_temporal || scope_->mask) return false;
  if (scope_->lanes.stride(expanded_[ref]) != 1) return false;
  return is_aligned(store, scope_->loop.vector_width);
}

bool KernelEmitter::is_aligned(const Store& store, std::int64_t lanes) const {
  const auto element = static_cast<std::int64_t>(byte_size(kernel_.buffers[store.buffer].dtype));
  const std::int64_t vector = std::min<std::int64_t>(64, scope_->loop.vector_width * element);
  return vector >= 16 && known_multiple(store.index, lanes) * element % vector == 0;
}

// --- values
// ------------------------------------------------------------------------------------------

Value* KernelEmitter::scalar(Ref ref) const {
  if (Value* value = emitted_[ref.index].scalar) return value;
  throw InternalError("emit", "%" + std::to_string(ref.index) + " of kernel " + kernel_.name +
                                  " is used as a scalar before it is one");
}

Value* KernelEmitter::vector(Ref ref, int copy) const {
  const Emitted& emitted = emitted_[ref.index];
  if (!emitted.vectors.empty()) {
    return emitted.vectors[emitted.vectors.size() == 1 ? 0 : static_cast<std::size_t>(copy)];
  }
  throw InternalError("emit", "%" + std::to_string(ref.index) + " of kernel " + kernel_.name +
                                  " is used as a vector before it is one");
}

Value* KernelEmitter::splat(Value* value) {
  return builder_.CreateVectorSplat(static_cast<unsigned>(scope_->loop.vector_width), value);
}

void KernelEmitter::define(Ref ref, Value* value) {
  Emitted& emitted = emitted_[ref.index];
  emitted.scalar = value;
  if (scope_ && !is_lanes(ref) && scope_->lanes.needs_vector(ref)) emitted.vectors = {splat(value)};
  defined_.push_back(ref);
}

void KernelEmitter::define_lanes(Ref ref, Value* value) {
  emitted_[ref.index].vectors.push_back(value);
  defined_.push_back(ref);
}

void KernelEmitter::forget(std::size_t mark) {
  for (; defined_.size() > mark; defined_.pop_back()) emitted_[defined_.back().index] = {};
}

llvm::BasicBlock* KernelEmitter::block(const char* name) {
  return llvm::BasicBlock::Create(builder_.getContext(), name, function_);
}

}  // namespace anabranch::cpu
