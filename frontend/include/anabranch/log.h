// The log: one line for each thing that went on differently without the caller seeing it.
#pragma once

#include <string>

#include "anabranch/detail/any_function.h"
#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// Takes one line, without its end. Called by one thread at a time; must not log itself.
using LogSink = detail::AnyFunction<void(const std::string& line)>;

/// Where lines go from now on. At first, and with an empty sink, they are dropped: the library
/// never prints by itself. ANABRANCH_LOG sets it from outside.
void set_log(LogSink sink);

}  // namespace anabranch
