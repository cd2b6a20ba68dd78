// Convolutions beside oneDNN called directly with its own threads, on the same row-major arrays: it
// reads them as they are where it has fast code for that, and else copies them to and from a layout
// of its own, as we have to. Forward, with bias and ReLU, and the two gradients.
//
// Floor: 2 operations per product over the peak of the cores' fused multiply-add units.
#include <anabranch/anabranch.h>

#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bench/compare.h"

namespace ab = anabranch;

namespace {

struct Case {
  std::string name;
  std::int64_t batch, inputs, size, outputs, window, stride = 1, groups = 1;
  std::string layout = "NHWC";

  std::int64_t padding() const { return window / 2; }
  std::int64_t result_size() const { return (size + 2 * padding() - window) / stride + 1; }
  double operations() const {
    return 2.0 * static_cast<double>(batch * result_size() * result_size() * outputs * inputs /
                                     groups * window * window);
  }
  std::vector<std::int64_t> image(std::int64_t channels, std::int64_t side) const {
    if (layout == "NCHW") return {batch, channels, side, side};
    return {batch, side, side, channels};
  }
};

ab::Array values(std::vector<std::int64_t> sizes) {
  const ab::Shape shape(sizes);
  return ab::reshape(ab::remainder(ab::arange(shape.size(), ab::f32), 17) * 0.125f - 1, shape);
}

ab::ConvOptions forward_of(const Case& c) {
  return {.strides = {c.stride, c.stride},
          .padding_low = {c.padding(), c.padding()},
          .padding_high = {c.padding(), c.padding()},
          .groups = c.groups,
          .lhs_layout = c.layout,
          .rhs_layout = "OIHW",
          .result_layout = c.layout};
}

// What the windows of a stride leave at the end.
std::int64_t rest(const Case& c) {
  return c.size + 2 * c.padding() - c.window - (c.result_size() - 1) * c.stride;
}

using namespace dnnl;

/// A primitive of oneDNN's with the copies that its layouts need.
class Direct {
 public:
  enum class What { forward, layer, data, filters };

  Direct(const Case& c, What what) {
    const memory::dims x = {c.batch, c.inputs, c.size, c.size};
    const memory::dims y = {c.batch, c.outputs, c.result_size(), c.result_size()};
    memory::dims w = {c.outputs, c.inputs / c.groups, c.window, c.window};
    if (c.groups > 1) {
      w[0] /= c.groups;
      w.insert(w.begin(), c.groups);
    }
    const auto image = c.layout == "NCHW" ? memory::format_tag::nchw : memory::format_tag::nhwc;
    const auto filters = c.groups > 1 ? memory::format_tag::goihw : memory::format_tag::oihw;
    x_ = desc(x, image), y_ = desc(y, image), w_ = desc(w, filters);
    for (const bool is_plain : {true, false}) {
      if (make(c, what, is_plain, desc(x, memory::format_tag::any),
               desc(y, memory::format_tag::any), desc(w, memory::format_tag::any))) {
        return;
      }
    }
  }

  void operator()() {
    for (auto& [copy, from, to] : before_) copy.execute(stream_, from, to);
    primitive_.execute(stream_, arguments_);
    for (auto& [copy, from, to] : after_) copy.execute(stream_, from, to);
    stream_.wait();
  }

 private:
  static memory::desc desc(const memory::dims& sizes, memory::format_tag tag) {
    return {sizes, memory::data_type::f32, tag};
  }

  bool make(const Case& c, What what, bool is_plain, const memory::desc& any_x,
            const memory::desc& any_y, const memory::desc& any_w) {
    const memory::dims strides = {c.stride, c.stride}, gaps = {0, 0};
    const memory::dims low = {c.padding(), c.padding()};
    const memory::dims high = {c.padding() - rest(c), c.padding() - rest(c)};
    const auto direct = algorithm::convolution_direct;
    const auto& x = is_plain ? x_ : any_x;
    const auto& y = is_plain ? y_ : any_y;
    const auto is_fast = [&](const auto& found) {
      const std::string_view name = found.impl_info_str();
      return !is_plain || !(name.starts_with("ref") || name.starts_with("gemm") ||
                            name.find(":gemm") != name.npos);
    };
    const convolution_forward::primitive_desc hint(
        {prop_kind::forward_training, direct, any_x, any_w, any_y, strides, gaps, low, high},
        engine_);
    try {
      if (what == What::forward || what == What::layer) {
        primitive_attr attributes;
        const memory::desc bias({c.outputs}, memory::data_type::f32, memory::format_tag::a);
        post_ops after;
        after.append_eltwise(1.0f, algorithm::eltwise_relu, 0.0f, 0.0f);
        if (what == What::layer) attributes.set_post_ops(after);
        const auto kind = prop_kind::forward_inference;
        const convolution_forward::desc description =
            what == What::layer
                ? convolution_forward::desc(kind, direct, x, any_w, bias, y, strides, gaps, low,
                                            high)
                : convolution_forward::desc(kind, direct, x, any_w, y, strides, gaps, low, high);
        const convolution_forward::primitive_desc found(description, attributes, engine_);
        if (!is_fast(found)) return false;
        primitive_ = convolution_forward(found);
        give(DNNL_ARG_SRC, x_, found.src_desc(), false);
        give(DNNL_ARG_WEIGHTS, w_, found.weights_desc(), false);
        if (what == What::layer) give(DNNL_ARG_BIAS, bias, bias, false);
        give(DNNL_ARG_DST, y_, found.dst_desc(), true);
      } else if (what == What::data) {
        const convolution_backward_data::primitive_desc found(
            {direct, x, any_w, y, strides, gaps, low, high}, engine_, hint);
        if (!is_fast(found)) return false;
        primitive_ = convolution_backward_data(found);
        give(DNNL_ARG_DIFF_DST, y_, found.diff_dst_desc(), false);
        give(DNNL_ARG_WEIGHTS, w_, found.weights_desc(), false);
        give(DNNL_ARG_DIFF_SRC, x_, found.diff_src_desc(), true);
      } else {
        const convolution_backward_weights::primitive_desc found(
            {direct, x, any_w, y, strides, gaps, low, high}, engine_, hint);
        if (!is_fast(found)) return false;
        primitive_ = convolution_backward_weights(found);
        give(DNNL_ARG_SRC, x_, found.src_desc(), false);
        give(DNNL_ARG_DIFF_DST, y_, found.diff_dst_desc(), false);
        give(DNNL_ARG_DIFF_WEIGHTS, w_, found.diff_weights_desc(), true);
      }
    } catch (const dnnl::error&) {
      return false;
    }
    return true;
  }

  void give(int argument, const memory::desc& plain, const memory::desc& liked, bool is_result) {
    const memory outside(plain, engine_);
    std::fill_n(static_cast<float*>(outside.get_data_handle()), plain.get_size() / 4, 0.5f);
    if (plain == liked) {
      arguments_.emplace(argument, outside);
      return;
    }
    const memory inside(liked, engine_);
    arguments_.emplace(argument, inside);
    if (is_result) {
      after_.push_back({reorder(inside, outside), inside, outside});
    } else {
      before_.push_back({reorder(outside, inside), outside, inside});
    }
  }

  struct Copy {
    reorder copy;
    memory from, to;
  };

  engine engine_{engine::kind::cpu, 0};
  stream stream_{engine_};
  memory::desc x_, y_, w_;
  primitive primitive_;
  std::unordered_map<int, memory> arguments_;
  std::vector<Copy> before_, after_;
};

using Run = std::function<void(benchmark::State&)>;

void pair(const Case& c, const std::string& what, const Run& ours, Direct::What direct) {
  const auto add = [&](const std::string& title, const Run& run) {
    benchmark::RegisterBenchmark(
        title.c_str(),
        [=](benchmark::State& state) {
          run(state);
          state.counters["GFLOP/s"] =
              benchmark::Counter(1e-9 * c.operations() * static_cast<double>(state.iterations()),
                                 benchmark::Counter::kIsRate);
        })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  };
  const std::string name = c.name + " " + c.layout + ", " + what;
  add(name + "/ours", ours);
  add(name + "/peer: oneDNN", [=](benchmark::State& state) {
    Direct run(c, direct);
    for (auto _ : state) run();
  });
}

template <class Function>
Run calls(Function function, std::function<std::vector<ab::Array>()> arguments) {
  return [=](benchmark::State& state) {
    auto fast = ab::jit(function);
    const std::vector<ab::Array> given = arguments();
    fast(given).wait();
    for (auto _ : state) fast(given).wait();
  };
}

void add(const Case& c) {
  using Arrays = std::vector<ab::Array>;
  const auto x = [=] { return values(c.image(c.inputs, c.size)); };
  const auto y = [=] { return values(c.image(c.outputs, c.result_size())); };
  const auto w = [=] { return values({c.outputs, c.inputs / c.groups, c.window, c.window}); };
  pair(c, "forward",
       calls([=](Arrays a) { return ab::conv(a[0], a[1], forward_of(c)); },
             [=] {
               return Arrays{x(), w()};
             }),
       Direct::What::forward);
  const std::vector<std::int64_t> along = c.layout == "NCHW"
                                              ? std::vector<std::int64_t>{c.outputs, 1, 1}
                                              : std::vector<std::int64_t>{c.outputs};
  pair(c, "relu(conv + bias)",
       calls([=](Arrays a) { return ab::relu(ab::conv(a[0], a[1], forward_of(c)) + a[2]); },
             [=] {
               return Arrays{x(), w(), values(along)};
             }),
       Direct::What::layer);
  const auto scaled = [=](ab::Array x, ab::Array w, ab::Array y) {
    return ab::sum(ab::conv(x, w, forward_of(c)) * y);
  };
  const auto all = [=] { return Arrays{x(), w(), y()}; };
  pair(c, "gradient of data",
       calls(
           [=](Arrays a) {
             return ab::grad([=](ab::Array x) { return scaled(x, a[1], a[2]); })(a[0]);
           },
           all),
       Direct::What::data);
  pair(c, "gradient of filters",
       calls(
           [=](Arrays a) {
             return ab::grad([=](ab::Array w) { return scaled(a[0], w, a[2]); })(a[1]);
           },
           all),
       Direct::What::filters);
}

// Ten convolutions, each of what the one before gave, in a loop and written out.
void add_loop() {
  const Case c{"ten 3x3, 32 to 32, 28^2", 4, 32, 28, 32, 3};
  const auto run = [=](bool in_loop) {
    return [=](benchmark::State& state) {
      auto fast = ab::jit([=](ab::Array x, ab::Array w) {
        const auto step = [&](ab::Array y) { return ab::tanh(ab::conv(y, w, forward_of(c))); };
        if (in_loop) {
          return ab::fori_loop(
              0, 10, [&](ab::Array, ab::Array y) { return step(y); }, x);
        }
        for (int i = 0; i < 10; ++i) x = step(x);
        return x;
      });
      const ab::Array x = values(c.image(32, 28)), w = values({32, 32, 3, 3});
      fast(x, w).wait();
      for (auto _ : state) fast(x, w).wait();
    };
  };
  const auto add = [](const std::string& title, const Run& function) {
    benchmark::RegisterBenchmark(title.c_str(), function)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  };
  add(c.name + "/ours", run(true));
  add(c.name + "/peer: the same written out", run(false));
}

}  // namespace

int main(int argc, char** argv) {
  for (const char* layout : {"NHWC", "NCHW"}) {
    add({"3x3, 64 to 64, 56^2", 8, 64, 56, 64, 3, 1, 1, layout});
    add({"1x1, 256 to 64, 56^2", 8, 256, 56, 64, 1, 1, 1, layout});
    add({"3x3, 512 to 512, 7^2", 8, 512, 7, 512, 3, 1, 1, layout});
    add({"3x3, 128 to 128, 28^2, stride 2", 8, 128, 28, 128, 3, 2, 1, layout});
    add({"7x7, 3 to 64, 224^2, stride 2", 2, 3, 224, 64, 7, 2, 1, layout});
    add({"3x3, 128 by itself, 28^2", 8, 128, 28, 128, 3, 1, 128, layout});
    add({"3x3, 64 of them to two each, 28^2", 8, 64, 28, 128, 3, 1, 64, layout});
    add({"3x3, 32 of four to four, 28^2", 8, 128, 28, 128, 3, 1, 32, layout});
    add({"3x3, 4 to 4, 56^2", 8, 4, 56, 4, 3, 1, 1, layout});
    add({"3x3, 64 to 64, 56^2, one image", 1, 64, 56, 64, 3, 1, 1, layout});
    add({"3x3, 1 to 1, 1024^2, one image", 1, 1, 1024, 1, 3, 1, 1, layout});
    add({"9x9, 1 to 1, 1024^2, one image", 1, 1, 1024, 1, 9, 1, 1, layout});
  }
  add_loop();
  return bench::run(argc, argv);
}
