// A large product of matrices in tiles: sums of some rows and columns are in registers at once, and
// read a part of the right operand that was laid out for them (Goto, van de Geijn: "Anatomy of
// high-performance matrix multiplication", ACM TOMS 34(3), 2008; Van Zee, van de Geijn: "BLIS",
// ACM TOMS 41(3), 2015).
//
//   for i < 512, j < 480 {                 for t < 10 {                       a thread's tiles
//     sum s = for k < 256 {                  for k < 256, p < 2, c < 24 {     two panels of 24
//       x[i, k] y[k, j] }                      packed[p, k, c] = y[k, 48 t + 24 p + c] }
//     z[i, j] = s }                          for b < 64, p < 2, c < 24 {
//                                              sums s0 to s7 = for k < 256 {
//                                                x[8 b, k] packed[p, k, c], ... x[8 b + 7, k] ... }
//                                              z[8 b, 48 t + 24 p + c] = s0, ... } }
#pragma once

#include <string>

#include "anabranch/type.h"
#include "codegen/lower/dot_region.h"
#include "codegen/lower/lowered.h"
#include "codegen/lower/product_tiles.h"
#include "ir/attributes.h"

namespace anabranch {

/// Whether a dot of operands of these types is lowered in tiles: what is laid out is read often
/// enough, and a row of sums is whole vectors.
bool is_tiled(const Type& lhs, const Type& rhs, const DotAttributes& attributes,
              const ProductTiles& tiles);

/// Of a dot that is tiled.
Lowered lower_product(const DotRegion& dot, const std::string& name, const ProductTiles& tiles);

}  // namespace anabranch
