#include "ir/literal.h"

#define XXH_INLINE_ALL  // the header alone, no library to link
#include <xxhash.h>

#include <algorithm>

#include "ir/scalar.h"

namespace anabranch {

Literal::Literal() : Literal(Type{Dtype::bool_, {}}, std::vector<std::byte>(1)) {}

Literal::Literal(Type type, std::vector<std::byte> bytes) : type_(std::move(type)) {
  if (bytes.size() != type_.bytes()) {
    throw InternalError("literal", to_string(type_) + " given " + std::to_string(bytes.size()) +
                                       " bytes instead of " + std::to_string(type_.bytes()));
  }
  const auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  bytes_ = std::shared_ptr<const std::byte>(kept, kept->data());
}

Literal Literal::scalar(Dtype dtype, ElementBits bits) {
  const std::span<const std::byte> bytes = bits.bytes().first(byte_size(dtype));
  return Literal(Type{dtype, {}}, {bytes.begin(), bytes.end()});
}

Literal Literal::scalar(Dtype dtype, double value) {
  return visit_any_dtype(dtype, [&]<class T>() { return scalar<T>(convert_scalar<T>(value)); });
}

template <class To>
To Literal::first_as() const {
  return visit_any_dtype(type_.dtype,
                         [&]<class T>() { return convert_scalar<To>(values<T>()[0]); });
}

template double Literal::first_as<double>() const;
template std::int64_t Literal::first_as<std::int64_t>() const;

ElementBits Literal::bits(std::int64_t index) const {
  const std::size_t width = byte_size(type_.dtype);
  return ElementBits::from(bytes().subspan(static_cast<std::size_t>(index) * width, width));
}

bool Literal::is_splat() const {
  if (type_.size() == 0) return false;
  std::size_t width = byte_size(type_.dtype);
  const std::span<const std::byte> all = bytes();
  return std::equal(all.begin() + static_cast<std::ptrdiff_t>(width), all.end(), all.begin());
}

bool Literal::operator==(const Literal& other) const {
  if (type_ != other.type_) return false;
  const std::size_t count = type_.bytes();
  return count == 0 || bytes_ == other.bytes_ ||
         std::memcmp(bytes_.get(), other.bytes_.get(), count) == 0;
}

std::uint64_t Literal::hash() const {
  std::uint64_t seed = static_cast<std::uint64_t>(type_.dtype);
  for (std::int64_t size : type_.shape)
    seed = seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(size);
  return XXH3_64bits_withSeed(bytes_.get(), type_.bytes(), seed);
}

}  // namespace anabranch
