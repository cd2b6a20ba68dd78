#include "ir/index.h"

#include <algorithm>
#include <numeric>

#include "anabranch/error.h"
#include "ir/checked.h"
#include "ir/mix.h"

namespace anabranch {
namespace {

using Expression = IndexTable::Expression;
using Term = IndexTable::Term;
using Atom = IndexTable::Atom;

// A constant or factor that has room for its negation, and for the sum with another.
std::int64_t in_range(std::optional<std::int64_t> number) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  if (number && *number >= -most && *number <= most) return *number;
  throw Error(
      "index arithmetic leaves 64 bits; the sizes, strides or paddings are too large together");
}

std::int64_t floor_divide(std::int64_t a, std::int64_t by) {
  std::int64_t quotient = a / by;
  return quotient * by > a ? quotient - 1 : quotient;
}

void add_term(std::vector<Term>& terms, Term term) {
  auto at = std::lower_bound(terms.begin(), terms.end(), term,
                             [](const Term& a, const Term& b) { return a.atom < b.atom; });
  if (at == terms.end() || at->atom != term.atom) {
    if (term.factor != 0) terms.insert(at, term);
  } else if ((at->factor = in_range(checked_add(at->factor, term.factor))) == 0) {
    terms.erase(at);
  }
}

}  // namespace

Index IndexTable::constant(std::int64_t value) { return intern(in_range(value), {}); }

Index IndexTable::loop(std::uint32_t loop, std::int64_t extent, std::int64_t first) {
  if (extent <= 1) return constant(first);
  Atom atom;
  atom.loop = loop;
  atom.low = first;
  atom.high = first + extent - 1;
  return intern_atom(atom);
}

Index IndexTable::scalar(std::uint32_t number, std::int64_t low, std::int64_t high, Index at) {
  if (low == high) return constant(low);
  return intern_atom({Atom::Kind::scalar, number, at, 1, low, high});
}

Index IndexTable::add(Index a, Index b) {
  std::int64_t constant =
      in_range(checked_add(expressions_[a.id].constant, expressions_[b.id].constant));
  std::vector<Term> terms = expressions_[a.id].terms;
  for (Term term : expressions_[b.id].terms) add_term(terms, term);
  recombine(terms, constant);
  return intern(constant, std::move(terms));
}

Index IndexTable::scale(Index a, std::int64_t factor) {
  if (factor == 1) return a;
  if (factor == 0) return constant(0);
  const std::int64_t scaled = in_range(checked_multiply(expressions_[a.id].constant, factor));
  std::vector<Term> terms = expressions_[a.id].terms;
  for (Term& term : terms) term.factor = in_range(checked_multiply(term.factor, factor));
  return intern(scaled, std::move(terms));
}

// x % by * k + x / by * (by * k) is x * k.
void IndexTable::recombine(std::vector<Term>& terms, std::int64_t& constant) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < terms.size() && !changed; ++i) {
      const Atom atom = atoms_[terms[i].atom];
      if (atom.kind != Atom::Kind::remainder) continue;
      const Expression quotient = expressions_[divide(atom.of, atom.by).id];
      if (quotient.constant != 0 || quotient.terms.size() != 1 || quotient.terms[0].factor != 1) {
        continue;
      }
      const Term remainder = terms[i];
      const auto factor = checked_multiply(atom.by, remainder.factor);
      if (!factor) continue;
      const Term partner = {quotient.terms[0].atom, *factor};
      if (std::find(terms.begin(), terms.end(), partner) == terms.end()) continue;
      std::erase(terms, remainder);
      std::erase(terms, partner);
      const Expression& whole = expressions_[atom.of.id];
      const auto times = [&](std::int64_t n) {
        return in_range(checked_multiply(n, remainder.factor));
      };
      constant = in_range(checked_add(constant, times(whole.constant)));
      for (Term term : whole.terms) add_term(terms, {term.atom, times(term.factor)});
      changed = true;
    }
  }
}

std::int64_t IndexTable::least_of(Term term) const {
  const Atom& atom = atoms_[term.atom];
  return saturating_multiply(term.factor, term.factor > 0 ? atom.low : atom.high);
}

std::int64_t IndexTable::greatest_of(Term term) const {
  const Atom& atom = atoms_[term.atom];
  return saturating_multiply(term.factor, term.factor > 0 ? atom.high : atom.low);
}

Index IndexTable::split(Index a, std::int64_t by, Index& whole) {
  const Expression& from = expressions_[a.id];
  std::vector<Term> divisible, rest;
  std::int64_t low = 0;
  for (Term term : from.terms) {
    if (term.factor % by == 0) {
      divisible.push_back({term.atom, term.factor / by});
    } else {
      rest.push_back(term);
      low = saturating_add(low, least_of(term));
    }
  }
  std::int64_t quotient = floor_divide(from.constant, by);
  std::int64_t left = from.constant - quotient * by;
  if (low + left < 0) {  // `left` is not negative
    const std::int64_t shift = -floor_divide(low + left, by);
    left = in_range(checked_add(left, in_range(checked_multiply(shift, by))));
    quotient -= shift;  // neither is above 2^62
  }
  whole = intern(quotient, std::move(divisible));
  return intern(left, std::move(rest));
}

Index IndexTable::divide(Index a, std::int64_t by) {
  if (by == 1) return a;
  Index whole;
  Index rest = split(a, by, whole);
  const Expression left = expressions_[rest.id];
  std::int64_t low = floor_divide(left.low, by);
  if (low == floor_divide(left.high, by)) return add(whole, low);
  std::int64_t common = by;
  for (Term term : left.terms) common = std::gcd(common, term.factor);
  if (common > 1) {
    std::vector<Term> terms = left.terms;
    for (Term& term : terms) term.factor /= common;
    Index smaller = intern(floor_divide(left.constant, common), std::move(terms));
    return add(whole, divide(smaller, by / common));
  }
  if (left.constant == 0 && left.terms.size() == 1 && left.terms[0].factor == 1) {
    const Atom atom = atoms_[left.terms[0].atom];
    if (atom.kind == Atom::Kind::quotient) {
      return add(whole, divide(atom.of, in_range(checked_multiply(atom.by, by))));
    }
    if (atom.kind == Atom::Kind::remainder && atom.by % by == 0) {
      return add(whole, remainder(divide(atom.of, by), atom.by / by));
    }
  }
  Atom quotient{Atom::Kind::quotient, 0, rest, by, low, floor_divide(left.high, by)};
  return add(whole, intern_atom(quotient));
}

Index IndexTable::remainder(Index a, std::int64_t by) {
  if (by == 1) return constant(0);
  Index whole;
  Index rest = split(a, by, whole);
  const Expression left = expressions_[rest.id];
  std::int64_t low = floor_divide(left.low, by);
  if (low == floor_divide(left.high, by)) {
    return add(rest, in_range(checked_multiply(-low, by)));
  }
  std::int64_t common = by;
  for (Term term : left.terms) common = std::gcd(common, term.factor);
  if (common > 1) {
    std::vector<Term> terms = left.terms;
    for (Term& term : terms) term.factor /= common;
    std::int64_t quotient = floor_divide(left.constant, common);
    Index smaller = remainder(intern(quotient, std::move(terms)), by / common);
    return add(scale(smaller, common), left.constant - quotient * common);
  }
  if (left.constant == 0 && left.terms.size() == 1 && left.terms[0].factor == 1) {
    const Atom atom = atoms_[left.terms[0].atom];
    if (atom.kind == Atom::Kind::remainder && atom.by % by == 0) return remainder(atom.of, by);
  }
  return intern_atom({Atom::Kind::remainder, 0, rest, by, 0, by - 1});
}

Index IndexTable::least(Index a, std::int64_t bound) {
  const Expression& from = expressions_[a.id];
  if (from.high <= bound) return a;
  if (from.low >= bound) return constant(bound);
  return intern_atom({Atom::Kind::least, 0, a, bound, from.low, bound});
}

Index IndexTable::flatten(std::span<const Index> point, std::span<const std::int64_t> sizes) {
  Index flat = constant(0);
  std::int64_t stride = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0; stride *= sizes[axis]) {
    flat = add(flat, scale(point[axis], stride));
  }
  return flat;
}

std::vector<Index> IndexTable::unflatten(Index flat, std::span<const std::int64_t> sizes) {
  std::vector<Index> point(sizes.size());
  std::size_t outermost = 0;
  while (outermost < sizes.size() && sizes[outermost] <= 1) ++outermost;
  std::int64_t stride = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    if (sizes[axis] <= 1) {
      point[axis] = constant(0);
      continue;
    }
    point[axis] = divide(flat, stride);
    if (axis != outermost) point[axis] = remainder(point[axis], sizes[axis]);
    stride *= sizes[axis];
  }
  return point;
}

bool IndexTable::is_loop(Index index, std::uint32_t loop) const {
  const Expression& expression = expressions_[index.id];
  if (expression.constant != 0 || expression.terms.size() != 1) return false;
  const Atom& atom = atoms_[expression.terms[0].atom];
  return expression.terms[0].factor == 1 && atom.kind == Atom::Kind::loop && atom.loop == loop;
}

bool IndexTable::depends_on(Index index, std::uint32_t loop) const {
  for (Term term : expressions_[index.id].terms) {
    const Atom& atom = atoms_[term.atom];
    if (atom.kind == Atom::Kind::loop ? atom.loop == loop : depends_on(atom.of, loop)) return true;
  }
  return false;
}

std::int64_t IndexTable::factor(Index index, std::uint32_t loop) const {
  for (Term term : expressions_[index.id].terms) {
    const Atom& atom = atoms_[term.atom];
    if (atom.kind == Atom::Kind::loop && atom.loop == loop) return term.factor;
  }
  return 0;
}

bool IndexTable::is_linear_in(Index index, std::uint32_t loop) const {
  for (Term term : expressions_[index.id].terms) {
    const Atom& atom = atoms_[term.atom];
    if (atom.kind != Atom::Kind::loop && depends_on(atom.of, loop)) return false;
  }
  return true;
}

Index IndexTable::intern(std::int64_t constant, std::vector<Term> terms) {
  std::uint64_t hash = mix(17, constant);
  for (Term term : terms) hash = mix(mix(hash, term.atom), term.factor);
  auto [begin, end] = expression_by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const Expression& other = expressions_[at->second];
    if (other.constant == constant && other.terms == terms) return {at->second};
  }
  Expression expression{constant, std::move(terms), constant, constant};
  for (Term term : expression.terms) {
    const Atom& atom = atoms_[term.atom];
    if (atom.kind != Atom::Kind::loop) {
      expression.depth = std::max(expression.depth, expressions_[atom.of.id].depth + 1);
    }
    expression.low = saturating_add(expression.low, least_of(term));
    expression.high = saturating_add(expression.high, greatest_of(term));
  }
  const auto id = static_cast<std::uint32_t>(expressions_.size());
  expressions_.push_back(std::move(expression));
  expression_by_hash_.emplace(hash, id);
  return {id};
}

Index IndexTable::intern_atom(Atom atom) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(atom.kind), atom.loop);
  hash = mix(mix(hash, atom.of.id), atom.by);
  auto [begin, end] = atom_by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const Atom& other = atoms_[at->second];
    if (other.kind == atom.kind && other.loop == atom.loop && other.of == atom.of &&
        other.by == atom.by) {
      return intern(0, {{at->second, 1}});
    }
  }
  const auto id = static_cast<std::uint32_t>(atoms_.size());
  atoms_.push_back(atom);
  atom_by_hash_.emplace(hash, id);
  return intern(0, {{id, 1}});
}

void IndexCopier::set_loop(std::uint32_t loop, Index now) {
  loops_[loop] = now;
  known_.clear();
}

Index IndexCopier::operator()(Index old) {
  if (const auto known = known_.find(old.id); known != known_.end()) return known->second;
  const IndexTable::Expression& expression = from_[old];
  Index sum = to_.constant(expression.constant);
  for (IndexTable::Term term : expression.terms) {
    sum = to_.add(sum, to_.scale(atom(term.atom), term.factor));
  }
  return known_[old.id] = sum;
}

Index IndexCopier::atom(std::uint32_t number) {
  const IndexTable::Atom& old = from_.atom(number);
  switch (old.kind) {
    case IndexTable::Atom::Kind::loop: {
      const auto now = loops_.find(old.loop);
      if (now == loops_.end()) throw InternalError("index", "a loop that is not known");
      return now->second;
    }
    case IndexTable::Atom::Kind::quotient:
      return to_.divide((*this)(old.of), old.by);
    case IndexTable::Atom::Kind::remainder:
      return to_.remainder((*this)(old.of), old.by);
    case IndexTable::Atom::Kind::least:
      return to_.least((*this)(old.of), old.by);
    case IndexTable::Atom::Kind::scalar:
      return to_.scalar(become_ ? become_(old.loop) : old.loop, old.low, old.high, (*this)(old.of));
  }
  __builtin_unreachable();
}

}  // namespace anabranch
