// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Devices and representors: lists, opening and closing. Their properties are in devinfo.cpp.
#include "../objects/dev.hpp"

#include <doca_dev.h>

#include "../log/log.hpp"
#include "../objects/dev_list.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_DEV);

using opendoca::v3::call;

static_assert(DOCA_DEVINFO_REP_FILTER_ALL == opendoca::rep_filter_all &&
              DOCA_DEVINFO_REP_FILTER_NET == opendoca::rep_filter_net &&
              DOCA_DEVINFO_REP_FILTER_EMULATED == opendoca::rep_filter_emulated);

doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
    // Elements exist until the list is destroyed. A device that was opened from one does not need it any more.
    return call({dev_list, nb_devs}, [&] { return opendoca::list_devices(*dev_list, *nb_devs); });
}

doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list)
{
    return call({dev_list}, [&] { return opendoca::destroy_list(dev_list); });
}

doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter, struct doca_devinfo_rep ***dev_list_rep,
                                          uint32_t *nb_devs_rep)
{
    // The list keeps the device object alive, so its elements stay valid if the program closes the device.
    return call({dev, dev_list_rep, nb_devs_rep},
                [&] { return opendoca::list_representors(*dev, filter, *dev_list_rep, *nb_devs_rep); });
}

doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep)
{
    return call({dev_list_rep}, [&] { return opendoca::destroy_list(dev_list_rep); });
}

doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
    return call({devinfo, dev}, [&] {
        // The device exists on the program's protection domain only, so there is nothing to open again.
        if (devinfo->is_from_pd) {
            LOG_ERR("the devinfo is that of a device of doca_rdma_bridge_open_dev_from_pd(): it can't be opened again");
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        return doca_dev::open(devinfo->function, *dev);
    });
}

doca_error_t doca_dev_close(struct doca_dev *dev)
{
    // Opens are counted. IN_USE while a memory map, context or representor uses the device.
    return call({dev}, [&] { return dev->close(); });
}

doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep)
{
    // A representor uses its device until it is closed.
    return call({devinfo, dev_rep}, [&] { *dev_rep = new doca_dev_rep(*devinfo); });
}

doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev)
{
    return call({dev}, [&] { delete dev; });
}

struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev)
{
    return dev == nullptr ? nullptr : const_cast<doca_devinfo *>(&dev->info());
}

struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep)
{
    return dev_rep == nullptr ? nullptr : dev_rep->info.get();
}

doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev)
{
    return call({dev}, [] { return DOCA_ERROR_NOT_SUPPORTED; });
}
