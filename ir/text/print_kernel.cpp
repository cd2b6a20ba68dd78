#include <cstring>

#include "ir/kernel/kernel.h"
#include "ir/text/print.h"

namespace anabranch {
namespace {

constexpr std::string_view combine_names[] = {"sum", "product", "max",    "min",    "any",
                                              "all", "argmax",  "argmin", "general"};
constexpr std::string_view access_names[] = {"in", "out", "scratch"};

// Longer index expressions are named instead of written in place.
constexpr std::size_t longest_inline = 40;

struct Infix {
  Op op;
  std::string_view sign;
  int precedence;
};
constexpr Infix infixes[] = {{Op::add, " + ", 1},
                             {Op::subtract, " - ", 1},
                             {Op::multiply, " * ", 2},
                             {Op::divide, " / ", 2},
                             {Op::remainder, " % ", 2}};
constexpr int atom = 3;

struct Expression {
  std::string text = "%?";
  int precedence = atom;
};

// Prints broken kernels as well, since `verify` shows them: what is not defined is %?.
class KernelPrinter {
 public:
  explicit KernelPrinter(const Kernel& kernel)
      : kernel_(kernel), names_(kernel.instructions.size()), uses_(kernel.instructions.size()) {
    for (const Instruction& instruction : kernel.instructions) count_uses(instruction.operation);
  }

  std::string print() {
    text_ = "kernel " + kernel_.name + "(";
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const KernelBuffer& buffer = kernel_.buffers[i];
      if (i) text_ += ", ";
      text_ += std::string(access_names[static_cast<int>(buffer.access)]) + " " + buffer.name +
               ": " + std::string(name(buffer.dtype)) + "[" + std::to_string(buffer.size) + "]";
    }
    text_ += ") {";
    if (kernel_.cost != Cost{}) {
      text_ += "  # reads " + std::to_string(kernel_.cost.bytes_read) + " bytes, writes " +
               std::to_string(kernel_.cost.bytes_written) + ", " +
               std::to_string(kernel_.cost.operations) + " operations";
    }
    text_ += '\n';
    block(kernel_.body);
    return std::move(text_) + "}\n";
  }

 private:
  struct Uses {
    int as_index = 0;
    int otherwise = 0;
  };

  bool exists(Ref ref) const { return ref.index < kernel_.instructions.size(); }

  void use(Ref ref, int Uses::*kind) {
    if (exists(ref)) ++(uses_[ref.index].*kind);
  }

  void count_uses(const Operation& operation) {
    if (auto* compute = std::get_if<Compute>(&operation)) {
      for (Ref operand : compute->operands) use(operand, &Uses::as_index);
      if (!infix(*compute)) {
        for (Ref operand : compute->operands) use(operand, &Uses::otherwise);
      }
    } else if (auto* load = std::get_if<Load>(&operation)) {
      use(load->index, &Uses::as_index);
      use(load->mask, &Uses::otherwise);
    } else if (auto* store = std::get_if<Store>(&operation)) {
      use(store->index, &Uses::as_index);
      use(store->value, &Uses::otherwise);
    } else if (auto* loop = std::get_if<Loop>(&operation)) {
      for (const Reduction& reduction : loop->reductions) {
        for (Ref ref : reduction.initial) use(ref, &Uses::otherwise);
        for (Ref ref : reduction.values) use(ref, &Uses::otherwise);
        for (Ref ref : reduction.combined) use(ref, &Uses::otherwise);
      }
    }
  }

  const Infix* infix(const Compute& compute) const {
    if (compute.operands.size() != 2) return nullptr;
    for (Ref operand : compute.operands) {
      if (!exists(operand) || kernel_[operand].dtype != Dtype::i64) return nullptr;
    }
    for (const Infix& candidate : infixes) {
      if (candidate.op == compute.op) return &candidate;
    }
    return nullptr;
  }

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
      names_[ref.index].text = constant_text(kernel_[ref].dtype, constant->bits);
    } else if (auto* compute = std::get_if<Compute>(&operation)) {
      this->compute(ref, *compute);
    } else if (auto* load = std::get_if<Load>(&operation)) {
      const std::string mask = load->mask ? " if " + text(load->mask) : "";
      std::string ahead = load->prefetch ? " prefetch(" + std::to_string(load->prefetch) + ")" : "";
      line(define(ref) + " = load " + element(load->buffer, load->index) + mask + ahead);
    } else if (auto* store = std::get_if<Store>(&operation)) {
      line("store " + element(store->buffer, store->index) + " = " + text(store->value) +
           (store->non_temporal ? " non_temporal" : ""));
    } else if (auto* loop = std::get_if<Loop>(&operation)) {
      this->loop(*loop);
    }
  }

  void compute(Ref ref, const Compute& compute) {
    const Infix* sign = infix(compute);
    if (sign) {
      Expression expression = infix_text(*sign, compute);
      const Uses& uses = uses_[ref.index];
      if (uses.otherwise == 0 && uses.as_index == 1 && expression.text.size() <= longest_inline) {
        names_[ref.index] = std::move(expression);
        return;
      }
      return line(define(ref) + " = " + expression.text);
    }
    std::string content(name(compute.op));
    content += list(compute.operands);
    if (compute.op == Op::compare) content += " direction=" + std::string(name(compute.direction));
    // The name comes after the operands, which it must not stand among.
    const SourceLocation& location = kernel_[ref].location;
    line(define(ref) + " = " + content + (location ? "  # " + to_string(location) : ""));
  }

  Expression infix_text(const Infix& sign, const Compute& compute) const {
    const Expression& left = names_[compute.operands[0].index];
    const Expression& right = names_[compute.operands[1].index];
    auto wrapped = [](const Expression& side, bool wrap) {
      return wrap ? "(" + side.text + ")" : side.text;
    };
    // Only + associates freely: a - (b - c) and a * (b / c) keep their parentheses.
    const bool associates = sign.op == Op::add;
    return {wrapped(left, left.precedence < sign.precedence) + std::string(sign.sign) +
                wrapped(right, right.precedence < sign.precedence ||
                                   (right.precedence == sign.precedence && !associates)),
            sign.precedence};
  }

  void loop(const Loop& loop) {
    const std::string from = loop.first == 0 ? "" : std::to_string(loop.first) + " <= ";
    std::string content =
        "for " + from + index_name(loop.index) + " < " + std::to_string(loop.first + loop.extent);
    if (loop.parallel) content += " parallel";
    if (loop.vector_width != 1) content += " vector(" + std::to_string(loop.vector_width) + ")";
    if (loop.unroll != 1) content += " unroll(" + std::to_string(loop.unroll) + ")";
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
    std::string content(combine_names[static_cast<int>(reduction.combine)]);
    const std::string values = list(reduction.values);
    const std::string initial = list(reduction.initial);
    content += definitions(reduction.results) + " =" + values + " from" + initial;
    if (reduction.combine != Combine::general) return line(content);
    content += " by" + definitions(reduction.so_far);
    content += " with" + definitions(reduction.next);
    line(content + " {");
    block(reduction.body);
    ++depth_;
    line("give" + list(reduction.combined));
    --depth_;
    line("}");
  }

  std::string index_name(Ref index) {
    static constexpr std::string_view letters = "ijklmn";
    std::string text = "%";
    if (loops_ < letters.size())
      text += letters[loops_];
    else
      text += "i" + std::to_string(loops_);
    if (exists(index)) names_[index.index].text = text;
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

  std::string element(std::uint32_t buffer, Ref index) const {
    const bool known = buffer < kernel_.buffers.size();
    return (known ? kernel_.buffers[buffer].name : "?") + "[" + text(index) + "]";
  }

  static std::string constant_text(Dtype dtype, std::uint64_t bits) {
    std::vector<std::byte> bytes(byte_size(dtype));
    std::memcpy(bytes.data(), &bits, bytes.size());
    return element_to_string(Literal(Type{dtype, {}}, std::move(bytes)), 0);
  }

  const Kernel& kernel_;
  std::vector<Expression> names_;
  std::vector<Uses> uses_;
  std::string text_;
  std::size_t depth_ = 0;
  std::size_t loops_ = 0;
  int next_ = 0;
};

}  // namespace

std::string to_string(const Kernel& kernel) { return KernelPrinter(kernel).print(); }

}  // namespace anabranch
