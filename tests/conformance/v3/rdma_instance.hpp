// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// An RDMA instance with all kinds of tasks, and what becomes of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doca_rdma.h>
#include <doca_sync_event.h>

#include "objects.hpp"

namespace doca_test {

using RdmaHandle = Handle<doca_rdma, doca_rdma_destroy>;
using SyncEventHandle = Handle<doca_sync_event, doca_sync_event_destroy>;
using RemoteEventHandle = Handle<doca_sync_event_remote_net, doca_sync_event_remote_net_destroy>;
using AddressHandle = Handle<doca_rdma_addr, doca_rdma_addr_destroy>;

/// What became of a task: its user data.
struct Outcome {
    int num_succeeded = 0;
    int num_failed = 0;
    doca_error_t status = DOCA_ERROR_UNKNOWN;
    std::function<void(doca_task *)> then = {}; ///< called in the callback, before the task is freed
    bool keeps_task = false;                    ///< then() has said that it is not to be freed

    [[nodiscard]] bool has_ended() const { return num_succeeded + num_failed != 0; }
};

inline constexpr std::uint32_t rdma_rights = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
                                             DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC;

class RdmaInstance {
public:
    static constexpr std::uint32_t num_tasks = 16;

    /// On an engine of its own, or on @p others.
    explicit RdmaInstance(doca_dev *dev, std::uint32_t list_length = 1, doca_pe *others = nullptr)
    {
        if (others == nullptr)
            must(doca_pe_create(own_pe_.out()));
        pe_ = others != nullptr ? others : own_pe_;
        must(doca_rdma_create(dev, rdma_.out()));
        must(doca_rdma_set_permissions(rdma_, rdma_rights));
        must(doca_rdma_task_receive_set_dst_buf_list_len(rdma_, list_length));
        must(doca_rdma_task_receive_set_conf(rdma_, ended<doca_rdma_task_receive, true>,
                                             ended<doca_rdma_task_receive, false>, num_tasks));
        must(doca_rdma_task_send_set_conf(rdma_, ended<doca_rdma_task_send, true>, ended<doca_rdma_task_send, false>,
                                          num_tasks));
        must(doca_rdma_task_send_imm_set_conf(rdma_, ended<doca_rdma_task_send_imm, true>,
                                              ended<doca_rdma_task_send_imm, false>, num_tasks));
        must(doca_rdma_task_read_set_conf(rdma_, ended<doca_rdma_task_read, true>, ended<doca_rdma_task_read, false>,
                                          num_tasks));
        must(doca_rdma_task_write_set_conf(rdma_, ended<doca_rdma_task_write, true>, ended<doca_rdma_task_write, false>,
                                           num_tasks));
        must(doca_rdma_task_write_imm_set_conf(rdma_, ended<doca_rdma_task_write_imm, true>,
                                               ended<doca_rdma_task_write_imm, false>, num_tasks));
        must(doca_rdma_task_atomic_cmp_swp_set_conf(rdma_, ended<doca_rdma_task_atomic_cmp_swp, true>,
                                                    ended<doca_rdma_task_atomic_cmp_swp, false>, num_tasks));
        must(doca_rdma_task_atomic_fetch_add_set_conf(rdma_, ended<doca_rdma_task_atomic_fetch_add, true>,
                                                      ended<doca_rdma_task_atomic_fetch_add, false>, num_tasks));
        must(doca_rdma_task_remote_net_sync_event_get_set_conf(
            rdma_, ended<doca_rdma_task_remote_net_sync_event_get, true>,
            ended<doca_rdma_task_remote_net_sync_event_get, false>, num_tasks));
        must(doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
            rdma_, ended<doca_rdma_task_remote_net_sync_event_notify_set, true>,
            ended<doca_rdma_task_remote_net_sync_event_notify_set, false>, num_tasks));
        must(doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
            rdma_, ended<doca_rdma_task_remote_net_sync_event_notify_add, true>,
            ended<doca_rdma_task_remote_net_sync_event_notify_add, false>, num_tasks));
        must(doca_rdma_set_connection_state_callbacks(rdma_, requested, established, failed, disconnected));
        must(doca_ctx_set_user_data(ctx(), {.ptr = this}));
        must(doca_pe_connect_ctx(pe_, ctx()));
    }
    RdmaInstance(const RdmaInstance &) = delete;
    RdmaInstance &operator=(const RdmaInstance &) = delete;
    ~RdmaInstance() { stop(); }

    [[nodiscard]] doca_rdma *get() const { return rdma_; }
    [[nodiscard]] doca_ctx *ctx() const { return doca_rdma_as_ctx(rdma_); }
    [[nodiscard]] doca_pe *pe() const { return pe_; }
    void start() { must(doca_ctx_start(ctx())); }
    void stop()
    {
        (void)doca_ctx_stop(ctx());
        while (state_of(ctx()) != DOCA_CTX_STATE_IDLE) {
            if (doca_pe_progress(pe_) == 0)
                std::this_thread::yield();
        }
    }
    [[nodiscard]] bool progress() { return doca_pe_progress(pe_) != 0; }

    std::vector<doca_rdma_connection *> requests;
    std::vector<doca_rdma_connection *> open;      ///< by address, as the callbacks report them
    std::vector<doca_rdma_connection *> connected; ///< the same of those by details
    std::vector<doca_rdma_connection *> failures;
    std::vector<doca_rdma_connection *> ends;
    std::function<void(doca_rdma_connection *)> on_end = [](doca_rdma_connection *) {};
    std::function<void(doca_rdma_connection *)> on_failure = [](doca_rdma_connection *) {};
    std::function<void(doca_rdma_connection *)> on_request = [](doca_rdma_connection *connection) {
        EXPECT_EQ(doca_rdma_connection_accept(connection, nullptr, 0), DOCA_SUCCESS);
    };

private:
    template <typename Task, bool is_success>
    static void ended(Task *task, doca_data task_data, doca_data)
    {
        auto &outcome = *static_cast<Outcome *>(task_data.ptr);
        ++(is_success ? outcome.num_succeeded : outcome.num_failed);
        auto *const base = reinterpret_cast<doca_task *>(task);
        outcome.status = doca_task_get_status(base);
        if (outcome.then)
            outcome.then(base);
        if (!std::exchange(outcome.keeps_task, false))
            doca_task_free(base);
    }
    static void requested(doca_rdma_connection *connection, doca_data ctx_data)
    {
        auto &self = *static_cast<RdmaInstance *>(ctx_data.ptr);
        self.requests.push_back(connection);
        self.on_request(connection);
    }
    static void established(doca_rdma_connection *connection, doca_data, doca_data ctx_data)
    {
        auto &self = *static_cast<RdmaInstance *>(ctx_data.ptr);
        doca_rdma_addr *address = nullptr;
        const bool is_by_address = std::ranges::find(self.requests, connection) != self.requests.end() ||
                                   doca_rdma_connection_get_addr(connection, &address) == DOCA_SUCCESS;
        (is_by_address ? self.open : self.connected).push_back(connection);
    }
    static void failed(doca_rdma_connection *connection, doca_data, doca_data ctx_data)
    {
        static_cast<RdmaInstance *>(ctx_data.ptr)->failures.push_back(connection);
        static_cast<RdmaInstance *>(ctx_data.ptr)->on_failure(connection);
    }
    static void disconnected(doca_rdma_connection *connection, doca_data, doca_data ctx_data)
    {
        static_cast<RdmaInstance *>(ctx_data.ptr)->ends.push_back(connection);
        EXPECT_EQ(doca_rdma_connection_disconnect(connection), DOCA_SUCCESS); // as programs do
        static_cast<RdmaInstance *>(ctx_data.ptr)->on_end(connection);
    }

    PeHandle own_pe_;
    doca_pe *pe_ = nullptr;
    RdmaHandle rdma_;
};

inline std::vector<std::string> connecting_devices()
{
    std::vector<std::string> names;
    bool has_soft = false;
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        const std::string name = ibdev_of(info);
        if (doca_rdma_cap_transport_type_is_supported(info, DOCA_RDMA_TRANSPORT_TYPE_RC) == DOCA_SUCCESS &&
            !(is_soft(name) && std::exchange(has_soft, true)))
            names.push_back(name);
    }
    return names;
}

} // namespace doca_test
