// Losses: how far predictions are from their targets.
//
// Predictions and targets are floats and broadcast to one shape; f16 and bf16 are computed in f32.
// Losses of each example are averaged unless a reduction says otherwise.
#pragma once

#include <cstdint>

#include "anabranch/export.h"
#include "anabranch/operand.h"
#include "anabranch/sizes.h"

namespace ANABRANCH_API anabranch {

/// What becomes of the losses of single examples.
enum class LossReduction : std::uint8_t { none, mean, sum };

/// The squared difference.
Array mse_loss(const Operand& predictions, const Operand& targets,
               LossReduction reduction = LossReduction::mean);
/// The absolute difference.
Array l1_loss(const Operand& predictions, const Operand& targets,
              LossReduction reduction = LossReduction::mean);
/// Half the squared difference d where |d| <= delta, else delta (|d| - delta / 2). Error unless
/// delta is above 0.
Array huber_loss(const Operand& predictions, const Operand& targets, double delta = 1,
                 LossReduction reduction = LossReduction::mean);
/// max(0, 1 - prediction * target), for targets -1 and 1.
Array hinge_loss(const Operand& predictions, const Operand& targets,
                 LossReduction reduction = LossReduction::mean);
/// -t log(sigmoid(x)) - (1 - t) log(1 - sigmoid(x)) for logits x and targets t from 0 to 1, without
/// overflow.
Array binary_cross_entropy_with_logits(const Operand& logits, const Operand& targets,
                                       LossReduction reduction = LossReduction::mean);
/// -sum(t log_softmax(x)) along the axis of classes. Targets are floats of the shape of the logits
/// (the probability of each class), or integers of the shape without that axis (the class); a class
/// out of range has the loss 0.
Array cross_entropy_loss(const Operand& logits, const Operand& targets, Axis axis = -1,
                         LossReduction reduction = LossReduction::mean);
struct CrossEntropyOptions {
  Axis axis = -1;  ///< of the classes
  LossReduction reduction = LossReduction::mean;
  /// This much of each target is spread evenly over all classes (Szegedy et al.: arXiv:1512.00567,
  /// section 7): 0 <= label_smoothing <= 1.
  double label_smoothing = 0;
};
/// The same with its options by name: cross_entropy_loss(logits, labels, {.label_smoothing = 0.1}).
Array cross_entropy_loss(const Operand& logits, const Operand& targets,
                         const CrossEntropyOptions& options);
/// t (log(t) - x) for targets t and predictions x that are logarithms of probabilities; 0 where t
/// is 0.
Array kl_div_loss(const Operand& log_predictions, const Operand& targets,
                  LossReduction reduction = LossReduction::mean);
/// sum(a b) / (|a| |b|) along an axis, the lengths being at least epsilon.
Array cosine_similarity(const Operand& a, const Operand& b, Axis axis = -1, double epsilon = 1e-8);

}  // namespace anabranch
