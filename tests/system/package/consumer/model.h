// A model in a translation unit of its own.
#pragma once

#include <anabranch/anabranch.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

struct Layer {
  anabranch::Array weights, bias;
  anabranch::static_arg<int> turns{2};
};

struct Params {
  Layer first;
  std::vector<Layer> more;
  std::map<std::string, anabranch::Array> named;
};

Params make_params();
anabranch::Array apply(const Params& params, anabranch::Array x);

/// Of the shared library.
float plugin_total(int rows, int columns);
