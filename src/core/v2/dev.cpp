// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Devices and representors: lists, opening and closing. Their properties are in devinfo.cpp.
#include "../objects/dev.hpp"

#include <doca_dev.h>

#include "../objects/dev_list.hpp"
#include "call.hpp"

using opendoca::v2::call;

static_assert(DOCA_DEV_REP_FILTER_ALL == opendoca::rep_filter_all &&
              DOCA_DEV_REP_FILTER_NET == opendoca::rep_filter_net &&
              DOCA_DEV_REP_FILTER_EMULATED == opendoca::rep_filter_emulated);
/// Values that 2.2 has in common with core are cast, not translated.
static_assert(DOCA_PCI_FUNC_PF == static_cast<int>(opendoca::FunctionType::pf) &&
              DOCA_PCI_FUNC_VF == static_cast<int>(opendoca::FunctionType::vf) &&
              DOCA_PCI_FUNC_SF == static_cast<int>(opendoca::FunctionType::sf));

doca_error_t doca_devinfo_list_create(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
    // Elements exist until the list is destroyed. A device that was opened from one does not need it any more.
    return call({dev_list, nb_devs}, [&] { return opendoca::list_devices(*dev_list, *nb_devs); });
}

doca_error_t doca_devinfo_list_destroy(struct doca_devinfo **dev_list)
{
    return call({dev_list}, [&] { return opendoca::destroy_list(dev_list); });
}

doca_error_t doca_devinfo_rep_list_create(struct doca_dev *dev, int filter, struct doca_devinfo_rep ***dev_list_rep,
                                          uint32_t *nb_devs_rep)
{
    // The list keeps the device object alive, so its elements stay valid if the program closes the device.
    return call({dev, dev_list_rep, nb_devs_rep},
                [&] { return opendoca::list_representors(*dev, filter, *dev_list_rep, *nb_devs_rep); });
}

doca_error_t doca_devinfo_rep_list_destroy(struct doca_devinfo_rep **dev_list_rep)
{
    return call({dev_list_rep}, [&] { return opendoca::destroy_list(dev_list_rep); });
}

doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
    return call({devinfo, dev}, [&] { return doca_dev::open(devinfo->function, *dev); });
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
    // A device on the program's own protection domain is in no list, so it has no devinfo in 2.2.
    return dev == nullptr || dev->info().is_from_pd ? nullptr : const_cast<doca_devinfo *>(&dev->info());
}

struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep)
{
    return dev_rep == nullptr ? nullptr : dev_rep->info.get();
}
