// LowerTarget: what lowering is told about the device that kernels are for.
#pragma once

#include "codegen/lower/column_sums.h"
#include "codegen/lower/kept_rows.h"
#include "codegen/lower/product_tiles.h"

namespace anabranch {

struct LowerTarget {
  ColumnSums column_sums;
  ProductTiles product_tiles;
  KeptRows kept_rows = {};
};

}  // namespace anabranch
