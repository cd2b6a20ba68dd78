// How a convolution is cut for several threads, and which layouts its library reads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/cpu/convolution/form.h"

namespace anabranch::cpu {

/// Part of a result: of its batch and of the rows of its first spatial axis; of its features where
/// the form is backward_filters, which the result's batch is not cut in, and of the images that it
/// sums over.
struct ConvolutionTile {
  std::int64_t first = 0, count = 0;  ///< of the batch, or of the features
  std::int64_t row = 0, rows = 0;
  std::int64_t split = 0;
};

/// The convolution that computes a tile, on views that begin so many elements into the operands.
struct ConvolutionPart {
  ConvolutionForm form;
  std::int64_t lhs_offset = 0, rhs_offset = 0, result_offset = 0;
};

/// Part of the result in memory: where it begins along each of its axes, and how far it goes.
struct ResultBox {
  std::vector<std::int64_t> begin, sizes;
};

/// Sizes decide how the result is cut; the machine does not.
struct ConvolutionTiles {
  ConvolutionForm form;
  std::int64_t batch = 1, rows = 1;            ///< of the whole result
  std::int64_t tile_batch = 1, tile_rows = 1;  ///< of a tile; the last may be smaller
  std::int64_t splits = 1;                     ///< of the images that are summed over
  double operations = 0;                       ///< of a tile

  /// Whether the rows of a tile need rows of the left operand that follow each other.
  bool has_rows() const {
    using Kind = ConvolutionForm::Kind;
    return form.kind == Kind::forward || (form.kind == Kind::backward_data && form.strides[0] == 1);
  }
  std::int64_t extent() const;  ///< tiles
  std::int64_t grain() const;
  ConvolutionTile at(std::int64_t index) const;
  ConvolutionPart part(const ConvolutionTile& tile) const;
  ResultBox box(const ConvolutionTile& tile, const ConvolutionStep& step) const;
  /// Where the result has an axis of the attributes: behind the one of the splits.
  std::size_t axis_of(std::int64_t axis) const {
    return static_cast<std::size_t>(axis) + (splits > 1 ? 1 : 0);
  }
};

/// Of a convolution that has a form. `epilogue_extent` is that of the epilogue's parallel loop,
/// which runs over the result in row-major order; nothing where there is none.
ConvolutionTiles convolution_tiles(const ConvolutionStep& step,
                                   std::optional<std::int64_t> epilogue_extent);

/// Whether the elements of each tile follow each other in the result, so that the iterations of any
/// epilogue fit: not where an image is cut in rows and its features are stored before them.
bool has_tiles_of_one_run(const ConvolutionStep& step);

/// The elements of a box that follow each other in memory, and how many such runs there are.
struct Runs {
  std::int64_t count = 1, length = 1;
};
Runs runs_of(const ResultBox& box, const Shape& shape);
/// Where run `index` begins, as a row-major position in `shape`.
std::int64_t run_position(const ResultBox& box, const Shape& shape, std::int64_t index);

}  // namespace anabranch::cpu
