// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace doca_test {

/// How many objects of each sort the kernel has for each RDMA device, as `rdma resource show` prints them:
/// "rxe0 qp" and so on. Throws where the kernel does not tell.
using VerbsObjects = std::map<std::string, std::uint64_t>;

[[nodiscard]] VerbsObjects count_verbs_objects();

/// What there is more of than before, in words.
[[nodiscard]] std::string describe_left(const VerbsObjects &before, const VerbsObjects &after);

} // namespace doca_test
