// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A list is found again by the address of its first pointer, so that destroying something else is an error
// and not a crash.
#include "dev_list.hpp"

#include <mutex>
#include <unordered_map>

#include "log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_DEV_LIST);

namespace opendoca {

namespace {

/// The living lists of one kind of element.
template <typename Info>
class Lists {
public:
    void add(std::vector<Info> infos, Info **&array, std::uint32_t &count)
    {
        auto list = std::make_unique<List>();
        list->infos = std::move(infos);
        list->pointers.reserve(list->infos.size() + 1);
        for (auto &info : list->infos)
            list->pointers.push_back(&info);
        list->pointers.push_back(nullptr);
        const std::lock_guard guard(lock_);
        const auto &added = *lists_.emplace(list->pointers.data(), std::move(list)).first->second;
        array = const_cast<Info **>(added.pointers.data());
        count = static_cast<std::uint32_t>(added.infos.size());
    }

    doca_error_t remove(Info **array)
    {
        const std::lock_guard guard(lock_);
        if (lists_.erase(array) == 0) {
            LOG_ERR("%p is not a list that this library made, or it was destroyed before",
                    static_cast<void *>(array));
            return DOCA_ERROR_INVALID_VALUE;
        }
        return DOCA_SUCCESS;
    }

private:
    struct List {
        std::vector<Info> infos;
        std::vector<Info *> pointers;
    };

    std::mutex lock_;
    std::unordered_map<Info **, std::unique_ptr<List>> lists_;
};

Lists<doca_devinfo> &device_lists()
{
    static auto *const lists = new Lists<doca_devinfo>;
    return *lists;
}

Lists<doca_devinfo_rep> &representor_lists()
{
    static auto *const lists = new Lists<doca_devinfo_rep>;
    return *lists;
}

doca_error_t check_filter(const doca_dev &dev, int filter)
{
    constexpr int known = rep_filter_net | rep_filter_emulated;
    if ((filter & ~known) != 0) {
        LOG_ERR("representor filter 0x%x: the bits 0x%x are not defined", static_cast<unsigned>(filter),
                static_cast<unsigned>(filter & ~known));
        return DOCA_ERROR_INVALID_VALUE;
    }
    const auto &can = dev.function().can;
    const bool is_supported = filter == rep_filter_all
                                  ? can.representors_net || can.representors_emulated
                                  : ((filter & rep_filter_net) == 0 || can.representors_net) &&
                                        ((filter & rep_filter_emulated) == 0 || can.representors_emulated);
    if (!is_supported) {
        LOG_ERR("device %s has no representors for the filter 0x%x", dev.description().c_str(),
                static_cast<unsigned>(filter));
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    return DOCA_SUCCESS;
}

} // namespace

doca_error_t list_devices(doca_devinfo **&array, std::uint32_t &count)
{
    DeviceFunctions functions;
    if (const doca_error_t status = list_functions(functions); status != DOCA_SUCCESS)
        return status;
    std::vector<doca_devinfo> infos;
    infos.reserve(functions.size());
    for (auto &function : functions)
        infos.push_back({std::move(function)});
    device_lists().add(std::move(infos), array, count);
    return DOCA_SUCCESS;
}

doca_error_t forget_list(doca_devinfo **array)
{
    return device_lists().remove(array);
}

doca_error_t list_representors(doca_dev &dev, int filter, doca_devinfo_rep **&array, std::uint32_t &count)
{
    if (const doca_error_t status = check_filter(dev, filter); status != DOCA_SUCCESS)
        return status;
    std::vector<doca_devinfo_rep> infos;
    for (auto &info : dev.function().representors()) {
        const int kind = info.is_emulated ? rep_filter_emulated : rep_filter_net;
        if (filter == rep_filter_all || (filter & kind) != 0)
            infos.push_back({std::move(info), dev.share()});
    }
    representor_lists().add(std::move(infos), array, count);
    return DOCA_SUCCESS;
}

doca_error_t forget_list(doca_devinfo_rep **array)
{
    return representor_lists().remove(array);
}

} // namespace opendoca
