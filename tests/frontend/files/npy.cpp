#include "frontend/files/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace anabranch {
namespace {

namespace fs = std::filesystem;

class Npy : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("npy." + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }

  static std::string npy(const std::string& header, const std::string& data, char version = 1) {
    std::string length(version == 1 ? 2 : 4, '\0');
    length[0] = static_cast<char>(header.size());
    return std::string("\x93NUMPY") + version + '\0' + length + header + data;
  }

  std::string written(const std::string& name, const std::string& header, const std::string& data,
                      char version = 1) {
    std::ofstream(path(name), std::ios::binary) << npy(header, data, version);
    return path(name);
  }

  std::string error_of(const std::string& file) {
    try {
      read_npy(file);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(Npy, ReadsBackWhatItWrites) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    if (dtype == bf16) continue;
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{3}, Shape{2, 3, 4}}) {
      const Type type{dtype, shape};
      std::vector<std::byte> bytes(type.bytes());
      for (std::size_t k = 0; k < bytes.size(); ++k)
        bytes[k] = std::byte(dtype == bool_ ? k % 2 : k);
      const Literal literal(type, bytes);
      write_npy(path("a.npy"), literal);
      EXPECT_EQ(read_npy(path("a.npy")), literal) << to_string(type);
    }
  }
}

TEST_F(Npy, WritesWhatNumPyWould) {
  write_npy(path("a.npy"), Literal::of(std::span<const float>(std::vector<float>{1, 2}), {2}));
  std::ifstream file(path("a.npy"), std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  ASSERT_EQ(text.size(), 128u + 8);
  EXPECT_EQ(text.substr(0, 10), std::string("\x93NUMPY\1\0\x76\0", 10));
  EXPECT_EQ(text.substr(10, 58), "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } ");
  EXPECT_EQ(text[127], '\n');
}

TEST_F(Npy, WritesBfloat16AsFloat32) {
  const BFloat16 value(1.5f);
  write_npy(path("a.npy"), Literal::scalar(value));
  EXPECT_EQ(read_npy(path("a.npy")), Literal::scalar(1.5f));
}

TEST_F(Npy, TurnsFortranOrderRound) {
  const std::string data("\0\1\2\3\4\5", 6);
  const Literal read = read_npy(
      written("f.npy", "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", data));
  const std::vector<std::uint8_t> expected = {0, 2, 4, 1, 3, 5};
  EXPECT_EQ(read, Literal::of(std::span<const std::uint8_t>(expected), {2, 3}));
}

std::string u8_header(const std::string& shape) {
  return "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

TEST_F(Npy, ReadsTheHeaderAsThePythonItIs) {
  const std::string data("\0\1\2\3\4\5", 6);
  const std::vector<std::uint8_t> rows = {0, 1, 2, 3, 4, 5}, columns = {0, 2, 4, 1, 3, 5};
  const struct {
    const char* header;
    bool fortran;
  } headers[] = {
      {"{'descr':'|u1','fortran_order':True ,'shape':(2,3)}", true},
      {"{ 'shape' : ( 2 , 3 ) , 'fortran_order' : True , 'descr' : '|u1' }   \n", true},
      {"{\"shape\": (2, 3,), \"descr\": 'u1', 'fortran_order': False}", false},
      {"{'fortran_order': True,\n 'descr': u'<u1',  # native\n 'shape': (0x2, 0b1_1)}\n\n", true},
      {"{'descr': r'uint8', 'shape': ((2), +3), 'fortran_order': (False)}", false},
      {"{'descr': '|u' \"1\", 'shape': (2L, 3l), 'fortran_order': False}", false},
      {"{'descr': '\\x7cu1', 'fortran_order': True, 'shape': (9,), 'shape': (2, 3)}", true},
      {"  {'descr': 'B', 'fortran_order': False, 'shape': (2, \\\n3)}", false},
  };
  for (const auto& [header, fortran] : headers) {
    for (const char version : {1, 2, 3}) {
      if (version == 3 && std::string(header).find("2L") != std::string::npos) continue;
      const std::string file = written("h.npy", header, data, version);
      ASSERT_EQ(error_of(file), "") << header;
      EXPECT_EQ(read_npy(file),
                Literal::of(std::span<const std::uint8_t>(fortran ? columns : rows), {2, 3}))
          << header;
    }
  }
  EXPECT_EQ(read_npy(written("s.npy", u8_header("()"), "\7")), Literal::scalar(std::uint8_t{7}));
  EXPECT_EQ(read_npy(written("e.npy", u8_header("(0, 3)"), "")).type(), (Type{u8, {0, 3}}));
}

TEST_F(Npy, ReadsEveryDtypeInEitherByteOrder) {
  const auto header = [](const std::string& descr) {
    return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (2,), }\n";
  };
  const auto reversed = [](std::string bytes, std::size_t width) {
    for (std::size_t at = 0; at < bytes.size(); at += width) {
      std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                   bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
    }
    return bytes;
  };
  const struct {
    const char* code;
    Dtype dtype;
  } rows[] = {{"i1", i8},  {"i2", i16}, {"i4", i32}, {"i8", i64}, {"u1", u8}, {"u2", u16},
              {"u4", u32}, {"u8", u64}, {"f2", f16}, {"f4", f32}, {"f8", f64}};
  for (const auto& [code, dtype] : rows) {
    const std::size_t width = byte_size(dtype);
    const std::string data = std::string("\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20", 2 * width);
    const Literal little = read_npy(written("l.npy", header("<" + std::string(code)), data));
    EXPECT_EQ(little.type(), (Type{dtype, {2}}));
    EXPECT_EQ(std::memcmp(little.bytes().data(), data.data(), data.size()), 0) << code;
    const std::string big = reversed(data, width);
    EXPECT_EQ(read_npy(written("b.npy", header(">" + std::string(code)), big)), little) << code;
    for (const char* order : {"=", "|", ""}) {
      EXPECT_EQ(read_npy(written("n.npy", header(order + std::string(code)), data)), little);
    }
  }
  const bool truths[] = {false, true};  // any byte but 0 is true
  for (const char* descr : {"|b1", "?", "bool"}) {
    EXPECT_EQ(read_npy(written("t.npy", header(descr), std::string("\0\2", 2))),
              Literal::of(std::span<const bool>(truths), {2}));
  }
}

TEST_F(Npy, NamesTheFileAndWhatIsWrongWithIt) {
  EXPECT_NE(error_of(path("none.npy")).find("none.npy: cannot be opened"), std::string::npos);
  std::string long_shape = "{'descr': '|u1', 'fortran_order': True, 'shape': (";
  for (int i = 0; i < 65; ++i) long_shape += "1,";
  long_shape += "), }\n";
  const struct {
    const char* header;
    const char* message;
  } rows[] = {
      {"{'descr': '<c32', 'fortran_order': False, 'shape': (2,), }\n",
       "dtype '<c32' is not one of ours"},
      {"{'descr': '<i3', 'fortran_order': False, 'shape': (2,), }\n", "dtype '<i3'"},
      {"{'descr': '<f4\\x00', 'fortran_order': False, 'shape': (2,), }\n",
       "dtype '<f4?' is not one of ours"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\n",
       "holds records of several fields"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }\n", "dtype '|O'"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }\n",
       "u8[3] takes 3 bytes, and 4 follow the header"},
      {"{'descr': '|u1', 'fortran_order': 0, 'shape': (4,), }\n",
       "fortran_order is neither True nor False"},
      {"{'descr': '|u1', 'fortran_order': 'True', 'shape': (4,), }\n", "neither True nor False"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': 4, }\n", "shape is not a tuple"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (4), }\n", "shape is not a tuple"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': [4], }\n", "shape is not a tuple"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (True, 4), }\n", "shape is not a tuple"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (4 4), }\n", "expected ',' or ')'"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (2.0, 2), }\n", "expected ',' or ')'"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (04,), }\n", "an integer of 64 bits"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (,), }\n", "expected a value"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,), }\n",
       "an integer of 64 bits"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (4,), 'more': 1}\n", "has a key 'more'"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (4,), } junk\n", "after the literal"},
      {"('descr', '|u1', 'fortran_order', False, 'shape', (4,))\n", "is not a dictionary"},
      {"((((((((((((((((((((((((((((((((((((((((((((((((((", "nested"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
       "f32[2] takes 8 bytes, and 4 follow"},
      {"{'descr': '<f4', 'fortran_order': False, }\n", "has no shape"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2", "expected ',' or ')'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }\n", "a size is negative"},
      {long_shape.c_str(), "an array of 65 axes; at most 64 are read"},
  };
  for (const auto& row : rows) {
    const std::string message = error_of(written("bad.npy", row.header, "abcd"));
    EXPECT_NE(message.find(row.message), std::string::npos) << message;
  }
  EXPECT_NE(error_of(folder_).find("is no regular file"), std::string::npos);
  EXPECT_NE(error_of(written("v4.npy", "{}", "", 4)).find("format version 4.0"), std::string::npos);
  const std::string long_in_3 = written("long.npy", u8_header("(2L, 2)"), "abcd", 3);
  EXPECT_NE(error_of(long_in_3).find("expected an integer of 64 bits"), std::string::npos);
  std::ofstream(path("text.npy")) << "hello, this is no array";
  EXPECT_NE(error_of(path("text.npy")).find("is not a .npy file"), std::string::npos);
}

TEST_F(Npy, NamesTheFileWhereMemoryEnds) {
  const auto read = []() -> int { throw std::bad_alloc(); };
  try {
    reading("large.npy", read);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "large.npy: holds more than there is memory for");
  }
}

TEST_F(Npy, LeavesNoHalfWrittenFile) {
  EXPECT_THROW(write_npy(path("no/such/folder.npy"), Literal::scalar(1.0f)), Error);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace anabranch
