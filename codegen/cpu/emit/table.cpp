#include "codegen/cpu/emit/table.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "codegen/cpu/emit/types.h"
#include "codegen/cpu/math/value.h"

namespace anabranch::cpu {
namespace {

using llvm::Value;

constexpr unsigned register_bits = 512, most_registers = 2;

// Of one register's lanes, by the table's one register or two.
Value* look_up_words(llvm::IRBuilderBase& b, const Table& table, Value* indices) {
  namespace I = llvm::Intrinsic;
  struct Instructions {
    unsigned bits;
    I::ID one, two;
  };
  static constexpr Instructions all[] = {
      {8, I::x86_avx512_permvar_qi_512, I::x86_avx512_vpermi2var_qi_512},
      {16, I::x86_avx512_permvar_hi_512, I::x86_avx512_vpermi2var_hi_512},
      {32, I::x86_avx512_permvar_si_512, I::x86_avx512_vpermi2var_d_512},
      {64, I::x86_avx512_permvar_di_512, I::x86_avx512_vpermi2var_q_512}};
  const auto& found = *std::ranges::find(all, table.form.bits, &Instructions::bits);
  const auto& words = table.registers;
  if (words.size() == 1) return b.CreateIntrinsic(found.one, {}, {words[0], indices});
  return b.CreateIntrinsic(found.two, {}, {words[0], indices, words[1]});
}

// `count` lanes from `first` on, whatever they are beyond the last.
Value* part_of(llvm::IRBuilderBase& b, Value* vector, unsigned first, unsigned count) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
  llvm::SmallVector<int, 64> chosen;
  for (unsigned i = first; i < first + count; ++i) {
    chosen.push_back(i < lanes ? static_cast<int>(i) : llvm::PoisonMaskElem);
  }
  return b.CreateShuffleVector(vector, chosen);
}

}  // namespace

std::optional<TableForm> table_form(const llvm::Module& module, Dtype dtype, std::int64_t least,
                                    std::int64_t available) {
  if (!module.getModuleFlag(math::avx512_flag) || is_complex(dtype) || available <= 0) {
    return std::nullopt;
  }
  const auto bits = 8 * static_cast<unsigned>(byte_size(dtype));
  const bool is_extended = bits < 32 && !module.getModuleFlag(narrow_tables_flag);
  TableForm form{dtype, is_extended ? 32 : bits, 0};
  const std::int64_t whole = (least + form.words() - 1) / form.words() * form.words();
  form.size = std::min(whole, available);
  if (form.size < least || form.size > most_registers * form.words()) return std::nullopt;
  return form;
}

std::int64_t TableForm::words() const { return register_bits / bits; }

Table load_table(llvm::IRBuilderBase& b, const TableForm& form, Value* first) {
  const auto words = static_cast<unsigned>(form.words());
  llvm::Type* element = memory_type(b.getContext(), form.dtype);
  llvm::Type* type = llvm::FixedVectorType::get(element, words);
  llvm::Type* bits = llvm::FixedVectorType::get(b.getIntNTy(element->getScalarSizeInBits()), words);
  Table table{form, {}};
  for (std::int64_t begin = 0; begin < form.size; begin += words) {
    llvm::SmallVector<llvm::Constant*, 64> is_there;
    for (unsigned i = 0; i < words; ++i) is_there.push_back(b.getInt1(begin + i < form.size));
    Value* place = b.CreateConstGEP1_64(element, first, static_cast<std::uint64_t>(begin));
    Value* loaded =
        b.CreateMaskedLoad(type, place, llvm::Align(byte_size(form.dtype)),
                           llvm::ConstantVector::get(is_there), llvm::Constant::getNullValue(type));
    table.registers.push_back(b.CreateZExt(
        b.CreateBitCast(loaded, bits), llvm::FixedVectorType::get(b.getIntNTy(form.bits), words)));
  }
  return table;
}

Value* look_up(llvm::IRBuilderBase& b, const Table& table, Value* indices) {
  const auto words = static_cast<unsigned>(table.form.words());
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(indices->getType())->getNumElements();
  indices =
      b.CreateZExtOrTrunc(indices, llvm::FixedVectorType::get(b.getIntNTy(table.form.bits), lanes));
  llvm::SmallVector<Value*, 8> parts;
  for (unsigned first = 0; first < lanes; first += words) {
    parts.push_back(look_up_words(b, table, part_of(b, indices, first, words)));
  }
  Value* found = part_of(b, llvm::concatenateVectors(b, parts), 0, lanes);
  llvm::Type* element = memory_type(b.getContext(), table.form.dtype);
  found = b.CreateTrunc(
      found, llvm::FixedVectorType::get(b.getIntNTy(element->getScalarSizeInBits()), lanes));
  found = b.CreateBitCast(found, llvm::FixedVectorType::get(element, lanes));
  if (table.form.dtype != bool_) return found;
  return b.CreateICmpNE(found, llvm::Constant::getNullValue(found->getType()));
}

}  // namespace anabranch::cpu
