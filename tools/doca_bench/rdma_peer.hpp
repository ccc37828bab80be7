// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The other process of the RDMA benchmark: the passive end of a case. It sleeps unless it is told to serve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <sys/types.h>

#include "core/unique_fd.hpp"
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
    struct Page;
    struct Request;
    struct Reply;

    static void run(int channel, Page &page);
    Reply ask(const Request &request);
    void tell(const Request &request);
    [[nodiscard]] Reply await_reply();

    UniqueFd channel_;
    Page *page_;
    std::uint32_t num_served_ = 0;
    pid_t pid_ = -1;
};

/// Bytes that depend on the seed and on their place.
void fill_pattern(std::span<std::byte> bytes, std::uint32_t seed);
[[nodiscard]] bool is_pattern(std::span<const std::byte> bytes, std::uint32_t seed);

} // namespace opendoca::tools
