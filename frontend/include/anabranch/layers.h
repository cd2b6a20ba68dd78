// Layers of neural networks as plain functions: what they learn is passed to them.
//
// `conv`, `layer_norm`, `softmax` and pools are in anabranch/nn.h, activations in
// anabranch/activations.h, losses in anabranch/losses.h, first values of what is learned in
// anabranch/initializers.h. Operands are floats of one dtype, or are promoted to one; all throw
// Error, which names the operand, where shapes or dtypes do not fit.
#pragma once

#include <cstdint>
#include <optional>

#include "anabranch/array.h"
#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

/// x[..., inputs] times w[inputs, outputs], plus b[outputs]: [..., outputs].
Array dense(const Operand& x, const Operand& w, const Operand& b);
/// The same without b.
Array dense(const Operand& x, const Operand& w);

/// x / sqrt(mean(x^2) + epsilon) over the axes, times `scale`, which broadcasts to x (Zhang,
/// Sennrich: arXiv:1910.07467, equation 4). Computed in f32 for f16 and bf16.
Array rms_norm(const Operand& x, const Operand& scale, const Axes& axes = -1,
               double epsilon = 1e-6);

/// The rows of table[count, features] that the integers `ids` name, of any shape:
/// [ids..., features]. Negative ids count from the last row; a row beyond the table is NaN.
Array embedding(const Operand& table, const Operand& ids);

/// Each element of x is 0 with probability `rate`, else 1 / (1 - rate) times as great, so that the
/// mean stays (Srivastava et al.: Dropout, JMLR 15, 2014, section 10). The same key drops the same
/// elements. Floats; 0 <= rate <= 1.
Array dropout(const Operand& key, const Operand& x, double rate);

struct AttentionOptions {
  /// The last axis of query, key and value holds that many heads, one after the other.
  std::int64_t heads = 1;
  /// A query sees the keys up to its own place; the last query sees all, so that queries may be
  /// the last ones of a longer sequence whose keys are kept.
  bool causal = false;
  /// Which keys a query sees, true or false, or floats that are added to the scores; broadcasts to
  /// [..., queries, keys], with several heads to [..., heads, queries, keys]. Empty: all.
  Array mask = {};
  /// What products of queries and keys are multiplied by; 1 / sqrt(features of a head) if not set.
  std::optional<double> scale = {};
};

/// softmax(scale query key^T) value, the attention of query[..., queries, heads * d] to
/// key[..., keys, heads * d] and value[..., keys, heads * e], each head by itself:
/// [..., queries, heads * e] (Vaswani et al.: arXiv:1706.03762, section 3.2). The axes before the
/// last two are batches and broadcast: heads may be one of them. The softmax is computed in f32
/// for f16 and bf16. A query that sees no key gets the mean of all values.
Array attention(const Operand& query, const Operand& key, const Operand& value,
                const AttentionOptions& options = {});

}  // namespace anabranch
