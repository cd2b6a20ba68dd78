#include "codegen/kernel/index_lifter.h"

#include "ir/error.h"

namespace anabranch {

std::vector<bool> index_arithmetic(const Kernel& kernel) {
  std::vector<bool> is_index(kernel.instructions.size());
  std::vector<Ref> open;
  for (const Instruction& instruction : kernel.instructions) {
    if (auto* load = std::get_if<Load>(&instruction.operation)) open.push_back(load->index);
    if (auto* store = std::get_if<Store>(&instruction.operation)) open.push_back(store->index);
  }
  while (!open.empty()) {
    const Ref ref = open.back();
    open.pop_back();
    if (is_index[ref.index]) continue;
    is_index[ref.index] = true;
    auto* compute = std::get_if<Compute>(&kernel[ref].operation);
    // What a clamp holds in bounds is any scalar.
    if (compute && compute->op != Op::clamp)
      open.insert(open.end(), compute->operands.begin(), compute->operands.end());
  }
  return is_index;
}

IndexLifter::IndexLifter(const Kernel& kernel, IndexTable& table)
    : kernel_(kernel),
      table_(table),
      known_(kernel.instructions.size()),
      is_index_(index_arithmetic(kernel)) {}

Index IndexLifter::operator()(Ref ref) {
  if (known_[ref.index]) return *known_[ref.index];
  const Operation& operation = kernel_[ref].operation;
  std::optional<Index> lifted;
  if (auto* constant = std::get_if<ConstantInstruction>(&operation)) {
    lifted = table_.constant(static_cast<std::int64_t>(constant->bits));
  } else if (auto* compute = std::get_if<Compute>(&operation);
             compute && compute->op == Op::clamp) {
    const Index low = (*this)(compute->operands[0]), high = (*this)(compute->operands[2]);
    const Ref scalar = become_ ? become_(ref) : ref;
    lifted = table_.scalar(scalar.index, table_[low].constant, table_[high].constant);
  } else if (compute) {
    const Index a = (*this)(compute->operands[0]), b = (*this)(compute->operands[1]);
    const bool by_constant = table_.is_constant(b);
    const std::int64_t value = table_[b].constant;
    if (compute->op == Op::add) lifted = table_.add(a, b);
    if (compute->op == Op::multiply && by_constant) lifted = table_.scale(a, value);
    if (compute->op == Op::divide && by_constant) lifted = table_.divide(a, value);
    if (compute->op == Op::remainder && by_constant) lifted = table_.remainder(a, value);
    if (compute->op == Op::minimum && by_constant) lifted = table_.least(a, value);
  }
  if (!lifted)
    throw InternalError("tile", "an index that is not index arithmetic", to_string(kernel_));
  known_[ref.index] = lifted;
  return *lifted;
}

}  // namespace anabranch
