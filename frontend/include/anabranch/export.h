// What a shared library of ours exports: what the public headers declare, and nothing else.
#pragma once

#if defined(__clang__) ? __clang_major__ < 17 : defined(__GNUC__) ? __GNUC__ < 12 : true
#error "Anabranch needs g++ 12 or newer, or clang 17 or newer"
#elif __cplusplus < 202002L
#error \
    "Anabranch needs C++20: compile with -std=c++20, or link to the CMake target anabranch::anabranch"
#endif

/// Stands in `namespace ANABRANCH_API anabranch {` of each public header. The CMake target of a
/// static library defines ANABRANCH_STATIC: then nothing is exported, and each program and shared
/// library that links to it has a copy of its own.
#ifdef ANABRANCH_STATIC
#define ANABRANCH_API
#else
#define ANABRANCH_API [[gnu::visibility("default")]]
#endif
