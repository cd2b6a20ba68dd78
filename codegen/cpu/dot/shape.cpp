#include "codegen/cpu/dot/shape.h"

#include <algorithm>
#include <utility>

namespace anabranch::cpu {
namespace {

// Fewer rows make oneDNN pack the right operand too often; more leave the cache before the
// epilogue.
constexpr std::int64_t tile_rows = 128;
constexpr std::int64_t most_tile_rows = 256;
constexpr std::int64_t tile_columns = 512;

constexpr std::int64_t elements_to_share = 256 * 256;
/// With more rows there are eight tiles of twice as many.
constexpr std::int64_t shared_tile_rows = 64, many_rows = 512;

/// Multiplications of 20 to 40 us.
constexpr std::int64_t worthwhile_products = 2'000'000;

std::int64_t parts(std::int64_t size, std::int64_t part) { return (size + part - 1) / part; }

}  // namespace

DotShape dot_shape(const Type& lhs, const Type& rhs, const DotAttributes& attributes,
                   bool is_symmetric, bool may_share) {
  DotShape shape{
      .left = left_operand(lhs, attributes), .right = right_operand(rhs, attributes), .tile = {}};
  if (size_of(shape.left.free) == 1) std::swap(shape.left, shape.right);
  shape.batches = size_of(shape.left.batch);
  shape.rows = size_of(shape.left.free);
  shape.columns = size_of(shape.right.free);
  shape.inner = size_of(shape.left.contracting);
  if (shape.batches * shape.rows * shape.columns == 0) {
    shape.tiles = 0;
    return shape;
  }

  shape.tile = {.batches = 1, .rows = shape.rows, .columns = shape.columns};
  shape.is_symmetric = is_symmetric;
  shape.shares_right = may_share && !is_symmetric && shape.batches == 1 &&
                       shape.inner * shape.columns >= elements_to_share && shape.inner >= 64 &&
                       shape.columns >= 64;
  if (shape.shares_right && shape.rows < many_rows) {
    shape.tile.rows = shared_tile_rows;
  } else if (shape.shares_right) {
    // Eight tiles where rows suffice: threads of which one is held up finish together.
    const std::int64_t eighth = parts(shape.rows, 8 * 64) * 64;
    shape.tile.rows = std::clamp(eighth, tile_rows, most_tile_rows);
  } else if (shape.rows > tile_rows) {
    shape.tile.rows = tile_rows;
  } else if (shape.batches > 1 && folded(shape.left.batch) && folded(shape.right.batch)) {
    shape.tile.batches = std::min(shape.batches, std::max<std::int64_t>(1, tile_rows / shape.rows));
  } else if (shape.batches == 1) {
    // Eight tiles, too, where each is work enough for a thread.
    const std::int64_t worthwhile = parts(worthwhile_products, shape.rows * shape.inner + 1);
    const std::int64_t wanted = std::max(parts(shape.columns, 8), worthwhile);
    shape.tile.columns = std::min({shape.columns, tile_columns, parts(wanted, 64) * 64});
  }
  shape.tiles = parts(shape.batches, shape.tile.batches) * parts(shape.rows, shape.tile.rows) *
                parts(shape.columns, shape.tile.columns);
  return shape;
}

DotTile DotShape::at(std::int64_t index) const {
  DotTile at = tile;
  const std::int64_t across = parts(columns, tile.columns);
  const std::int64_t down = parts(rows, tile.rows);
  at.column = index % across * tile.columns;
  std::int64_t row = index / across % down;
  // A small tile, then the largest, and so on: any two that follow each other take as long.
  if (is_symmetric) row = row % 2 == 0 ? row / 2 : down - 1 - row / 2;
  at.row = row * tile.rows;
  at.batch = index / across / down * tile.batches;
  at.columns = std::min(tile.columns, columns - at.column);
  at.rows = std::min(tile.rows, rows - at.row);
  if (is_symmetric) at.columns = at.row + at.rows;
  at.batches = std::min(tile.batches, batches - at.batch);
  return at;
}

}  // namespace anabranch::cpu
