// The log: one line for each thing that went on differently without the caller seeing it.
#pragma once

#include <string>

#include "anabranch/detail/any_function.h"
#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// Takes one line, without its end. Called by one thread at a time. It may call set_log; lines that
/// it logs itself are dropped. It must not wait for other threads that may log.
using LogSink = detail::AnyFunction<void(const std::string& line)>;

/// Where lines go from now on. At first, and with an empty sink, they are dropped: the library
/// never prints by itself. Once it returns, no other thread is in the sink that was set before.
/// ANABRANCH_LOG sets it from outside.
void set_log(LogSink sink);

}  // namespace anabranch
