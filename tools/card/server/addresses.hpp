// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Network addresses of a card's functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../network/address.hpp"
#include "card.hpp"

namespace opendoca::card {

/// An address that the user gives to a function of the card.
struct AssignedAddress {
    Side side;
    std::string device; ///< mlx5_N; "": the first function of its side that can have an address
    Address address;
};

/// Parses "[SIDE/][DEVICE=]ADDRESS", of which @p side is the default side. Returns nothing, with the reason in
/// @p message, for other text and for addresses that no packet can be sent to.
std::optional<AssignedAddress> parse_assignment(std::string_view text, Side side, std::string &message);

/// Gives a card of which the other side is elsewhere GUIDs that follow from the name that both sides have for it.
/// Called before assign().
void distinguish_linked(Card &card, std::string_view name);

/// Gives the functions their addresses: GIDs, interface, MTU and socket. Returns false, with a message on stderr, if
/// one of them cannot have its address. Called before the card serves programs.
bool assign(Card &card, const std::vector<AssignedAddress> &addresses);

/// Returns the addresses of all functions as "SIDE/DEVICE=ADDRESS", separated by commas, or "-" if there are none.
std::string describe_addresses(const Card &card);

} // namespace opendoca::card
