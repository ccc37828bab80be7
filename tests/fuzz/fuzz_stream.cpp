// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: a peer of Comm Channel by TCP that says anything, in any pieces. A byte of an input below 0xf0 is how
// many of the next ones the peer sends; others are what this side does meanwhile.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <sys/socket.h>

#include "../../src/comm_channel/stream.hpp"
#include "target.hpp"

using namespace opendoca::comm_channel;

namespace {

constexpr RingShape shape = {8, 64};

class Side {
public:
    Side()
    {
        int ends[2];
        require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0, "there are sockets");
        own_ = opendoca::UniqueFd(ends[0]);
        peer_ = opendoca::UniqueFd(ends[1]);
        stream_ = std::make_unique<Stream>(own_.get());
        opendoca::UniqueFd file;
        require(stream_->open() && memory_.create(shape, shape, file), "there is what is needed");
        stream_->attach(memory_, true, shape, shape);
        out_.attach(memory_.page().to_client, memory_.to_client(), shape);
        in_.attach(memory_.page().to_service, memory_.to_service(), shape);
    }

    void peer_sends(Input bytes) { (void)!send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); }
    /// False when the peer does not keep the rules.
    [[nodiscard]] bool act(std::byte what)
    {
        char text[64] = {};
        std::size_t length = sizeof(text);
        std::uint32_t kind = 0;
        RingResult result = RingResult::nothing;
        switch (std::to_integer<unsigned>(what) % 4) {
        case 0:
            result = in_.receive(text, length, kind);
            require(result != RingResult::done || (length != 0 && length <= sizeof(text) && kind < 0xffffff00),
                    "only messages get into the ring");
            break;
        case 1:
            result = out_.send(text, sizeof(text), 3);
            require(out_.in_flight() <= shape.messages, "not more than fit");
            break;
        case 2:
            char got[256];
            (void)!recv(peer_.get(), got, sizeof(got), MSG_DONTWAIT);
            break;
        default:
            in_.arm_for_message();
            stream_->wake_for_message(true);
            break;
        }
        require(result != RingResult::damaged && result != RingResult::too_long, "the rings are in order");
        return stream_->pump();
    }

private:
    opendoca::UniqueFd own_, peer_;
    std::unique_ptr<Stream> stream_;
    SharedMemory memory_;
    SendRing out_;
    ReceiveRing in_;
};

} // namespace

void test_input(Input input)
{
    Side side;
    while (!input.empty()) {
        const std::byte what = input.front();
        input = input.subspan(1);
        if (what < std::byte{0xf0}) {
            const Input bytes = input.first(std::min<std::size_t>(std::to_integer<std::size_t>(what), input.size()));
            side.peer_sends(bytes);
            input = input.subspan(bytes.size());
        }
        if (!side.act(what))
            return;
    }
}
