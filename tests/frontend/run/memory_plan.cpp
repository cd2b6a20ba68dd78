// The arena against the bytes that are live at once, on programs such as people write.
#include <anabranch/anabranch.h>
#include <gtest/gtest.h>

#include <vector>

namespace ab = anabranch;

namespace {

struct Layer {
  ab::Array weights, bias;
};
struct Mlp {
  std::vector<Layer> layers;
};

Mlp mlp(const std::vector<std::int64_t>& widths) {
  Mlp made;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    made.layers.push_back(
        {ab::full({widths[i], widths[i + 1]}, 0.01f), ab::zeros({widths[i + 1]})});
  }
  return made;
}

ab::Array transposed(const ab::Array& x) { return ab::permute_dims(x, {1, 0}); }

// Squared error through tanh layers, the backward pass written by hand, then a step down.
Mlp train(const Mlp& p, const ab::Array& x, const ab::Array& wanted) {
  std::vector<ab::Array> values = {x};
  for (std::size_t i = 0; i < p.layers.size(); ++i) {
    ab::Array sum = ab::matmul(values.back(), p.layers[i].weights) + p.layers[i].bias;
    values.push_back(i + 1 < p.layers.size() ? ab::tanh(sum) : sum);
  }
  Mlp next = p;
  ab::Array slope = values.back() - wanted;
  for (std::size_t i = p.layers.size(); i-- > 0;) {
    const ab::Array& in = values[i];
    next.layers[i].weights = p.layers[i].weights - 0.1f * ab::matmul(transposed(in), slope);
    next.layers[i].bias = p.layers[i].bias - 0.1f * ab::sum(slope, {0});
    if (i > 0) slope = ab::matmul(slope, transposed(p.layers[i].weights)) * (1 - in * in);
  }
  return next;
}

struct Block {
  ab::Array query, key, value, out, wide, narrow;
};

ab::Array normalized(const ab::Array& x) {
  ab::Array centred = x - ab::mean(x, {-1}, true);
  return centred * ab::rsqrt(ab::mean(centred * centred, {-1}, true) + 1e-5f);
}

ab::Array attend(const Block& b, const ab::Array& x) {
  ab::Array y = normalized(x);
  ab::Array q = ab::matmul(y, b.query), k = ab::matmul(y, b.key), v = ab::matmul(y, b.value);
  ab::Array scores = ab::softmax(ab::matmul(q, transposed(k)) * 0.125f);
  ab::Array h = x + ab::matmul(ab::matmul(scores, v), b.out);
  return h + ab::matmul(ab::gelu(ab::matmul(normalized(h), b.wide)), b.narrow);
}

Block block(std::int64_t width) {
  const auto square = [&] { return ab::full({width, width}, 0.01f); };
  return {square(),
          square(),
          square(),
          square(),
          ab::full({width, 4 * width}, 0.01f),
          ab::full({4 * width, width}, 0.01f)};
}

ab::Options on_streams(int streams) {
  ab::Options options;
  options.streams = streams;
  options.use_all_streams = true;
  return options;
}

template <class Function, class... Args>
void expect_tight(Function function, int streams, const Args&... args) {
  auto call = ab::jit(function, on_streams(streams));
  const ab::ProgramMemory memory = call.memory(args...);
  ASSERT_GT(memory.lower_bound, 0u);
  EXPECT_LE(static_cast<double>(memory.temporaries), 1.02 * static_cast<double>(memory.lower_bound))
      << call.dump(ab::Stage::memory, args...);
}

TEST(MemoryOfPrograms, TrainingStepsTakeLittleMoreThanWhatIsLive) {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {64, 128, 96, 10}, {784, 256, 128, 10}, {32, 32, 32, 32}, {20, 50, 30, 40, 10, 5}};
  for (const auto& widths : shapes) {
    for (std::int64_t batch : {16, 96}) {
      for (int streams : {1, 4}) {
        expect_tight(train, streams, mlp(widths), ab::zeros({batch, widths.front()}),
                     ab::zeros({batch, widths.back()}));
      }
    }
  }
}

TEST(MemoryOfPrograms, TransformerBlocksTakeLittleMoreThanWhatIsLive) {
  for (std::int64_t width : {32, 64, 128}) {
    for (int streams : {1, 4}) expect_tight(attend, streams, block(width), ab::zeros({48, width}));
  }
}

TEST(MemoryOfPrograms, TheStageSaysWhatIsTakenAndWhatADonationSaves) {
  auto call = ab::jit(train, on_streams(1));
  const Mlp p = mlp({64, 128, 96, 10});
  const std::string text =
      call.dump(ab::Stage::memory, p, ab::zeros({16, 64}), ab::zeros({16, 10}));
  EXPECT_NE(text.find("temporaries live at once: "), std::string::npos) << text;
  EXPECT_NE(text.find("lies where input 0 was, if that is donated\n"), std::string::npos) << text;
}

}  // namespace
