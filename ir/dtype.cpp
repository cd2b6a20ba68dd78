#include "ir/dtype.h"

#include <array>

namespace anabranch {
namespace {

struct Row {
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<Row, dtype_count> rows = {{{"bool", 1},
                                                {"i8", 1},
                                                {"i16", 2},
                                                {"i32", 4},
                                                {"i64", 8},
                                                {"u8", 1},
                                                {"u16", 2},
                                                {"u32", 4},
                                                {"u64", 8},
                                                {"f16", 2},
                                                {"bf16", 2},
                                                {"f32", 4},
                                                {"f64", 8}}};

}  // namespace

std::string_view name(Dtype dtype) { return rows[static_cast<std::size_t>(dtype)].name; }

std::size_t byte_size(Dtype dtype) { return rows[static_cast<std::size_t>(dtype)].bytes; }

std::optional<Dtype> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name == name) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

}  // namespace anabranch
