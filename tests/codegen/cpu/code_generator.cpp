// A code generator that has been used writes what a new one does, byte by byte: it keeps LLVM's
// passes from module to module.
#include <gtest/gtest.h>

#include "codegen/cpu/emit/kernel.h"
#include "codegen/cpu/jit.h"
#include "tests/codegen/cpu/kernel_sketch.h"

namespace anabranch::cpu {
namespace {

/// One function: out[i] = op(x[i], y[i], ...), or with `folds` the sum of these.
struct Sample {
  Op op;
  int operands = 1;
  Dtype dtype = f32;
  int width = 16;
  bool folds = false;
};

Kernel kernel_of(const Sample& sample) {
  constexpr std::int64_t count = 100;
  KernelSketch sketch("sample");
  std::vector<std::uint32_t> in;
  for (int k = 0; k < sample.operands; ++k) {
    in.push_back(sketch.buffer(Access::read, sample.dtype, count));
  }
  const auto out = sketch.buffer(Access::write, sample.dtype, count);
  const auto compute_at = [&](Index i) {
    std::vector<Ref> operands;
    for (std::uint32_t buffer : in) operands.push_back(sketch.load(buffer, i));
    return sketch.compute(sample.dtype, sample.op, operands);
  };
  const Index i = sketch.open(range(count, sample.folds ? 1 : sample.width, 2));
  if (sample.folds) {
    const Ref zero = sketch.constant(sample.dtype, 0);
    const Index k = sketch.open(rows(count, sample.width, 2));
    Reduction sum{Combine::sum, {zero}, {compute_at(k)}, {}, {}};
    sketch.store(out, i, sketch.close({std::move(sum)})[0]);
  } else {
    sketch.store(out, i, compute_at(i));
  }
  sketch.close();
  return legal(sketch.kernel());
}

class Written {
 public:
  Written(CodeGenerator& generator, const Sample& sample) : module_("sample", context_) {
    set_target(module_, generator.machine());
    emit_kernel(module_, kernel_of(sample), "sample");
  }
  llvm::Module& operator*() { return module_; }

 private:
  llvm::LLVMContext context_;
  llvm::Module module_;
};

std::string object(CodeGenerator& generator, const Sample& sample) {
  return generator.object(*Written(generator, sample));
}

std::string assembly(CodeGenerator& generator, const Sample& sample) {
  return generator.assembly(*Written(generator, sample));
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (Dtype dtype : {f32, f64}) {
    for (int width : {1, 8}) {
      for (bool folds : {false, true}) {
        for (Op op : {Op::exponential, Op::sine, Op::sqrt, Op::erf_inv, Op::floor}) {
          all.push_back({op, 1, dtype, width, folds});
        }
        for (Op op : {Op::add, Op::divide, Op::power, Op::remainder, Op::maximum}) {
          all.push_back({op, 2, dtype, width, folds});
        }
      }
    }
  }
  for (Op op : {Op::divide, Op::multiply, Op::minimum}) all.push_back({op, 2, i64, 8});
  return all;
}

TEST(CodeGenerator, WritesWhatANewOneDoes) {
  CodeGenerator used(host_cpu());
  for (const Sample& sample : samples()) {
    CodeGenerator unused(host_cpu());
    EXPECT_TRUE(object(used, sample) == object(unused, sample))
        << name(sample.op) << " " << name(sample.dtype) << " " << sample.width << sample.folds;
  }
}

TEST(CodeGenerator, WritesTheSameTwice) {
  CodeGenerator generator(host_cpu());
  for (const Sample& sample : samples()) {
    const std::string first = object(generator, sample);
    const std::string text = assembly(generator, sample);
    EXPECT_TRUE(object(generator, sample) == first) << name(sample.op);
    EXPECT_EQ(assembly(generator, sample), text);
  }
}

}  // namespace
}  // namespace anabranch::cpu
