// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_session.hpp"

#include <cerrno>
#include <cstring>

#include <sys/epoll.h>

#include "machine.hpp"

namespace opendoca::tools {

namespace {

constexpr int patience_in_milliseconds = 20000;

} // namespace

void RdmaSession::submit(const Job &job)
{
    must(doca_workq_submit(workq_.get(), &job.base), "submitting a job");
}

std::uint64_t RdmaSession::retrieve()
{
    doca_event event;
    doca_error_t status = DOCA_ERROR_AGAIN;
    event.result.ptr = &result_;
    while ((status = doca_workq_progress_retrieve(workq_.get(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) ==
           DOCA_ERROR_AGAIN) {
        if (what_.waits_for_events)
            wait_for_event();
    }
    if (status != DOCA_SUCCESS)
        must(status == DOCA_ERROR_IO_FAILED ? result_.result : status, "a job");
    return event.user_data.u64;
}

void RdmaSession::wait_for_event()
{
    must(doca_workq_event_handle_arm(workq_.get()), "arming");
    epoll_event event{};
    const int count = epoll_wait(epoll_.get(), &event, 1, patience_in_milliseconds);
    if (count < 0 && errno != EINTR)
        throw std::runtime_error(std::string("epoll_wait: ") + std::strerror(errno));
    if (count == 0)
        throw std::runtime_error("no event has come");
    must(doca_workq_event_handle_clear(workq_.get(), event_handle_), "clearing");
}

void RdmaSession::wait_for_mark(std::byte mark)
{
    // acquire: what the peer has written before the mark is to be seen after it. The byte belongs to a WRITE.
    const auto *const place = reinterpret_cast<const unsigned char *>(exposed_.addr + what_.size - 1);
    double start = 0;
    for (std::uint32_t spins = 1;
         __atomic_load_n(place, __ATOMIC_ACQUIRE) != static_cast<unsigned char>(mark); ++spins) {
        if (spins % (1U << 24) != 0)
            continue;
        start = start == 0 ? seconds_now() : start;
        if ((seconds_now() - start) * 1e3 > patience_in_milliseconds)
            throw std::runtime_error("the other process does not answer");
    }
}

void RdmaSession::write_mark(std::byte mark)
{
    source()[what_.size - 1] = mark;
    must(doca_buf_reset_data_len(filled_[0]), "resetting a destination");
    submit(jobs_[0]);
    (void)retrieve();
}

void RdmaSession::ping_by_write(std::size_t count)
{
    for (; count > 0; --count) {
        const std::byte mark{static_cast<unsigned char>(++num_marks_)};
        write_mark(mark);
        wait_for_mark(mark);
    }
}

void RdmaSession::pong_by_write(std::size_t count)
{
    for (; count > 0; --count) {
        const std::byte mark{static_cast<unsigned char>(++num_marks_)};
        wait_for_mark(mark);
        write_mark(mark);
    }
}

void RdmaSession::repost(std::uint64_t receive)
{
    const Job &job = receives_[receive - 1];
    must(doca_buf_reset_data_len(job.receive.dst_buff), "resetting a destination");
    submit(job);
}

void RdmaSession::ping_by_send(std::size_t count)
{
    std::size_t sends = 0;
    for (; count > 0; --count) {
        submit(jobs_[0]);
        ++sends;
        std::uint64_t receive = 0;
        while (receive == 0 || sends != 0) {
            const std::uint64_t ended = retrieve();
            if (ended == 0)
                --sends;
            else
                receive = ended;
        }
        repost(receive);
    }
}

void RdmaSession::pong_by_send(std::size_t count)
{
    std::size_t sends = 0;
    while (count > 0 || sends > 0) {
        const std::uint64_t ended = retrieve();
        if (ended == 0) {
            --sends;
            continue;
        }
        submit(jobs_[0]);
        ++sends;
        repost(ended);
        --count;
    }
}

void RdmaSession::run(std::size_t count)
{
    std::size_t in_flight = 0;
    std::size_t next = 0; // they end in the order in which they were submitted
    while (count > 0 || in_flight > 0) {
        for (; count > 0 && in_flight < jobs_.size(); --count, ++in_flight) {
            if (filled_[next] != nullptr)
                must(doca_buf_reset_data_len(filled_[next]), "resetting a destination");
            submit(jobs_[next]);
            next = next + 1 == jobs_.size() ? 0 : next + 1;
        }
        (void)retrieve();
        --in_flight;
    }
}

void RdmaSession::receive(std::size_t count)
{
    for (; count > 0; --count)
        repost(retrieve());
}

} // namespace opendoca::tools
