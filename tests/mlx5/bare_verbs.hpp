// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What a program executes that calls libibverbs, and libmlx5, itself, for the same jobs: the calls, and what it takes
// to make them. Built as libraries are for users.
#pragma once

#include <cstddef>
#include <cstdint>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

namespace bare {

struct Transfer {
    std::uint64_t id;
    void *local;
    std::uint32_t length;
    std::uint32_t local_key;
    std::uint64_t remote;
    std::uint32_t remote_key;
};

struct Completion {
    std::uint64_t id;
    ibv_wc_status status;
    std::uint32_t length; ///< of a receive
};

// Each gives 0 or an errno.

/// With its data in the request, as the next.
int post_write(ibv_qp_ex *pair, const Transfer &transfer);
int post_send(ibv_qp_ex *pair, const Transfer &transfer);
int post_read(ibv_qp_ex *pair, const Transfer &transfer);
int post_receive(ibv_qp *pair, const Transfer &transfer);
/// By the DMA engine, from local to remote memory. @p engine is that of @p pair.
int post_memcpy(ibv_qp_ex *pair, mlx5dv_qp_ex *engine, const Transfer &transfer);

/// False when there is no completion.
bool poll(ibv_cq_ex *queue, Completion &completion);
bool poll_receive(ibv_cq_ex *queue, Completion &completion);

} // namespace bare
