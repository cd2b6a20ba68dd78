// Everything a user of Anabranch writes against.
#pragma once

#include "frontend/array.h"
#include "frontend/async.h"
#include "frontend/creation.h"
#include "frontend/jit.h"
#include "frontend/linear_algebra.h"
#include "frontend/nn.h"
#include "frontend/ops_elementwise.h"
#include "frontend/ops_reduce.h"
#include "frontend/ops_shape.h"
#include "frontend/random.h"
#include "frontend/trace.h"
#include "frontend/tree.h"
#include "ir/dot.h"
#include "ir/error.h"
#include "ir/print.h"
#include "runtime/timeline.h"
