#include "codegen/cuda/emit/index_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "ir/checked.h"

namespace anabranch::cuda {
namespace {

using Kind = IndexTable::Atom::Kind;

constexpr std::int64_t limit = std::int64_t{1} << 30;  // with room for a step of the whole grid

std::string in_parentheses(std::string text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

}  // namespace

IndexWriter::IndexWriter(const Kernel& kernel, const std::vector<std::string>& scalars)
    : kernel_(kernel),
      scalars_(scalars),
      table_(kernel.indices),
      names_(kernel.instructions.size()) {
  declare(kernel.body, 0);
}

void IndexWriter::declare(const Block& block, std::size_t depth) {
  static constexpr std::string_view letters = "ijklmnpq";
  for (Ref ref : block) {
    const auto* loop = std::get_if<Loop>(&kernel_[ref].operation);
    if (!loop) continue;
    names_[ref.index] =
        depth < letters.size() ? std::string(1, letters[depth]) : fmt::format("i{}", depth);
    declare(loop->body, depth + 1);
  }
}

std::string IndexWriter::rename(Ref loop, std::string name) {
  return std::exchange(names_[loop.index], std::move(name));
}

std::string IndexWriter::text(const IndexTable::Atom& atom) const {
  switch (atom.kind) {
    case Kind::loop:
      return names_[atom.loop];
    case Kind::quotient:
      return in_parentheses(text(atom.of)) + fmt::format(" / {}", atom.by);
    case Kind::remainder:
      return in_parentheses(text(atom.of)) + fmt::format(" % {}", atom.by);
    case Kind::least:
      return fmt::format("op::minimum<index>({}, {})", text(atom.of), atom.by);
    case Kind::scalar:
      return fmt::format("static_cast<index>({})", scalars_[atom.loop]);
  }
  __builtin_unreachable();
}

std::string IndexWriter::text(Index index) const {
  const IndexTable::Expression& expression = table_[index];
  std::string sum;
  for (const IndexTable::Term& term : expression.terms) {
    std::string part = text(table_.atom(term.atom));
    if (part == "0") continue;
    part = in_parentheses(std::move(part));
    if (term.factor != 1) part += fmt::format(" * {}", term.factor);
    sum += (sum.empty() ? "" : " + ") + part;
  }
  if (expression.constant != 0 || sum.empty()) {
    sum += (sum.empty() ? "" : " + ") + std::to_string(expression.constant);
  }
  return sum;
}

bool IndexWriter::is_wide(Index index) const {
  const IndexTable::Expression& expression = table_[index];
  std::int64_t most = std::abs(expression.constant);  // at most 2^62, as factors are
  for (const IndexTable::Term& term : expression.terms) {
    const IndexTable::Atom& atom = table_.atom(term.atom);
    const bool is_large = atom.low <= -limit || atom.high >= limit;
    if (is_large || std::abs(term.factor) >= limit) return true;
    const std::int64_t size = std::max(std::abs(atom.low), std::abs(atom.high));
    most = saturating_add(most, std::abs(term.factor) * size);
    if (atom.kind != Kind::loop && atom.kind != Kind::scalar && is_wide(atom.of)) return true;
  }
  return most >= limit;
}

bool IndexWriter::needs_64_bits() const {
  const auto is_wide = [&](const Operation& operation) {
    if (auto* loop = std::get_if<Loop>(&operation)) return loop->usual_turns() >= limit;
    if (auto* load = std::get_if<Load>(&operation)) return this->is_wide(load->index);
    if (auto* store = std::get_if<Store>(&operation)) return this->is_wide(store->index);
    if (auto* at = std::get_if<IndexValue>(&operation)) return this->is_wide(at->index);
    return false;
  };
  return std::any_of(kernel_.instructions.begin(), kernel_.instructions.end(),
                     [&](const Instruction& made) { return is_wide(made.operation); });
}

bool IndexWriter::is_pack(Index index, Ref loop, int width) const {
  if (!table_.is_linear_in(index, loop.index) || table_.factor(index, loop.index) != 1) {
    return false;
  }
  const IndexTable::Expression& expression = table_[index];
  if (expression.constant % width != 0) return false;
  return std::all_of(expression.terms.begin(), expression.terms.end(), [&](const auto& term) {
    const IndexTable::Atom& atom = table_.atom(term.atom);
    if (atom.kind == Kind::loop && atom.loop == loop.index) return true;
    return term.factor % width == 0 && can_be_written(term.atom);
  });
}

bool IndexWriter::can_be_written(std::uint32_t number) const {
  const IndexTable::Atom& atom = table_.atom(number);
  if (atom.kind == Kind::loop) return true;
  if (atom.kind == Kind::scalar) return !scalars_[atom.loop].empty();
  const auto& terms = table_[atom.of].terms;
  return std::all_of(terms.begin(), terms.end(),
                     [&](const auto& term) { return can_be_written(term.atom); });
}

}  // namespace anabranch::cuda
