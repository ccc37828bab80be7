// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "address.hpp"

namespace opendoca::comm_channel {

/// The peers of an endpoint: a client's service, or a service's clients, ended ones included, since an address is valid
/// until it is disconnected. Owned by an endpoint and used under its lock. Invariant: polled() holds those that may
/// still have messages, oldest first, each of which is in the table.
class PeerTable {
public:
    using Peer = doca_comm_channel_addr_t;
    using Addresses = std::unordered_map<const Peer *, std::unique_ptr<Peer>>;

    /// Adds a peer. Changes nothing if memory lacks.
    Peer &add(std::unique_ptr<Peer> peer)
    {
        // Reserves first, so that push_back() cannot fail after emplace() has succeeded.
        if (polled_.size() == polled_.capacity())
            polled_.reserve(2 * polled_.size() + 1);
        Peer &added = *peer;
        addresses_.emplace(&added, std::move(peer));
        polled_.push_back(&added);
        return added;
    }
    /// Returns the peer with this address, or null if there is none; the pointer is not dereferenced. Searches the few
    /// polled peers before the table, which is faster in the common case.
    [[nodiscard]] Peer *find(const Peer *peer) noexcept
    {
        for (Peer *const known : polled_) {
            if (known == peer)
                return known;
        }
        const auto gone = addresses_.find(peer);
        return gone == addresses_.end() ? nullptr : gone->second.get();
    }
    /// Removes @p peer and returns it.
    [[nodiscard]] std::unique_ptr<Peer> remove(const Peer &peer) noexcept
    {
        auto found = addresses_.find(&peer);
        std::unique_ptr<Peer> taken = std::move(found->second);
        if (std::erase(polled_, &peer) != 0)
            next = 0;
        addresses_.erase(found);
        return taken;
    }
    /// No longer polls peers that are released, and deletes those of which the program has no address.
    void retire_released()
    {
        std::erase_if(polled_, [this](Peer *peer) {
            const bool is_over = peer->is_released();
            if (is_over && !peer->is_reported)
                addresses_.erase(peer);
            return is_over;
        });
        next = 0;
    }
    /// Removes all peers and returns them.
    [[nodiscard]] Addresses remove_all() noexcept
    {
        polled_.clear();
        next = 0;
        return std::exchange(addresses_, {});
    }

    [[nodiscard]] const std::vector<Peer *> &polled() const noexcept { return polled_; }

    std::size_t next = 0; ///< index in polled() of the peer that is polled first

private:
    Addresses addresses_;
    std::vector<Peer *> polled_;
};

} // namespace opendoca::comm_channel
