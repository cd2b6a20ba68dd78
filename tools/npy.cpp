#include "tools/npy.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "ir/scalar.h"
#include "ir/write_file.h"

namespace anabranch {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct Descr {
  std::string_view text;
  Dtype dtype;
};

constexpr std::array<Descr, 12> descrs = {{{"|b1", bool_},
                                           {"|i1", i8},
                                           {"<i2", i16},
                                           {"<i4", i32},
                                           {"<i8", i64},
                                           {"|u1", u8},
                                           {"<u2", u16},
                                           {"<u4", u32},
                                           {"<u8", u64},
                                           {"<f2", f16},
                                           {"<f4", f32},
                                           {"<f8", f64}}};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(path + ": " + what);
}

// The text of the value of 'key' in the header's Python dictionary, up to the comma or bracket that
// ends it.
std::string_view header_value(const std::string& path, std::string_view header,
                              std::string_view key) {
  std::string quoted = "'" + std::string(key) + "':";
  auto at = header.find(quoted);
  if (at == header.npos) fail(path, "the .npy header has no " + std::string(key));
  std::string_view rest = header.substr(at + quoted.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  std::size_t end = rest.starts_with('(') ? rest.find(')') : rest.find_first_of(",}");
  if (end == rest.npos) fail(path, "the .npy header ends inside " + std::string(key));
  return rest.substr(0, end);
}

Dtype parse_descr(const std::string& path, std::string_view value) {
  if (value.size() >= 2) value = value.substr(1, value.size() - 2);
  for (const Descr& descr : descrs) {
    if (value == descr.text) return descr.dtype;
  }
  fail(path,
       "dtype " + std::string(value) +
           " is not one of ours; save it as bool, an integer or float16 to float64, little-endian");
}

Shape parse_shape(const std::string& path, std::string_view value) {
  std::vector<std::int64_t> sizes;
  const char* end = value.data() + value.size();
  for (const char* at = value.data() + 1; at < end;) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    std::int64_t size = 0;
    auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc{}) fail(path, "the .npy header's shape is not a tuple of integers");
    sizes.push_back(size);
    at = next;
  }
  return Shape(std::move(sizes));
}

// Elements stored with the first axis fastest, put in row-major order.
std::vector<std::byte> from_fortran_order(const Type& type, const std::vector<std::byte>& bytes) {
  std::vector<std::byte> out(bytes.size());
  const std::size_t width = byte_size(type.dtype);
  std::vector<std::int64_t> position(static_cast<std::size_t>(type.rank()), 0);
  for (std::int64_t target = 0; target < type.size(); ++target) {
    std::int64_t source = 0;
    for (int axis = type.rank() - 1; axis >= 0; --axis) {
      source = source * type.shape[axis] + position[static_cast<std::size_t>(axis)];
    }
    std::memcpy(out.data() + static_cast<std::size_t>(target) * width,
                bytes.data() + static_cast<std::size_t>(source) * width, width);
    for (int axis = type.rank() - 1; axis >= 0; --axis) {
      if (++position[static_cast<std::size_t>(axis)] < type.shape[axis]) break;
      position[static_cast<std::size_t>(axis)] = 0;
    }
  }
  return out;
}

std::size_t header_length(const std::string& path, std::ifstream& file, int version) {
  if (version < 1 || version > 3) {
    fail(path, ".npy format version " + std::to_string(version) + "; versions 1 to 3 are read");
  }
  std::array<unsigned char, 4> length{};
  file.read(reinterpret_cast<char*>(length.data()), version == 1 ? 2 : 4);
  return length[0] | length[1] << 8 | length[2] << 16 | static_cast<std::size_t>(length[3]) << 24;
}

std::string header_of(const Type& type) {
  std::string_view descr;
  for (const Descr& row : descrs) {
    if (row.dtype == type.dtype) descr = row.text;
  }
  std::string shape = "(";
  for (std::int64_t size : type.shape) shape += std::to_string(size) + ",";
  shape += ")";
  std::string header =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + shape + ", }";
  // The data starts at a multiple of 64; ten bytes come before the header, a newline ends it.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  return header;
}

}  // namespace

Literal read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, std::string("cannot be opened: ") + std::strerror(errno));
  std::array<char, 8> start{};
  file.read(start.data(), start.size());
  if (!file || std::string_view(start.data(), magic.size()) != magic)
    fail(path, "is not a .npy file");
  const std::size_t length = header_length(path, file, start[6]);
  if (!file || length > 1 << 20) fail(path, "the .npy header is cut short");
  std::string header(length, '\0');
  file.read(header.data(), static_cast<std::streamsize>(length));
  if (!file) fail(path, "the .npy header is cut short");

  Type type{parse_descr(path, header_value(path, header, "descr")),
            parse_shape(path, header_value(path, header, "shape"))};
  const bool fortran_order = header_value(path, header, "fortran_order") == "True";
  const auto offset = static_cast<std::uintmax_t>(file.tellg());
  const std::uintmax_t left = std::filesystem::file_size(path) - offset;
  if (left < type.bytes()) {
    fail(path, to_string(type) + " needs " + std::to_string(type.bytes()) + " bytes, and " +
                   std::to_string(left) + " follow the header");
  }
  std::vector<std::byte> bytes(type.bytes());
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) fail(path, "cannot be read to its end");
  if (fortran_order) bytes = from_fortran_order(type, bytes);
  return Literal(std::move(type), std::move(bytes));
}

void write_npy(const std::string& path, const Literal& literal) {
  if (literal.type().dtype == bf16) {
    std::vector<float> values;
    for (BFloat16 value : literal.values<BFloat16>()) values.push_back(value);
    return write_npy(path, Literal::of(std::span<const float>(values), literal.type().shape));
  }
  const std::string header = header_of(literal.type());
  const std::array<char, 4> version = {1, 0, static_cast<char>(header.size() & 0xff),
                                       static_cast<char>(header.size() >> 8)};
  write_file(path, [&](std::ostream& file) {
    file << magic;
    file.write(version.data(), version.size());
    file << header;
    file.write(reinterpret_cast<const char*>(literal.bytes().data()),
               static_cast<std::streamsize>(literal.bytes().size()));
  });
}

}  // namespace anabranch
