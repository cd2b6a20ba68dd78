// oneDNN on the calling thread alone: our own threads share out the work.
#pragma once

#include <string_view>

#include "runtime/library_call.h"

namespace anabranch::cpu {

/// While it lives, parallel regions that this thread opens in the OpenMP runtime of oneDNN have one
/// thread: itself. Nothing where oneDNN was built without OpenMP. It is a LibraryCall.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  /// To be called once before a primitive of this implementation (its impl_info_str) is executed:
  /// what the library then makes for the whole process is made now, to be destroyed late enough.
  void prepare(std::string_view implementation) const;
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const LibraryCall call_;
  int before_ = 1;
};

}  // namespace anabranch::cpu
