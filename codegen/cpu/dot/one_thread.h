// oneDNN on the calling thread alone: our own threads share out the work.
#pragma once

namespace anabranch::cpu {

/// While it lives, parallel regions that this thread opens in the OpenMP runtime of oneDNN have one
/// thread: itself. Nothing where oneDNN was built without OpenMP. A process that leaves main waits
/// for it to go, and no other thread gets one from then on: oneDNN's own state is destroyed next.
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
