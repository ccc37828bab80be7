// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <doca_graph.h>

#include "../../core/base/id.hpp"
#include "../../core/process/fork.hpp"
#include "../structure.hpp"
#include "graph_queue.hpp"

/// doca_graph of 2.2: the structure, and the work queues on which its instances run. Owned by the program. Built by one
/// thread; work queues are added and removed by their own threads, and lock_ guards the list of them.
struct doca_graph : opendoca::GraphStructure {
    doca_graph() = default;
    ~doca_graph() = default;

    /// Each function returns an error after a log line in the wrong state, and then changes nothing.
    [[nodiscard]] doca_error_t start();
    [[nodiscard]] doca_error_t stop() noexcept;
    /// Adds the graph to a work queue, which must have all its contexts. BAD_STATE otherwise.
    [[nodiscard]] doca_error_t workq_add(doca_workq &workq);
    /// Returns IN_USE while instances of the graph on @p workq are not retrieved.
    [[nodiscard]] doca_error_t workq_rm(doca_workq &workq) noexcept;
    [[nodiscard]] doca_error_t check_destroyable() const noexcept;

    /// The key by which work queues find the graph.
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

private:
    /// A work queue and the graph's part of it.
    struct Service {
        doca_workq *workq;
        std::unique_ptr<opendoca::GraphQueue> queue;
    };

    [[nodiscard]] doca_error_t check_unused(const char *what) const noexcept;

    const opendoca::Id id_;
    mutable opendoca::ObjectMutex lock_; ///< protects the members below
    std::vector<Service> services_;
};
