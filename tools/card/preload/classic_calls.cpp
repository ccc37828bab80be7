// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// with_card --calls classic: hides the extended calls of a device (ibv_create_cq_ex(), ibv_create_qp_ex(), and with
// them ibv_start_poll() and ibv_wr_start()), which several drivers of rdma-core do not have.
#include <cstdlib>
#include <cstring>

#include <infiniband/verbs.h>

#include "../wire.hpp"
#include "next.hpp"

using namespace opendoca::card;

namespace {

using OpenDevice = ibv_context *(ibv_device *);

/// Returns whether the extended calls must be hidden.
bool are_calls_classic()
{
    const char *value = std::getenv(calls_variable);
    return value != nullptr && std::strcmp(value, "classic") == 0;
}

/// Returns libibverbs' own ibv_open_device().
OpenDevice *real_open_device()
{
    if (OpenDevice *found = next<OpenDevice, 33>("ibv_open_device"))
        return found;
    // libibverbs was loaded by dlopen() without RTLD_GLOBAL: the caller found this function by other means.
    void *library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return library == nullptr ? nullptr : reinterpret_cast<OpenDevice *>(dlsym(library, "ibv_open_device"));
}

} // namespace

#pragma GCC visibility push(default)
extern "C" ibv_context *ibv_open_device(ibv_device *device)
{
    OpenDevice *const open = real_open_device();
    ibv_context *const context = open == nullptr ? nullptr : open(device);
    if (context == nullptr || !are_calls_classic())
        return context;
    if (verbs_context *const extended = verbs_get_ctx(context); extended != nullptr) {
        extended->create_cq_ex = nullptr;
        extended->create_qp_ex = nullptr;
    }
    return context;
}
#pragma GCC visibility pop
