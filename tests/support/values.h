// Runs a function three ways (interpreted, jitted, recorded) and compares all of them with what is
// expected.
#pragma once

#include <anabranch/anabranch.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "ir/interpret/interpret.h"
#include "ir/scalar.h"

namespace ab = anabranch;

std::vector<double> doubles(const ab::Literal& literal);
std::vector<double> doubles(const ab::Array& array);

/// Each value equals the expected one, up to a part of it, or of 1 where it is smaller. NaN equals
/// NaN.
void expect_close(const std::vector<double>& values, const std::vector<double>& expected,
                  double tolerance, const char* way);

/// `function` takes nothing; the arrays that it makes become constants of the trace.
void expect_values(const std::function<ab::Array()>& function, const ab::Type& type,
                   const std::vector<double>& expected, double tolerance = 2e-6);
