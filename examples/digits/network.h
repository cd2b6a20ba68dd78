// A network of two layers, what it predicts, and one step of learning, as ordinary functions of
// arrays.
//
//   images [n,64] -- matmul w1 + b1 -- relu -- matmul w2 + b2 -- softmax -- probabilities [n,10]
#pragma once

#include <anabranch/anabranch.h>

#include <tuple>

namespace ab = anabranch;

/// Weights and biases; any struct of arrays can be an argument and a result.
struct Params {
  ab::Array w1, b1, w2, b2;
};

/// Random weights of the size that keeps the signal's variance (He et al., ICCV 2015), zero biases.
Params first_params(std::int64_t hidden);

/// The digit that the network sees in each image, i32[n].
ab::Array predict(Params p, ab::Array images);

/// Parameters, momentum and mean cross-entropy after one step of gradient descent on a minibatch,
/// the backward pass written by hand.
std::tuple<Params, Params, ab::Array> train_step(Params p, Params momentum, ab::Array images,
                                                 ab::Array labels, ab::Array rate);
