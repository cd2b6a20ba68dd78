#include <algorithm>

#include "ir/checked.h"
#include "ir/kernel/kernel.h"
#include "ir/text/print.h"
#include "ir/text/print_fields.h"

namespace anabranch {
namespace {

constexpr int atom = 3;

/// A sum has precedence 1, a product, a quotient or a remainder 2.
struct Expression {
  std::string text = "%?";
  int precedence = atom;
};

// Prints broken kernels as well, since `verify` shows them: what is not defined is %?.
class KernelPrinter {
 public:
  KernelPrinter(const Kernel& kernel, bool comments)
      : kernel_(kernel),
        comments_(comments),
        names_(kernel.instructions.size()),
        depths_(kernel.instructions.size()) {}

  std::string print() {
    text_ = "kernel " + quoted_name(kernel_.name) + "(";
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const KernelBuffer& buffer = kernel_.buffers[i];
      if (i) text_ += ", ";
      text_ += std::string(name(buffer.access)) + " " + buffer.name + ": " +
               std::string(name(buffer.dtype)) + "[" + std::to_string(buffer.size) + "]";
    }
    text_ += ")";
    if (kernel_.threads) text_ += " threads(" + all_fields(*kernel_.threads).substr(1) + ")";
    if (kernel_.cost != Cost{}) text_ += all_fields(kernel_.cost);
    text_ += " {\n";
    block(kernel_.body);
    return std::move(text_) + "}\n";
  }

 private:
  // Each after a space.
  template <class Struct>
  static std::string all_fields(const Struct& of) {
    std::string text;
    fields(of, [&](const char* name, const auto& field) {
      if (!is_left_out(field)) ((text += ' ') += name) += '=' + field_text(field);
    });
    return text;
  }

  bool exists(Ref ref) const { return ref.index < kernel_.instructions.size(); }

  void line(const std::string& content) {
    text_.append(2 * depth_, ' ');
    text_ += content + '\n';
  }

  void block(const Block& block) {
    ++depth_;
    for (Ref ref : block) {
      if (exists(ref))
        instruction(ref);
      else
        line("%?");
    }
    --depth_;
  }

  void instruction(Ref ref) {
    const Operation& operation = kernel_[ref].operation;
    if (auto* constant = std::get_if<ConstantInstruction>(&operation)) {
      names_[ref.index].text = to_string(Literal::scalar(kernel_[ref].dtype, constant->bits));
    } else if (auto* compute = std::get_if<Compute>(&operation)) {
      this->compute(ref, *compute);
    } else if (auto* load = std::get_if<Load>(&operation)) {
      const std::string mask = load->mask ? " if " + text(load->mask) : "";
      std::string ahead = load->prefetch ? " prefetch(" + std::to_string(load->prefetch) + ")" : "";
      line(define(ref) + " = load " + element(load->buffer, load->index) + mask + ahead);
    } else if (auto* store = std::get_if<Store>(&operation)) {
      line("store " + element(store->buffer, store->index) + " = " + text(store->value) +
           (store->non_temporal ? " non_temporal" : ""));
    } else if (auto* position = std::get_if<IndexValue>(&operation)) {
      this->position(ref, position->index);
    } else if (auto* loop = std::get_if<Loop>(&operation)) {
      this->loop(ref, *loop);
    }
  }

  // A loop's index needs no other name.
  void position(Ref ref, Index index) {
    const IndexTable& table = kernel_.indices;
    const bool is_one = table.contains(index) && table[index].terms.size() == 1;
    const std::uint32_t loop = is_one ? table.atom(table[index].terms[0].atom).loop : 0;
    if (is_one && table.is_loop(index, loop)) {
      names_[ref.index] = expression(index);
    } else {
      line(define(ref) + " = index " + expression(index).text);
    }
  }

  void compute(Ref ref, const Compute& compute) {
    std::string content(name(compute.op));
    for (std::size_t i = 0; i < compute.operands.size(); ++i) {
      content += (i ? ", " : " ") + operand(compute, i);
    }
    if (compute.op == Op::compare) content += " direction=" + std::string(name(compute.direction));
    // The name comes after the operands, which it must not stand among.
    const SourceLocation& location = kernel_[ref].location;
    line(define(ref) + " = " + content +
         (location && comments_ ? "  # " + to_string(location) : ""));
  }

  // --- index expressions

  // How many loops are around the innermost one that the atom depends on.
  std::size_t depth(const IndexTable::Atom& atom) const {
    using Kind = IndexTable::Atom::Kind;
    if (atom.kind == Kind::loop) return exists({atom.loop}) ? depths_[atom.loop] : 0;
    std::size_t deepest = 0;
    kernel_.indices.for_each_leaf(atom.of, [&](const IndexTable::Atom& leaf) {
      if (leaf.kind == Kind::loop) deepest = std::max(deepest, depth(leaf));
    });
    return deepest;
  }

  Expression expression(const IndexTable::Atom& part) const {
    using Kind = IndexTable::Atom::Kind;
    const auto divided = [&](std::string_view sign) -> Expression {
      const Expression of = expression(part.of);
      return {wrapped(of, of.precedence < 2) + std::string(sign) + std::to_string(part.by), 2};
    };
    switch (part.kind) {
      case Kind::loop:
        return {text({part.loop}), atom};
      case Kind::scalar: {
        const bool is_one = kernel_.indices.is_constant(part.of);
        const std::string at = is_one ? "" : "[" + expression(part.of).text + "]";
        return {text({part.loop}) + at, atom};
      }
      case Kind::quotient:
        return divided(" / ");
      case Kind::remainder:
        return divided(" % ");
      case Kind::least:
        return {"min(" + expression(part.of).text + ", " + std::to_string(part.by) + ")", atom};
    }
    return {};
  }

  // The constant first, then what outer loops change; equal tables print alike, however they were
  // made.
  Expression expression(Index index) const {
    if (!kernel_.indices.contains(index)) return {};
    const IndexTable::Expression& sum = kernel_.indices[index];
    std::vector<std::pair<std::size_t, Expression>> parts;  // by depth
    for (const IndexTable::Term& term : sum.terms) {
      const IndexTable::Atom& atom = kernel_.indices.atom(term.atom);
      Expression part = expression(atom);
      if (term.factor != 1) {
        part = {wrapped(part, part.precedence < 2) + " * " + std::to_string(term.factor), 2};
      }
      parts.emplace_back(depth(atom), std::move(part));
    }
    std::ranges::sort(parts, {}, [](const auto& part) {
      return std::pair(part.first, std::string_view(part.second.text));
    });
    if (sum.constant != 0 || parts.empty()) {
      parts.insert(parts.begin(), {0, {std::to_string(sum.constant), atom}});
    }
    Expression whole = std::move(parts[0].second);
    for (std::size_t i = 1; i < parts.size(); ++i) {
      whole = {whole.text + " + " + parts[i].second.text, 1};
    }
    return whole;
  }

  static std::string wrapped(const Expression& side, bool wrap) {
    return wrap ? "(" + side.text + ")" : side.text;
  }

  // --- loops

  // A constant says its dtype where nothing else does: see `dtype_of_constants`.
  std::string operand(const Compute& compute, std::size_t i) const {
    const Ref ref = compute.operands[i];
    if (!exists(ref) || !std::holds_alternative<ConstantInstruction>(kernel_[ref].operation)) {
      return text(ref);
    }
    if (dtype_of_constants(kernel_, compute, i) == kernel_[ref].dtype) return text(ref);
    return std::string(name(kernel_[ref].dtype)) + " " + text(ref);
  }

  void loop(Ref ref, const Loop& loop) {
    const std::string from = loop.first == 0 ? "" : std::to_string(loop.first) + " <= ";
    std::string content = "for " + from + index_name(ref);
    if (!loop.condition())
      content += " < " + std::to_string(saturating_add(loop.first, loop.extent));
    if (loop.parallel) content += " parallel";
    if (loop.lanes == Loop::Lanes::marked) content += " lanes";
    if (loop.lanes == Loop::Lanes::unrolled) content += " lanes(unrolled)";
    if (loop.vector_width != 1) content += " vector(" + std::to_string(loop.vector_width) + ")";
    if (loop.unroll != 1) content += " unroll(" + std::to_string(loop.unroll) + ")";
    std::vector<Ref> so_far;
    for (const Reduction& reduction : loop.reductions) {
      so_far.insert(so_far.end(), reduction.so_far.begin(), reduction.so_far.end());
    }
    if (!so_far.empty()) content += " by" + definitions(so_far);
    line(content + " {");
    ++loops_;
    block(loop.body);
    ++depth_;
    for (const Reduction& reduction : loop.reductions) this->reduction(reduction);
    --depth_;
    --loops_;
    line("}");
  }

  // "max %4: f32 = %3 from -inf": %4 is what the values of %3 come to.
  void reduction(const Reduction& reduction) {
    std::string content(name(reduction.combine));
    const std::string values = list(reduction.values);
    const std::string initial = list(reduction.initial);
    content += definitions(reduction.results) + " =" + values + " from" + initial;
    line(content);
  }

  std::string index_name(Ref loop) {
    static constexpr std::string_view letters = "ijklmn";
    std::string text = "%";
    if (loops_ < letters.size())
      text += letters[loops_];
    else
      text += "i" + std::to_string(loops_);
    names_[loop.index].text = text;
    depths_[loop.index] = loops_;
    return text.substr(1);
  }

  // "%3: f32"
  std::string define(Ref ref) {
    if (!exists(ref)) return "%?";
    names_[ref.index] = {"%" + std::to_string(next_++), atom};
    return names_[ref.index].text + ": " + std::string(name(kernel_[ref].dtype));
  }

  std::string definitions(std::span<const Ref> refs) {
    std::string content;
    for (Ref ref : refs) content += (content.empty() ? " " : ", ") + define(ref);
    return content;
  }

  std::string list(std::span<const Ref> refs) const {
    std::string content;
    for (Ref ref : refs) content += (content.empty() ? " " : ", ") + text(ref);
    return content;
  }

  std::string text(Ref ref) const { return exists(ref) ? names_[ref.index].text : "%?"; }

  std::string element(std::uint32_t buffer, Index index) const {
    const bool known = buffer < kernel_.buffers.size();
    return (known ? kernel_.buffers[buffer].name : "?") + "[" + expression(index).text + "]";
  }

  const Kernel& kernel_;
  const bool comments_;
  std::vector<Expression> names_;
  std::vector<std::size_t> depths_;  // of loops
  std::string text_;
  std::size_t depth_ = 0;
  std::size_t loops_ = 0;
  int next_ = 0;
};

}  // namespace

std::string to_string(const Kernel& kernel, bool comments) {
  return KernelPrinter(kernel, comments).print();
}

}  // namespace anabranch
