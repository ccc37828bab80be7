// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The timed loops of the RDMA benchmark, shared by the front ends of both generations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rdma_session.hpp"
#include "send_loops.hpp"

namespace opendoca::tools {

/// The loops of RdmaSession over a front end. @p FrontEnd derives from this class (CRTP) and fulfils the requirements
/// of send_loops.hpp, so that its functions are inlined into the loops: a virtual call would cost part of a job. One
/// thread runs the loops of a session.
template <typename FrontEnd>
class RdmaLoops : public RdmaSession {
public:
    void run(std::size_t count) final
    {
        if (what().test == PairTest::latency) {
            for (; count > 0; --count) {
                front().submit(next_connection());
                (void)front().retrieve();
            }
            return;
        }
        run_in_flight(front(), num_jobs(), count, [this] { return front().retrieve(); });
    }

    void ping_by_write(std::size_t count) final
    {
        // The mark is the last byte of the message: a WRITE stores it last, on which ib_write_lat relies as well.
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
        tools::ping_by_send(front(), count, [this] { return next_connection(); });
    }

    void pong_by_send(std::size_t count) final
    {
        tools::pong_by_send(front(), count, [this] { return next_connection(); });
    }

    void receive(std::size_t count) final { receive_sends(front(), count); }

    void post_receives() final
    {
        for (std::uint32_t i = 0; i < num_receives(); ++i)
            front().repost(i);
    }

protected:
    using RdmaSession::RdmaSession;

private:
    FrontEnd &front() noexcept { return static_cast<FrontEnd &>(*this); }

    /// Returns the connection of the next ping-pong. Both sides count alike, and job n belongs to connection n.
    std::uint64_t next_connection() noexcept
    {
        const std::uint32_t number = next_;
        next_ = next_ + 1 == what().connections ? 0 : next_ + 1;
        return number;
    }

    /// Writes the message with @p mark as its last byte to the peer.
    void write_mark(std::byte mark)
    {
        source()[what().size - 1] = mark;
        front().submit(next_connection());
        (void)front().retrieve();
    }

    std::uint32_t num_turns_ = 0; ///< ping-pongs so far; its low byte is the mark
    std::uint32_t next_ = 0;      ///< connection of the next ping-pong
};

} // namespace opendoca::tools
