// Dot beside oneDNN called directly with its own threads: squares in f32 and bf16, batches of small
// products, and a dense layer beside dot, bias and activation written with oneDNN's post-ops.
// Products that loops of ours compute stand beside the same with `prefer_libraries`; f64, which
// oneDNN has not, stands alone.
//
// Floor: 2 * 1024^3 operations over the peak of the cores' fused multiply-add units.
#include <anabranch/anabranch.h>

#include <cstring>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "bench/compare.h"

namespace ab = anabranch;

namespace {

std::vector<float> values(std::int64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(i % 17) * 0.125f - 1;
  return out;
}

void rate(benchmark::State& state, std::int64_t n, std::int64_t count = 1) {
  state.counters["GFLOP/s"] = benchmark::Counter(
      2e-9 * static_cast<double>(count * n * n * n) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}

// oneDNN's matmul on plain row-major matrices, optionally with bias and ReLU.
class Direct {
 public:
  Direct(std::int64_t n, bool layer)
      : n_(n), a_(values(n * n)), b_(values(n * n)), c_(values(n * n)), bias_(values(n)) {
    using namespace dnnl;
    memory::desc matrix({n, n}, memory::data_type::f32, memory::format_tag::ab);
    memory::desc bias({1, n}, memory::data_type::f32, memory::format_tag::ab);
    primitive_attr attributes;
    if (layer) {
      post_ops after;
      after.append_eltwise(1.0f, algorithm::eltwise_relu, 0.0f, 0.0f);
      attributes.set_post_ops(after);
    }
    matmul::desc description =
        layer ? matmul::desc(matrix, matrix, bias, matrix) : matmul::desc(matrix, matrix, matrix);
    primitive_ = matmul(matmul::primitive_desc(description, attributes, engine_));
    arguments_ = {{DNNL_ARG_SRC, memory(matrix, engine_, a_.data())},
                  {DNNL_ARG_WEIGHTS, memory(matrix, engine_, b_.data())},
                  {DNNL_ARG_DST, memory(matrix, engine_, c_.data())}};
    if (layer) arguments_.emplace(DNNL_ARG_BIAS, memory(bias, engine_, bias_.data()));
  }

  void operator()() {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  std::int64_t n_;
  std::vector<float> a_, b_, c_, bias_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::primitive primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

void dot_direct(benchmark::State& state) {
  Direct direct(state.range(0), false);
  for (auto _ : state) direct();
  rate(state, state.range(0));
}

void dot_ours(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  auto product = ab::jit([](ab::Array a, ab::Array b) { return ab::matmul(a, b); });
  ab::Array a = ab::array(values(n * n), {n, n}), b = ab::array(values(n * n), {n, n});
  product(a, b).wait();
  for (auto _ : state) product(a, b).wait();
  rate(state, n);
}

// `count` products of [n, n] by [n, n] in `type`, each beside the next.
void batch_direct(benchmark::State& state, std::int64_t count, dnnl::memory::data_type type) {
  using namespace dnnl;
  const std::int64_t n = state.range(0);
  const memory::desc matrices({count, n, n}, type, memory::format_tag::abc);
  const engine engine(engine::kind::cpu, 0);
  stream stream(engine);
  std::vector<memory> all;
  for (int i = 0; i < 3; ++i) {
    all.emplace_back(matrices, engine);
    std::memset(all.back().get_data_handle(), 0, matrices.get_size());
  }
  const matmul product(matmul::primitive_desc(matmul::desc(matrices, matrices, matrices), engine));
  for (auto _ : state) {
    product.execute(stream,
                    {{DNNL_ARG_SRC, all[0]}, {DNNL_ARG_WEIGHTS, all[1]}, {DNNL_ARG_DST, all[2]}});
    stream.wait();
  }
  rate(state, n, count);
}

void batch_ours(benchmark::State& state, std::int64_t count, ab::Dtype dtype) {
  const std::int64_t n = state.range(0);
  auto product = ab::jit([](ab::Array a, ab::Array b) { return ab::matmul(a, b); });
  ab::Array a = ab::zeros({count, n, n}, dtype), b = ab::zeros({count, n, n}, dtype);
  product(a, b).wait();
  for (auto _ : state) product(a, b).wait();
  rate(state, n, count);
}

// An [m, k] matrix times a [k, n] one, by loops of ours where those are chosen, or by the library.
void chosen(benchmark::State& state, std::int64_t m, std::int64_t k, std::int64_t n,
            ab::Dtype dtype, bool by_library) {
  ab::Options options = ab::default_options();
  options.prefer_libraries = by_library;
  auto product = ab::jit([](ab::Array a, ab::Array b) { return ab::matmul(a, b); }, options);
  ab::Array a = ab::ones({m, k}, dtype), b = ab::ones({k, n}, dtype);
  product(a, b).wait();
  for (auto _ : state) product(a, b).wait();
}

void layer_direct(benchmark::State& state) {
  Direct direct(state.range(0), true);
  for (auto _ : state) direct();
  rate(state, state.range(0));
}

void layer_ours(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  auto layer = ab::jit(
      [](ab::Array a, ab::Array b, ab::Array bias) { return ab::relu(ab::matmul(a, b) + bias); });
  ab::Array a = ab::array(values(n * n), {n, n}), b = ab::array(values(n * n), {n, n});
  ab::Array bias = ab::array(values(n), {n});
  layer(a, b, bias).wait();
  for (auto _ : state) layer(a, b, bias).wait();
  rate(state, n);
}

using Run = std::function<void(benchmark::State&)>;

void add(const std::string& title, const Run& run, std::int64_t n) {
  benchmark::RegisterBenchmark(title.c_str(), run)
      ->Args({n})
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

void pair(const std::string& name, const Run& ours, const Run& direct, std::int64_t n) {
  const std::string what = name + " " + std::to_string(n);
  add(what + "/ours", ours, n);
  add(what + "/peer: oneDNN", direct, n);
}

void batch(const std::string& name, std::int64_t count, ab::Dtype dtype,
           dnnl::memory::data_type type, std::int64_t n) {
  pair(
      name, [=](benchmark::State& state) { batch_ours(state, count, dtype); },
      [=](benchmark::State& state) { batch_direct(state, count, type); }, n);
}

void choice(std::int64_t m, std::int64_t k, std::int64_t n, ab::Dtype dtype = ab::f32) {
  const bool is_f64 = dtype == ab::f64;
  const std::string name = std::string(is_f64 ? "f64 [" : "[") + std::to_string(m) + "," +
                           std::to_string(k) + "] times [.," + std::to_string(n) + "]";
  const std::string library = is_f64 ? "OpenBLAS" : "oneDNN";
  for (bool by_library : {false, true}) {
    const Run run = [=](benchmark::State& state) { chosen(state, m, k, n, dtype, by_library); };
    add(name + (by_library ? "/peer: " + library + ", as we call it" : "/ours"), run, 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using Type = dnnl::memory::data_type;
  for (std::int64_t n : {64, 128, 256, 512, 1024, 2048}) pair("dot", dot_ours, dot_direct, n);
  pair("relu(x*w+b)", layer_ours, layer_direct, 1024);
  batch("64 dots of", 64, ab::f32, Type::f32, 64);
  batch("10,000 dots of", 10'000, ab::f32, Type::f32, 16);
  batch("1,000 dots of", 1'000, ab::f32, Type::f32, 4);
  choice(4096, 4096, 1);
  choice(1, 4096, 4096);
  choice(8, 30'000, 2'000);
  choice(16, 16, 16);
  batch("bf16 dot", 1, ab::bf16, Type::bf16, 1024);
  choice(4096, 4096, 1, ab::f64);
  choice(1, 4096, 4096, ab::f64);
  choice(8, 4096, 4096, ab::f64);
  for (std::int64_t n : {256, 512, 1024}) {
    const Run run = [](benchmark::State& state) { batch_ours(state, 1, ab::f64); };
    add("f64 dot " + std::to_string(n) + "/ours", run, n);
  }
  return bench::run(argc, argv);
}
