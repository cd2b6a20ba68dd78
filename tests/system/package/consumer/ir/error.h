// A file of the user's own, under a name that the library has too.
#pragma once

namespace user {
inline constexpr float tolerance = 1e-6f;
}
