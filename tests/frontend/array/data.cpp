// Reading in place: a span of an array's own memory.
#include <thread>
#include <type_traits>

#include "frontend/run/evaluate.h"
#include "tests/frontend/held_array.h"
#include "tests/support/values.h"

namespace {

template <class T>
concept GivesData = requires(T&& array) {
  std::forward<T>(array).template data<float>();
};

// What a temporary holds would be gone with it.
static_assert(GivesData<const ab::Array&> && GivesData<ab::Array&>);
static_assert(!GivesData<ab::Array> && !GivesData<const ab::Array>);

// Wherever arrays are by default.
ab::Array on_host(const ab::Array& x) { return x.to(ab::Device::cpu()); }

TEST(Data, IsTheMemoryItself) {
  const ab::Array x = on_host(ab::array({1.0f, 2.0f, 3.0f}));
  const std::span<const float> data = x.data<float>();
  EXPECT_EQ(std::vector<float>(data.begin(), data.end()), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(static_cast<const void*>(data.data()), ab::memory_of(x, x.device()).data());
  const ab::Array same = x;
  EXPECT_EQ(same.data<float>().data(), data.data());
}

TEST(Data, LivesAsLongAsAnyHandle) {
  ab::Array x = on_host(ab::arange(1 << 16, ab::f32) * 2);
  const std::span<const float> data = x.data<float>();
  ab::Array other = x;
  x = x + 1;  // another array
  ab::wait_all();
  for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], 2 * static_cast<float>(i));
}

TEST(Data, ReadsBorrowedMemoryInPlace) {
  const std::vector<std::int32_t> own = {4, 5};
  const ab::Array x = ab::borrow(own.data(), {2}, [] {});
  EXPECT_EQ(x.data<std::int32_t>().data(), own.data());
}

TEST(Data, ReadsANumberAndNothing) {
  const ab::Array number = ab::scalar(2.5f), none = on_host(ab::zeros({0, 3}));
  ASSERT_EQ(number.data<float>().size(), 1u);
  EXPECT_EQ(number.data<float>()[0], 2.5f);
  EXPECT_TRUE(none.data<float>().empty());
}

TEST(Data, Waits) {
  HeldArray held;
  const ab::Array y = on_host(held.array + 1);
  EXPECT_FALSE(y.ready());
  const std::jthread later([&] {
    give_a_chance();
    held.arrive();
  });
  EXPECT_EQ(y.data<float>()[3], 2);
}

TEST(Data, OfAnotherDtypeDeviceOrTraceIsRefused) {
  const auto message = [](auto use) -> std::string {
    try {
      use();
    } catch (const ab::Error& error) {
      return error.what();
    }
    return "no error";
  };
  const ab::Array x = ab::array({1.0f}), away = x.to(ab::Device::null());
  EXPECT_EQ(message([&] { x.data<double>(); }),
            "data: f32[1] read as f64; convert it with .astype(ab::f64) first, at data.cpp:" +
                std::to_string(__LINE__ - 2));
  EXPECT_EQ(message([&] { away.data<float>(); }),
            "data: f32[1] is on null:0, whose memory is not read in place; use to_vector, or move "
            "it with .to(ab::Device::cpu()), at data.cpp:" +
                std::to_string(__LINE__ - 3));
  std::string traced;
  ab::trace(
      [&](ab::Array y) {
        traced = message([&] { y.data<float>(); });
        return y;
      },
      ab::spec(ab::f32, {1}));
  EXPECT_NE(traced.find("data: f32[1] is being traced and has no value yet"), std::string::npos);
  ab::Array gone = x + 1;
  ab::jit([](ab::Array y) { return y; })(ab::donate(gone));
  EXPECT_NE(message([&] { gone.data<float>(); }).find("was given away"), std::string::npos);
}

TEST(Data, OfWhatFailedThrowsItsError) {
  const auto fails = [](const ab::CustomCall&) { throw std::runtime_error("no such file"); };
  const ab::Array x = ab::custom_call("data_fails", fails, ab::spec(ab::f32, {}), ab::scalar(1.0f));
  EXPECT_THROW(x.data<float>(), ab::Error);
}

}  // namespace
