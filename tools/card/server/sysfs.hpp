// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

#include "card.hpp"

namespace opendoca::card {

/// Writes the files of a card below `folder`: for each side (host, dpu) a tree sys/ with the files that sysfs would
/// show, and an empty folder dev/ for the sockets. Returns false, with a message on stderr, if it cannot.
bool write_sysfs(Card &card, const std::string &folder);

/// Shows the representors of the functions that are present, and no others, among the network interfaces of the DPU's
/// side. No effect before write_sysfs(), and on a card without a DPU. A failure is reported on stderr.
void show_representors(const Card &card);

/// Writes the state of a function's port again after it has changed. No effect before write_sysfs(). A failure is
/// reported on stderr: programs that read the files see the old state then.
void show_port_state(const Card &card, const Function &function);

} // namespace opendoca::card
