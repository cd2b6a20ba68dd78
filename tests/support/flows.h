// Loops, branches and slices at places known later, as graphs: what is carried in place, by turns
// and handed on, regions in regions.
#pragma once

#include <ostream>
#include <string>

namespace anabranch {

struct Flow {
  const char* name;
  const char* text;  // S stands for an array type of integers, small or large
};

inline constexpr Flow flows[] = {
    {"ACarryInPlaceWithACapture", R"(
graph main(%0: S, %1: S, %2: i32[]) {
  %3: i32[] = constant 0
  %4: i32[], %5: S = while %3, %0, %1 graph c(%0: i32[], %1: S, %2: S) {
    %3: i32[] = constant 5
    %4: bool[] = compare %0, %3 direction=le
    return %4
  } graph b(%0: i32[], %1: S, %2: S) {
    %3: i32[] = constant 1
    %4: i32[] = add %0, %3
    %5: S = multiply %1, %2
    %6: S = add %5, %2
    return %4, %6
  }
  %6: S = add %5, %0
  return %4, %5, %6
})"},
    {"NoStepAtAll", R"(
graph main(%0: S) {
  %1: S = while %0 graph c(%0: S) {
    %1: bool[] = constant false
    return %1
  } graph b(%0: S) {
    %1: S = negate %0
    return %1
  }
  %2: S = negate %1
  return %1, %2
})"},
    {"CarriesChangePlaces", R"(
graph main(%0: S, %1: S) {
  %2: i32[] = constant 0
  %3: i32[] = constant 7
  %4: i32[], %5: i32[], %6: S, %7: S = while %2, %3, %0, %1 graph c(%0: i32[], %1: i32[], %2: S, %3: S) {
    %4: i32[] = constant 3
    %5: bool[] = compare %0, %4 direction=le
    return %5
  } graph b(%0: i32[], %1: i32[], %2: S, %3: S) {
    %4: i32[] = constant 1
    %5: i32[] = add %0, %4
    %6: i32[] = subtract %1, %0
    return %5, %6, %3, %2
  }
  return %4, %5, %6, %7
})"},
    {"TheFibonacciStepOfArrays", R"(
graph main(%0: S, %1: S) {
  %2: i32[] = constant 0
  %3: i32[], %4: S, %5: S = while %2, %0, %1 graph c(%0: i32[], %1: S, %2: S) {
    %3: i32[] = constant 6
    %4: bool[] = compare %0, %3 direction=le
    return %4
  } graph b(%0: i32[], %1: S, %2: S) {
    %3: i32[] = constant 1
    %4: i32[] = add %0, %3
    %5: S = add %1, %2
    return %4, %2, %5
  }
  return %4, %5
})"},
    {"EachCarryFromTheOthers", R"(
graph main(%0: S, %1: S, %2: S, %3: i32[], %4: i32[]) {
  %5: i32[] = constant 0
  %6: i32[], %7: S, %8: S, %9: S, %10: i32[], %11: i32[] = while %5, %0, %1, %2, %3, %4 graph c(%0: i32[], %1: S, %2: S, %3: S, %4: i32[], %5: i32[]) {
    %6: i32[] = constant 4
    %7: bool[] = compare %0, %6 direction=le
    return %7
  } graph b(%0: i32[], %1: S, %2: S, %3: S, %4: i32[], %5: i32[]) {
    %6: i32[] = constant 1
    %7: i32[] = add %0, %6
    %8: S = add %2, %3
    %9: S = subtract %1, %3
    %10: S = multiply %1, %2
    %11: i32[] = add %4, %5
    %12: i32[] = subtract %4, %5
    return %7, %8, %9, %10, %11, %12
  }
  return %7, %8, %9, %10, %11
})"},
    {"OutputsThatAreConstantsCapturesAndOneAnother", R"(
graph main(%0: S, %1: S) {
  %2: i32[] = constant 0
  %3: i32[], %4: S, %5: S, %6: S, %7: i32[], %8: S = while %2, %0, %0, %0, %2, %0, %1, %0 graph c(%0: i32[], %1: S, %2: S, %3: S, %4: i32[], %5: S, %6: S, %7: S) {
    %8: i32[] = constant 3
    %9: bool[] = compare %0, %8 direction=le
    return %9
  } graph b(%0: i32[], %1: S, %2: S, %3: S, %4: i32[], %5: S, %6: S, %7: S) {
    %8: i32[] = constant 1
    %9: i32[] = add %0, %8
    %10: S = add %1, %7
    %11: i32[] = constant 9
    return %9, %10, %10, %6, %11, %1
  }
  return %3, %4, %5, %6, %7, %8
})"},
    {"ALoopInALoop", R"(
graph main(%0: S, %1: i32[]) {
  %2: i32[] = constant 0
  %3: i32[], %4: S = while %2, %0 graph c(%0: i32[], %1: S) {
    %2: i32[] = constant 3
    %3: bool[] = compare %0, %2 direction=le
    return %3
  } graph b(%0: i32[], %1: S) {
    %2: i32[] = constant 1
    %3: i32[] = constant 0
    %4: i32[], %5: S = while %3, %1, %0 graph c(%0: i32[], %1: S, %2: i32[]) {
      %3: bool[] = compare %0, %2 direction=le
      return %3
    } graph b(%0: i32[], %1: S, %2: i32[]) {
      %3: i32[] = constant 1
      %4: i32[] = add %0, %3
      %5: S = multiply %1, %1
      %6: S = subtract %5, %1
      return %4, %6
    }
    %6: i32[] = add %0, %2
    %7: S = add %5, %1
    return %6, %7
  }
  return %4
})"},
    {"ALoopInABranchInALoop", R"(
graph main(%0: S, %1: S) {
  %2: i32[] = constant -1
  %3: i32[], %4: S = while %2, %0, %1 graph c(%0: i32[], %1: S, %2: S) {
    %3: i32[] = constant 4
    %4: bool[] = compare %0, %3 direction=le
    return %4
  } graph b(%0: i32[], %1: S, %2: S) {
    %3: i32[] = constant 1
    %4: i32[] = add %0, %3
    %5: S = case %0, %1, %2 graph b0(%0: S, %1: S) {
      %2: S = add %0, %1
      %3: S = multiply %2, %1
      return %3
    } graph b1(%0: S, %1: S) {
      return %1
    } graph b2(%0: S, %1: S) {
      %2: i32[] = constant 0
      %3: i32[], %4: S = while %2, %0, %1 graph c(%0: i32[], %1: S, %2: S) {
        %3: i32[] = constant 2
        %4: bool[] = compare %0, %3 direction=le
        return %4
      } graph b(%0: i32[], %1: S, %2: S) {
        %3: i32[] = constant 1
        %4: i32[] = add %0, %3
        %5: S = subtract %2, %1
        return %4, %5
      }
      return %4
    }
    return %4, %5
  }
  return %4
})"},
    {"BranchesThatGiveTheirOperandsBack", R"(
graph main(%0: i32[], %1: S, %2: S) {
  %3: S, %4: S, %5: i32[] = case %0, %1, %2 graph b0(%0: S, %1: S) {
    %2: i32[] = constant 4
    return %1, %0, %2
  } graph b1(%0: S, %1: S) {
    %2: S = maximum %0, %1
    %3: i32[] = constant 5
    return %2, %2, %3
  }
  %6: i32[] = constant 0
  %7: S = case %6, %1, %2 graph b0(%0: S, %1: S) {
    %2: S = minimum %0, %1
    return %2
  }
  return %3, %4, %5, %7
})"},
    {"ALoopBesideWhatDoesNotNeedIt", R"(
graph main(%0: S, %1: S) {
  %2: i32[] = constant 0
  %3: i32[], %4: S = while %2, %0 graph c(%0: i32[], %1: S) {
    %2: i32[] = constant 3
    %3: bool[] = compare %0, %2 direction=le
    return %3
  } graph b(%0: i32[], %1: S) {
    %2: i32[] = constant 1
    %3: i32[] = add %0, %2
    %4: S = multiply %1, %1
    return %3, %4
  }
  %5: S = reverse %1 axes=[0,1]
  %6: S = multiply %5, %1
  %7: S = reverse %6 axes=[1]
  %8: S = add %7, %6
  %9: S = add %8, %4
  return %8, %9
})"},
    {"RowsOfACarriedArrayFromTheRowBefore", R"(
graph main(%0: S) {
  %1: i32[] = constant 1
  %2: i32[], %3: S = while %1, %0 graph c(%0: i32[], %1: S) {
    %2: i32[] = constant 5
    %3: bool[] = compare %0, %2 direction=le
    return %3
  } graph b(%0: i32[], %1: S) {
    %2: i32[] = constant 1
    %3: i32[] = constant 0
    %4: i32[] = subtract %0, %2
    %5: i32[1,3] = dynamic_slice %1, %4, %3 sizes=[1,3]
    %6: i32[1,3] = add %5, %5
    %7: S = dynamic_update_slice %1, %6, %0, %2
    %8: i32[] = add %0, %2
    return %8, %7
  }
  return %3
})"},
    {"WhatReadsAnArrayComesBeforeWhatUpdatesIt", R"(
graph main(%0: S, %1: i32[2,2], %2: i32[]) {
  %3: S = multiply %0, %0
  %4: S = dynamic_update_slice %3, %1, %2, %2
  %5: S = negate %3
  %6: S = dynamic_update_slice %0, %1, %2, %2
  %7: i32[] = constant 1
  %8: S = dynamic_update_slice %6, %1, %7, %7
  return %4, %5, %6, %8
})"},
    {"AnUpdateTwiceFromOneArray", R"(
graph main(%0: S, %1: i32[1,2]) {
  %2: i32[] = constant 0
  %3: i32[], %4: S, %5: S = while %2, %0, %0 graph c(%0: i32[], %1: S, %2: S) {
    %3: i32[] = constant 2
    %4: bool[] = compare %0, %3 direction=le
    return %4
  } graph b(%0: i32[], %1: S, %2: S) {
    %3: i32[] = constant 1
    %4: i32[] = add %0, %3
    %5: i32[1,2] = dynamic_slice %2, %0, %4 sizes=[1,2]
    %6: S = dynamic_update_slice %1, %5, %4, %0
    %7: S = dynamic_update_slice %1, %5, %0, %4
    return %4, %6, %7
  }
  return %4, %5
})"},
};

inline void PrintTo(const Flow& flow, std::ostream* out) { *out << flow.name; }

inline std::string with_type(std::string text, const std::string& type) {
  for (std::size_t at = 0; (at = text.find('S', at)) != std::string::npos; at += type.size()) {
    text.replace(at, 1, type);
  }
  return text;
}

}  // namespace anabranch
