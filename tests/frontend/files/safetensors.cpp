// Safetensors files, byte for byte; and each way in which one can be malformed.
#include "frontend/files/safetensors.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace anabranch {
namespace {

std::string with_length(const std::string& header, const std::string& data) {
  std::string text(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) text[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
  return text + header + data;
}

class Safetensors : public ::testing::Test {
 protected:
  std::string path(const std::string& name = "x.safetensors") const {
    return folder_.path() / name;
  }
  std::string error_of(const std::string& bytes) const {
    testing::write_file(path(), bytes);
    try {
      read_safetensors(path());
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(path() + ": ")) << error.what();
      return error.what();
    }
    return "no error";
  }
  std::string error_of(const std::string& header, const std::string& data) const {
    return error_of(with_length(header, data));
  }

  testing::TemporaryFolder folder_;
};

TEST_F(Safetensors, ReadsWhatTheFormatsOwnLibraryWrites) {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"w":{"dtype":"I16","shape":[2,2],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"BOOL","shape":[3],"data_offsets":[8,11]},)"
      R"("none":{"dtype":"F64","shape":[0,5],"data_offsets":[11,11]},)"
      R"("s":{"dtype":"BF16","shape":[],"data_offsets":[11,13]}}   )";
  testing::write_file(path(),
                      with_length(header, std::string("\1\0\2\0\3\0\377\377\0\2\1\xc0\x3f", 13)));
  const auto arrays = read_safetensors(path());
  ASSERT_EQ(arrays.size(), 4u);
  EXPECT_EQ(arrays.at("w"),
            Literal::of<std::int16_t>(std::array<std::int16_t, 4>{1, 2, 3, -1}, Shape{2, 2}));
  EXPECT_EQ(arrays.at("b"), Literal::of<bool>(std::array{false, true, true}, Shape{3}));
  EXPECT_EQ(arrays.at("s"), Literal::scalar(bf16, 1.5));
  EXPECT_EQ(arrays.at("none").type(), (Type{f64, {0, 5}}));
}

TEST_F(Safetensors, WritesTheWidestFirstAndAligned) {
  const Literal bytes = Literal::of<std::uint8_t>(std::array<std::uint8_t, 3>{1, 2, 3}, Shape{3});
  write_safetensors(path(), {{"a", bytes}, {"b", Literal::scalar(f64, 1.0)}});
  const std::string text = testing::read_file(path());
  const std::string header = R"({"a":{"data_offsets":[8,11],"dtype":"U8","shape":[3]},)"
                             R"("b":{"data_offsets":[0,8],"dtype":"F64","shape":[]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(text, with_length(padded, std::string("\0\0\0\0\0\0\xf0\x3f\1\2\3", 11)));
  write_safetensors(path(), {});
  EXPECT_TRUE(read_safetensors(path()).empty());
}

TEST_F(Safetensors, EachKindOfDamageIsNamed) {
  const auto of = [](const std::string& entry) { return R"({"x":)" + entry + "}"; };
  const std::string four(4, '\0');
  std::string many_units;
  for (int i = 0; i < 64; ++i) many_units += ",1";
  struct Case {
    std::string header, data, expected;
  };
  const Case cases[] = {
      {"[]", "", "the header does not begin with {"},
      {"", "", "the header does not begin with {"},
      {"{", "", "the header is no JSON"},
      {"{}x", "", "the header is no JSON"},
      {"{\"\xff\":1}", "", "the header is no JSON"},
      {of("[[[[[[[[]]]]]]]]"), "", "the header nests deeper"},
      {R"({"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
       R"("x":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
       four, "the header names 'x' twice"},
      {of("3"), "", "'x': is not described by a JSON object"},
      {of(R"({"shape":[],"data_offsets":[0,4]})"), four, "'x': its dtype is no string"},
      {of(R"({"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]})"), four,
       "'x': its dtype is F8_E4M3, which is not one of ours; convert it to BOOL"},
      {of(R"({"dtype":"F32","data_offsets":[0,4]})"), four, "'x': its shape is not a list"},
      {of(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), four,
       "'x': its shape is not a list of counts"},
      {of(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})"), four,
       "'x': its shape is not a list of counts"},
      {of(R"({"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]})"), four,
       "'x': its shape is not a list of counts"},
      {of(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]})"), four,
       "'x': its shape: "},
      {of(R"({"dtype":"U8","shape":[4)" + many_units + R"(],"data_offsets":[0,4]})"), four,
       "'x': an array of 65 axes; at most 64 are read"},
      {of(R"({"dtype":"F32","shape":[1]})"), four, "'x': its data_offsets is not a list"},
      {of(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})"), four,
       "'x': its data_offsets are not a begin and an end"},
      {of(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})"), four,
       "'x': its data_offsets are not a begin and an end"},
      {of(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})"), four,
       "'x': ends at byte 8 of the data, which has 4"},
      {of(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})"), four,
       "'x': f32[2] takes 8 bytes, and its data_offsets span 4"},
      {of(R"({"dtype":"U8","shape":[2],"data_offsets":[2,4]})"), four,
       "'x' begins at byte 2 of the data, and what is before it ends at byte 0"},
      {R"({"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
       R"("y":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       four, "'y' begins at byte 2 of the data, and what is before it ends at byte 3"},
      {of(R"({"dtype":"U8","shape":[2],"data_offsets":[0,2]})"), four,
       "the arrays end at byte 2 of the data, which has 4"},
  };
  for (const Case& wrong : cases) {
    const std::string found = error_of(wrong.header, wrong.data);
    EXPECT_NE(found.find(wrong.expected), std::string::npos)
        << found << "\n instead of " << wrong.expected;
  }
  EXPECT_NE(error_of("hello").find("is shorter than the length of a header"), std::string::npos);
  EXPECT_NE(error_of(std::string("\x10\0\0\0\0\0\0\0{}", 10))
                .find("claims a header of 16 bytes, and 2 follow"),
            std::string::npos);
  EXPECT_NE(error_of("a text of some length").find("and is no .safetensors file"),
            std::string::npos);
}

TEST_F(Safetensors, NoFileIsNamed) {
  for (const auto& [name, expected] : {std::pair(path("none"), "cannot be opened: "),
                                       std::pair(folder_.path().string(), "is no regular file")}) {
    try {
      read_safetensors(name);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace anabranch
