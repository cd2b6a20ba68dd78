// oneDNN on the calling thread alone: our own threads share out the work.
#pragma once

namespace anabranch::cpu {

/// While it lives, parallel regions that this thread opens in the OpenMP runtime of oneDNN have one
/// thread: itself. Nothing where oneDNN was built without OpenMP.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = 1;
};

}  // namespace anabranch::cpu
