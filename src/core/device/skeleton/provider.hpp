// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The smallest provider: a device that only copies, and that completes a copy when it is polled, as hardware does. Not
// part of the libraries: tests/engine/test_skeleton_provider.cpp builds and runs it. To write a provider, copy this
// folder and go on with docs/adding-a-provider.md, whose steps the comments here name.
#pragma once

#include "../device.hpp"

namespace opendoca::skeleton {

/// Appends the one function of this provider. The counterpart of soft::list_functions(): providers.cpp would call it
/// (step 5).
void list_functions(DeviceFunctions &functions);

} // namespace opendoca::skeleton
