#include <unordered_set>

#include "anabranch/error.h"
#include "ir/infer/infer.h"
#include "ir/kernel/kernel.h"

namespace anabranch {
namespace {

class KernelVerifier {
 public:
  explicit KernelVerifier(const Kernel& kernel)
      : kernel_(kernel),
        defined_(kernel.instructions.size()),
        visible_(kernel.instructions.size()),
        open_(kernel.instructions.size()) {}

  void run() {
    buffers();
    enter(kernel_.body, Outside{});
    leave(kernel_.body);
    const Loop* parallel = kernel_.parallel_loop();
    if (kernel_.threads) threads(*kernel_.threads, parallel);
    if (!parallel) return;
    if (!parallel->reductions.empty()) fail("the parallel loop reduces, across what threads share");
    // Every thread that runs a part of the parallel loop would repeat what stands beside it.
    for (Ref ref : kernel_.body) {
      const Operation& operation = kernel_[ref].operation;
      const auto* loop = std::get_if<Loop>(&operation);
      if (std::holds_alternative<Store>(operation) || (loop && !loop->parallel)) {
        fail("a loop or a store stands beside the parallel loop");
      }
    }
  }

 private:
  // What the loops around a block forbid inside it.
  struct Outside {
    bool loop = false;
    bool vector = false;
    bool parallel_lanes = false;
  };

  void threads(const ThreadMap& map, const Loop* parallel) const {
    const auto is_count = [](std::int64_t n) { return n >= 1 && n <= ThreadMap::most_threads; };
    if (!is_count(map.groups) || !is_count(map.members) || !is_count(map.threads())) {
      fail("a block has from 1 to " + std::to_string(ThreadMap::most_threads) + " threads");
    }
    if (map.block_threads != 0 && !is_count(map.block_threads)) {
      fail("the block that it is for has no such number of threads");
    }
    if (map.tile_rows == 0 && map.tile_columns == 0) return;
    const Loop* rows = parallel ? only_loop(parallel->body) : nullptr;
    const Loop* columns = rows ? only_loop(rows->body) : nullptr;
    if (!columns) fail("tiles are of two loops inside the parallel one");
    const auto tiles = [](const Loop& loop) {
      return loop.extent / ThreadMap::tile_size + (loop.extent % ThreadMap::tile_size != 0);
    };
    if (map.tile_rows != tiles(*rows) || map.tile_columns != tiles(*columns)) {
      fail("the loops have other numbers of tiles than its threads");
    }
  }

  // Null where a block holds none, or several.
  const Loop* only_loop(const Block& block) const {
    const Loop* only = nullptr;
    for (Ref ref : block) {
      const auto* loop = std::get_if<Loop>(&kernel_[ref].operation);
      if (loop && only) return nullptr;
      if (loop) only = loop;
    }
    return only;
  }

  void buffers() const {
    std::unordered_set<std::string_view> names;
    bool scratch = false;
    for (const KernelBuffer& buffer : kernel_.buffers) {
      if (!names.insert(buffer.name).second) fail("two buffers are called " + buffer.name);
      if (buffer.size < 0) fail("buffer " + buffer.name + " has a negative size");
      if (scratch && buffer.access != Access::scratch) {
        fail("argument " + buffer.name + " comes after scratch");
      }
      scratch = buffer.access == Access::scratch;
    }
  }

  // Everything that `block` defines stays visible until it is left.
  void enter(const Block& block, Outside outside) {
    for (Ref ref : block) {
      define(ref);
      instruction(ref, outside);
      visible_[ref.index] = true;
    }
  }

  void leave(const Block& block) {
    for (Ref ref : block) visible_[ref.index] = false;
  }

  void define(Ref ref) {
    if (!exists(ref)) fail("a block holds an instruction that does not exist");
    if (defined_[ref.index]) fail(label(ref) + " is defined twice");
    defined_[ref.index] = true;
  }

  void instruction(Ref ref, Outside outside) {
    const Operation& operation = kernel_[ref].operation;
    if (auto* constant = std::get_if<ConstantInstruction>(&operation)) {
      if (!constant->bits.fit(8 * byte_size(kernel_[ref].dtype))) {
        fail(label(ref) + " has more bits than its dtype");
      }
    } else if (auto* compute = std::get_if<Compute>(&operation)) {
      this->compute(ref, *compute);
    } else if (auto* load = std::get_if<Load>(&operation)) {
      this->load(ref, *load);
      own_scratch(load->buffer, outside);
    } else if (auto* store = std::get_if<Store>(&operation)) {
      this->store(*store);
      own_scratch(store->buffer, outside);
    } else if (auto* loop = std::get_if<Loop>(&operation)) {
      this->loop(ref, *loop, outside);
    } else if (auto* result = std::get_if<Result>(&operation)) {
      this->result(ref, *result);
    } else if (auto* position = std::get_if<IndexValue>(&operation)) {
      if (kernel_[ref].dtype != Dtype::i64)
        fail(label(ref) + " is the value of an index, and no i64");
      place(position->index, label(ref));
    } else {
      fail(label(ref) + " is an argument, which no block holds");
    }
  }

  void compute(Ref ref, const Compute& compute) const {
    if (!is_elementwise(compute.op)) {
      fail(label(ref) + " computes " + std::string(name(compute.op)) +
           ", which is not elementwise");
    }
    std::vector<Type> operands;
    for (Ref operand : compute.operands) {
      operands.push_back(Type{use(operand, "an operand of " + label(ref)), {}});
    }
    const Type stated{kernel_[ref].dtype, {}};
    Attributes attributes = default_attributes(compute.op);
    std::vector<Type> types;
    try {
      const bool typed = info(compute.op).has(OpInfo::typed);
      types = infer(compute.op, operands, attributes,
                    typed ? std::optional<Type>(stated) : std::nullopt, {}, kernel_[ref].location);
    } catch (const Error& error) {
      fail(label(ref) + " is refused: " + error.what());
    }
    if (types[0] != stated) {
      fail(label(ref) + " states " + std::string(name(stated.dtype)) + ", and " +
           std::string(name(compute.op)) + " gives " + std::string(name(types[0].dtype)));
    }
  }

  void load(Ref ref, const Load& load) const {
    const KernelBuffer& from = buffer(load.buffer);
    place(load.index, "the index of a load of " + from.name);
    if (load.mask) want(load.mask, Dtype::bool_, "the mask of a load of " + from.name);
    if (kernel_[ref].dtype != from.dtype) {
      fail(label(ref) + " is not of the dtype of " + from.name + ", which it loads");
    }
  }

  void store(const Store& store) const {
    const KernelBuffer& to = buffer(store.buffer);
    if (to.access == Access::read) fail("a store to " + to.name + ", which is only read");
    place(store.index, "the index of a store to " + to.name);
    want(store.value, to.dtype, "the value of a store to " + to.name);
  }

  // Loops that are around it, and scalars that are in scope.
  void place(Index index, const std::string& what) const {
    if (!kernel_.indices.contains(index)) fail(what + " does not exist");
    kernel_.indices.for_each_leaf(index, [&](const IndexTable::Atom& atom) {
      const Ref ref{atom.loop};
      if (atom.kind == IndexTable::Atom::Kind::scalar) return want(ref, Dtype::i64, what);
      if (!exists(ref) || !open_[ref.index])
        fail(what + " is that of a loop which is not around it");
      const auto& loop = std::get<Loop>(kernel_[ref].operation);
      if (loop.condition()) fail(what + " takes the index of a loop that has no bound");
      if (atom.low != loop.first || atom.high != loop.first + loop.extent - 1) {
        fail(what + " takes a loop to have other iterations");
      }
    });
  }

  void own_scratch(std::uint32_t index, Outside outside) const {
    const KernelBuffer& touched = buffer(index);
    if (touched.access != Access::scratch || !outside.parallel_lanes) return;
    fail(touched.name + " is used in a parallel vector loop, whose lanes would share it");
  }

  void loop(Ref ref, const Loop& loop, Outside outside) {
    if (loop.extent < 0) fail("a loop has a negative extent");
    if (loop.vector_width < 1 || loop.unroll < 1) fail("a loop is less than 1 wide or unrolled");
    if (loop.parallel && outside.loop) fail("a parallel loop stands inside another loop");
    if (loop.parallel && loop.first != parallel_end_) {
      fail("two loops are parallel, and the second does not begin where the first ends");
    }
    if (loop.parallel) parallel_end_ += loop.extent;
    if (loop.first < 0) fail("a loop begins below 0");
    condition(loop);
    if (loop.vector_width > 1 && outside.vector) fail("a vector loop stands inside another");
    for (const Reduction& reduction : loop.reductions) form(reduction);
    outside.loop = true;
    outside.vector |= loop.vector_width > 1;
    outside.parallel_lanes |= loop.parallel && loop.vector_width > 1;
    open_[ref.index] = true;
    for (const Reduction& reduction : loop.reductions) arguments(reduction);
    enter(loop.body, outside);
    for (const Reduction& reduction : loop.reductions) {
      for (std::size_t i = 0; i < reduction.values.size(); ++i) {
        want(reduction.values[i], kernel_[reduction.results[i]].dtype, "a value that a loop folds");
      }
    }
    leave(loop.body);
    for (const Reduction& reduction : loop.reductions) leave(reduction.so_far);
    open_[ref.index] = false;
  }

  void condition(const Loop& loop) const {
    const Reduction* condition = loop.condition();
    if ((condition != nullptr) != (loop.extent == Loop::no_bound)) {
      fail("a loop has a condition and a bound, or neither");
    }
    if (!condition) return;
    if (loop.parallel || loop.vector_width > 1) fail("a loop with a condition is parallel");
    for (const Reduction& reduction : loop.reductions) {
      if (!runs_in_order(reduction.combine)) fail("a loop with a condition reduces");
      if (reduction.combine == Combine::while_ && &reduction != condition) {
        fail("a loop has two conditions");
      }
    }
  }

  // Counts and dtypes, and that the initial values are known before the loop.
  void form(const Reduction& reduction) const {
    const Combine combine = reduction.combine;
    const bool pair = combine == Combine::argmax || combine == Combine::argmin;
    const std::size_t count = combine == Combine::carry ? reduction.results.size() : pair ? 2 : 1;
    if (count == 0 || reduction.initial.size() != count || reduction.values.size() != count ||
        reduction.results.size() != count) {
      fail("a reduction has the wrong number of initial values, values or results");
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Ref result = reduction.results[i];
      if (!exists(result) || !std::holds_alternative<Result>(kernel_[result].operation)) {
        fail("a reduction's result is no Result");
      }
      want(reduction.initial[i], kernel_[result].dtype, "the initial value of a reduction");
    }
    const Dtype dtype = kernel_[reduction.results[0]].dtype;
    const bool logical =
        combine == Combine::any || combine == Combine::all || combine == Combine::while_;
    const bool arithmetic = combine == Combine::sum || combine == Combine::product;
    if ((logical && dtype != Dtype::bool_) || (arithmetic && dtype == Dtype::bool_)) {
      fail("a reduction does not take " + std::string(name(dtype)));
    }
    if (pair && !is_integer(kernel_[reduction.results[1]].dtype)) {
      fail("a position is no integer");
    }
  }

  void arguments(const Reduction& reduction) {
    const bool carries = runs_in_order(reduction.combine);
    if (reduction.so_far.size() != (carries ? reduction.results.size() : 0)) {
      fail("a reduction has the wrong number of arguments");
    }
    for (std::size_t i = 0; i < reduction.so_far.size(); ++i) {
      introduce(reduction.so_far[i], kernel_[reduction.results[i]].dtype,
                "an argument of a reduction");
    }
  }

  void result(Ref ref, const Result& result) const {
    if (!exists(result.loop) || !visible_[result.loop.index]) {
      fail(label(ref) + " is a result that does not follow its loop");
    }
    if (auto* loop = std::get_if<Loop>(&kernel_[result.loop].operation)) {
      for (const Reduction& reduction : loop->reductions) {
        for (Ref known : reduction.results) {
          if (known == ref) return;
        }
      }
    }
    fail(label(ref) + " is a result that its loop does not have");
  }

  // Defines what belongs to a reduction instead of to a block.
  void introduce(Ref ref, Dtype dtype, std::string_view what) {
    define(ref);
    if (!std::holds_alternative<Argument>(kernel_[ref].operation) || kernel_[ref].dtype != dtype) {
      fail(std::string(what) + " is something else, or not " + std::string(name(dtype)));
    }
    visible_[ref.index] = true;
  }

  // The dtype of a scalar that must be in scope.
  Dtype use(Ref ref, const std::string& what) const {
    if (!exists(ref) || !visible_[ref.index]) fail(what + " is not in scope");
    const Operation& operation = kernel_[ref].operation;
    if (std::holds_alternative<Loop>(operation) || std::holds_alternative<Store>(operation)) {
      fail(what + " is a loop or a store, which have no value");
    }
    return kernel_[ref].dtype;
  }

  void want(Ref ref, Dtype dtype, const std::string& what) const {
    const Dtype found = use(ref, what);
    if (found != dtype) {
      fail(what + " is " + std::string(name(found)) + " instead of " + std::string(name(dtype)));
    }
  }

  const KernelBuffer& buffer(std::uint32_t index) const {
    if (index >= kernel_.buffers.size())
      fail("buffer " + std::to_string(index) + " does not exist");
    return kernel_.buffers[index];
  }

  bool exists(Ref ref) const { return ref.index < kernel_.instructions.size(); }

  // By position: the text's numbers follow the order of printing.
  std::string label(Ref ref) const { return "instruction " + std::to_string(ref.index); }

  [[noreturn]] void fail(const std::string& what) const {
    throw InternalError("verify", "kernel " + kernel_.name + ": " + what, to_string(kernel_));
  }

  const Kernel& kernel_;
  std::vector<bool> defined_;
  std::vector<bool> visible_;
  std::vector<bool> open_;         // loops around what is at hand
  std::int64_t parallel_end_ = 0;  // of the pieces of the parallel loop so far
};

}  // namespace

void verify(const Kernel& kernel) { KernelVerifier(kernel).run(); }

}  // namespace anabranch
