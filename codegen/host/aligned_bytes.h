// Bytes at the start of a cache line, for what a library works in.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace anabranch::host {

class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t bytes)
      : data_(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}))) {}
  std::byte* get() const { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace anabranch::host
