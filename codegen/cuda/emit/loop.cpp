// The loops of emit_kernel: over the grid, shared out among a group, in packs.
#include <algorithm>

#include "codegen/cuda/emit/kernel_emitter.h"
#include "codegen/kernel/blocked_sums.h"

namespace anabranch::cuda {
namespace {

constexpr std::size_t most_pack_bytes = 16;
constexpr std::size_t most_tiles = 4;
constexpr std::int64_t most_tile_bytes = 40 << 10;  // of shared memory

}  // namespace

bool KernelEmitter::is_leaf(const Loop& loop) const {
  return std::none_of(loop.body.begin(), loop.body.end(), [&](Ref ref) {
    return std::holds_alternative<Loop>(kernel_[ref].operation);
  });
}

void KernelEmitter::emit(Ref ref, const Loop& loop) {
  if (loop.parallel) return map_.in_tiles() ? tile_loop(ref, loop) : grid_loop(ref, loop);
  begin_folds(loop);
  const bool shares_out = map_.members > 1 && !is_shared_out_ && is_leaf(loop);
  const std::string& name = index_.name(ref);
  if (const Reduction* condition = loop.condition()) {
    text_.open("while ({}) {{", folds_[condition->results[0].index][0]);
    body(loop);
    text_.close();
  } else if (shares_out || loop.vector_width > 1) {
    packed_loop(ref, loop, shares_out);
  } else {
    const std::vector<std::int64_t> blocks = sum_blocks(kernel_, loop, loop.extent);
    const Range range = open_blocks(loop, blocks, 1);
    text_.open("for (index {0} = {1}; {0} < {2}; ++{0}) {{", name, range.first, range.end);
    body(loop);
    text_.close();
    close_blocks(loop, blocks.size());
  }
  end_folds(loop, shares_out);
}

void KernelEmitter::body(const Loop& loop) {
  block(loop.body);
  fold(loop);
}

void KernelEmitter::grid_loop(Ref ref, const Loop& loop) {
  const std::string& name = index_.name(ref);
  const int groups = map_.groups;
  if (map_.in_columns) {
    // Whole warps come to every barrier: beyond the end they do the last one again, and keep it
    // to themselves.
    if (map_.in_one_block()) {
      text_.open("for (index first = 0; first < {1}; first += {0}) {{", groups, loop.extent);
    } else {
      text_.open(
          "for (index first = index(blockIdx.x) * {0}; first < {1}; first += index(gridDim.x) * "
          "{0}) {{",
          groups, loop.extent);
    }
    text_.line("const bool is_mine = first + group < {};", loop.extent);
    text_.line("const index {} = is_mine ? first + group : {};", name, loop.extent - 1);
  } else if (map_.in_one_block()) {
    text_.open("for (index {0} = {1}; {0} < {2}; {0} += {3}) {{", name, groups == 1 ? "0" : "group",
               loop.extent, groups);
  } else if (groups == 1) {
    text_.open("for (index {0} = blockIdx.x; {0} < {1}; {0} += gridDim.x) {{", name, loop.extent);
  } else {
    // One turn at most: unrolled, it would only take registers, and spill on sm_90.
    if (loop.extent <= groups) text_.line("#pragma unroll 1");
    text_.open(
        "for (index {0} = index(blockIdx.x) * {1} + group; {0} < {2}; {0} += index(gridDim.x) * "
        "{1}) {{",
        name, groups, loop.extent);
  }
  block(loop.body);
  if (scratch_.any(Storage::shared)) sync();
  text_.close();
}

// Packs of consecutive iterations, shared out among the members or all by this thread.
void KernelEmitter::packed_loop(Ref ref, const Loop& loop, bool shares_out) {
  const int width = loop.vector_width;
  const std::int64_t step = std::int64_t{width} * (shares_out ? map_.members : 1);
  const bool is_one_pack = !shares_out && loop.extent == width;
  const std::string first = is_one_pack ? "0" : index_.name(ref) + (width > 1 ? "0" : "");
  const std::string own = !shares_out ? "0"
                          : width > 1 ? fmt::format("member * {}", width)
                                      : "member";
  const bool is_by_turn =
      scratch_.touches(loop, Storage::registers);  // so short that nothing is blocked
  std::vector<std::int64_t> blocks;
  if (is_by_turn) {
    text_.line("#pragma unroll");
    text_.open("for (int turn = 0; turn < {}; ++turn) {{", map_.turns(loop.extent, width));
    text_.line("const index {} = turn * {} + {};", first, step, own);
    if (loop.extent % step != 0) text_.line("if ({} >= {}) break;", first, loop.extent);
  } else if (!is_one_pack) {
    blocks = sum_blocks(kernel_, loop, (loop.extent + step - 1) / step, width);
    const Range range = open_blocks(loop, blocks, step);
    const std::string begin = range.first == "0" ? own
                              : own == "0"       ? range.first
                                                 : range.first + " + " + own;
    text_.open("for (index {0} = {1}; {0} < {2}; {0} += {3}) {{", first, begin, range.end, step);
  }
  is_shared_out_ = shares_out;
  loop_at_hand_ = &loop;
  width > 1 ? packs(ref, loop, first) : body(loop);
  loop_at_hand_ = nullptr;
  is_shared_out_ = false;
  if (!is_one_pack) text_.close();
  close_blocks(loop, blocks.size());
  if (shares_out && scratch_.stores(loop, Storage::shared)) sync();
}

// Loads at once what is next to each other, works on one iteration after the other, and stores
// at once.
void KernelEmitter::packs(Ref ref, const Loop& loop, const std::string& first) {
  const std::string name = index_.rename(ref, first);
  struct Stored {
    std::string place, pack;
  };
  std::vector<Stored> stores;
  for (Ref inner : loop.body) {
    if (auto* load = std::get_if<Load>(&kernel_[inner].operation)) {
      if (load->mask || !is_needed_[inner.index]) continue;
      if (!is_pack(ref, loop, load->buffer, load->index)) continue;
      const std::string pack = new_name();
      text_.line("const auto {} = load<{}>(&{});", pack, loop.vector_width,
                 element(load->buffer, load->index));
      names_[inner.index] = pack + "[lane]";
    } else if (auto* store = std::get_if<Store>(&kernel_[inner].operation)) {
      if (!is_pack(ref, loop, store->buffer, store->index)) continue;
      const std::string pack = new_name();
      text_.line("Pack<{}, {}> {};", type_name(kernel_.buffers[store->buffer].dtype),
                 loop.vector_width, pack);
      packs_[inner.index] = pack;
      stores.push_back({element(store->buffer, store->index), pack});
    }
  }
  index_.rename(ref, name);
  text_.line("#pragma unroll");
  text_.open("for (int lane = 0; lane < {}; ++lane) {{", loop.vector_width);
  const std::string place = first == "0" ? "lane" : first + " + lane";
  text_.line_if_used(name, fmt::format("const index {} = {};", name, place), [&] { body(loop); });
  text_.close();
  for (const Stored& store : stores) text_.line("store(&{}, {});", store.place, store.pack);
}

// Whether a pack of iterations touches one aligned piece of memory, whose place is known before the
// loop's body.
bool KernelEmitter::is_pack(Ref ref, const Loop& loop, std::uint32_t buffer, Index at) {
  const int width = loop.vector_width;
  const std::size_t bytes =
      byte_size(kernel_.buffers[buffer].dtype) * static_cast<std::size_t>(width);
  if (scratch_.storage(buffer) == Storage::registers || bytes > most_pack_bytes) return false;
  return index_.is_pack(at, ref, width);
}

// One tile after the other. What is across it comes through shared memory, one column wider than
// it need be, so that neither way hits one bank twice.
void KernelEmitter::tile_loop(Ref ref, const Loop& loop) {
  const auto inner_loop = [&](const Loop& around) {
    return *std::find_if(around.body.begin(), around.body.end(), [&](Ref inside) {
      return std::holds_alternative<Loop>(kernel_[inside].operation);
    });
  };
  const Ref rows = inner_loop(loop);
  const Loop& row_loop = std::get<Loop>(kernel_[rows].operation);
  const Ref columns = inner_loop(row_loop);
  const Loop& column_loop = std::get<Loop>(kernel_[columns].operation);
  const std::string &row = index_.name(rows), &column = index_.name(columns);
  const std::int64_t tiles = map_.tile_rows * map_.tile_columns;

  std::vector<std::pair<Ref, std::string>> crossing;
  std::int64_t bytes = 0;
  for (Ref inside : column_loop.body) {
    const auto* load = std::get_if<Load>(&kernel_[inside].operation);
    if (!load || load->mask || crossing.size() == most_tiles) continue;
    if (index_.is_row(load->index, columns) || !index_.is_row(load->index, rows)) continue;
    const std::int64_t tile = ThreadMap::tile_size * (ThreadMap::tile_size + 1) *
                              static_cast<std::int64_t>(byte_size(kernel_[inside].dtype));
    if (bytes + tile > most_tile_bytes) continue;
    bytes += tile;
    crossing.emplace_back(inside, fmt::format("tile{}", crossing.size()));
    text_.line("__shared__ {} {}[{}][{}];", type_name(kernel_[inside].dtype),
               crossing.back().second, ThreadMap::tile_size, ThreadMap::tile_size + 1);
  }
  text_.open("for (index tile = {}; tile < {}; tile += {}) {{",
             map_.in_one_block() ? "0" : "blockIdx.x", loop.extent * tiles,
             map_.in_one_block() ? "1" : "gridDim.x");
  if (loop.extent > 1) text_.line("const index {} = tile / {};", index_.name(ref), tiles);
  text_.line("const index {0}0 = tile / {1} % {2} * {4}, {3}0 = tile % {1} * {4};", row,
             map_.tile_columns, map_.tile_rows, column, ThreadMap::tile_size);
  block_without(loop.body, rows);
  if (!crossing.empty()) {
    text_.open("for (index r = member; r < {}; r += {}) {{", ThreadMap::tile_size, map_.members);
    text_.line("const index {0} = {0}0 + group, {1} = {1}0 + r;", row, column);
    text_.open("if ({} < {} && {} < {}) {{", row, row_loop.extent, column, column_loop.extent);
    for (const auto& [ref, name] : crossing) {
      const auto& load = std::get<Load>(kernel_[ref].operation);
      text_.line("{}[r][group] = {};", name, element(load.buffer, load.index));
      names_[ref.index] = name + "[group][r]";
    }
    text_.close();
    text_.close();
    sync();
  }
  text_.open("for (index r = member; r < {}; r += {}) {{", ThreadMap::tile_size, map_.members);
  text_.line("const index {0} = {0}0 + r, {1} = {1}0 + group;", row, column);
  text_.line("if ({} >= {} || {} >= {}) continue;", row, row_loop.extent, column,
             column_loop.extent);
  is_shared_out_ = true;
  block_without(row_loop.body, columns);
  block(column_loop.body);
  is_shared_out_ = false;
  text_.close();
  if (!crossing.empty()) sync();
  text_.close();
}

void KernelEmitter::block_without(const Block& block, Ref loop) {
  Block rest = block;
  std::erase(rest, loop);
  this->block(rest);
}

void KernelEmitter::sync() {
  const bool is_one_warp = map_.members == 32 && !map_.in_columns;
  text_.line("{}", is_one_warp ? "__syncwarp();" : "__syncthreads();");
}

}  // namespace anabranch::cuda
