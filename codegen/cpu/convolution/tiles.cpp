#include "codegen/cpu/convolution/tiles.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "codegen/cpu/dot/packed_right.h"

namespace anabranch::cpu {
namespace {

using Kind = ConvolutionForm::Kind;

constexpr double operations_per_ns = 150;
constexpr double least_operations = 2e6;   // of a tile, unless the whole has fewer
constexpr std::int64_t wanted_tiles = 16;  // for the threads of a large machine to share
// Parts of images share rows of their operand, so each costs more than its share.
constexpr std::int64_t wanted_tiles_in_rows = 8;
constexpr std::int64_t feature_block = 16;  // features that the library computes together

std::int64_t divided_up(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }

// The stride along a single image is anything: the library's fast code wants that of a dense array.
void make_dense(ConvolutionView& view) {
  std::int64_t extent = 1;
  for (std::size_t i = 1; i < view.sizes.size(); ++i) {
    extent = std::max(extent, view.sizes[i] * view.strides[i]);
  }
  view.strides[0] = extent;
}

// Rows that begin in the padding alone have no element of their own.
bool has_elements_everywhere(const ConvolutionTiles& tiles) {
  for (std::int64_t i = 0; i < tiles.extent(); ++i) {
    const ConvolutionPart part = tiles.part(tiles.at(i));
    if (part.form.lhs.sizes[2] < 1) return false;
  }
  return true;
}

void cut(ConvolutionTiles& tiles, double operations) {
  const auto most = static_cast<std::int64_t>(std::max(1.0, operations / least_operations));
  const std::int64_t wanted = std::min(most, wanted_tiles);
  if (tiles.form.kind == Kind::backward_filters) {
    const std::int64_t pieces = divided_up(std::min<std::int64_t>(wanted, 4), tiles.splits);
    tiles.tile_batch = std::min(
        tiles.batch, divided_up(divided_up(tiles.batch, pieces), feature_block) * feature_block);
    return;
  }
  tiles.tile_batch = divided_up(tiles.batch, std::min(wanted, tiles.batch));
  const std::int64_t pieces = divided_up(tiles.batch, tiles.tile_batch);
  const std::int64_t wanted_in_rows = std::min(most, wanted_tiles_in_rows);
  if (!tiles.has_rows() || pieces >= wanted_in_rows) return;
  const std::int64_t of_each = std::min(wanted_in_rows / pieces, tiles.rows);
  tiles.tile_rows = divided_up(tiles.rows, of_each);
  if (!has_elements_everywhere(tiles)) tiles.tile_rows = tiles.rows;
}

void make_whole(ConvolutionTiles& tiles) {
  tiles.tile_batch = tiles.batch;
  tiles.tile_rows = tiles.rows;
}

// Multiplications and additions, of features in whole vectors: six take as long as sixteen. Where
// each group is one feature, the groups are the vector.
double computed_operations(const ConvolutionForm& form, const ConvolutionStep& step) {
  double operations = 2.0 * static_cast<double>(step.result.size());
  const std::vector<std::int64_t>& of_filters = step.attributes.rhs_axes;
  for (std::size_t i = 1; i < of_filters.size(); ++i) {
    operations *= static_cast<double>(step.rhs.shape[static_cast<int>(of_filters[i])]);
  }
  operations /= static_cast<double>(step.attributes.feature_splits);
  const std::int64_t groups = step.attributes.groups;
  const std::int64_t all = form.result.sizes[form.kind == Kind::backward_filters ? 0 : 1];
  const std::int64_t features = all > groups ? all / groups : all;
  return operations * static_cast<double>(divided_up(features, feature_block) * feature_block) /
         static_cast<double>(features);
}

// A tile is made of whole iterations of the epilogue.
void fit_epilogue(ConvolutionTiles& tiles, const ConvolutionStep& step, std::int64_t extent) {
  const std::int64_t per_iteration = step.result.size() / std::max<std::int64_t>(1, extent);
  const auto fits = [&] {
    for (std::int64_t i = 0; i < tiles.extent(); ++i) {
      const Runs runs = runs_of(tiles.box(tiles.at(i), step), step.result.shape);
      if (per_iteration == 0 || runs.length % per_iteration != 0) return false;
    }
    return true;
  };
  if (fits()) return;
  tiles.tile_rows = tiles.rows;
  if (!fits()) make_whole(tiles);
}

}  // namespace

std::int64_t ConvolutionTiles::extent() const {
  return splits * divided_up(batch, tile_batch) * divided_up(rows, tile_rows);
}

std::int64_t ConvolutionTiles::grain() const {
  return 1 +
         static_cast<std::int64_t>(worthwhile_ns * operations_per_ns / std::max(1.0, operations));
}

ConvolutionTile ConvolutionTiles::at(std::int64_t index) const {
  const std::int64_t pieces = divided_up(rows, tile_rows);
  const std::int64_t in_split = extent() / splits;
  ConvolutionTile tile;
  tile.split = index / in_split;
  index %= in_split;
  tile.first = index / pieces * tile_batch;
  tile.count = std::min(tile_batch, batch - tile.first);
  tile.row = index % pieces * tile_rows;
  tile.rows = std::min(tile_rows, rows - tile.row);
  return tile;
}

ConvolutionPart ConvolutionTiles::part(const ConvolutionTile& tile) const {
  ConvolutionPart made{form};
  ConvolutionForm& part = made.form;
  if (form.kind == Kind::backward_filters) {
    const std::int64_t images = form.lhs.sizes[0] / splits;
    part.lhs.sizes[0] = part.rhs.sizes[0] = images;
    part.rhs.sizes[1] = tile.count;
    part.result.sizes[0] = tile.count;
    made.lhs_offset = tile.split * images * form.lhs.strides[0];
    made.rhs_offset = tile.split * images * form.rhs.strides[0] + tile.first * form.rhs.strides[1];
    made.result_offset =
        tile.split * Shape(form.result.sizes).size() + tile.first * form.result.strides[0];
    return made;
  }
  part.lhs.sizes[0] = part.result.sizes[0] = tile.count;
  made.lhs_offset = tile.first * form.lhs.strides[0];
  made.result_offset = tile.first * form.result.strides[0];
  if (tile.rows == rows) return made;
  const std::size_t spatial = form.strides.size();
  const std::int64_t window = form.rhs.sizes[form.rhs.sizes.size() - spatial];
  // A gradient's padding is what the window leaves of that of the rows.
  const std::int64_t reach = (window - 1) * form.dilations[0];
  const bool is_gradient = form.kind == Kind::backward_data;
  const std::int64_t low = is_gradient ? reach - form.low[0] : form.low[0];
  const std::int64_t begin = tile.row * form.strides[0] - low;
  const std::int64_t end = begin + (tile.rows - 1) * form.strides[0] + reach + 1;
  const std::int64_t first = std::max<std::int64_t>(begin, 0);
  const std::int64_t last = std::min(end, form.lhs.sizes[2]);
  part.low[0] = is_gradient ? reach - (first - begin) : first - begin;
  part.high[0] = is_gradient ? reach - (end - last) : end - last;
  part.lhs.sizes[2] = last - first;
  part.result.sizes[2] = tile.rows;
  made.lhs_offset += first * form.lhs.strides[2];
  made.result_offset += tile.row * form.result.strides[2];
  if (tile.count == 1) {
    make_dense(part.lhs);
    make_dense(part.result);
  }
  return made;
}

ResultBox ConvolutionTiles::box(const ConvolutionTile& tile, const ConvolutionStep& step) const {
  const Shape& shape = step.result.shape;
  const std::vector<std::int64_t>& axes = step.attributes.result_axes;
  ResultBox box{std::vector<std::int64_t>(shape.sizes().size(), 0), {shape.begin(), shape.end()}};
  const auto set = [&](std::int64_t axis, std::int64_t begin, std::int64_t size) {
    box.begin[axis_of(axis)] = begin;
    box.sizes[axis_of(axis)] = size;
  };
  if (splits > 1) box.begin[0] = tile.split, box.sizes[0] = 1;
  set(axes[form.kind == Kind::backward_filters ? 1 : 0], tile.first, tile.count);
  if (has_rows()) set(axes[2], tile.row, tile.rows);
  return box;
}

ConvolutionTiles convolution_tiles(const ConvolutionStep& step,
                                   std::optional<std::int64_t> epilogue_extent) {
  ConvolutionTiles tiles{form_of(step).value()};
  tiles.batch = tiles.form.result.sizes[0];
  tiles.splits = step.attributes.feature_splits;
  tiles.rows = tiles.has_rows() ? tiles.form.result.sizes[2] : 1;
  make_whole(tiles);
  const double operations = computed_operations(tiles.form, step);
  cut(tiles, operations);
  if (epilogue_extent) fit_epilogue(tiles, step, *epilogue_extent);
  tiles.operations = operations / static_cast<double>(tiles.extent());
  return tiles;
}

bool has_tiles_of_one_run(const ConvolutionStep& step) {
  const ConvolutionTiles tiles = convolution_tiles(step, std::nullopt);
  if (tiles.tile_rows == tiles.rows) return true;
  return runs_of(tiles.box(tiles.at(0), step), step.result.shape).count == 1;
}

Runs runs_of(const ResultBox& box, const Shape& shape) {
  Runs runs;
  bool is_whole = true;  // of all axes behind
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const std::int64_t size = box.sizes[static_cast<std::size_t>(axis)];
    (is_whole ? runs.length : runs.count) *= size;
    is_whole = is_whole && size == shape[axis];
  }
  return runs;
}

std::int64_t run_position(const ResultBox& box, const Shape& shape, std::int64_t index) {
  // The axes before the run's are counted through; the run's own begins at its box.
  const std::int64_t length = runs_of(box, shape).length;
  std::int64_t position = 0, stride = 1, rest = index * length;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const auto at = static_cast<std::size_t>(axis);
    position += (box.begin[at] + rest % box.sizes[at]) * stride;
    rest /= box.sizes[at];
    stride *= shape[axis];
  }
  return position;
}

}  // namespace anabranch::cpu
