// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_peer.hpp"

#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "machine.hpp"

namespace opendoca::tools {

namespace {

enum class Command : std::uint32_t { begin, end, serve, fill, look, word };

std::byte pattern_at(std::size_t i, std::uint32_t seed)
{
    return static_cast<std::byte>((i * 131 + (i >> 8) * 29 + seed * 17 + 5) & 0xff);
}

void run_loop(RdmaSession &session, const RdmaCase &what, std::size_t count)
{
    if (what.op == RdmaOp::write)
        session.pong_by_write(count);
    else if (what.test == RdmaTest::latency)
        session.pong_by_send(count);
    else
        session.receive(count);
}

} // namespace

struct RdmaPeer::Request {
    Command command;
    RdmaCase what;
    std::size_t count;
    std::uint32_t seed;
    Place place;
    char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
    RdmaDetails details;
};

struct RdmaPeer::Reply {
    std::uint64_t value;
    RdmaDetails details;
    char problem[200]; ///< empty on success
};

void fill_pattern(std::span<std::byte> bytes, std::uint32_t seed)
{
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = pattern_at(i, seed);
}

bool is_pattern(std::span<const std::byte> bytes, std::uint32_t seed)
{
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] != pattern_at(i, seed))
            return false;
    }
    return true;
}

RdmaPeer::RdmaPeer(int cpu) : process_(cpu, [this](int channel) { run(channel); }) {}

RdmaPeer::~RdmaPeer() = default;

void RdmaPeer::run(int channel)
{
    std::unique_ptr<RdmaSession> session;
    RdmaCase what{};
    Request request;
    while (receive_message(channel, request)) {
        Reply reply{};
        try {
            switch (request.command) {
            case Command::begin:
                what = request.what;
                session = std::make_unique<RdmaSession>(request.ibdev, what);
                reply.details = session->details();
                session->connect(request.details);
                session->post_receives();
                break;
            case Command::end:
                session.reset();
                break;
            case Command::serve:
                // Pairs with the acquire in serve(): the other side may begin.
                page_[0].serving.fetch_add(1, std::memory_order_release);
                run_loop(*session, what, request.count);
                break;
            case Command::fill:
                fill_pattern({session->exposed(), what.size}, request.seed);
                break;
            case Command::look: {
                const std::byte *const place =
                    request.place == Place::exposed ? session->exposed() : session->destination();
                reply.value = is_pattern({place, what.size}, request.seed) ? 1 : 0;
                break;
            }
            case Command::word:
                std::memcpy(&reply.value, session->exposed(), sizeof(reply.value));
                break;
            }
        } catch (const std::exception &error) {
            std::snprintf(reply.problem, sizeof(reply.problem), "%s", error.what());
        }
        send_message(channel, reply);
    }
}

void RdmaPeer::tell(const Request &request)
{
    send_message(process_.channel(), request);
}

RdmaPeer::Reply RdmaPeer::ask(const Request &request)
{
    tell(request);
    return await_reply<Reply>(process_.channel());
}

RdmaDetails RdmaPeer::begin(const std::string &ibdev, const RdmaCase &what, const RdmaDetails &own)
{
    Request request{};
    request.command = Command::begin;
    request.what = what;
    request.details = own;
    ibdev.copy(request.ibdev, sizeof(request.ibdev) - 1);
    return ask(request).details;
}

void RdmaPeer::end()
{
    Request request{};
    request.command = Command::end;
    ask(request);
}

void RdmaPeer::serve(std::size_t count)
{
    Request request{};
    request.command = Command::serve;
    request.count = count;
    tell(request);
    ++num_served_;
    const double start = seconds_now();
    while (page_[0].serving.load(std::memory_order_acquire) != num_served_) {
        if (seconds_now() - start > 20)
            throw std::runtime_error("the other process does not answer");
    }
}

void RdmaPeer::finish_serving()
{
    (void)await_reply<Reply>(process_.channel());
}

void RdmaPeer::fill(std::uint32_t seed)
{
    Request request{};
    request.command = Command::fill;
    request.seed = seed;
    ask(request);
}

bool RdmaPeer::holds(Place place, std::uint32_t seed)
{
    Request request{};
    request.command = Command::look;
    request.place = place;
    request.seed = seed;
    return ask(request).value != 0;
}

std::uint64_t RdmaPeer::word()
{
    Request request{};
    request.command = Command::word;
    return ask(request).value;
}

} // namespace opendoca::tools
