#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "anabranch/error.h"
#include "ir/text/parse.h"
#include "ir/text/read_fields.h"
#include "ir/text/read_index.h"

namespace anabranch {
namespace {

class KernelParser {
 public:
  explicit KernelParser(TextReader& reader) : reader_(reader) {}

  Kernel parse() {
    if (!reader_.accept_word("kernel")) reader_.fail_expected("'kernel'");
    kernel_.name = read_name(reader_, "a name");
    reader_.expect('(', "to open the buffers");
    if (!reader_.accept(')')) {
      do buffer();
      while (reader_.accept(','));
      reader_.expect(')', "to close the buffers");
    }
    if (reader_.accept_word("threads")) threads();
    if (reader_.at_identifier()) all_fields(kernel_.cost, "a kernel");
    reader_.expect('{', "to open the kernel");
    enter();
    while (!reader_.accept('}')) statement();
    kernel_.body = leave();
    for (const auto& [key, ref] : constants_) {
      kernel_.body.insert(kernel_.body.begin(), ref);
    }
    return std::move(kernel_);
  }

 private:
  struct Scope {
    Block block;
    std::unordered_map<std::string_view, Ref> names;
  };

  void enter() {
    if (scopes_.size() == most_nested) {
      reader_.fail("loops are nested more than " + std::to_string(most_nested) + " deep");
    }
    scopes_.emplace_back();
  }

  Block leave() {
    Block block = std::move(scopes_.back().block);
    scopes_.pop_back();
    return block;
  }

  Ref append(Operation operation, Dtype dtype) {
    kernel_.instructions.push_back({std::move(operation), dtype, {}});
    return {static_cast<std::uint32_t>(kernel_.instructions.size() - 1)};
  }

  Ref place(Operation operation, Dtype dtype) {
    const Ref made = append(std::move(operation), dtype);
    scopes_.back().block.push_back(made);
    return made;
  }

  void define(std::string_view name, Ref ref, std::size_t position) {
    if (!scopes_.back().names.emplace(name, ref).second) {
      reader_.fail_at(position, std::string(name) + " is defined already");
    }
  }

  bool is_loop(Ref ref) const { return std::holds_alternative<Loop>(kernel_[ref].operation); }

  // --- heads

  template <class Struct>
  void all_fields(Struct& into, const std::string& whose) {
    read_fields(
        reader_, whose, [&] { return reader_.at_identifier(); },
        [&](auto&& visit) { fields(into, visit); },
        [&](auto& field, std::string_view word) { read_field(reader_, field, word); });
  }

  void threads() {
    reader_.expect('(', "after threads");
    all_fields(kernel_.threads.emplace(), "threads");
    reader_.expect(')', "after what threads take");
  }

  void buffer() {
    KernelBuffer made;
    read_field(reader_, made.access, "a buffer's use");
    made.name = reader_.identifier("a buffer's name");
    reader_.expect(':', "and a type after " + made.name);
    made.dtype = dtype();
    reader_.expect('[', "and the size of " + made.name);
    made.size = reader_.integer("a size");
    reader_.expect(']', "after the size");
    kernel_.buffers.push_back(std::move(made));
  }

  Dtype dtype() {
    const std::size_t start = reader_.position();
    const std::string_view word = reader_.identifier("a dtype");
    if (const auto known = parse_dtype(word)) return *known;
    reader_.fail_at(start, "unknown dtype '" + std::string(word) + "'");
  }

  std::uint32_t buffer_at_hand() {
    const std::size_t start = reader_.position();
    const std::string_view word = reader_.identifier("a buffer");
    for (std::uint32_t i = 0; i < kernel_.buffers.size(); ++i) {
      if (kernel_.buffers[i].name == word) return i;
    }
    reader_.fail_at(start, "there is no buffer " + std::string(word));
  }

  // --- statements

  void statement() {
    if (reader_.accept_word("for")) return loop();
    if (reader_.accept_word("store")) return store();
    if (reader_.at('%')) return definition();
    reader_.fail_expected("a loop, a store, a definition such as '%2: f32 = ...', or '}'");
  }

  void definition() {
    const std::size_t start = reader_.position();
    const std::string_view name = reader_.value_name();
    reader_.expect(':', "and a dtype after " + std::string(name));
    const Dtype dtype = this->dtype();
    reader_.expect('=', "after the dtype");
    Ref made;
    if (reader_.accept_word("load")) {
      made = load(dtype);
    } else if (reader_.accept_word("index")) {
      made = place(IndexValue{expression()}, dtype);
    } else {
      made = compute(dtype);
    }
    define(name, made, start);
  }

  Ref load(Dtype dtype) {
    Load load;
    load.buffer = buffer_at_hand();
    load.index = element();
    if (reader_.accept_word("if")) load.mask = scalar(bool_);
    if (reader_.accept_word("prefetch")) load.prefetch = in_parentheses("a distance");
    return place(load, dtype);
  }

  void store() {
    Store store;
    store.buffer = buffer_at_hand();
    store.index = element();
    reader_.expect('=', "and a value");
    const Dtype dtype = kernel_.buffers[store.buffer].dtype;
    store.value = scalar(dtype);
    store.non_temporal = reader_.accept_word("non_temporal");
    place(store, dtype);
  }

  Ref compute(Dtype dtype) {
    const std::size_t start = reader_.position();
    const std::string_view word = reader_.identifier("an op, load or index");
    const std::optional<Op> op = parse_op(word);
    if (!op || !is_elementwise(*op)) {
      reader_.fail_at(start, "'" + std::string(word) + "' is no elementwise op");
    }
    Compute compute;
    compute.op = *op;
    struct Constant {
      std::size_t operand;
      TextReader at;
    };
    std::vector<Constant> constants;  // whose dtype the other operands say
    do {
      if (reader_.at('%')) {
        compute.operands.push_back(named());
      } else if (const auto tag = parse_dtype(reader_.peek_identifier())) {
        reader_.identifier("a dtype");
        compute.operands.push_back(constant(*tag));
      } else {
        constants.push_back({compute.operands.size(), reader_});
        compute.operands.emplace_back();
        pass_over_number();
      }
    } while (reader_.accept(','));
    if (compute.operands.size() != static_cast<std::size_t>(info(*op).arity)) {
      reader_.fail_at(start, std::string(word) + " takes " + std::to_string(info(*op).arity) +
                                 " operands, and " + std::to_string(compute.operands.size()) +
                                 " are given");
    }
    for (Constant& left : constants) {
      const auto known = dtype_of_constants(kernel_, compute, left.operand);
      if (!known) left.at.fail("a constant whose dtype is not known; write 'f32 1' or such");
      std::swap(reader_, left.at);
      compute.operands[left.operand] = constant(*known);
      std::swap(reader_, left.at);
    }
    if (*op == Op::compare) {
      if (!reader_.accept_word("direction")) reader_.fail_expected("direction=...");
      reader_.expect('=', "after direction");
      read_field(reader_, compute.direction, "direction");
    }
    return place(std::move(compute), dtype);
  }

  void pass_over_number() {
    if (!reader_.accept('(')) {
      reader_.number();
      return;
    }
    reader_.number();
    reader_.expect(',', "between the parts of a complex number");
    reader_.number();
    reader_.expect(')', "to close a complex number");
  }

  // --- loops

  void loop() {
    Loop made;
    const std::size_t start = reader_.position();
    if (!reader_.at_identifier()) {
      made.first = reader_.integer("where the loop begins");
      reader_.expect('<', "before the loop's index");
      reader_.expect('=', "after '<'");
    }
    const std::string_view index = reader_.identifier("a loop's index");
    made.extent = reader_.accept('<') ? extent_from(made.first) : Loop::no_bound;
    made.parallel = reader_.accept_word("parallel");
    if (reader_.accept_word("lanes")) made.lanes = lanes();
    if (reader_.accept_word("vector")) made.vector_width = in_parentheses<int>("a width");
    if (reader_.accept_word("unroll")) made.unroll = in_parentheses<int>("a number");
    const Ref ref = append(made, i64);
    enter();
    loops_.push_back({index, ref});
    const std::vector<Ref> arguments = this->arguments();
    std::span<const Ref> so_far = arguments;
    reader_.expect('{', "to open the loop");
    std::vector<Stated> results;
    while (!reader_.accept('}')) {
      if (std::ranges::find(words<Combine>, reader_.peek_identifier()) != words<Combine>.end()) {
        Combine combine{};
        read_field(reader_, combine, "a reduction");
        reduction(combine, made, results, so_far);
      } else if (made.reductions.empty()) {
        statement();
      } else {
        reader_.fail_expected("a reduction or '}'");
      }
    }
    if (!so_far.empty()) reader_.fail_expected("a carry for each argument of the loop");
    loops_.pop_back();
    made.body = leave();
    scopes_.back().block.push_back(ref);
    std::size_t next = 0;
    for (Reduction& reduction : made.reductions) {
      for (std::size_t i = 0; i < reduction.initial.size(); ++i, ++next) {
        const Ref result = place(Result{ref}, results[next].dtype);
        define(results[next].name, result, start);
        reduction.results.push_back(result);
      }
    }
    kernel_[ref].operation = std::move(made);
  }

  std::int64_t extent_from(std::int64_t first) {
    const std::size_t start = reader_.position();
    std::int64_t extent = 0;
    if (__builtin_sub_overflow(reader_.integer("where the loop ends"), first, &extent)) {
      reader_.fail_at(start, "the loop's extent leaves 64 bits");
    }
    return extent;
  }

  // " by %1: f32, %2: i64"
  std::vector<Ref> arguments() {
    std::vector<Ref> made;
    if (!reader_.accept_word("by")) return made;
    const std::size_t start = reader_.position();
    for (const Stated& argument : definitions()) {
      made.push_back(append(Argument{}, argument.dtype));
      define(argument.name, made.back(), start);
    }
    return made;
  }

  Loop::Lanes lanes() {
    if (!reader_.accept('(')) return Loop::Lanes::marked;
    if (!reader_.accept_word("unrolled")) reader_.fail_expected("'unrolled'");
    reader_.expect(')', "after unrolled");
    return Loop::Lanes::unrolled;
  }

  struct Stated {
    std::string_view name;
    Dtype dtype;
  };

  std::vector<Stated> definitions() {
    std::vector<Stated> all;
    do {
      const std::string_view name = reader_.value_name();
      reader_.expect(':', "and a dtype after " + std::string(name));
      all.push_back({name, dtype()});
    } while (reader_.accept(','));
    return all;
  }

  std::vector<Ref> scalars(const std::vector<Stated>& like) {
    std::vector<Ref> made;
    for (std::size_t i = 0; i < like.size(); ++i) {
      if (i > 0) reader_.expect(',', "and another scalar");
      made.push_back(scalar(like[i].dtype));
    }
    return made;
  }

  // "max %1: f32 = %0 from -inf"; a carry takes its arguments from `so_far`.
  void reduction(Combine combine, Loop& loop, std::vector<Stated>& results,
                 std::span<const Ref>& so_far) {
    Reduction made;
    made.combine = combine;
    const std::vector<Stated> stated = definitions();
    reader_.expect('=', "and what is folded");
    made.values = scalars(stated);
    if (!reader_.accept_word("from")) reader_.fail_expected("'from' and the initial values");
    made.initial = scalars(stated);
    results.insert(results.end(), stated.begin(), stated.end());
    if (runs_in_order(combine)) {
      if (so_far.size() < stated.size()) reader_.fail_expected("what the loop says after 'by'");
      made.so_far.assign(so_far.begin(), so_far.begin() + static_cast<long>(stated.size()));
      so_far = so_far.subspan(stated.size());
    }
    loop.reductions.push_back(std::move(made));
  }

  // --- scalars

  Ref named() {
    const std::size_t start = reader_.position();
    const std::string_view name = reader_.value_name();
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (auto known = scope->names.find(name); known != scope->names.end()) return known->second;
    }
    // A loop's index as a scalar stands where it is used.
    return place(IndexValue{index_of_loop(name, start)}, i64);
  }

  Index index_of_loop(std::string_view name, std::size_t position) {
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      if (loop->name == name.substr(1)) return kernel_.index_of(loop->ref);
    }
    reader_.fail_at(position, std::string(name) + " is not defined here");
  }

  Ref scalar(Dtype dtype) { return reader_.at('%') ? named() : constant(dtype); }

  Ref constant(Dtype dtype) {
    const Literal value = read_literal(reader_, Type{dtype, {}});
    const auto [known, is_new] = constants_.emplace(std::pair(dtype, value.bits(0)), Ref());
    if (is_new) known->second = append(ConstantInstruction{value.bits(0)}, dtype);
    return known->second;
  }

  template <class Number = std::int64_t>
  Number in_parentheses(std::string_view what) {
    reader_.expect('(', "before " + std::string(what));
    const std::size_t start = reader_.position();
    const std::int64_t number = reader_.integer(what);
    if (!std::in_range<Number>(number)) reader_.fail_at(start, "too large");
    reader_.expect(')', "after " + std::string(what));
    return static_cast<Number>(number);
  }

  // --- index expressions

  Index element() {
    reader_.expect('[', "and an index");
    const Index index = expression();
    reader_.expect(']', "after the index");
    return index;
  }

  Index expression() {
    return IndexReader(reader_, kernel_.indices, index_depth_, [this] { return atom(); }).read();
  }

  // A loop's index, or a scalar that a clamp holds in bounds, "%7", or "%7[%i * 4]" where it is
  // read from several places.
  Index atom() {
    const std::size_t start = reader_.position();
    const std::string_view name = reader_.value_name();
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto known = scope->names.find(name);
      if (known == scope->names.end()) continue;
      const Ref ref = known->second;
      const auto [low, high] = bounds_of(ref);
      if (low && high && *low <= *high) {
        const Index at = reader_.at('[') ? element() : kernel_.indices.constant(0);
        return kernel_.indices.scalar(ref.index, *low, *high, at);
      }
      reader_.fail_at(start, std::string(name) + " is no i64 that a clamp holds between constants");
    }
    return index_of_loop(name, start);
  }

  struct Bounds {
    std::optional<std::int64_t> low, high;
  };

  // Of a clamp, or of the minimum of a maximum that `decompose` makes of one.
  Bounds bounds_of(Ref ref) const {
    const auto* outer = std::get_if<Compute>(&kernel_[ref].operation);
    if (!outer || kernel_[ref].dtype != i64) return {};
    if (outer->op == Op::clamp) return {bound(outer->operands[0]), bound(outer->operands[2])};
    if (outer->op != Op::minimum) return {};
    const auto* inner = std::get_if<Compute>(&kernel_[outer->operands[0]].operation);
    if (!inner || inner->op != Op::maximum) return {};
    return {bound(inner->operands[1]), bound(outer->operands[1])};
  }

  std::optional<std::int64_t> bound(Ref ref) const {
    const auto* constant = std::get_if<ConstantInstruction>(&kernel_[ref].operation);
    if (!constant) return std::nullopt;
    return static_cast<std::int64_t>(constant->bits.low);
  }

  struct OpenLoop {
    std::string_view name;
    Ref ref;
  };

  TextReader& reader_;
  Kernel kernel_;
  std::vector<Scope> scopes_;
  std::vector<OpenLoop> loops_;
  std::map<std::pair<Dtype, ElementBits>, Ref> constants_;
  std::size_t index_depth_ = 0;
};

}  // namespace

Kernel read_kernel(TextReader& reader) {
  const std::size_t start = reader.position();
  Kernel kernel = KernelParser(reader).parse();
  try {
    verify(kernel);
  } catch (const InternalError& broken) {
    reader.fail_at(start, broken.what());
  }
  return kernel;
}

std::vector<Kernel> parse_kernels(std::string_view text) {
  TextReader reader(text);
  std::vector<Kernel> kernels;
  while (!reader.at_end()) kernels.push_back(read_kernel(reader));
  return kernels;
}

}  // namespace anabranch
