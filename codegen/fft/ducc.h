// Discrete Fourier transforms by ducc0 (of any lengths, in O(n log n)), on the calling thread.
//
// The source is compiled once for each instruction set, under a name for each. Only these functions
// of the objects for AVX2 and AVX-512 are visible to the linker: it could else choose their copies
// of the standard library's inline functions for the whole library, and no older CPU has those
// instructions. All sets give the same bits: lines are the lanes of vectors, and no operations
// are contracted.
#pragma once

#include "codegen/fft/lines.h"

extern "C" {
const anabranch::fft::Kernels* anabranch_fft_baseline();
const anabranch::fft::Kernels* anabranch_fft_avx2();
const anabranch::fft::Kernels* anabranch_fft_avx512();
}
