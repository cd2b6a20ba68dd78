#include "frontend/files/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "frontend/files/npy.h"
#include "ir/write_file.h"

namespace anabranch {

static_assert(std::endian::native == std::endian::little);

namespace {

using Json = nlohmann::json;

struct StoredDtype {
  std::string_view name;
  Dtype dtype;
};
constexpr std::array<StoredDtype, 14> stored_dtypes = {{{"BOOL", bool_},
                                                        {"U8", u8},
                                                        {"I8", i8},
                                                        {"I16", i16},
                                                        {"U16", u16},
                                                        {"F16", f16},
                                                        {"BF16", bf16},
                                                        {"I32", i32},
                                                        {"U32", u32},
                                                        {"F32", f32},
                                                        {"F64", f64},
                                                        {"I64", i64},
                                                        {"U64", u64},
                                                        {"C64", c64}}};

constexpr std::string_view metadata = "__metadata__";
constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t longest_header = 100'000'000;  // as the format's own library has it

// An array as the header describes it.
struct Stored {
  std::string name;
  Type type;
  std::uint64_t begin = 0, end = 0;
};

// The JSON object of the header. What nests deeper than a header does is refused while it is read,
// and so is a name that comes twice.
Json parsed_header(const std::string& path, const std::string& text) {
  if (!text.starts_with('{')) fail_reading(path, "the header does not begin with {");
  std::set<std::string> names;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& part) {
    if (depth > 3) fail_reading(path, "the header nests deeper than arrays are described");
    if (event == Json::parse_event_t::key && depth == 1) {
      const auto name = part.get<std::string>();
      if (!names.insert(name).second) fail_reading(path, "the header names '" + name + "' twice");
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::exception& error) {
    fail_reading(path, std::string("the header is no JSON: ") + error.what());
  }
}

// A list of whole numbers that are not below 0.
std::vector<std::int64_t> counts(const std::string& where, const Json& entry, const char* key) {
  const auto found = entry.find(key);
  bool is_list = found != entry.end() && found->is_array();
  std::vector<std::int64_t> list;
  for (std::size_t i = 0; is_list && i < found->size(); ++i) {
    const Json& number = (*found)[i];
    is_list = number.is_number_unsigned() && number.get<std::uint64_t>() <= INT64_MAX;
    if (is_list) list.push_back(number.get<std::int64_t>());
  }
  if (!is_list) {
    fail_reading(where, std::string("its ") + key + " is not a list of counts");
  }
  return list;
}

Dtype stored_dtype(const std::string& where, const Json& entry) {
  const auto found = entry.find("dtype");
  if (found == entry.end() || !found->is_string()) fail_reading(where, "its dtype is no string");
  const auto& text = found->get_ref<const std::string&>();
  for (const StoredDtype& row : stored_dtypes) {
    if (row.name == text) return row.dtype;
  }
  fail_reading(where, "its dtype is " + text +
                          ", which is not one of ours; convert it to BOOL, an integer, F16, BF16, "
                          "F32, F64 or C64 where it is written");
}

Stored stored_array(const std::string& path, const std::string& name, const Json& entry,
                    std::uint64_t data_bytes) {
  const std::string where = path + ": '" + name + "'";
  if (!entry.is_object()) fail_reading(where, "is not described by a JSON object");
  Stored stored{name, {stored_dtype(where, entry), {}}};
  try {
    std::vector<std::int64_t> sizes = counts(where, entry, "shape");
    check_axes(where, sizes.size());
    stored.type.shape = Shape(std::move(sizes));
    static_cast<void>(stored.type.bytes());
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with(where)) throw;
    fail_reading(where, std::string("its shape: ") + error.what());
  }
  const std::vector<std::int64_t> offsets = counts(where, entry, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    fail_reading(where, "its data_offsets are not a begin and an end");
  }
  stored.begin = static_cast<std::uint64_t>(offsets[0]);
  stored.end = static_cast<std::uint64_t>(offsets[1]);
  if (stored.end > data_bytes) {
    fail_reading(where, "ends at byte " + std::to_string(stored.end) + " of the data, which has " +
                            std::to_string(data_bytes));
  }
  if (stored.end - stored.begin != stored.type.bytes()) {
    fail_reading(where, to_string(stored.type) + " takes " + std::to_string(stored.type.bytes()) +
                            " bytes, and its data_offsets span " +
                            std::to_string(stored.end - stored.begin));
  }
  return stored;
}

// The arrays in the order of their bytes, which follow each other without a gap up to the end.
std::vector<Stored> stored_arrays(const std::string& path, const Json& header,
                                  std::uint64_t data_bytes) {
  std::vector<Stored> arrays;
  for (const auto& [name, entry] : header.items()) {
    if (name != metadata) arrays.push_back(stored_array(path, name, entry, data_bytes));
  }
  std::ranges::sort(arrays, [](const Stored& a, const Stored& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t end = 0;
  for (const Stored& array : arrays) {
    if (array.begin != end) {
      fail_reading(path, "'" + array.name + "' begins at byte " + std::to_string(array.begin) +
                             " of the data, and what is before it ends at byte " +
                             std::to_string(end));
    }
    end = array.end;
  }
  if (end != data_bytes) {
    fail_reading(path, "the arrays end at byte " + std::to_string(end) +
                           " of the data, which has " + std::to_string(data_bytes));
  }
  return arrays;
}

class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path) : path_(path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      fail_reading(path, "is no regular file; give the path of a .safetensors file");
    }
    file_.open(path, std::ios::binary);
    if (!file_) fail_reading(path, std::string("cannot be opened: ") + std::strerror(errno));
    left_ = std::filesystem::file_size(path, error);
    if (error) fail_reading(path, "cannot be read: " + error.message());
  }

  std::uint64_t left() const { return left_; }
  void read(void* to, std::uint64_t size) {
    file_.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
    if (!file_) fail_reading(path_, "cannot be read to its end");
    left_ -= size;
  }
  std::string header() {
    if (left_ < length_bytes) fail_reading(path_, "is shorter than the length of a header");
    std::uint64_t length = 0;
    read(&length, length_bytes);
    if (length > longest_header) {
      fail_reading(path_, "claims a header of " + std::to_string(length) +
                              " bytes, and is no .safetensors file");
    }
    if (length > left_) {
      fail_reading(path_, "claims a header of " + std::to_string(length) + " bytes, and " +
                              std::to_string(left_) + " follow");
    }
    std::string text(length, '\0');
    read(text.data(), length);
    return text;
  }

 private:
  const std::string path_;
  std::ifstream file_;
  std::uint64_t left_ = 0;
};

std::string_view stored_name(const std::string& path, const std::string& name, Dtype dtype) {
  for (const StoredDtype& row : stored_dtypes) {
    if (row.dtype == dtype) return row.name;
  }
  throw Error(path + ": '" + name + "' is " + std::string(anabranch::name(dtype)) +
              ", which safetensors files do not have; store its real and imaginary part, or c64");
}

}  // namespace

std::map<std::string, Literal> read_safetensors(const std::string& path) {
  SafetensorsFile file(path);
  const Json header = parsed_header(path, file.header());
  std::map<std::string, Literal> arrays;
  for (Stored& stored : stored_arrays(path, header, file.left())) {
    std::vector<std::byte> bytes =
        reading(path, [&] { return std::vector<std::byte>(stored.type.bytes()); });
    file.read(bytes.data(), bytes.size());
    if (stored.type.dtype == bool_) {
      for (std::byte& byte : bytes) byte = std::byte(byte != std::byte{0});
    }
    arrays.emplace(stored.name, Literal(std::move(stored.type), std::move(bytes)));
  }
  return arrays;
}

void write_safetensors(const std::string& path, const std::map<std::string, Literal>& arrays) {
  std::vector<std::pair<std::string, const Literal*>> order;
  for (const auto& [name, array] : arrays) order.emplace_back(name, &array);
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    return byte_size(a.second->type().dtype) > byte_size(b.second->type().dtype);
  });
  Json header = Json::object();
  std::uint64_t end = 0;
  for (const auto& [name, array] : order) {
    const Type& type = array->type();
    if (name == metadata) throw Error(path + ": no array can have the name " + name);
    const std::vector<std::int64_t> shape(type.shape.begin(), type.shape.end());
    header[name] = {{"dtype", stored_name(path, name, type.dtype)},
                    {"shape", shape},
                    {"data_offsets", {end, end + type.bytes()}}};
    end += type.bytes();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception& error) {
    throw Error(path + ": a name cannot be written: " + error.what());
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t length = text.size();
  write_file(path, [&](std::ostream& file) {
    file.write(reinterpret_cast<const char*>(&length), length_bytes);
    file << text;
    for (const auto& [name, array] : order) {
      file.write(reinterpret_cast<const char*>(array->bytes().data()),
                 static_cast<std::streamsize>(array->bytes().size()));
    }
  });
}

}  // namespace anabranch
