// Index expressions: sums of loop indices with constant factors, of scalars that are known when the
// kernel runs, and of the quotients and remainders that reshapes leave behind, kept in a normal
// form so that equal places have equal numbers.
//
//   (i * 64 + j) / 64          with j < 64          is   i
//   (x / 12) * 12 + (x / 4 % 3) * 4 + x % 4         is   x
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace anabranch {

/// An expression of the IndexTable at hand; equal expressions are equal numbers.
struct Index {
  std::uint32_t id = 0;

  bool operator==(const Index&) const = default;
};

/// Makes expressions and knows the least and greatest value of each. Quotients and remainders are
/// by positive constants and round down.
///
/// Constants and factors stay within 2^62, or the call throws Error: strides of arrays do, and
/// whatever else a place is computed with. An expression may leave 64 bits only where nothing is
/// read (a lane whose mask does not hold); `low` and `high` then are the ends of the range, and
/// code that computes the expression may wrap around.
class IndexTable {
 public:
  /// What a sum adds up: a loop's index, a quotient, a remainder or the lesser of another
  /// expression and a constant, or a scalar that is known when the kernel runs.
  struct Atom {
    enum class Kind : std::uint8_t { loop, quotient, remainder, least, scalar };
    Kind kind = Kind::loop;
    std::uint32_t loop = 0;  ///< the caller's number for the loop, or for the scalar
    Index of;                ///< never negative where divided; of a scalar, where it is read
    std::int64_t by = 1;
    std::int64_t low = 0, high = 0;
  };

  struct Term {
    std::uint32_t atom = 0;
    std::int64_t factor = 1;

    bool operator==(const Term&) const = default;
  };

  struct Expression {
    std::int64_t constant = 0;
    std::vector<Term> terms;  ///< by ascending atom, no factor is 0
    std::int64_t low = 0, high = 0;
    std::size_t depth = 0;  ///< how many atoms with an `of` nest in each other
  };

  Index constant(std::int64_t value);
  /// The index of a loop of `extent` iterations from `first` on; `first` for a single one.
  Index loop(std::uint32_t loop, std::int64_t extent, std::int64_t first = 0);
  /// A scalar from `low` to `high` that is not known yet, by the caller's number for it. It changes
  /// with what `at` changes with, the place in memory that it comes from: with nothing if there is
  /// one place alone.
  Index scalar(std::uint32_t number, std::int64_t low, std::int64_t high, Index at);
  Index scalar(std::uint32_t number, std::int64_t low, std::int64_t high) {
    return scalar(number, low, high, constant(0));
  }
  Index add(Index a, Index b);
  Index add(Index a, std::int64_t b) { return add(a, constant(b)); }
  Index scale(Index a, std::int64_t factor);
  Index divide(Index a, std::int64_t by);
  Index remainder(Index a, std::int64_t by);
  /// The lesser of `a` and `bound`.
  Index least(Index a, std::int64_t bound);

  /// The row-major place of `point` in an array of these sizes.
  Index flatten(std::span<const Index> point, std::span<const std::int64_t> sizes);
  /// The place in each axis of the element that is `flat`-th in row-major order.
  std::vector<Index> unflatten(Index flat, std::span<const std::int64_t> sizes);

  const Expression& operator[](Index index) const { return expressions_[index.id]; }
  const Atom& atom(std::uint32_t atom) const { return atoms_[atom]; }
  bool is_constant(Index index) const { return expressions_[index.id].terms.empty(); }

  bool contains(Index index) const { return index.id < expressions_.size(); }
  /// Whether it is the loop's index and nothing else.
  bool is_loop(Index index, std::uint32_t loop) const;
  /// Calls `visit(atom)` for each loop and each scalar that `index` depends on, once or more often.
  template <class Visit>
  void for_each_leaf(Index index, Visit&& visit) const {
    for (const Term& term : expressions_[index.id].terms) {
      const Atom& atom = atoms_[term.atom];
      if (atom.kind == Atom::Kind::loop || atom.kind == Atom::Kind::scalar) visit(atom);
      if (atom.kind != Atom::Kind::loop) for_each_leaf(atom.of, visit);
    }
  }

  /// Whether `index` depends on the loop at all, quotients, remainders and the places of scalars
  /// included.
  bool depends_on(Index index, std::uint32_t loop) const;
  /// The factor of the loop's index in the sum, 0 where there is none.
  std::int64_t factor(Index index, std::uint32_t loop) const;
  /// Whether the index grows by `factor` with each step of the loop: quotients, remainders and
  /// scalars do not depend on it.
  bool is_linear_in(Index index, std::uint32_t loop) const;

 private:
  Index intern(std::int64_t constant, std::vector<Term> terms);
  Index intern_atom(Atom atom);
  /// The part of `a` that `by` does not divide, made never negative; `whole` is the rest over `by`.
  Index split(Index a, std::int64_t by, Index& whole);
  void recombine(std::vector<Term>& terms, std::int64_t& constant);
  std::int64_t least_of(Term term) const;
  std::int64_t greatest_of(Term term) const;

  std::vector<Atom> atoms_;
  std::vector<Expression> expressions_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> atom_by_hash_, expression_by_hash_;
};

/// Writes expressions of one table in another, where loops and scalars may have become something
/// else.
class IndexCopier {
 public:
  /// Both outlive it.
  IndexCopier(const IndexTable& from, IndexTable& to) : from_(from), to_(to) {}

  /// What the loop's index is now; to be said before what depends on it is asked for.
  void set_loop(std::uint32_t loop, Index now);
  /// What a scalar's number is now; the same where this is not said.
  void set_scalars(std::function<std::uint32_t(std::uint32_t)> become) {
    become_ = std::move(become);
  }

  /// Throws InternalError at a loop that is not known.
  Index operator()(Index old);

 private:
  Index atom(std::uint32_t number);

  const IndexTable& from_;
  IndexTable& to_;
  std::function<std::uint32_t(std::uint32_t)> become_;
  std::unordered_map<std::uint32_t, Index> loops_;
  std::unordered_map<std::uint32_t, Index> known_;  // by the old expression
};

}  // namespace anabranch
