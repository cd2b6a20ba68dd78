#include <fmt/format.h>

#include "anabranch/error.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/device/device.h"
#include "runtime/device/first_devices.h"

namespace anabranch {

void set_cpu_devices(int count) {
  if (count < 1 || count > max_devices) {
    throw Error(fmt::format("set_cpu_devices: {} devices asked for; there may be 1 to {}", count,
                            max_devices));
  }
  if (cpu::ThreadPool::on_worker()) {
    throw Error("set_cpu_devices: called inside a custom call; call it where programs are started");
  }
  set_cpu_device_count(count);
  cpu::ThreadPool::share_out_cores();
}

}  // namespace anabranch
