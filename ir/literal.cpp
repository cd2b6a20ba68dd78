#include "ir/literal.h"

#define XXH_INLINE_ALL  // the header alone, no library to link
#include <xxhash.h>

#include <algorithm>

#include "ir/scalar.h"

namespace anabranch {

Literal::Literal() : Literal(Type{Dtype::bool_, {}}, std::vector<std::byte>(1)) {}

Literal::Literal(Type type, std::vector<std::byte> bytes)
    : type_(std::move(type)),
      bytes_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {
  if (bytes_->size() != type_.bytes()) {
    throw InternalError("literal", to_string(type_) + " given " + std::to_string(bytes_->size()) +
                                       " bytes instead of " + std::to_string(type_.bytes()));
  }
}

Literal Literal::scalar(Dtype dtype, double value) {
  return visit_dtype(dtype, [&]<class T>() { return scalar<T>(convert_scalar<T>(value)); });
}

std::uint64_t Literal::bits(std::int64_t index) const {
  std::uint64_t word = 0;
  std::size_t width = byte_size(type_.dtype);
  std::memcpy(&word, bytes_->data() + static_cast<std::size_t>(index) * width, width);
  return word;
}

bool Literal::is_splat() const {
  if (type_.size() == 0) return false;
  std::size_t width = byte_size(type_.dtype);
  return std::equal(bytes_->begin() + static_cast<std::ptrdiff_t>(width), bytes_->end(),
                    bytes_->begin());
}

bool Literal::operator==(const Literal& other) const {
  return type_ == other.type_ && (bytes_ == other.bytes_ || *bytes_ == *other.bytes_);
}

std::uint64_t Literal::hash() const {
  std::uint64_t seed = static_cast<std::uint64_t>(type_.dtype);
  for (std::int64_t size : type_.shape)
    seed = seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(size);
  return XXH3_64bits_withSeed(bytes_->data(), bytes_->size(), seed);
}

}  // namespace anabranch
