// Summary: a timeline as a table: what each kernel took, and how near that is to the machine's
// best.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "anabranch/ceiling.h"
#include "anabranch/export.h"
#include "anabranch/timeline.h"

namespace ANABRANCH_API anabranch {
namespace timeline {

/// Events of one kind: one kernel or library call of one shape, or the copies or waits of one name.
struct SummaryRow {
  std::string name;  ///< "encoder/layer1/kernel5 (model.cpp:12)"
  Category category{};
  Device device;  ///< a GPU, or cpu:0 for all that is on none
  std::int64_t count = 0;
  Clock::duration total{};
  std::int64_t bytes = 0;       ///< read and written, over all runs
  std::int64_t operations = 0;  ///< over all runs
  bool is_f64 = false;          ///< its operations are measured against those of f64

  Clock::duration mean() const { return total / count; }
  /// Bytes in a second; a kernel whose data is in a cache may exceed what memory gives.
  double bandwidth() const;
  /// Operations in a second. exp, sin and their like count what their polynomials take.
  double rate() const;
};

struct StreamRow {
  Track track;
  Clock::duration busy{};  ///< with kernels, library calls and copies
};

/// Rows come with the most time first.
struct Summary {
  std::vector<SummaryRow> launches;  ///< kernels, library calls and copies
  std::vector<SummaryRow> host;      ///< what the program's threads did: trace, compile, wait
  std::vector<StreamRow> streams;
  Clock::duration launched{};  ///< of all launches, one after the other
  Clock::duration span{};      ///< from the beginning of the first to the end of the last
};
Summary summarize(const Timeline& timeline);

/// The table for a terminal: a line per row with count, times, share of the total, GB/s and GFLOP/s
/// with their share of the ceiling, a GPU's by its clocks; then the streams' busy shares and what
/// the host did. `ceiling` is the CPU's.
std::string to_string(const Summary& summary, const Ceiling& ceiling = measured_ceiling());

}  // namespace timeline
}  // namespace anabranch
