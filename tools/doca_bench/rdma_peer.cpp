// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_peer.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>

#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include "parallel.hpp"
#include "rdma_wire.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t max_text = 500; ///< limit of texts from the network in bytes

/// Returns byte @p i of the pattern. The factors make neighbouring bytes, blocks of 256 and seeds differ.
std::byte pattern_at(std::size_t i, std::uint32_t seed)
{
    return static_cast<std::byte>((i * 131 + (i >> 8) * 29 + seed * 17 + 5) & 0xff);
}

/// Runs the passive side of a case in one session.
void run_loop(RdmaSession &session, const PairCase &what, std::size_t count)
{
    if (what.op == PairOp::write)
        session.pong_by_write(count);
    else if (what.test == PairTest::latency)
        session.pong_by_send(count);
    else
        session.receive(count);
}

/// The passive end of one connection. Owned by serve_rdma() and used by its thread; a loop runs in threads of its own
/// if there are several sessions. A request either succeeds or throws and leaves no sessions half connected.
class Server {
public:
    Server(int socket, const std::string &ibdev) : socket_(socket), ibdev_(ibdev) {}

    /// Executes a request and returns the answer. Throws if the request is invalid or fails.
    Message carry_out(const Message &request)
    {
        const std::string command = text_of(request, "command", max_text);
        if (command == "hello")
            return {{"protocol", rdma_protocol}, {"device", ibdev_}};
        if (command == "begin")
            return begin(request);
        if (command == "end") {
            sessions_.clear();
            return Message::object();
        }
        // All other commands refer to the sessions of a case.
        if (sessions_.empty())
            throw std::runtime_error("'" + command + "' before 'begin'");
        if (command == "serve")
            return serve(request);
        if (command == "fill")
            return fill(request);
        if (command == "look")
            return compare(request);
        if (command == "word")
            return word();
        throw std::runtime_error("unknown command '" + command + "'");
    }

private:
    /// Creates and connects sessions, one for each thread of the client.
    Message begin(const Message &request)
    {
        // A client that has failed may not have ended its last case.
        sessions_.clear();
        what_ = case_of(request);
        const std::vector<RdmaDetails> details = details_of(request, what_);
        const std::string ibdev = ibdev_.empty() ? text_of(request, "device", max_text) : ibdev_;
        std::vector<RdmaDetails> own;
        try {
            for (const RdmaDetails &one : details) {
                RdmaSession &session = *sessions_.emplace_back(make_rdma_session(ibdev, what_));
                own.push_back(session.details());
                session.connect(one);
                session.post_receives();
            }
        } catch (...) {
            sessions_.clear();
            // None rather than some: the client starts anew.
            throw;
        }
        Message answer = Message::object();
        put(answer, own);
        return answer;
    }

    Message serve(const Message &request)
    {
        const auto count = integer_of(request, "count", 1, max_rdma_count);
        send_json(socket_, Message::object()); // the first answer: the loop is about to run
        (void)run_in_threads(sessions_.size(), [&](std::size_t i) { run_loop(*sessions_[i], what_, count); });
        return Message::object();
    }

    Message fill(const Message &request)
    {
        for (const auto &session : sessions_)
            fill_pattern({session->exposed(), what_.size}, seed_of(request));
        return Message::object();
    }

    /// Compares memory with a pattern.
    Message compare(const Message &request)
    {
        const auto place = static_cast<RdmaPeer::Place>(integer_of(request, "place", 0, 1));
        return {{"holds", std::ranges::all_of(sessions_, [&](const auto &session) {
                     const std::byte *const first =
                         place == RdmaPeer::Place::exposed ? session->exposed() : session->destination();
                     return is_pattern({first, what_.size}, seed_of(request));
                 })}};
    }

    /// Returns the sum of the counters.
    Message word()
    {
        std::uint64_t sum = 0;
        for (const auto &session : sessions_) {
            std::uint64_t value = 0;
            std::memcpy(&value, session->exposed(), sizeof(value));
            sum += value;
        }
        return {{"word", sum}};
    }

    static std::uint32_t seed_of(const Message &request)
    {
        return static_cast<std::uint32_t>(integer_of(request, "seed", 0, UINT32_MAX));
    }

    int socket_;
    const std::string &ibdev_;
    PairCase what_{};
    std::vector<std::unique_ptr<RdmaSession>> sessions_;
};

} // namespace

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

void serve_rdma(int socket, const std::string &ibdev)
{
    Server server(socket, ibdev);
    Message request;
    while (receive_json(socket, request)) {
        Message answer;
        try {
            answer = server.carry_out(request);
        } catch (const std::exception &error) {
            // The text is cut to what the client accepts.
            answer = {{"problem", std::string(error.what()).substr(0, max_text)}};
        }
        send_json(socket, answer);
    }
}

Message RdmaPeer::await_answer()
{
    Message answer;
    if (!receive_json(socket_, answer))
        throw std::runtime_error(name_ + " has gone");
    if (answer.contains("problem"))
        throw std::runtime_error(name_ + ": " + text_of(answer, "problem", max_text));
    return answer;
}

Message RdmaPeer::call(const Message &request)
{
    send_json(socket_, request);
    return await_answer();
}

std::string RdmaPeer::handshake()
{
    const Message answer = call({{"command", "hello"}, {"protocol", rdma_protocol}});
    if (integer_of(answer, "protocol", 0, UINT64_MAX) != rdma_protocol)
        throw std::runtime_error(name_ + " is of another release, whose protocol differs");
    return text_of(answer, "device", max_text);
}

std::vector<RdmaDetails> RdmaPeer::begin(const std::string &ibdev, const PairCase &what,
                                         std::span<const RdmaDetails> own)
{
    Message request = {{"command", "begin"}, {"device", ibdev}};
    put(request, what);
    put(request, own);
    return details_of(call(request), what);
}

void RdmaPeer::end()
{
    (void)call({{"command", "end"}});
}

void RdmaPeer::serve(std::size_t count)
{
    (void)call({{"command", "serve"}, {"count", count}});
}

void RdmaPeer::finish_serving()
{
    (void)await_answer();
}

void RdmaPeer::fill(std::uint32_t seed)
{
    (void)call({{"command", "fill"}, {"seed", seed}});
}

bool RdmaPeer::holds(Place place, std::uint32_t seed)
{
    const Message answer = call({{"command", "look"}, {"place", static_cast<std::uint32_t>(place)}, {"seed", seed}});
    const auto holds = answer.find("holds");
    return holds != answer.end() && *holds == true;
}

std::uint64_t RdmaPeer::word()
{
    return integer_of(call({{"command", "word"}}), "word", 0, UINT64_MAX);
}

RdmaPeerProcess::RdmaPeerProcess(int cpu)
    : process_(
          cpu, [](int channel) { serve_rdma(channel, ""); }, SOCK_STREAM),
      peer_(process_.channel(), "the other process")
{
}

} // namespace opendoca::tools
