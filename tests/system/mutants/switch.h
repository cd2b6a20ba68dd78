// Which mutant is switched on: the number in ANABRANCH_MUTANT, 0 for none. The files that `run`
// mutates include this first.
#pragma once

#include <cstdlib>

// What a mutant leaves out would have used something.
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"

namespace mutants {

inline bool on(int number) {
  static const int chosen = [] {
    const char* text = std::getenv("ANABRANCH_MUTANT");
    return text ? std::atoi(text) : 0;
  }();
  return chosen == number;
}

}  // namespace mutants
