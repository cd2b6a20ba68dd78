// What decompose and legalise_dtypes make of every elementwise op on every dtype that it takes: the
// same bits, and nothing that emitters do not know.
#include "codegen/kernel/legalise_dtypes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "codegen/kernel/decompose.h"
#include "ir/graph/builder.h"
#include "ir/infer/infer.h"
#include "tests/support/check_lowering.h"
#include "tests/support/legal.h"
#include "tests/support/random_literal.h"

namespace anabranch::testing {
namespace {

constexpr std::int64_t size = 257;

/// One op on inputs of one dtype, giving `result`; nothing where it does not take them.
std::optional<Graph> graph_of(Op op, Dtype dtype, Dtype result) {
  try {
    GraphBuilder builder("one");
    std::vector<Value> operands;
    for (int i = 0; i < info(op).arity; ++i) {
      const bool chooses = op == Op::select && i == 0;
      operands.push_back(builder.parameter({chooses ? bool_ : dtype, {size}}));
    }
    std::optional<Type> stated;
    if (info(op).has(OpInfo::typed)) stated = Type{result, {size}};
    return builder.build({builder.add(op, operands, default_attributes(op), stated)});
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::byte> results(const Kernel& kernel) {
  Random random(3);
  std::vector<HostMemory> memory;
  for (const KernelBuffer& buffer : kernel.buffers) {
    memory.emplace_back(
        random_literal(random, {buffer.dtype, Shape{buffer.size}}, Flavour::special));
  }
  std::vector<HostMemory*> arguments;
  for (HostMemory& buffer : memory) arguments.push_back(&buffer);
  KernelRun(kernel, arguments).run();
  return memory.back().bytes;
}

// Which NaN a float op gives is not specified.
std::vector<std::byte> one_nan(Dtype dtype, std::vector<std::byte> bytes) {
  if (!is_float(dtype)) return bytes;
  visit_dtype(dtype, [&]<class T>() {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      T number;
      std::memcpy(&number, &bytes[at], sizeof(T));
      const auto wide = convert_scalar<double>(number);
      if (wide != wide) std::fill_n(&bytes[at], sizeof(T), std::byte{0xff});
    }
  });
  return bytes;
}

// Where the target adds halves, and where it does not.
constexpr Target targets[] = {{}, {.half_arithmetic = true}};

bool is_emittable(const Kernel& kernel, const Target& target) {
  return std::ranges::none_of(kernel.instructions, [&](const Instruction& instruction) {
    const auto* compute = std::get_if<Compute>(&instruction.operation);
    if (!compute) return false;
    const Dtype dtype = kernel[compute->operands.back()].dtype;
    const auto is_it = [&](const Decomposition& row) {
      return row.op == compute->op && row.applies(dtype);
    };
    return !is_legal(compute->op, dtype, target) || std::ranges::any_of(decompositions(), is_it);
  });
}

void expect_same_bits(const Kernel& kernel) {
  for (const Target& target : targets) {
    const Kernel made = legal(kernel, target);
    ASSERT_NO_THROW(verify(made));
    EXPECT_TRUE(is_emittable(made, target)) << to_string(made);
    const Dtype to = kernel.buffers.back().dtype;
    EXPECT_EQ(one_nan(to, results(made)), one_nan(to, results(kernel))) << to_string(made);
  }
}

TEST(LegaliseDtypes, KeepsTheBitsOfEveryOp) {
  int tried = 0;
  std::set<std::string_view> reached;
  for (const OpInfo& row : all_ops()) {
    const Op op = *parse_op(row.name);
    if (!is_elementwise(op) || op == Op::random_bits) continue;
    for (int d = 0; d < dtype_count; ++d) {
      for (int r = 0; r < dtype_count; ++r) {
        if (r != d && !row.has(OpInfo::typed)) continue;
        if (is_complex(static_cast<Dtype>(d)) || is_complex(static_cast<Dtype>(r))) continue;
        const auto graph = graph_of(op, static_cast<Dtype>(d), static_cast<Dtype>(r));
        if (!graph) continue;
        expect_same_bits(lower_region(*graph).calls.at(0).kernel);
        ++tried;
        for (const Decomposition& row : decompositions()) {
          if (row.op == op && row.applies(static_cast<Dtype>(d))) reached.insert(row.equation);
        }
      }
    }
  }
  EXPECT_GT(tried, 500);
  EXPECT_EQ(reached.size(), decompositions().size()) << "an equation is for what no op takes";
}

TEST(LegaliseDtypes, FoldsExtremaOfHalvesInSingles) {
  for (const char* dtype : {"f16", "bf16"}) {
    for (const char* op : {"reduce_max", "reduce_min", "argmax", "argmin", "reduce_sum"}) {
      const bool is_position = std::string_view(op).starts_with("arg");
      const std::string result = is_position ? "i32" : dtype;
      const std::string text = "graph f(%0: " + std::string(dtype) + "[33,65]) {\n  %1: " + result +
                               "[33] = " + op + " %0 " + (is_position ? "axis=1" : "axes=[1]") +
                               "\n  return %1\n}";
      expect_same_bits(lower_region(parse(text)).calls.at(0).kernel);
    }
  }
}

}  // namespace
}  // namespace anabranch::testing
