// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Values that are equal in all generations of the API but have different public names.
#pragma once

#include <cstdint>

namespace opendoca {

/// Access rights to memory: a mask.
struct Access {
    static constexpr std::uint32_t local_read_only = 0;
    static constexpr std::uint32_t local_read_write = 1 << 0;
    static constexpr std::uint32_t rdma_read = 1 << 1;
    static constexpr std::uint32_t rdma_write = 1 << 2;
    static constexpr std::uint32_t rdma_atomic = 1 << 3;
    static constexpr std::uint32_t dpu_read_only = 1 << 4; ///< across the PCIe
    static constexpr std::uint32_t dpu_read_write = 1 << 5;

    static constexpr std::uint32_t any_rdma = rdma_read | rdma_write | rdma_atomic;
    static constexpr std::uint32_t any_dpu = dpu_read_only | dpu_read_write;
    static constexpr std::uint32_t all = local_read_write | any_rdma | any_dpu;
};

/// The kind of a PCI function: physical, virtual, or a subfunction.
enum class FunctionType { pf, vf, sf };

} // namespace opendoca
