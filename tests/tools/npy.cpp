#include "tools/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

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

  std::string written(const std::string& name, const std::string& header, const std::string& data) {
    std::ofstream file(path(name), std::ios::binary);
    file << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(header.size()) << '\0' << header
         << data;
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

TEST_F(Npy, NamesTheFileAndWhatIsWrongWithIt) {
  EXPECT_NE(error_of(path("none.npy")).find("none.npy: cannot be opened"), std::string::npos);
  const struct {
    const char* header;
    const char* message;
  } rows[] = {
      {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }\n",
       "dtype >f4 is not one of ours"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
       "f32[2] needs 8 bytes, and 4 follow"},
      {"{'descr': '<f4', 'fortran_order': False, }\n", "has no shape"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2", "ends inside shape"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }\n", "a size is negative"},
  };
  for (const auto& row : rows) {
    const std::string message = error_of(written("bad.npy", row.header, "abcd"));
    EXPECT_NE(message.find(row.message), std::string::npos) << message;
  }
  std::ofstream(path("text.npy")) << "hello, this is no array";
  EXPECT_NE(error_of(path("text.npy")).find("is not a .npy file"), std::string::npos);
}

TEST_F(Npy, LeavesNoHalfWrittenFile) {
  EXPECT_THROW(write_npy(path("no/such/folder.npy"), Literal::scalar(1.0f)), Error);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace anabranch
