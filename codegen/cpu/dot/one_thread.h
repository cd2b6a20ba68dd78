// oneDNN on the calling thread alone: our own threads share out the work.
#pragma once

#include <string_view>

namespace anabranch::cpu {

/// While it lives, parallel regions that this thread opens in the OpenMP runtime of oneDNN have one
/// thread: itself. Nothing where oneDNN was built without OpenMP. A process that leaves main waits
/// for it to go, and no other thread gets one from then on: oneDNN's own state is destroyed next.
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
  int before_ = 1;
};

}  // namespace anabranch::cpu
