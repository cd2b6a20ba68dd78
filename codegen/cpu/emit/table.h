// Elements that fit into a register or two: a small buffer, or part of one. Lanes look them up
// there instead of gathering them.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <optional>

#include "anabranch/dtype.h"

namespace anabranch::cpu {

/// Set in modules for a CPU with AVX-512 VBMI, which looks up bytes and pairs of them.
inline constexpr const char* narrow_tables_flag = "anabranch.narrow_tables";

/// A table that the target has instructions for.
struct TableForm {
  Dtype dtype = Dtype::f32;
  unsigned bits = 32;     ///< of a word, which holds an element, extended by zeros
  std::int64_t size = 0;  ///< elements

  std::int64_t words() const;  ///< that a register holds
};

/// Of at least `least` elements and at most `available`: whole registers unless that is too many.
/// Nothing where the target has none (AVX-512 has, for two registers).
std::optional<TableForm> table_form(const llvm::Module& module, Dtype dtype, std::int64_t least,
                                    std::int64_t available);

struct Table {
  TableForm form;
  llvm::SmallVector<llvm::Value*, 2> registers;
};

/// Loads the elements that follow each other from `first` on.
Table load_table(llvm::IRBuilderBase& builder, const TableForm& form, llvm::Value* first);

/// The elements at `indices`, integers of any width, as registers hold them; any where an index is
/// none of the table's.
llvm::Value* look_up(llvm::IRBuilderBase& builder, const Table& table, llvm::Value* indices);

}  // namespace anabranch::cpu
