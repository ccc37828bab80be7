// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The timed loops in which each message consumes a receive: RDMA's sends, and Comch. They are templates over a front
// end, so that its calls are inlined.
//
// A front end has these functions:
// - void submit(std::uint64_t job): resets the job's destination if it has one, and submits the job.
// - void repost(std::uint64_t receive): resets the destination of a receive, and submits it.
// - std::uint64_t retrieve(): waits for the completion of a job or a receive. Returns its number, for a receive with
//   receive_bit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opendoca::tools {

/// Flag in the result of retrieve() for a receive; the other bits are the number of the receive or of the job.
inline constexpr std::uint64_t receive_bit = std::uint64_t{1} << 32;

/// Runs @p count jobs with @p num_jobs of them in flight. @p retrieve_job returns the next job that has completed.
template <typename FrontEnd, typename RetrieveJob>
void run_in_flight(FrontEnd &front, std::size_t num_jobs, std::size_t count, RetrieveJob retrieve_job)
{
    std::size_t in_flight = 0;
    for (; count > 0 && in_flight < num_jobs; --count, ++in_flight)
        front.submit(in_flight);
    while (in_flight > 0) {
        const std::uint64_t ended = retrieve_job();
        if (count == 0) {
            --in_flight;
            continue;
        }
        front.submit(ended);
        --count;
    }
}

/// Sends a message and receives the answer, @p count times. @p next_job returns the job to send.
template <typename FrontEnd, typename NextJob>
void ping_by_send(FrontEnd &front, std::size_t count, NextJob next_job)
{
    for (; count > 0; --count) {
        front.submit(next_job());
        // The answer may arrive before the send completes.
        std::uint64_t received = 0;
        for (int left = 2; left > 0; --left) {
            const std::uint64_t ended = front.retrieve();
            if ((ended & receive_bit) != 0)
                received = ended;
        }
        front.repost(received & ~receive_bit);
    }
}

/// The other side of ping_by_send(). Sends that have not completed are counted, as the next message may arrive before
/// the last send completes; none is in flight when the function returns.
template <typename FrontEnd, typename NextJob>
void pong_by_send(FrontEnd &front, std::size_t count, NextJob next_job)
{
    for (std::size_t sends = 0; count > 0 || sends > 0;) {
        const std::uint64_t ended = front.retrieve();
        if ((ended & receive_bit) == 0) {
            --sends;
            continue;
        }
        front.submit(next_job());
        ++sends;
        front.repost(ended & ~receive_bit);
        --count;
    }
}

/// Receives @p count messages and reposts each receive at once, so that the sender always finds a posted one.
template <typename FrontEnd>
void receive_sends(FrontEnd &front, std::size_t count)
{
    for (; count > 0; --count)
        front.repost(front.retrieve() & ~receive_bit);
}

} // namespace opendoca::tools
