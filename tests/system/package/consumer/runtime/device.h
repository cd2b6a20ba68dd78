// A file of the user's own, under a name that the library has too.
#pragma once

namespace user {
struct Device {
  int slots = 3;
};
}  // namespace user
