// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_cm_library.hpp"

#include <optional>
#include <type_traits>

#include <dlfcn.h>

#include "../../log/log.hpp"
#include "../../process/fork.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_CM_LIBRARY);

namespace opendoca::verbs {

namespace {

constexpr const char *file_name = "librdmacm.so.1";

std::optional<RdmaCmLibrary> load() noexcept
{
    // Never closed: connections may still exist when exit handlers run.
    void *const handle = dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        LOG_INFO("rdma_cm is not available: %s", dlerror());
        return {};
    }
    RdmaCmLibrary library{};
    const char *missing = nullptr;
    // Finds one symbol. An older library may lack some: the name of one is kept for the log message.
    const auto find = [&](auto &function, const char *name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
        if (function == nullptr)
            missing = name;
    };
    find(library.create_event_channel, "rdma_create_event_channel");
    find(library.destroy_event_channel, "rdma_destroy_event_channel");
    find(library.get_event, "rdma_get_cm_event");
    find(library.ack_event, "rdma_ack_cm_event");
    find(library.event_text, "rdma_event_str");
    find(library.create_id, "rdma_create_id");
    find(library.destroy_id, "rdma_destroy_id");
    find(library.set_option, "rdma_set_option");
    find(library.bind_address, "rdma_bind_addr");
    find(library.listen, "rdma_listen");
    find(library.resolve_address, "rdma_resolve_addr");
    find(library.resolve_route, "rdma_resolve_route");
    find(library.connect, "rdma_connect");
    find(library.establish, "rdma_establish");
    find(library.accept, "rdma_accept");
    find(library.reject, "rdma_reject");
    find(library.disconnect, "rdma_disconnect");
    find(library.queue_pair_attributes, "rdma_init_qp_attr");
    if (missing != nullptr) {
        LOG_WARN("rdma_cm is not available: %s has no %s", file_name, missing);
        return {};
    }
    return library;
}

constinit ForkSafeMutex loading;
const ForkRegistration loading_registration(loading, LockRank::libraries);
constinit MadeOnce<std::optional<RdmaCmLibrary>> loaded; // result of the only attempt; empty if it has failed

} // namespace

const RdmaCmLibrary *load_rdma_cm() noexcept
{
    const std::optional<RdmaCmLibrary> &library = loaded.get(loading, load);
    return library ? &*library : nullptr;
}

} // namespace opendoca::verbs
