// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "comch_peer.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>

#include <unistd.h>

#include "../machine.hpp"
#include "../rdma_peer.hpp"

namespace opendoca::tools {

/// Requests to the other process.
enum class ComchPeer::Command : std::uint32_t {
    open,         ///< start a server for the case
    establish,    ///< accept its client, which connects next
    respond,      ///< answer a number of messages
    compare,      ///< compare the last received message with the pattern of a seed
    close,        ///< stop the server
    socket_trips, ///< answer over the socket pair
};

/// A request. Members that a command does not need are empty.
struct ComchPeer::Request {
    Command command;
    PairCase what;
    std::uint64_t count;
    std::uint32_t seed;
    SocketTrips::Wait wait; ///< how both sides of a socket pair wait
    char name[64];          ///< the server's name
};

/// The answer to a request.
struct ComchPeer::Reply {
    bool holds;        ///< result of a comparison
    char problem[400]; ///< empty on success
};

/// This process's side of a case, and the requests to the other process. Owned by PairBenchmark for one case. While it
/// exists, the other process has a server with the same name.
class ComchPeer::Pair final : public CasePair {
public:
    Pair(ComchPeer &peer, const PairCase &what) : peer_(peer), what_(what)
    {
        static unsigned number = 0;
        const std::string name = "doca_bench " + std::to_string(getpid()) + " " + std::to_string(++number);
        Request request{.command = Command::open, .what = what, .count = 0, .seed = 0, .wait = {}, .name = {}};
        name.copy(request.name, sizeof(request.name) - 1);
        (void)peer_.call(request);
        try {
            // The client connects while the server accepts, so both must run at the same time.
            session_ = make_comch_session(peer_.functions_, false, name, what);
            with_peer(Command::establish, 0, [&] {
                session_->start();
                session_->establish();
            });
        } catch (...) {
            close();
            throw;
        }
    }
    ~Pair() override { close(); }

    // The bytes depend on a seed that differs in each verification, so old bytes do not pass.
    void verify() override
    {
        const std::uint32_t seed = ++peer_.num_patterns_;
        fill_pattern(session_->source(), seed);
        (void)run(what_.depth);
        Request request = request_for(Command::compare, 0);
        request.seed = seed;
        if (!peer_.call(request))
            throw std::runtime_error(text_of(what_) + ": what has arrived differs from what was sent");
    }

    double run(std::size_t count) override
    {
        // The first operation includes the time until the other side has started, so it does not count.
        const std::size_t first = what_.test == PairTest::rate ? 0 : 1;
        double taken = 0;
        with_peer(Command::respond, first + count, [&] {
            if (first != 0)
                session_->run(first);
            const double start = seconds_now();
            session_->run(count);
            taken = seconds_now() - start;
        });
        return taken / parts();
    }

    Percentiles measure_latency(std::size_t count) override
    {
        LatencyHistogram histogram;
        with_peer(Command::respond, calls_of_time_each(count),
                  [&] { time_each(histogram, count, [&] { session_->run(1); }); });
        return percentiles_of(histogram, parts());
    }

private:
    /// Returns the operations of one measured time: a latency test times both ways.
    [[nodiscard]] double parts() const noexcept { return what_.test == PairTest::latency ? 2 : 1; }

    [[nodiscard]] Request request_for(Command command, std::uint64_t count) const
    {
        return {.command = command, .what = what_, .count = count, .seed = 0, .wait = {}, .name = {}};
    }

    /// Runs @p work while the other process does its part, between its two answers.
    template <typename Work>
    void with_peer(Command command, std::uint64_t count, Work work)
    {
        (void)peer_.call(request_for(command, count)); // the first answer: it has begun
        try {
            work();
        } catch (...) {
            // The second answer is consumed; otherwise the next request would take it for its own.
            try {
                (void)await_reply<Reply>(peer_.process_.channel());
            } catch (const std::exception &) { // the first error is the one to report
            }
            throw;
        }
        (void)await_reply<Reply>(peer_.process_.channel());
    }

    /// Destroys both sides. Errors are ignored: this side no longer depends on the other one.
    void close() noexcept
    {
        session_.reset();
        try {
            (void)peer_.call(request_for(Command::close, 0));
        } catch (const std::exception &) {
            // The other process has ended; the next request reports it.
        }
    }

    ComchPeer &peer_;
    PairCase what_;
    std::unique_ptr<ComchSession> session_;
};

ComchPeer::ComchPeer(int cpu, std::string host_ibdev)
    : host_ibdev_(std::move(host_ibdev)),
      process_(cpu, [this](int channel) { serve(channel); })
{
}

void ComchPeer::find()
{
    functions_ = find_functions(host_ibdev_);
}

void ComchPeer::serve(int channel)
{
    Request request;
    while (receive_message(channel, request)) {
        Reply reply{};
        try {
            carry_out(request, channel, reply);
        } catch (const std::exception &error) {
            std::snprintf(reply.problem, sizeof(reply.problem), "%s", error.what());
        }
        send_message(channel, reply);
    }
}

/// Does what a request asks for, in the other process. Commands that take part in a measurement send an answer when
/// they begin.
void ComchPeer::carry_out(const Request &request, int channel, Reply &reply)
{
    switch (request.command) {
    case Command::open:
        if (functions_.dpu == nullptr)
            find();
        session_ = make_comch_session(functions_, true, request.name, request.what);
        session_->start();
        break;
    case Command::establish:
        send_message(channel, reply);
        session_->establish();
        break;
    case Command::respond:
        send_message(channel, reply);
        session_->respond(request.count);
        break;
    case Command::compare:
        reply.holds = is_pattern(session_->destination(), request.seed);
        break;
    case Command::close:
        session_.reset();
        break;
    case Command::socket_trips: {
        std::array<std::byte, max_message> room;
        send_message(channel, reply);
        for (std::uint64_t i = 0; i < request.count; ++i)
            sockets_.echo(request.wait, room);
        break;
    }
    }
}

/// Sends a request to the other process and returns the result of its first answer.
bool ComchPeer::call(const Request &request)
{
    send_message(process_.channel(), request);
    return await_reply<Reply>(process_.channel()).holds;
}

std::unique_ptr<CasePair> ComchPeer::connect(const PairCase &what)
{
    return std::make_unique<Pair>(*this, what);
}

double ComchPeer::trips_by_socket(SocketTrips::Wait wait, std::size_t size, std::size_t count)
{
    const std::size_t warm_up = count / 10 + 1;
    Request request{
        .command = Command::socket_trips, .what = {}, .count = warm_up + count, .seed = 0, .wait = wait, .name = {}};
    (void)call(request);
    const std::vector<std::byte> message(size);
    std::vector<std::byte> room(size);
    const auto run = [&](std::size_t trips) {
        for (; trips > 0; --trips)
            (void)sockets_.trip(wait, message, room);
    };
    run(warm_up);
    const double start = seconds_now();
    run(count);
    const double taken = seconds_now() - start;
    (void)await_reply<Reply>(process_.channel());
    return taken;
}

} // namespace opendoca::tools
