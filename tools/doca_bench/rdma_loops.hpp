// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The loops that are timed, for the front ends of both generations.
#pragma once

#include "rdma_session.hpp"

namespace opendoca::tools {

/// Set in what retrieve() gives for a receive; the rest is its number, or the job's.
inline constexpr std::uint64_t receive_bit = std::uint64_t{1} << 32;

/// @p FrontEnd derives from this and has, all to be inlined:
/// - void submit(std::uint64_t job): empties its destination and submits it.
/// - void repost(std::uint64_t receive): the same of a receive.
/// - std::uint64_t retrieve(): waits for the end of a job or receive.
template <typename FrontEnd>
class RdmaLoops : public RdmaSession {
public:
    void run(std::size_t count) final
    {
        if (what().test == RdmaTest::latency) {
            for (; count > 0; --count) {
                front().submit(next_connection());
                (void)front().retrieve();
            }
            return;
        }
        std::size_t in_flight = 0;
        for (; count > 0 && in_flight < num_jobs(); --count, ++in_flight)
            front().submit(in_flight);
        while (in_flight > 0) {
            const std::uint64_t ended = front().retrieve();
            if (count == 0) {
                --in_flight;
                continue;
            }
            front().submit(ended);
            --count;
        }
    }

    void ping_by_write(std::size_t count) final
    {
        for (; count > 0; --count) {
            const std::byte mark{static_cast<unsigned char>(++num_turns_)};
            write_mark(mark);
            wait_for_mark(mark);
        }
    }

    void pong_by_write(std::size_t count) final
    {
        for (; count > 0; --count) {
            const std::byte mark{static_cast<unsigned char>(++num_turns_)};
            wait_for_mark(mark);
            write_mark(mark);
        }
    }

    void ping_by_send(std::size_t count) final
    {
        for (; count > 0; --count) {
            front().submit(next_connection());
            // The answer may come before the end of the send.
            std::uint64_t received = 0;
            for (int left = 2; left > 0; --left) {
                const std::uint64_t ended = front().retrieve();
                if ((ended & receive_bit) != 0)
                    received = ended;
            }
            front().repost(received & ~receive_bit);
        }
    }

    void pong_by_send(std::size_t count) final
    {
        for (std::size_t sends = 0; count > 0 || sends > 0;) {
            const std::uint64_t ended = front().retrieve();
            if ((ended & receive_bit) == 0) {
                --sends;
                continue;
            }
            front().submit(next_connection());
            ++sends;
            front().repost(ended & ~receive_bit);
            --count;
        }
    }

    void receive(std::size_t count) final
    {
        for (; count > 0; --count)
            front().repost(front().retrieve() & ~receive_bit);
    }

    void post_receives() final
    {
        for (std::uint32_t i = 0; i < num_receives(); ++i)
            front().repost(i);
    }

protected:
    using RdmaSession::RdmaSession;

private:
    FrontEnd &front() noexcept { return static_cast<FrontEnd &>(*this); }

    /// Ping-pongs take turns: both sides count alike, and the first jobs are one of each connection.
    std::uint64_t next_connection() noexcept
    {
        const std::uint32_t number = next_;
        next_ = next_ + 1 == what().connections ? 0 : next_ + 1;
        return number;
    }

    void write_mark(std::byte mark)
    {
        source()[what().size - 1] = mark;
        front().submit(next_connection());
        (void)front().retrieve();
    }

    std::uint32_t num_turns_ = 0;
    std::uint32_t next_ = 0;
};

} // namespace opendoca::tools
