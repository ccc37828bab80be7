// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <rdma/rdma_cma.h>

namespace opendoca::verbs {

/// The functions of librdmacm that are used. The library is loaded by dlopen() for the first connection by address. No
/// program is therefore linked to it, and everything else works without it. All members are set, or the library counts
/// as not available.
struct RdmaCmLibrary {
    decltype(&rdma_create_event_channel) create_event_channel;
    decltype(&rdma_destroy_event_channel) destroy_event_channel;
    decltype(&rdma_get_cm_event) get_event;
    decltype(&rdma_ack_cm_event) ack_event;
    decltype(&rdma_event_str) event_text;
    decltype(&rdma_create_id) create_id;
    decltype(&rdma_destroy_id) destroy_id;
    decltype(&rdma_set_option) set_option;
    decltype(&rdma_bind_addr) bind_address;
    decltype(&rdma_listen) listen;
    decltype(&rdma_resolve_addr) resolve_address;
    decltype(&rdma_resolve_route) resolve_route;
    decltype(&rdma_connect) connect;
    decltype(&rdma_establish) establish;
    decltype(&rdma_accept) accept;
    decltype(&rdma_reject) reject;
    decltype(&rdma_disconnect) disconnect;
    decltype(&rdma_init_qp_attr) queue_pair_attributes;
};

/// Loads the library on the first call. Returns null, with the reason logged once, if it cannot be loaded. Thread-safe.
[[nodiscard]] const RdmaCmLibrary *load_rdma_cm() noexcept;

} // namespace opendoca::verbs
