// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "scenario.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/socket.h>

#include "parts.hpp"

namespace attack {

void Walk::complain(std::source_location where, doca_error_t status)
{
    std::fprintf(stderr, "%s:%u: %s\n", where.file_name(), where.line(), doca_get_error_name(status));
    is_good_ = false;
}

void Walk::require(bool holds, const char *what, std::source_location where)
{
    if (holds)
        return;
    std::fprintf(stderr, "%s:%u: not true: %s\n", where.file_name(), where.line(), what);
    is_good_ = false;
}

std::vector<std::byte> Walk::exchange(std::span<const std::byte> mine)
{
    static const std::byte nothing{};
    const std::byte *const data = mine.empty() ? &nothing : mine.data();
    std::vector<std::byte> theirs(4096);
    // A message of one byte stands for none: everything that is told here is longer.
    if (send(channel_, data, mine.empty() ? 1 : mine.size(), MSG_NOSIGNAL) < 0)
        std::exit(3); // the other process has gone
    const ssize_t size = recv(channel_, theirs.data(), theirs.size(), 0);
    if (size <= 0)
        std::exit(3);
    theirs.resize(size == 1 ? 0 : static_cast<std::size_t>(size));
    return theirs;
}

bool Walk::agree(bool mine)
{
    static constexpr std::byte yes[2] = {};
    const bool theirs = !exchange(mine ? std::span(yes) : std::span<const std::byte>()).empty();
    return mine && theirs;
}

bool Walk::run()
{
    walk_through_devices(*this);

    Owned<doca_dev> dev(*this, doca_dev_close);
    {
        doca_devinfo **list = nullptr;
        std::uint32_t size = 0;
        if (!agree(call([&] { return doca_devinfo_list_create(&list, &size); }))) {
            if (list != nullptr)
                undo([&] { return doca_devinfo_list_destroy(list); });
            return is_good_;
        }
        const AtEnd destroy([&] { undo([&] { return doca_devinfo_list_destroy(list); }); });
        for (std::uint32_t i = 0; i < size && dev.get() == nullptr; ++i) {
            char name[DOCA_DEVINFO_IBDEV_NAME_SIZE] = {};
            if (call([&] { return doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)); }) &&
                std::strcmp(name, is_host() ? "soft_pf0" : "soft_p0") == 0)
                (void)call([&] { return doca_dev_open(list[i], dev.out()); });
        }
    }
    walk_through_arguments(*this);
    if (!agree(dev.get() != nullptr))
        return is_good_;
    walk_through_local_copies(*this, dev);
    walk_through_exports(*this, dev);
    walk_through_rdma(*this, dev, false);
    walk_through_rdma(*this, dev, true);
    walk_through_sync_events(*this, dev);
    walk_through_comm_channel(*this, dev);
    walk_through_hashes(*this, dev);
    walk_through_graphs(*this, dev);
    walk_through_pools(*this, dev);
    return is_good_;
}

} // namespace attack
