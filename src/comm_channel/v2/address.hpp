// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include "../connection.hpp"

struct doca_comm_channel_ep_t;

/// A connection of an endpoint: the opaque type of the C API. Owned by the endpoint and used under its lock.
struct doca_comm_channel_addr_t : opendoca::comm_channel::Connection {
    doca_comm_channel_addr_t(doca_comm_channel_ep_t &owner, Side own_side, opendoca::UniqueFd connection,
                             const doca_dev &dev)
        : Connection(own_side, std::move(connection), dev, Watching::by_two_channels),
          endpoint(owner)
    {
    }

    doca_comm_channel_ep_t &endpoint;
    std::uint64_t user_data = 0;
    /// The program has received this address; an unknown one is deleted as soon as its peer has ended.
    bool is_reported = false;
};
