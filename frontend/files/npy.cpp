#include "frontend/files/npy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "frontend/files/python_literal.h"
#include "ir/scalar.h"
#include "ir/write_file.h"

namespace anabranch {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view magic = "\x93NUMPY";

// A dtype as NumPy's headers write it behind the byte order, and its other names there.
struct Descr {
  std::string_view code;
  Dtype dtype;
  std::string_view letter, name;
};

// Without the letters l, L, p and P: their sizes depend on the machine that wrote them.
constexpr std::array<Descr, 14> descrs = {{{"b1", bool_, "?", "bool"},
                                           {"i1", i8, "b", "int8"},
                                           {"i2", i16, "h", "int16"},
                                           {"i4", i32, "i", "int32"},
                                           {"i8", i64, "q", "int64"},
                                           {"u1", u8, "B", "uint8"},
                                           {"u2", u16, "H", "uint16"},
                                           {"u4", u32, "I", "uint32"},
                                           {"u8", u64, "Q", "uint64"},
                                           {"f2", f16, "e", "float16"},
                                           {"f4", f32, "f", "float32"},
                                           {"f8", f64, "d", "float64"},
                                           {"c8", c64, "F", "complex64"},
                                           {"c16", c128, "D", "complex128"}}};

struct Header {
  Type type;
  bool big_endian = false;
  bool fortran_order = false;
};

void parse_descr(const std::string& path, const PythonLiteral& value, Header& header) {
  if (value.kind == PythonLiteral::Kind::list) {
    fail_reading(path, "holds records of several fields; save each field as an array of its own");
  }
  if (value.kind != PythonLiteral::Kind::text)
    fail_reading(path, "the .npy header's descr is no string");
  std::string_view code = value.text;
  const bool ordered = !code.empty() && std::string_view("<>=|").find(code[0]) != code.npos;
  header.big_endian = code.starts_with('>');
  if (ordered) code.remove_prefix(1);
  for (const Descr& descr : descrs) {
    const bool known = code == descr.code || code == descr.letter;
    if (!known && (ordered || code != descr.name)) continue;
    header.type.dtype = descr.dtype;
    return;
  }
  std::string shown = value.text;
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  fail_reading(path, "dtype '" + shown +
                         "' is not one of ours; save it as bool, an integer, float16 to float64, "
                         "complex64 or complex128");
}

Shape parse_shape(const std::string& path, const PythonLiteral& value) {
  std::vector<std::int64_t> sizes;
  bool tuple = value.kind == PythonLiteral::Kind::tuple;
  for (const PythonLiteral& size : value.items) {
    tuple = tuple && size.kind == PythonLiteral::Kind::integer;
    sizes.push_back(size.number);
  }
  if (!tuple) fail_reading(path, "the .npy header's shape is not a tuple of integers");
  check_axes(path, sizes.size());
  try {
    return Shape(std::move(sizes));
  } catch (const Error& error) {
    fail_reading(path, std::string("the .npy header's shape: ") + error.what());
  }
}

// The dictionary's values of the three keys that a header has, as NumPy asks for them: no other.
std::array<PythonLiteral, 3> header_values(const std::string& path, const std::string& text,
                                           bool python2) {
  constexpr std::array<std::string_view, 3> keys = {"descr", "fortran_order", "shape"};
  PythonLiteral header;
  try {
    header = parse_python_literal(text, python2);
  } catch (const Error& error) {
    fail_reading(path, std::string("the .npy header is no Python literal: ") + error.what());
  }
  if (header.kind != PythonLiteral::Kind::dictionary) {
    fail_reading(path, "the .npy header is not a dictionary");
  }
  std::array<PythonLiteral, 3> values;
  std::array<bool, 3> found{};
  for (std::size_t i = 0; i < header.items.size(); i += 2) {
    const PythonLiteral& key = header.items[i];
    const auto at =
        static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key.text) - keys.begin());
    if (key.kind != PythonLiteral::Kind::text)
      fail_reading(path, "the .npy header has a key of no text");
    if (at == keys.size()) fail_reading(path, "the .npy header has a key '" + key.text + "'");
    values[at] = std::move(header.items[i + 1]);
    found[at] = true;
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!found[i]) fail_reading(path, "the .npy header has no " + std::string(keys[i]));
  }
  return values;
}

Header parse_header(const std::string& path, const std::string& text, bool python2) {
  const auto [descr, fortran_order, shape] = header_values(path, text, python2);
  Header header;
  parse_descr(path, descr, header);
  if (fortran_order.kind != PythonLiteral::Kind::boolean) {
    fail_reading(path, "the .npy header's fortran_order is neither True nor False");
  }
  header.fortran_order = fortran_order.number != 0;
  header.type.shape = parse_shape(path, shape);
  return header;
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

void reverse_each(std::span<std::byte> bytes, std::size_t width) {
  for (; !bytes.empty(); bytes = bytes.subspan(width)) {
    std::reverse(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(width));
  }
}

// The next bytes of a source, whose size is checked before any memory is taken.
class Reader {
 public:
  explicit Reader(const NpySource& source) : source_(source), left_(source.size) {}

  std::uint64_t left() const { return left_; }

  std::string text(std::size_t size) {
    std::string read(std::min<std::uint64_t>(size, left_), '\0');
    fill(std::as_writable_bytes(std::span(read)));
    return read;
  }
  void fill(std::span<std::byte> bytes) {
    source_.read(bytes);
    left_ -= bytes.size();
  }

 private:
  const NpySource& source_;
  std::uint64_t left_;
};

Header read_header(const std::string& path, Reader& reader) {
  const std::string start = reader.text(8);
  if (start.size() < 8 || !start.starts_with(magic)) fail_reading(path, "is not a .npy file");
  const int major = static_cast<unsigned char>(start[6]);
  const int minor = static_cast<unsigned char>(start[7]);
  if (major < 1 || major > 3 || minor != 0) {
    fail_reading(path, ".npy format version " + std::to_string(major) + "." +
                           std::to_string(minor) + "; versions 1.0, 2.0 and 3.0 are read");
  }
  const std::string digits = reader.text(major == 1 ? 2 : 4);
  std::size_t length = 0;
  for (std::size_t i = digits.size(); i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(digits[i]);
  }
  if (digits.size() < (major == 1 ? 2u : 4u) || length > reader.left()) {
    fail_reading(path, "the .npy header is cut short");
  }
  if (length > 1 << 20) fail_reading(path, "the .npy header is longer than 1 MiB");
  return parse_header(path, reader.text(length), major < 3);
}

std::string header_of(const Type& type) {
  std::string_view descr;
  const char order = byte_size(type.dtype) == 1 ? '|' : '<';
  for (const Descr& row : descrs) {
    if (row.dtype == type.dtype) descr = row.code;
  }
  if (descr.empty()) {
    throw Error("save: .npy files hold no " + std::string(name(type.dtype)) +
                "; convert it with astype before");
  }
  std::string shape = "(";
  for (std::int64_t size : type.shape) shape += std::to_string(size) + ",";
  shape += ")";
  std::string header = std::string("{'descr': '") + order + std::string(descr) +
                       "', 'fortran_order': False, 'shape': " + shape + ", }";
  // The data starts at a multiple of 64; ten bytes come before the header, a newline ends it.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  return header;
}

}  // namespace

Literal read_npy(const NpySource& source) {
  const std::string& path = source.name;
  Reader reader(source);
  Header header = read_header(path, reader);
  const Type& type = header.type;
  if (reader.left() != type.bytes()) {
    fail_reading(path, to_string(type) + " takes " + std::to_string(type.bytes()) + " bytes, and " +
                           std::to_string(reader.left()) + " follow the header");
  }
  std::vector<std::byte> bytes(type.bytes());
  reader.fill(bytes);
  if (header.big_endian) reverse_each(bytes, byte_size(part_dtype(type.dtype)));
  if (type.dtype == bool_) {  // to NumPy any byte but 0 is true
    for (std::byte& byte : bytes) byte = std::byte(byte != std::byte{0});
  }
  if (header.fortran_order) bytes = from_fortran_order(type, bytes);
  return Literal(std::move(header.type), std::move(bytes));
}

Literal read_npy(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    fail_reading(path, "is no regular file; give the path of a .npy file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_reading(path, std::string("cannot be opened: ") + std::strerror(errno));
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) fail_reading(path, "cannot be read: " + error.message());
  return reading(path, [&] {
    return read_npy({path, size, [&](std::span<std::byte> bytes) {
                       file.read(reinterpret_cast<char*>(bytes.data()),
                                 static_cast<std::streamsize>(bytes.size()));
                       if (!file) fail_reading(path, "cannot be read to its end");
                     }});
  });
}

void write_npy(std::ostream& file, const Literal& literal) {
  if (literal.type().dtype == bf16) {
    std::vector<float> values;
    for (BFloat16 value : literal.values<BFloat16>()) values.push_back(value);
    return write_npy(file, Literal::of(std::span<const float>(values), literal.type().shape));
  }
  const std::string header = header_of(literal.type());
  const std::array<char, 4> version = {1, 0, static_cast<char>(header.size() & 0xff),
                                       static_cast<char>(header.size() >> 8)};
  file << magic;
  file.write(version.data(), version.size());
  file << header;
  file.write(reinterpret_cast<const char*>(literal.bytes().data()),
             static_cast<std::streamsize>(literal.bytes().size()));
}

void write_npy(const std::string& path, const Literal& literal) {
  write_file(path, [&](std::ostream& file) { write_npy(file, literal); });
}

}  // namespace anabranch
