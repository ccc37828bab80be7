// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Many RDMA instances on one work queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include <poll.h>

#include "rdma_fixture.hpp"

namespace doca_test {

inline constexpr std::size_t many = 24; ///< more than the software device looks at directly

/// Instances that share a work queue.
class Crowd {
public:
    static constexpr std::uint32_t depth = 256;

    explicit Crowd(doca_dev *dev, bool is_event_driven = false) : dev_(dev)
    {
        must(doca_workq_create(depth, workq_.out()));
        if (is_event_driven)
            must(doca_workq_set_event_driven_enable(workq_, 1));
    }
    Crowd(const Crowd &) = delete;
    Crowd &operator=(const Crowd &) = delete;
    ~Crowd()
    {
        for (std::size_t i = 0; i != members_.size(); ++i)
            remove(i);
    }

    /// When a new one's details are asked for.
    enum class Export { later, before_it_is_added };

    /// The number of the new one.
    std::size_t add(Export when = Export::later)
    {
        Member member;
        must(doca_rdma_create(member.rdma.out()));
        member.ctx = doca_rdma_as_ctx(member.rdma);
        must(doca_ctx_dev_add(member.ctx, dev_));
        must(doca_rdma_set_permissions(member.rdma, exposed));
        must(doca_rdma_set_send_queue_size(member.rdma, 16));
        must(doca_rdma_set_recv_queue_size(member.rdma, 16));
        must(doca_ctx_start(member.ctx));
        members_.push_back(std::move(member));
        const std::size_t number = members_.size() - 1;
        if (when == Export::before_it_is_added)
            (void)details(number);
        must(join(number));
        return number;
    }
    [[nodiscard]] doca_error_t join(std::size_t number) const
    {
        return doca_ctx_workq_add(members_[number].ctx, workq_);
    }
    /// Its operations are cancelled, and their ends and those of others are lost.
    void leave(std::size_t number) const
    {
        while (doca_ctx_workq_rm(members_[number].ctx, workq_) == DOCA_ERROR_NOT_PERMITTED)
            (void)retrieve();
    }
    void stop(std::size_t number)
    {
        Member &member = members_[number];
        EXPECT_EQ(doca_ctx_stop(member.ctx), DOCA_SUCCESS);
        member.ctx = nullptr;
        member.rdma.reset();
    }
    /// Takes over one that has left its crowd. Gives its number.
    std::size_t adopt(Crowd &from, std::size_t number)
    {
        members_.push_back(std::move(from.members_[number]));
        from.members_[number].ctx = nullptr;
        return members_.size() - 1;
    }
    /// leave() and stop(), unless it has gone.
    void remove(std::size_t number)
    {
        if (members_[number].ctx == nullptr)
            return;
        leave(number);
        stop(number);
    }
    [[nodiscard]] std::vector<std::byte> details(std::size_t number) const
    {
        const void *details = nullptr;
        std::size_t size = 0;
        must(doca_rdma_export(members_[number].rdma, &details, &size));
        return to_vector(details, size);
    }
    void connect(std::size_t number, const std::vector<std::byte> &details) const
    {
        must(doca_rdma_connect(members_[number].rdma, details.data(), details.size()));
    }
    /// User data is the number of the instance.
    void receive(std::size_t number, doca_buf *dst = nullptr) const
    {
        doca_rdma_job_recv job = {};
        job.base.type = DOCA_RDMA_JOB_RECV;
        job.base.ctx = members_[number].ctx;
        job.base.user_data.u64 = number;
        job.dst_buff = dst;
        must(doca_workq_submit(workq_, &job.base));
    }
    void send(std::size_t number, const doca_buf *src = nullptr) const
    {
        doca_rdma_job_send job = {};
        job.base.type = DOCA_RDMA_JOB_SEND;
        job.base.ctx = members_[number].ctx;
        job.base.user_data.u64 = number;
        job.src_buff = src;
        must(doca_workq_submit(workq_, &job.base));
    }
    [[nodiscard]] RdmaEnded retrieve() const
    {
        RdmaEnded ended = {};
        doca_event event = {};
        event.result.ptr = &ended.result;
        ended.status = doca_workq_progress_retrieve(workq_, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
        ended.type = event.type;
        ended.user_data = event.user_data.u64;
        return ended;
    }
    [[nodiscard]] RdmaEnded wait() const
    {
        for (;;) {
            const RdmaEnded ended = retrieve();
            if (ended.status != DOCA_ERROR_AGAIN)
                return ended;
            std::this_thread::yield();
        }
    }
    [[nodiscard]] doca_rdma_state state(std::size_t number) const
    {
        doca_rdma_state state = DOCA_RDMA_STATE_RESET;
        must(doca_rdma_get_state(members_[number].rdma, &state));
        return state;
    }
    /// Waits for the end of what instance @p number did, of @p type.
    void expect(std::size_t number, int type) const
    {
        const RdmaEnded ended = wait();
        must(ended.result.result);
        must_hold(ended.user_data == number && ended.type == type, "it is the end that was expected");
    }
    /// Sleeps, as long as there is nothing, until the handle wakes.
    [[nodiscard]] RdmaEnded wait_asleep(const std::function<void()> &when_armed = [] {}) const
    {
        doca_event_handle_t handle = -1;
        must(doca_workq_get_event_handle(workq_, &handle));
        for (bool is_first = true;; is_first = false) {
            must(doca_workq_event_handle_arm(workq_));
            if (is_first)
                when_armed();
            pollfd wish = {.fd = handle, .events = POLLIN, .revents = 0};
            must_hold(poll(&wish, 1, 60'000) == 1, "the handle wakes its waiter");
            must(doca_workq_event_handle_clear(workq_, handle));
            const RdmaEnded ended = retrieve();
            if (ended.status != DOCA_ERROR_AGAIN)
                return ended;
        }
    }

private:
    struct Member {
        Handle<doca_rdma, doca_rdma_destroy> rdma;
        doca_ctx *ctx = nullptr;
    };

    doca_dev *dev_;
    WorkqHandle workq_;
    std::vector<Member> members_;
};

inline void add_pair(Crowd &left, Crowd &right, Crowd::Export when = Crowd::Export::later)
{
    const std::size_t one = left.add(when), other = right.add(when);
    left.connect(one, right.details(other));
    right.connect(other, left.details(one));
}

inline void exchange(const Crowd &left, const Crowd &right, std::size_t number)
{
    right.receive(number);
    left.send(number);
    left.expect(number, DOCA_RDMA_JOB_SEND);
    right.expect(number, DOCA_RDMA_JOB_RECV);
}

} // namespace doca_test
