// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <infiniband/verbs.h>

#include "../../process/fork.hpp"

namespace opendoca::verbs {

/// Keeps the descriptors of a context out of forked children. Kernel objects end with the process that made them, and a
/// child that destroys copies of its parent's objects cannot reach any of them.
inline void close_in_children_of(const ibv_context &context) noexcept
{
    close_in_children(context.cmd_fd);
    close_in_children(context.async_fd);
}

/// Deleter for verbs objects. Owners declare the handles in order of dependency, so that they are destroyed in reverse
/// order.
struct Destroy {
    void operator()(ibv_context *context) const noexcept
    {
        // Ends the registration of close_in_children_of(), since the numbers of closed descriptors are used again.
        // libibverbs closes the descriptors.
        keep_in_children(context->cmd_fd);
        keep_in_children(context->async_fd);
        ibv_close_device(context);
    }
    void operator()(ibv_pd *pd) const noexcept { ibv_dealloc_pd(pd); }
    void operator()(ibv_td *td) const noexcept { ibv_dealloc_td(td); }
    void operator()(ibv_mr *mr) const noexcept { ibv_dereg_mr(mr); }
    void operator()(ibv_comp_channel *channel) const noexcept
    {
        keep_in_children(channel->fd);
        ibv_destroy_comp_channel(channel);
    }
    void operator()(ibv_cq *cq) const noexcept { ibv_destroy_cq(cq); }
    void operator()(ibv_srq *srq) const noexcept { ibv_destroy_srq(srq); }
    void operator()(ibv_qp *qp) const noexcept { ibv_destroy_qp(qp); }
};

template <typename T>
using Handle = std::unique_ptr<T, Destroy>;

} // namespace opendoca::verbs
