// Dot beside oneDNN called directly with its own threads, and a dense layer beside dot, bias and
// activation written with oneDNN's post-ops.
//
// Floor: 2 * 1024^3 operations over the peak of the cores' fused multiply-add units.
#include <vector>

#include <anabranch/anabranch.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "bench/compare.h"

namespace ab = anabranch;

namespace {

std::vector<float> values(std::int64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(i % 17) * 0.125f - 1;
  return out;
}

void rate(benchmark::State& state, std::int64_t n) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(n * n * n) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

// oneDNN's matmul on plain row-major matrices, optionally with bias and ReLU.
class Direct {
 public:
  Direct(std::int64_t n, bool layer) : n_(n), a_(values(n * n)), b_(values(n * n)), c_(values(n * n)), bias_(values(n)) {
    using namespace dnnl;
    memory::desc matrix({n, n}, memory::data_type::f32, memory::format_tag::ab);
    memory::desc bias({1, n}, memory::data_type::f32, memory::format_tag::ab);
    primitive_attr attributes;
    if (layer) {
      post_ops after;
      after.append_eltwise(1.0f, algorithm::eltwise_relu, 0.0f, 0.0f);
      attributes.set_post_ops(after);
    }
    matmul::desc description = layer ? matmul::desc(matrix, matrix, bias, matrix)
                                     : matmul::desc(matrix, matrix, matrix);
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

void layer_direct(benchmark::State& state) {
  Direct direct(state.range(0), true);
  for (auto _ : state) direct();
  rate(state, state.range(0));
}

void layer_ours(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  auto layer = ab::jit([](ab::Array a, ab::Array b, ab::Array bias) { return ab::relu(ab::matmul(a, b) + bias); });
  ab::Array a = ab::array(values(n * n), {n, n}), b = ab::array(values(n * n), {n, n});
  ab::Array bias = ab::array(values(n), {n});
  layer(a, b, bias).wait();
  for (auto _ : state) layer(a, b, bias).wait();
  rate(state, n);
}

void pair(const char* name, void (*ours)(benchmark::State&), void (*direct)(benchmark::State&), std::int64_t n) {
  const std::string what = std::string(name) + " " + std::to_string(n);
  const std::pair<std::string, void (*)(benchmark::State&)> both[] = {{what + "/ours", ours},
                                                                      {what + "/peer: oneDNN", direct}};
  for (const auto& [title, run] : both) {
    benchmark::RegisterBenchmark(title.c_str(), [run = run](benchmark::State& state) { run(state); })
        ->Args({n})
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (std::int64_t n : {256, 512, 1024, 2048}) pair("dot", dot_ours, dot_direct, n);
  pair("relu(x*w+b)", layer_ours, layer_direct, 1024);
  return bench::run(argc, argv);
}
