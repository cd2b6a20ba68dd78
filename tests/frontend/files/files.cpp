// Trees in .npz and safetensors files: what is saved comes back, by the names of its paths; and
// what does not fit is named.
#include <functional>

#include "frontend/files/npz.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/values.h"

namespace {

using ab::Array;

struct Layer {
  Array weight, bias;
};
struct Model {
  int width;
  std::vector<Layer> layers;
  std::map<std::string, Array> named;
  std::tuple<Array, std::optional<Array>> pair;
};

Model model_of(ab::Dtype dtype) {
  const auto part = [&](std::int64_t size, std::int64_t from) {
    return (ab::arange(size) + from).astype(dtype);
  };
  return {7,
          {{ab::reshape(part(6, 0), {2, 3}), part(3, 6)}, {part(0, 0), part(1, 9)}},
          {{"a", part(2, 10)}},
          {ab::reshape(part(1, 12), {}), part(2, 13)}};
}

struct Format {
  const char* name;
  void (*save)(const std::string&, const Model&, std::source_location);
  Model (*load)(const std::string&, const Model&, std::source_location);
  std::map<std::string, Array> (*load_all)(const std::string&, std::source_location);
};
const Format formats[] = {
    {"npz", ab::save_npz<Model>, ab::load_npz<Model>, ab::load_npz},
    {"safetensors", ab::save_safetensors<Model>, ab::load_safetensors<Model>, ab::load_safetensors},
};

template <class Tree>
std::vector<std::string> texts(const Tree& tree) {
  std::vector<std::string> texts;
  ab::tree::for_each_array(
      tree, [&](const Array& x) { texts.push_back(to_string(x.type()) + " " + to_string(x)); });
  return texts;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ab::Error& error) {
    return error.what();
  }
  return "no error";
}

constexpr std::source_location here = std::source_location::current();

TEST(Files, TreesOfAllDtypesComeBack) {
  const ab::testing::TemporaryFolder folder;
  for (const Format& format : formats) {
    for (int i = 0; i < ab::dtype_count; ++i) {
      const auto dtype = static_cast<ab::Dtype>(i);
      if (dtype == ab::c128 && format.name == std::string("safetensors")) continue;
      SCOPED_TRACE(std::string(format.name) + " " + std::string(name(dtype)));
      const std::string path = folder.path() / format.name;
      const Model model = model_of(dtype);
      format.save(path, model, here);
      Model like = ab::tree_map([](const Array& x) { return ab::zeros_like(x); }, model);
      like.width = 8;
      const Model loaded = format.load(path, like, here);
      EXPECT_EQ(texts(loaded), texts(model));
      EXPECT_EQ(loaded.width, 8);
      EXPECT_EQ(folder.files().size(), 1u);
      std::vector<std::string> names;
      for (const auto& [name, array] : format.load_all(path, here)) names.push_back(name);
      EXPECT_EQ(names,
                (std::vector<std::string>{"layers.0.bias", "layers.0.weight", "layers.1.bias",
                                          "layers.1.weight", "named.a", "pair.0", "pair.1"}));
      std::filesystem::remove(path);
    }
  }
}

TEST(Files, StatesOfOptimisersAndSingleArraysComeBack) {
  const ab::testing::TemporaryFolder folder;
  const std::string path = folder.path() / "state";
  const Layer layer = {ab::ones({2, 3}), ab::zeros({3})};
  const auto [next, state] = ab::optim::adam(layer, layer, ab::optim::adam_init(layer));
  ab::save_npz(path, std::pair(next, state));
  const auto loaded = ab::load_npz(path, std::pair(layer, ab::optim::adam_init(layer)));
  EXPECT_EQ(texts(loaded), texts(std::pair(next, state)));
  ab::save_safetensors(path, ab::arange(3));
  EXPECT_EQ(doubles(ab::load_safetensors(path, ab::zeros({3}, ab::i32))),
            (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(ab::load_safetensors(path).begin()->first, "arr_0");
}

TEST(Files, WhatDoesNotFitIsNamed) {
  const ab::testing::TemporaryFolder folder;
  for (const Format& format : formats) {
    SCOPED_TRACE(format.name);
    const std::string path = folder.path() / format.name;
    const Model model = model_of(ab::f32);
    format.save(path, model, here);
    Model shape = model, dtype = model, more = model, fewer = model, empty = model;
    shape.layers[0].bias = ab::zeros({4});
    dtype.named["a"] = ab::zeros({2}, ab::f64);
    more.named["b"] = ab::zeros({2});
    fewer.layers.pop_back();
    empty.named["a"] = {};
    const std::string start = "load_" + std::string(format.name) + ": " + path + ": ";
    const std::pair<const Model*, std::string> cases[] = {
        {&shape, start + "layers.0.bias is f32[3], and f32[4] was expected, at files.cpp:"},
        {&dtype, start + "named.a is f32[2], and f64[2] was expected"},
        {&more, start + "holds no array named.b; it holds layers.0.bias, layers.0.weight, "},
        {&fewer,
         start + "holds arrays that the tree has not: layers.1.bias, layers.1.weight; load_"},
        {&empty, "named.a is an empty Array; give it a value"},
    };
    for (const auto& [like, expected] : cases) {
      const std::string found = error_of([&, given = like] { format.load(path, *given, here); });
      EXPECT_NE(found.find(expected), std::string::npos) << found << "\n instead of " << expected;
    }
    EXPECT_NE(error_of([&] {
                format.save(path, empty, here);
              }).find("named.a is an empty Array; give it a value"),
              std::string::npos);
    const std::string absent = folder.path() / "none";
    EXPECT_NE(error_of([&] { format.load(absent, model, here); }).find("none: cannot be opened"),
              std::string::npos);
  }
}

TEST(Files, AFailedSaveLeavesTheOldFileAlone) {
  const ab::testing::TemporaryFolder folder;
  for (const Format& format : formats) {
    SCOPED_TRACE(format.name);
    const std::string path = folder.path() / format.name;
    const Model model = model_of(ab::f32);
    format.save(path, model, here);
    const std::string before = ab::testing::read_file(path);
    Model twice = model;  // "named.a" is a path, and a key with a dot
    twice.named = {{"x.y", ab::ones({1})}};
    EXPECT_EQ(error_of([&] { format.save(path, twice, here); }), "no error");
    format.save(path, model, here);
    EXPECT_EQ(ab::testing::read_file(path), before);
    const auto traced = [&](const Array& x) {
      Model changed = model;
      changed.named["a"] = x;
      format.save(path, changed, here);
      return x;
    };
    const std::string refusal = error_of([&] { ab::jit(traced)(ab::ones({2})); });
    EXPECT_NE(refusal.find(": named.a: f32[2] is being traced and has no value yet; return it"),
              std::string::npos)
        << refusal;
    EXPECT_EQ(refusal.find("copy_to"), std::string::npos) << refusal;
    EXPECT_EQ(ab::testing::read_file(path), before);
    EXPECT_NE(error_of([&] {
                format.save(folder.path() / "no" / "x", model, here);
              }).find("cannot be written"),
              std::string::npos);
  }
  EXPECT_EQ(folder.files().size(), 2u);
  using Nested = std::map<std::string, std::map<std::string, Array>>;
  const Nested nested = {{"a", {{"b.c", ab::ones({1})}}}, {"a.b", {{"c", ab::ones({1})}}}};
  EXPECT_NE(error_of([&] {
              ab::save_npz(folder.path() / "x", nested);
            }).find("two arrays of the tree have the name a.b.c"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              ab::save_safetensors(folder.path() / "x",
                                   std::map<std::string, Array>{{"\xff", ab::ones({1})}});
            }).find("a name cannot be written"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              ab::save_safetensors(folder.path() / "x", ab::ones({1}).astype(ab::c128));
            }).find("'arr_0' is c128, which safetensors files do not have"),
            std::string::npos);
  EXPECT_EQ(folder.files().size(), 2u);
}

TEST(Files, Bf16IsF32InNpz) {
  const ab::testing::TemporaryFolder folder;
  const std::string path = folder.path() / "x.npz";
  ab::save_npz(path, ab::full({2}, 1.5, ab::bf16));
  EXPECT_EQ(ab::load_npz(path).at("arr_0").dtype(), ab::f32);
  EXPECT_EQ(ab::load_npz(path, ab::zeros({2}, ab::bf16)).dtype(), ab::bf16);
  EXPECT_EQ(ab::read_array(path).type(), (ab::Type{ab::f32, {2}}));
}

}  // namespace
