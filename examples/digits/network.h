// A network of two layers, what it predicts, and how it learns, as ordinary functions of arrays.
//
//   images [n,64] -- dense w1, b1 -- relu -- dense w2, b2 -- logits [n,10]
#pragma once

#include <anabranch/anabranch.h>

#include <utility>

namespace ab = anabranch;

/// Weights and biases; any struct of arrays can be an argument and a result.
struct Params {
  ab::Array w1, b1, w2, b2;
};

/// What a step of learning takes and gives.
struct State {
  Params params;
  ab::optim::AdamState<Params> adam;
};

/// Random weights of the size that keeps the signal's variance (He et al., ICCV 2015), zero biases.
State first_state(std::int64_t hidden);

/// The digit that the network sees in each image, i64[n].
ab::Array predict(Params p, ab::Array images);

/// The state after a step of Adam on a minibatch, and the mean cross-entropy before it.
std::pair<State, ab::Array> train_step(State state, ab::Array images, ab::Array labels);

/// A step for each minibatch of `batch` images in a random order, all in one loop of the program:
/// the state after them, and their mean loss. What is left over is left out.
std::pair<State, ab::Array> train_epoch(State state, ab::Array images, ab::Array labels,
                                        ab::Array key, std::int64_t batch);
