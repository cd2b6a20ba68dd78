#include "codegen/kernel/expand_indices.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace anabranch {
namespace {

/// An i64 constant (no op), or an op on two scalars.
struct Arithmetic {
  std::optional<Op> op;
  std::uint64_t first = 0, second = 0;

  auto operator<=>(const Arithmetic&) const = default;
};

class Expander {
 public:
  explicit Expander(const Kernel& kernel)
      : old_(kernel),
        made_{kernel, std::vector<Ref>(kernel.instructions.size()),
              static_cast<std::uint32_t>(kernel.instructions.size())},
        depth_(kernel.instructions.size()),
        now_(kernel.instructions.size()) {
    for (std::uint32_t i = 0; i < now_.size(); ++i) now_[i] = Ref{i};
  }

  ExpandedKernel run() {
    made_.kernel.body = expand(old_.body);
    return std::move(made_);
  }

 private:
  /// A block at hand, and the arithmetic that stands in it.
  struct Scope {
    Block block;
    std::map<Arithmetic, Ref> known;
    std::map<std::uint32_t, Ref> places;  // by expression
  };

  Kernel& kernel() { return made_.kernel; }

  Ref now(Ref ref) const { return ref ? now_[ref.index] : ref; }
  void map(std::vector<Ref>& refs) const {
    for (Ref& ref : refs) ref = now(ref);
  }

  Block expand(const Block& block) {
    scopes_.emplace_back();
    for (Ref ref : block) expand(ref);
    Block made = std::move(scopes_.back().block);
    scopes_.pop_back();
    return made;
  }

  void expand(Ref ref) {
    // By value: arithmetic that is added moves the instructions.
    Operation operation = old_[ref].operation;
    if (auto* position = std::get_if<IndexValue>(&operation)) {
      now_[ref.index] = place(position->index);
      return;
    }
    depth_[ref.index] = scopes_.size() - 1;
    if (auto* compute = std::get_if<Compute>(&operation)) {
      map(compute->operands);
    } else if (auto* load = std::get_if<Load>(&operation)) {
      made_.scalar[ref.index] = place(load->index);
      load->mask = now(load->mask);
    } else if (auto* store = std::get_if<Store>(&operation)) {
      made_.scalar[ref.index] = place(store->index);
      store->value = now(store->value);
    } else if (auto* loop = std::get_if<Loop>(&operation)) {
      expand(ref, *loop);
    }
    kernel()[ref].operation = std::move(operation);
    scopes_.back().block.push_back(ref);
  }

  void expand(Ref ref, Loop& loop) {
    for (Reduction& reduction : loop.reductions) map(reduction.initial);
    const Ref index = append({IndexValue{kernel().index_of(ref)}, i64, old_[ref].location});
    depth_[index.index] = scopes_.size();
    made_.scalar[ref.index] = index;
    loop.body = expand(loop.body);
    for (Reduction& reduction : loop.reductions) {
      map(reduction.values);
    }
  }

  Ref append(Instruction instruction) {
    kernel().instructions.push_back(std::move(instruction));
    made_.scalar.emplace_back();
    depth_.emplace_back();
    return {static_cast<std::uint32_t>(kernel().instructions.size() - 1)};
  }

  // --- arithmetic

  Ref known(const Arithmetic& arithmetic) const {
    for (const Scope& scope : scopes_) {
      if (auto at = scope.known.find(arithmetic); at != scope.known.end()) return at->second;
    }
    return {};
  }

  Ref add(const Arithmetic& arithmetic, Operation operation, std::size_t depth) {
    if (Ref ref = known(arithmetic)) return ref;
    const Ref made = append({std::move(operation), i64, {}});
    depth_[made.index] = depth;
    scopes_[depth].known.emplace(arithmetic, made);
    scopes_[depth].block.push_back(made);
    return made;
  }

  Ref constant(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    return add({std::nullopt, bits, 0}, ConstantInstruction{bits}, 0);
  }

  Ref compute(Op op, Ref a, Ref b) {
    return add({op, a.index, b.index}, Compute{op, {a, b}},
               std::max(depth_[a.index], depth_[b.index]));
  }

  Ref atom(std::uint32_t number) {
    using Kind = IndexTable::Atom::Kind;
    const IndexTable::Atom& atom = old_.indices.atom(number);
    switch (atom.kind) {
      case Kind::loop:
        return made_.scalar[atom.loop];
      case Kind::scalar:
        return now(Ref{atom.loop});
      case Kind::quotient:
        return compute(Op::divide, place(atom.of), constant(atom.by));
      case Kind::remainder:
        return compute(Op::remainder, place(atom.of), constant(atom.by));
      case Kind::least:
        return compute(Op::minimum, place(atom.of), constant(atom.by));
    }
    __builtin_unreachable();
  }

  Ref place(Index index) {
    for (const Scope& scope : scopes_) {
      if (auto at = scope.places.find(index.id); at != scope.places.end()) return at->second;
    }
    const IndexTable::Expression& expression = old_.indices[index];
    std::vector<std::pair<Ref, std::int64_t>> parts;
    for (IndexTable::Term term : expression.terms) parts.push_back({atom(term.atom), term.factor});
    std::stable_sort(parts.begin(), parts.end(), [this](const auto& a, const auto& b) {
      return depth_[a.first.index] < depth_[b.first.index];
    });
    Ref sum;
    const auto include = [&](Ref part) { sum = sum ? compute(Op::add, sum, part) : part; };
    if (expression.constant != 0 || parts.empty()) include(constant(expression.constant));
    for (auto [part, factor] : parts) {
      include(factor == 1 ? part : compute(Op::multiply, part, constant(factor)));
    }
    scopes_[depth_[sum.index]].places.emplace(index.id, sum);
    return sum;
  }

  const Kernel& old_;
  ExpandedKernel made_;
  std::vector<std::size_t> depth_;  // by instruction: of the block that it stands in
  std::vector<Ref> now_;            // what stands for each old instruction
  std::vector<Scope> scopes_;       // the blocks at hand, the kernel's own first
};

}  // namespace

ExpandedKernel expand_indices(const Kernel& kernel) { return Expander(kernel).run(); }

}  // namespace anabranch
