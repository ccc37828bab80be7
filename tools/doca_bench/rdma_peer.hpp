// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The other process of the RDMA benchmark: the passive end of a case. It sleeps unless it is told to serve.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "other_process.hpp"
#include "rdma_session.hpp"

namespace opendoca::tools {

class RdmaPeer {
public:
    /// Forks, and so is to be made before the first DOCA object. @p cpu is where it stays, or -1.
    explicit RdmaPeer(int cpu);
    RdmaPeer(const RdmaPeer &) = delete;
    RdmaPeer &operator=(const RdmaPeer &) = delete;
    ~RdmaPeer();

    /// Connects a new session to the one with the details @p own; its own details.
    [[nodiscard]] RdmaDetails begin(const std::string &ibdev, const RdmaCase &what, const RdmaDetails &own);
    /// Ends the session.
    void end();

    /// Starts the peer's loop for @p count jobs, and returns when it runs.
    void serve(std::size_t count);
    /// Waits until it has ended.
    void finish_serving();

    /// Fills the memory that the peer exposes with the pattern of @p seed.
    void fill(std::uint32_t seed);
    enum class Place : std::uint32_t { exposed, received };
    /// Whether the bytes there are the pattern of @p seed.
    [[nodiscard]] bool holds(Place place, std::uint32_t seed);
    /// The first word of the exposed memory.
    [[nodiscard]] std::uint64_t word();

private:
    struct Page {
        std::atomic<std::uint32_t> serving; ///< the number of the loop that runs
    };
    struct Request;
    struct Reply;

    void run(int channel);
    Reply ask(const Request &request);
    void tell(const Request &request);

    std::uint32_t num_served_ = 0;
    SharedObjects<Page, 1> page_;
    OtherProcess process_;
};

/// Bytes that depend on the seed and on their place.
void fill_pattern(std::span<std::byte> bytes, std::uint32_t seed);
[[nodiscard]] bool is_pattern(std::span<const std::byte> bytes, std::uint32_t seed);

} // namespace opendoca::tools
