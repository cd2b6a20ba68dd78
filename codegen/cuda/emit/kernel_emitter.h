// The state of emit_kernel: the text so far and what each instruction is called in it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/cuda/emit/index_writer.h"
#include "codegen/cuda/emit/text.h"
#include "codegen/cuda/emit/thread_scratch.h"
#include "codegen/cuda/map_threads.h"

namespace anabranch::cuda {

class KernelEmitter {
 public:
  explicit KernelEmitter(const Kernel& kernel);
  std::string run();

 private:
  using Storage = ThreadScratch::Storage;

  // emit_kernel.cpp: the frame, and straight-line code
  void comment();
  void signature();
  bool needs_many_registers();
  void thread_names();
  void declare_scratch();
  void block(const Block& block);
  std::string compute_text(Ref ref, const Compute& compute);
  std::string value(Ref ref);
  void define(Ref ref, const std::string& text);
  std::string element(std::uint32_t buffer, Index index);
  void emit(Ref ref, const Load& load);
  void emit(Ref ref, const Store& store);
  std::string new_name() { return fmt::format("v{}", next_name_++); }

  // emit_loop.cpp
  bool is_leaf(const Loop& loop) const;
  void emit(Ref ref, const Loop& loop);
  void body(const Loop& loop);
  void grid_loop(Ref ref, const Loop& loop);
  void packed_loop(Ref ref, const Loop& loop, bool shares_out);
  void packs(Ref ref, const Loop& loop, const std::string& first);
  bool is_pack(Ref ref, const Loop& loop, std::uint32_t buffer, Index at);
  void tile_loop(Ref ref, const Loop& loop);
  void block_without(const Block& block, Ref loop);
  void sync();

  // emit_fold.cpp
  /// What one loop runs over, as text.
  struct Range {
    std::string first, end;
  };
  Range open_blocks(const Loop& loop, const std::vector<std::int64_t>& blocks, std::int64_t step);
  void close_blocks(const Loop& loop, std::size_t count);
  void begin_folds(const Loop& loop);
  void fold(const Loop& loop);
  void hand_on(const Loop& loop);
  void end_folds(const Loop& loop, bool shares_out);
  void combine(const Reduction& reduction, const std::string& name);

  const Kernel& kernel_;
  const ThreadMap& map_;
  const ThreadScratch scratch_;
  const std::vector<bool> is_needed_;  // scalars; the others are left out
  std::vector<std::string> names_;     // what each instruction is called, or how it is written
  IndexWriter index_;
  std::map<std::uint32_t, std::vector<std::string>> folds_;  // variables, by first result
  std::vector<std::vector<std::string>> whole_folds_;        // around the blocks at hand
  std::map<std::uint32_t, std::string> packs_;               // by store
  std::vector<bool> is_partial_;                             // by first result
  const Loop* loop_at_hand_ = nullptr;  // the innermost one, in packs or shared out
  bool is_shared_out_ = false;
  Text text_;
  int next_name_ = 0;
};

}  // namespace anabranch::cuda
