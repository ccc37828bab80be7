// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The walk through the API of DOCA 2.2.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <doca_log.h>

#include "parts.hpp"

namespace attack {

const char *name_of(doca_error_t status)
{
    return doca_get_error_name(status);
}

void silence()
{
    doca_logger_backend *backend = nullptr;
    std::FILE *const sink = std::fopen("/dev/null", "we");
    if (sink == nullptr || doca_log_create_file_backend(sink, &backend) != DOCA_SUCCESS)
        std::exit(2);
    doca_workq *workq = nullptr;
    if (doca_workq_create(0, &workq) != DOCA_ERROR_INVALID_VALUE)
        std::exit(2);
}

Device::Device(Walk &walk, const char *name) : dev_(walk, doca_dev_close)
{
    doca_devinfo **list = nullptr;
    std::uint32_t size = 0;
    if (!walk.call([&] { return doca_devinfo_list_create(&list, &size); }))
        return;
    const AtEnd destroy([&] { walk.undo([&] { return doca_devinfo_list_destroy(list); }); });
    for (std::uint32_t i = 0; i < size && !is_open(); ++i) {
        char its_name[DOCA_DEVINFO_IBDEV_NAME_SIZE] = {};
        if (walk.call([&] { return doca_devinfo_get_ibdev_name(list[i], its_name, sizeof(its_name)); }) &&
            std::strcmp(its_name, name) == 0)
            (void)walk.call([&] { return doca_dev_open(list[i], dev_.out()); });
    }
}

bool Walk::run()
{
    walk_part("devices", [&] { walk_through_devices(*this); });
    walk_part("arguments", [&] { walk_through_arguments(*this); });
    const Device dev(*this, is_host() ? "soft_pf0" : "soft_p0");
    if (!agree(dev.is_open()))
        return is_good_;
    walk_part("local_copies", [&] { walk_through_local_copies(*this, dev); });
    walk_part("exports", [&] { walk_through_exports(*this, dev); });
    walk_part("rdma", [&] { walk_through_rdma(*this, dev, false); });
    walk_part("rdma_events", [&] { walk_through_rdma(*this, dev, true); });
    walk_part("sync_events", [&] { walk_through_sync_events(*this, dev); });
    walk_part("ended_sync_events", [&] { walk_through_ends_of_sync_events(*this, dev, false); });
    walk_part("words", [&] { walk_through_ends_of_sync_events(*this, dev, true); });
    walk_part("comm_channel", [&] { walk_through_comm_channel(*this, dev, false); });
    walk_part("comm_channel_tcp", [&] { walk_through_comm_channel(*this, dev, true); });
    walk_part("hashes", [&] { walk_through_hashes(*this, dev); });
    walk_part("compression", [&] { walk_through_compression(*this, dev); });
    walk_part("erasure_coding", [&] { walk_through_erasure_coding(*this, dev); });
    walk_part("graphs", [&] { walk_through_graphs(*this, dev); });
    walk_part("pools", [&] { walk_through_pools(*this, dev); });
    return is_good_;
}

} // namespace attack
