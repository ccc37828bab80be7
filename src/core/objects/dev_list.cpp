// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The lists are registered by the address of their first pointer, so that a program that destroys anything else gets an
// error and does not crash.
#include "dev_list.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "../log/log.hpp"
#include "../process/fork.hpp"

OPENDOCA_LOG_SOURCE(DOCA_DEV_LIST);

namespace opendoca {

namespace {

// The name of an element and all of its addresses, for a log message.

std::string describe(const std::string &name, const std::string &pci_address, const std::vector<std::string> &also)
{
    std::string text = name + " (" + (pci_address.empty() ? "on no PCI bus" : pci_address);
    for (const std::string &further : also)
        text += ", " + further;
    return text + ")";
}

std::string describe(const doca_devinfo &info)
{
    return describe(info.function->name, info.function->pci_address, info.function->also);
}

std::string describe(const doca_devinfo_rep &info)
{
    return describe(info.info.name, info.info.pci_address, info.info.also);
}

bool is_soft(const std::shared_ptr<const DeviceFunction> &function)
{
    return function->provider == "soft";
}

/// The lists of one kind of element that were not destroyed yet. One instance for each kind in a process. Thread-safe.
template <typename Info>
class Lists {
public:
    /// Creates and registers a list of @p infos. @p port is the device of a list of representors. Throws
    /// std::bad_alloc.
    void add(std::vector<Info> infos, Info **&array, std::uint32_t &count,
             std::shared_ptr<const DeviceFunction> port = nullptr)
    {
        auto list = std::make_unique<List>();
        list->infos = std::move(infos);
        list->port = std::move(port);
        list->pointers.reserve(list->infos.size() + 1);
        // The pointers stay valid, as the list's own vectors are not changed any more.
        for (auto &info : list->infos) {
            info.search = list->search;
            list->pointers.push_back(&info);
        }
        list->pointers.push_back(nullptr);
        const std::lock_guard guard(lock_);
        const auto &added = *lists_.emplace(list->pointers.data(), std::move(list)).first->second;
        array = const_cast<Info **>(added.pointers.data());
        count = static_cast<std::uint32_t>(added.infos.size());
    }

    doca_error_t remove(Info **array)
    {
        std::unique_lock guard(lock_);
        const auto removed = lists_.extract(array);
        // Reported without the lock: a log backend may call the program, which may use lists.
        guard.unlock();
        if (removed.empty()) {
            LOG_ERR("%p is not a list that this library made, or it was destroyed before", static_cast<void *>(array));
            return DOCA_ERROR_INVALID_VALUE;
        }
        (void)guarded([&] { return report_miss(*removed.mapped()); });
        return DOCA_SUCCESS;
    }

private:
    struct List {
        std::vector<Info> infos;
        std::vector<Info *> pointers;
        std::shared_ptr<const DeviceFunction> port;
        std::shared_ptr<AddressSearch> search = std::make_shared<AddressSearch>();
    };

    /// Logs a failed search, when its list is destroyed. A program that searches for an address compares it with one
    /// element after the other, so no single comparison shows that none is equal.
    static doca_error_t report_miss(const List &list)
    {
        const std::string address = list.search->missed();
        // A program may have stopped before it came to the matching element.
        if (address.empty() ||
            std::ranges::any_of(list.infos, [&](const Info &info) { return info.has_address(address); }))
            return DOCA_SUCCESS;
        std::string present;
        for (const Info &info : list.infos) {
            // Elements for further addresses repeat a function.
            if (info.number == 0)
                present += (present.empty() ? "" : ", ") + describe(info);
        }
        const std::string what = list.port == nullptr ? "no device" : "no representor of device " + list.port->name;
        LOG_WARN("%s has the PCI address %s; there are %s%s", what.c_str(), address.c_str(), present.c_str(),
                 explain_missing(address, has_soft(list)).c_str());
        return DOCA_SUCCESS;
    }

    static bool has_soft(const List &list)
    {
        if constexpr (std::is_same_v<Info, doca_devinfo>)
            return std::ranges::any_of(list.infos, is_soft, &doca_devinfo::function);
        else
            return is_soft(list.port);
    }

    ForkSafeMutex lock_;
    const ForkRegistration fork_registration_{lock_, LockRank::lists};
    std::unordered_map<Info **, std::unique_ptr<List>> lists_;
};

// Never destroyed: exit handlers may use lists.
auto &device_lists = *new Lists<doca_devinfo>;
auto &representor_lists = *new Lists<doca_devinfo_rep>;

const std::vector<std::string> &further_addresses(const doca_devinfo &info)
{
    return info.function->also;
}

const std::vector<std::string> &further_addresses(const doca_devinfo_rep &info)
{
    return info.info.also;
}

/// Appends an element for each further address of those in @p infos.
template <typename Info>
void show_further_addresses(std::vector<Info> &infos)
{
    // By index, and only up to the original size, since the vector grows meanwhile.
    for (std::size_t i = 0, count = infos.size(); i < count; ++i) {
        for (std::size_t number = 1; number <= further_addresses(infos[i]).size(); ++number) {
            Info further = infos[i];
            further.number = number;
            infos.push_back(std::move(further));
        }
    }
}

/// Checks that @p filter has only defined bits, and that the device has representors of each kind in it (of any kind,
/// if it is empty).
doca_error_t check_filter(const doca_dev &dev, int filter)
{
    constexpr int defined = rep_filter_net | rep_filter_emulated;
    if ((filter & ~defined) != 0) {
        LOG_ERR("representor filter 0x%x: the bits 0x%x are not defined", static_cast<unsigned>(filter),
                static_cast<unsigned>(filter & ~defined));
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

doca_error_t list_devices(doca_devinfo **&array, std::uint32_t &count, Shown shown)
{
    DeviceFunctions functions;
    if (const doca_error_t status = list_functions(functions); status != DOCA_SUCCESS)
        return status;
    // Each call lists anew: devices may be added or removed while the program runs.
    std::vector<doca_devinfo> infos;
    infos.reserve(functions.size());
    for (auto &function : functions)
        infos.push_back({std::move(function)});
    if (shown == Shown::each_address)
        show_further_addresses(infos);
    device_lists.add(std::move(infos), array, count);
    return DOCA_SUCCESS;
}

doca_error_t destroy_list(doca_devinfo **array)
{
    return device_lists.remove(array);
}

doca_error_t list_representors(doca_dev &dev, int filter, doca_devinfo_rep **&array, std::uint32_t &count, Shown shown)
{
    if (const doca_error_t status = check_filter(dev, filter); status != DOCA_SUCCESS)
        return status;
    std::vector<doca_devinfo_rep> infos;
    for (auto &info : dev.function().representors()) {
        const int kind = info.is_emulated ? rep_filter_emulated : rep_filter_net;
        if (filter == rep_filter_all || (filter & kind) != 0)
            infos.push_back({std::move(info), dev.share()});
    }
    if (shown == Shown::each_address)
        show_further_addresses(infos);
    representor_lists.add(std::move(infos), array, count, dev.info().function);
    return DOCA_SUCCESS;
}

doca_error_t destroy_list(doca_devinfo_rep **array)
{
    return representor_lists.remove(array);
}

} // namespace opendoca
