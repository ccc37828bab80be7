// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_buf_array.h>

/// No device of ours has a GPU, so that no array can be given a target, and none ever starts. What is said
/// about its buffers is checked, and there is nobody to keep it for.
struct doca_buf_arr {};
