// How long an epoch takes as one loop of the program, and as a loop of calls.
#pragma once

#include "network.h"

/// Prints the times of an epoch in ms: the best of ten for each form.
void compare_epochs(const ab::Array& images, const ab::Array& labels, std::int64_t batch);
