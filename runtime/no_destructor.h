// NoDestructor: a static object that is never destroyed.
#pragma once

#include <cstddef>
#include <new>

namespace anabranch {

/// Threads may use what is static until the process has ended, which is after it has left main.
/// Unlike that of an object on the heap, the address is there before any static object is made.
template <class T>
class NoDestructor {
 public:
  NoDestructor() { new (bytes_) T(); }
  NoDestructor(const NoDestructor&) = delete;
  NoDestructor& operator=(const NoDestructor&) = delete;

  T* get() { return reinterpret_cast<T*>(bytes_); }

 private:
  alignas(T) std::byte bytes_[sizeof(T)];
};

}  // namespace anabranch
