#include "anabranch/dtype_info.h"

#include <cmath>
#include <string>

#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"

namespace anabranch {
namespace {

// For a dtype that the function has no limits of.
[[noreturn]] void refuse_limits(const char* function, Dtype dtype, const char* wanted,
                                SourceLocation where) {
  const std::string remedy =
      is_integer(dtype) ? "ask iinfo of an integer"
      : is_float(dtype) ? "ask finfo of a float"
      : is_complex(dtype)
          ? "ask finfo of " + std::string(name(part_dtype(dtype))) + ", the dtype of its parts"
          : "bool has only false and true; ask of a number's dtype";
  fail(std::string(function) + ": " + std::string(name(dtype)) + " is no " + wanted + "; " + remedy,
       where);
}

}  // namespace

FloatInfo finfo(Dtype dtype, std::source_location where) {
  if (!is_float(dtype)) refuse_limits("finfo", dtype, "float", where);
  const DtypeInfo& format = info(dtype);
  const double eps = std::ldexp(1.0, 1 - format.precision);
  const double max = std::ldexp(2 - eps, format.max_exponent);
  return {dtype, format.bits, eps, max, -max, std::ldexp(1.0, 1 - format.max_exponent)};
}

IntegerInfo iinfo(Dtype dtype, std::source_location where) {
  if (!is_integer(dtype)) refuse_limits("iinfo", dtype, "integer", where);
  const int bits = info(dtype).bits;
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
  if (is_unsigned_integer(dtype)) return {dtype, bits, 0, all};
  return {dtype, bits, -static_cast<std::int64_t>(all >> 1) - 1, all >> 1};
}

Dtype result_type(std::initializer_list<Dtype> dtypes, std::source_location where) {
  if (dtypes.size() == 0) fail("result_type: no dtypes; give at least one", where);
  Dtype result = *dtypes.begin();
  for (Dtype dtype : dtypes) {
    const auto both = promoted(result, dtype);
    if (!both) {
      fail("result_type: " + std::string(name(result)) + " and " + std::string(name(dtype)) +
               " do not mix; convert one with .astype(...)",
           where);
    }
    result = *both;
  }
  return result;
}

bool can_cast(Dtype from, Dtype to) { return promoted(from, to) == to; }

bool isdtype(Dtype dtype, std::string_view kind, std::source_location where) {
  const bool is_bool = dtype == bool_;
  const bool is_real = is_integer(dtype) || is_float(dtype);
  if (kind == "bool") return is_bool;
  if (kind == "signed integer") return is_signed_integer(dtype);
  if (kind == "unsigned integer") return is_unsigned_integer(dtype);
  if (kind == "integral") return is_integer(dtype);
  if (kind == "real floating") return is_float(dtype);
  if (kind == "complex floating") return !is_bool && !is_real;
  if (kind == "numeric") return !is_bool;
  fail("isdtype: \"" + std::string(kind) +
           "\" is no kind: give bool, signed integer, unsigned integer, integral, real floating, "
           "complex floating or numeric",
       where);
}

}  // namespace anabranch
