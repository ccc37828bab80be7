// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_wire.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace opendoca::tools {

namespace {

constexpr std::size_t max_jobs = 65536;                    ///< jobs of one thread
constexpr std::size_t max_memory = std::size_t{256} << 20; ///< bytes of all threads, in each of three buffers
constexpr std::size_t max_blob = 1024;                     ///< bytes of a descriptor

/// Decodes connection details or a descriptor. Checks the length before it allocates memory.
std::vector<std::byte> blob_of(const Message &text)
{
    if (!text.is_string() || text.get_ref<const std::string &>().size() > 2 * max_blob)
        throw std::runtime_error("the other side has sent connection details or a descriptor of more than " +
                                 std::to_string(max_blob) + " bytes, or none");
    return from_hex(text.get_ref<const std::string &>());
}

} // namespace

std::string complaint_about(const PairCase &what)
{
    if (std::size_t{what.depth} * what.connections > max_jobs)
        return std::to_string(what.connections) + " connections with " + std::to_string(what.depth) +
               " jobs in flight each are more than " + std::to_string(max_jobs) + " jobs";
    if (what.size * what.threads > max_memory)
        return std::to_string(what.threads) + " threads with jobs of " + std::to_string(what.size) +
               " bytes use more than " + std::to_string(max_memory >> 20) + " MiB";
    return "";
}

void put(Message &message, const PairCase &what)
{
    message["job"] = static_cast<std::uint32_t>(what.op);
    message["test"] = static_cast<std::uint32_t>(what.test);
    message["memory"] = static_cast<std::uint32_t>(what.memory);
    message["events"] = what.waits_for_events ? 1U : 0U;
    message["size"] = what.size;
    message["depth"] = what.depth;
    message["threads"] = what.threads;
    message["connections"] = what.connections;
}

PairCase case_of(const Message &message)
{
    const auto number = [&](const char *key, std::uint64_t least, std::uint64_t most) {
        return static_cast<std::uint32_t>(integer_of(message, key, least, most));
    };
    PairCase what{};
    what.op = static_cast<PairOp>(number("job", 0, static_cast<std::uint32_t>(PairOp::fetch_add)));
    // The tests after "rate" are Comch's.
    what.test = static_cast<PairTest>(number("test", 0, static_cast<std::uint32_t>(PairTest::rate)));
    what.memory = static_cast<MemoryKind>(number("memory", 0, static_cast<std::uint32_t>(MemoryKind::ordinary)));
    what.waits_for_events = number("events", 0, 1) != 0;
    // FETCH_ADD needs its eight bytes.
    what.size = number("size", what.op == PairOp::fetch_add ? 8 : 1, max_rdma_size);
    what.depth = number("depth", 1, max_rdma_depth);
    what.threads = number("threads", 1, max_rdma_threads);
    what.connections = number("connections", 1, max_rdma_connections);
    if (const std::string complaint = complaint_about(what); !complaint.empty())
        throw std::runtime_error(complaint);
    return what;
}

void put(Message &message, std::span<const RdmaDetails> details)
{
    Message threads = Message::array();
    for (const RdmaDetails &one : details) {
        Message connections = Message::array();
        for (const std::vector<std::byte> &connection : one.connections)
            connections.push_back(to_hex(connection));
        threads.push_back({{"connections", std::move(connections)}, {"memory", to_hex(one.memory)}});
    }
    message["details"] = std::move(threads);
}

std::vector<RdmaDetails> details_of(const Message &message, const PairCase &what)
{
    const auto member = message.find("details");
    if (member == message.end() || !member->is_array() || member->size() != what.threads)
        throw std::runtime_error("the other side has not sent the details of " + std::to_string(what.threads) +
                                 " threads");
    std::vector<RdmaDetails> all;
    for (const Message &thread : *member) {
        if (!thread.is_object() || !thread.contains("connections") || !thread.contains("memory") ||
            !thread["connections"].is_array() || thread["connections"].size() != what.connections)
            throw std::runtime_error("the other side has not sent the details of " + std::to_string(what.connections) +
                                     " connections of each thread");
        RdmaDetails details;
        for (const Message &connection : thread["connections"])
            details.connections.push_back(blob_of(connection));
        details.memory = blob_of(thread["memory"]);
        all.push_back(std::move(details));
    }
    return all;
}

} // namespace opendoca::tools
