#include "codegen/lower/product.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "codegen/lower/chunks.h"
#include "codegen/lower/reduction_scalars.h"
#include "codegen/plan/dot_axes.h"

namespace anabranch {
namespace {

std::int64_t parts(std::int64_t size, std::int64_t part) { return (size + part - 1) / part; }

/// How a product of [rows, inner] and [inner, columns] is cut. Tiles, blocks and panels at the end
/// of the result are moved back to end with it: what they have in common with those before them is
/// computed twice.
struct Cut {
  std::int64_t block_rows = 1, panel_columns = 1;  ///< of the sums that are in registers at once
  std::int64_t blocks = 1, panels = 1;             ///< of a tile
  std::int64_t row_tiles = 1, column_tiles = 1;
};

struct ProductSizes {
  std::int64_t batches = 1, rows = 1, columns = 1, inner = 1;
  std::int64_t element_bytes = 1;
};

/// Rows of a block of which the least are computed in vain, up to half of `most`.
std::int64_t block_rows(std::int64_t rows, std::int64_t most) {
  std::int64_t best = most;
  const auto cost = [&](std::int64_t size) { return parts(rows, size) * (size + 1); };
  for (std::int64_t size = most - 1; size > most / 2; --size) {
    if (cost(size) < cost(best)) best = size;
  }
  return best;
}

/// The same of columns: whole vectors, of which `row_bytes` are three or fewer. One vector is as
/// many loads as multiplications.
std::int64_t panel_columns(const ProductSizes& sizes, const ProductTiles& tiles) {
  const std::int64_t most = tiles.row_bytes / sizes.element_bytes;
  std::int64_t best = 0;
  double least = 0;
  for (const auto& [columns, overhead] :
       {std::pair(most, 0.0), std::pair(most * 2 / 3, 0.1), std::pair(most / 3, 0.6)}) {
    if (columns > sizes.columns || columns % 4 != 0) continue;
    const double cost =
        static_cast<double>(parts(sizes.columns, columns) * columns) * (1 + overhead);
    if (best == 0 || cost < least) std::tie(best, least) = std::pair(columns, cost);
  }
  return best;
}

Cut cut(const ProductSizes& sizes, const ProductTiles& tiles) {
  Cut made;
  made.block_rows = block_rows(sizes.rows, tiles.rows);
  made.panel_columns = panel_columns(sizes, tiles);
  // In times that a block takes with a panel: to lay out a panel, and to fetch a block.
  constexpr double pack = 3, fetch = 0.2;
  constexpr std::int64_t least_blocks = 8;
  const std::int64_t blocks = parts(sizes.rows, made.block_rows);
  const std::int64_t panels = parts(sizes.columns, made.panel_columns);
  const std::int64_t panel_bytes = sizes.inner * made.panel_columns * sizes.element_bytes;
  const std::int64_t most = std::clamp<std::int64_t>(tiles.packed_bytes / panel_bytes, 1, panels);
  double least = -1;
  for (std::int64_t row_tiles = 1; row_tiles == 1 || blocks >= row_tiles * least_blocks;
       row_tiles *= 2) {
    for (std::int64_t of_tile = 1; of_tile <= most; ++of_tile) {
      const std::int64_t column_tiles = parts(panels, of_tile);
      const auto blocks_of_tile = static_cast<double>(parts(blocks, row_tiles));
      const auto panels_of_tile = static_cast<double>(of_tile);
      const auto count = static_cast<double>(sizes.batches * row_tiles * column_tiles);
      const double tile = panels_of_tile * (blocks_of_tile + pack) + fetch * blocks_of_tile;
      // The last tile may be alone at the end.
      const double cost = tile * (count + 1);
      if (least >= 0 && cost >= least) continue;
      least = cost;
      made.blocks = parts(blocks, row_tiles);
      made.panels = of_tile;
      made.row_tiles = row_tiles;
      made.column_tiles = column_tiles;
    }
  }
  return made;
}

/// Whether sums read it a row after the other, along what is contracted.
bool follows_inner(const DotOperand& operand) {
  const auto axis = folded(operand.contracting);
  return axis && axis->stride == 1;
}

ProductSizes sizes_of(const DotOperand& left, const DotOperand& right) {
  return {size_of(left.batch), size_of(left.free), size_of(right.free), size_of(left.contracting),
          static_cast<std::int64_t>(byte_size(left.dtype))};
}

class ProductLowering {
 public:
  ProductLowering(const DotRegion& dot, const std::string& name, const ProductTiles& tiles)
      : dot_(dot),
        left_(left_operand(dot_.operand(0), attributes())),
        right_(right_operand(dot_.operand(1), attributes())),
        sizes_(sizes_of(left_, right_)),
        cut_(cut(sizes_, tiles)),
        batch_(axes(0, dot_.first_left())),
        rows_(axes(dot_.first_left(), dot_.first_right())),
        columns_(axes(dot_.first_right(), dot_.first_contracting())),
        inner_(axes(dot_.first_contracting(), dot_.rank())),
        writer_(dot.graph(), name, no_loops_, dot.rank()),
        builder_(writer_.builder) {}

  Lowered run() {
    const Graph& region = dot_.graph();
    writer_.add_outputs(region);
    packed_ = scratch(cut_.panels * sizes_.inner * cut_.panel_columns);
    if (dot_.has_epilogue()) sums_ = scratch(cut_.block_rows * cut_.panel_columns);

    const std::vector<std::int64_t> tiles = {sizes_.batches, cut_.column_tiles, cut_.row_tiles};
    const Ref tile = builder_.open_loop(Shape(tiles).size());
    const std::vector<Index> at = table().unflatten(builder_.index_of(tile), tiles);
    writer_.set_axes(batch_, at[0]);
    column_tile_ = at[1];
    row_tile_ = at[2];
    pack_right();
    multiply();
    builder_.close_loop();

    Lowered lowered;
    KernelCall& call = lowered.calls.emplace_back();
    call.kernel = builder_.take();
    for (const Lanes& lanes : lanes_) {
      std::get<Loop>(call.kernel[lanes.loop].operation).lanes = lanes.kind;
    }
    call.add_arguments(KernelArgument::Kind::input, region.parameter_count());
    call.add_arguments(KernelArgument::Kind::output, region.outputs().size());
    return lowered;
  }

 private:
  struct Lanes {
    Ref loop;
    Loop::Lanes kind = Loop::Lanes::marked;
  };

  const DotAttributes& attributes() const { return dot_.node().as<DotAttributes>(); }
  IndexTable& table() { return builder_.indices(); }

  AxisGroup axes(int first, int end) const {
    AxisGroup group;
    for (int axis = first; axis < end; ++axis) {
      group.axes.push_back(axis);
      group.sizes.push_back(dot_.sizes()[static_cast<std::size_t>(axis)]);
      group.extent *= group.sizes.back();
    }
    return group;
  }

  std::uint32_t scratch(std::int64_t size) {
    return builder_.add_buffer(
        {"scratch" + std::to_string(scratches_++), dot_.dtype(), size, Access::scratch});
  }

  /// None of a single turn.
  Index open(std::int64_t extent) {
    opened_.push_back(extent > 1);
    return extent > 1 ? builder_.index_of(builder_.open_loop(extent)) : table().constant(0);
  }
  Index open_lanes(std::int64_t extent, Loop::Lanes kind = Loop::Lanes::marked) {
    opened_.push_back(true);
    lanes_.push_back({builder_.open_loop(extent), kind});
    return builder_.index_of(lanes_.back().loop);
  }
  void close(int loops) {
    for (int i = 0; i < loops; ++i) {
      if (opened_.back()) builder_.close_loop();
      opened_.pop_back();
    }
  }

  /// Places of the result along the rows and the columns.
  Index row(Index block, Index inside) {
    const Index first = table().add(table().scale(row_tile_, cut_.blocks), block);
    return place(first, cut_.block_rows, sizes_.rows, inside);
  }
  Index column(Index panel, Index inside) {
    const Index first = table().add(table().scale(column_tile_, cut_.panels), panel);
    return place(first, cut_.panel_columns, sizes_.columns, inside);
  }
  /// In part `number` of an axis, of `size`: the last one ends with the axis.
  Index place(Index number, std::int64_t size, std::int64_t extent, Index inside) {
    return table().add(table().least(table().scale(number, size), extent - size), inside);
  }
  Index packed_place(Index panel, Index inner, Index column) {
    const Index row = table().add(table().scale(panel, sizes_.inner), inner);
    return table().add(table().scale(row, cut_.panel_columns), column);
  }
  void store_packed(Index panel, Index inner, Index inside) {
    writer_.set_axes(columns_, column(panel, inside));
    writer_.set_axes(inner_, inner);
    builder_.store(packed_, packed_place(panel, inner, inside), dot_.element(writer_, 1));
  }

  // What is consecutive in memory becomes lanes. Where that is along `inner`, several columns at
  // once are written as squares.
  void pack_right() {
    constexpr std::int64_t square = 64;
    const std::int64_t at_once =
        std::min(square / static_cast<std::int64_t>(byte_size(dot_.dtype())), cut_.panel_columns);
    if (!follows_inner(right_) || cut_.panel_columns % at_once != 0) {
      const Index inner = open(sizes_.inner), panel = open(cut_.panels);
      store_packed(panel, inner, open_lanes(cut_.panel_columns));
    } else {
      const Index panel = open(cut_.panels), group = open(cut_.panel_columns / at_once);
      const Index inner = open_lanes(sizes_.inner);
      for (std::int64_t i = 0; i < at_once; ++i) {
        store_packed(panel, inner, table().add(table().scale(group, at_once), i));
      }
    }
    close(3);
  }

  void multiply() {
    block_ = open(cut_.blocks);
    const Index panel = open(cut_.panels);
    const Index inside = open_lanes(cut_.panel_columns, Loop::Lanes::unrolled);
    writer_.set_axes(columns_, column(panel, inside));
    const std::vector<Ref> sums = add_up(panel, inside);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const Index in_block = table().constant(static_cast<std::int64_t>(i));
      if (dot_.has_epilogue()) {
        builder_.store(sums_, sum_place(in_block, inside), sums[i]);
      } else {
        store(row(block_, in_block), sums[i]);
      }
    }
    close(1);
    if (dot_.has_epilogue()) run_epilogue(panel);
    close(2);
  }

  std::vector<Ref> add_up(Index panel, Index inside) {
    const Combiner& combiner = dot_.combiner();
    const std::vector<Ref> initial =
        initial_scalars(combiner, dot_.node(), writer_.producers, builder_);
    const Index inner = builder_.index_of(builder_.open_loop(sizes_.inner));
    writer_.set_axes(inner_, inner);
    // The panel comes from the second cache, as fast as it is told what will be read.
    constexpr std::int64_t rows_ahead = 8;
    const Ref right = builder_.load(packed_, packed_place(panel, inner, inside), {},
                                    rows_ahead * cut_.panel_columns);
    std::vector<Reduction> reductions;
    for (std::int64_t i = 0; i < cut_.block_rows; ++i) {
      writer_.set_axes(rows_, row(block_, table().constant(i)));
      const Ref left = dot_.element(writer_, 0);
      const Ref value = builder_.compute(Op::multiply, dot_.dtype(), {left, right});
      reductions.push_back(make_reduction(combiner, dot_.node(), initial, {value}, builder_));
    }
    reductions = builder_.close_loop(std::move(reductions));
    std::vector<Ref> sums;
    for (const Reduction& reduction : reductions) sums.push_back(reduction.results[0]);
    return sums;
  }

  Index sum_place(Index in_block, Index inside) {
    return table().add(table().scale(in_block, cut_.panel_columns), inside);
  }

  // Over sums that are cached: its instructions are there once, and not for each row.
  void run_epilogue(Index panel) {
    const Index in_block = open(cut_.block_rows);
    const Index inside = open_lanes(cut_.panel_columns);
    writer_.set_axes(columns_, column(panel, inside));
    store(row(block_, in_block), builder_.load(sums_, sum_place(in_block, inside)));
    close(2);
  }

  void store(Index row, Ref sum) {
    writer_.set_axes(rows_, row);
    const auto place = writer_.domain.begin();
    dot_.store(writer_, {place, place + dot_.first_contracting()}, sum);
  }

  const DotRegion& dot_;
  const DotOperand left_, right_;
  const ProductSizes sizes_;
  const Cut cut_;
  const AxisGroup batch_, rows_, columns_, inner_;
  const Nest no_loops_;
  GroupWriter writer_;
  KernelBuilder& builder_;
  std::vector<Lanes> lanes_;
  std::vector<bool> opened_;  // which of the loops at hand there are
  int scratches_ = 0;
  std::uint32_t packed_ = 0, sums_ = 0;
  Index column_tile_, row_tile_, block_;  // at hand
};

}  // namespace

bool is_tiled(const Type& lhs, const Type& rhs, const DotAttributes& attributes,
              const ProductTiles& tiles) {
  const std::size_t bytes = byte_size(lhs.dtype);
  if (tiles.rows == 0 || lhs.dtype != rhs.dtype || is_complex(lhs.dtype)) return false;
  if (bytes != 4 && bytes != 8) return false;
  const DotOperand left = left_operand(lhs, attributes), right = right_operand(rhs, attributes);
  if (!folded(left.contracting) || !folded(right.contracting)) return false;
  const ProductSizes sizes = sizes_of(left, right);
  constexpr std::int64_t least_rows = 32, least_inner = 16, least_right = 1024;
  const std::int64_t right_size = sizes.inner * sizes.columns;
  if (sizes.rows < least_rows || sizes.inner < least_inner || right_size < least_right) {
    return false;
  }
  // The nearest cache holds the right operand, whose rows are vectors as they are.
  constexpr std::int64_t nearest_cache_bytes = 32 << 10, own_cache_bytes = 256 << 10;
  if (!follows_inner(right) && right_size * sizes.element_bytes <= nearest_cache_bytes)
    return false;
  // Rows of the left one that are columns in memory may lie pages apart.
  const std::int64_t left_bytes = sizes.rows * sizes.inner * sizes.element_bytes;
  if (!follows_inner(left) && left_bytes > own_cache_bytes) return false;
  const std::int64_t columns = panel_columns(sizes, tiles);
  return columns > 0 && sizes.inner * columns * sizes.element_bytes <= 2 * tiles.packed_bytes;
}

Lowered lower_product(const DotRegion& dot, const std::string& name, const ProductTiles& tiles) {
  return ProductLowering(dot, name, tiles).run();
}

}  // namespace anabranch
