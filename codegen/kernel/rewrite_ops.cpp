#include "codegen/kernel/rewrite_ops.h"

#include <utility>

#include "ir/literal.h"

namespace anabranch {

Ref ScalarWriter::number(Dtype dtype, double value) {
  return constant(dtype, Literal::scalar(dtype, value).bits(0));
}

Ref ScalarWriter::add(Operation operation, Dtype dtype) {
  kernel_.instructions.push_back({std::move(operation), dtype, location_});
  block_.push_back({static_cast<std::uint32_t>(kernel_.instructions.size() - 1)});
  return block_.back();
}

class OpRewriter {
 public:
  OpRewriter(Kernel& kernel, const OpRewrite& rewrite) : kernel_(kernel), rewrite_(rewrite) {}

  Block run(const Block& block) {
    ScalarWriter writer(kernel_);
    for (Ref ref : block) {
      writer.location_ = kernel_[ref].location;
      if (const auto* compute = std::get_if<Compute>(&kernel_[ref].operation)) {
        rewrite_.compute(writer, ref, Compute(*compute));
      } else if (std::holds_alternative<Loop>(kernel_[ref].operation)) {
        loop(writer, ref);
      } else if (std::holds_alternative<Result>(kernel_[ref].operation) && rewrite_.result) {
        rewrite_.result(writer, ref);
      }
      writer.block_.push_back(ref);
    }
    return std::move(writer.block_);
  }

 private:
  Loop& loop_of(Ref ref) { return std::get<Loop>(kernel_[ref].operation); }

  // Instructions may move as others are added.
  void loop(ScalarWriter& writer, Ref ref) {
    ScalarWriter inside(kernel_);
    inside.block_ = run(Block(loop_of(ref).body));
    if (rewrite_.loop) rewrite_.loop(writer, ref, inside);
    loop_of(ref).body = std::move(inside.block_);
  }

  Kernel& kernel_;
  const OpRewrite& rewrite_;
};

void rewrite_ops(Kernel& kernel, const OpRewrite& rewrite) {
  kernel.body = OpRewriter(kernel, rewrite).run(Block(kernel.body));
}

}  // namespace anabranch
