// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of buffer inventories. Taking a buffer has a fast path without a stack frame; see BufStore.
#include <cstddef>

#include "../objects/buf_inventory.hpp"

#include <doca_buf_inventory.h>

#include "../log/log.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_BUF_INVENTORY);

using opendoca::v2::call;

doca_error_t doca_buf_inventory_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
                                       struct doca_buf_inventory **buf_inventory)
{
    return call({buf_inventory}, [&] {
        constexpr std::size_t most = opendoca::BufStore::max_num_elements;
        if (num_elements == 0 || num_elements > most) {
            LOG_ERR("a buffer inventory has 1 to %zu elements, not %zu", most, num_elements);
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (extensions != DOCA_BUF_EXTENSION_NONE) {
            LOG_ERR("buffer extensions 0x%x do not exist", extensions);
            return DOCA_ERROR_INVALID_VALUE;
        }
        *buf_inventory = new doca_buf_inventory(num_elements);
        (*buf_inventory)->user_data = opendoca::value_of(user_data);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory)
{
    return call({inventory}, [&] {
        const opendoca::Status status = inventory->check_unused();
        if (status == DOCA_SUCCESS)
            delete inventory;
        return status;
    });
}

doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory)
{
    return call({inventory}, [&] { inventory->start(); });
}

doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory)
{
    return call({inventory}, [&] { inventory->stop(); });
}

/// Off the fast path: checks the arguments and logs errors.
static __attribute__((noinline)) doca_error_t take_checked(doca_buf_inventory *inventory, doca_mmap *mmap, void *addr,
                                                           size_t len, void *data, size_t data_len, doca_buf **buf)
{
    return call(
        {inventory, mmap, buf},
        [&] {
            return inventory->take(*mmap, static_cast<std::byte *>(addr), len, static_cast<std::byte *>(data), data_len,
                                   *buf);
        },
        "doca_buf_inventory_buf_by_args");
}

doca_error_t doca_buf_inventory_buf_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr,
                                            size_t len, void *data, size_t data_len, struct doca_buf **buf)
{
    // Fast path: try_take() returns null for everything but the common case, errors included.
    if (inventory != nullptr && mmap != nullptr && buf != nullptr) [[likely]] {
        doca_buf *const taken =
            inventory->try_take(*mmap, static_cast<std::byte *>(addr), len, static_cast<std::byte *>(data), data_len);
        if (taken != nullptr) [[likely]] {
            *buf = taken;
            return DOCA_SUCCESS;
        }
    }
    // A tail call: the fast path needs no stack frame.
    return take_checked(inventory, mmap, addr, len, data, data_len, buf);
}

doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory, const struct doca_buf *src_buf,
                                        struct doca_buf **dst_buf)
{
    return call({inventory, src_buf, dst_buf}, [&] { return inventory->duplicate(*src_buf, *dst_buf); });
}

doca_error_t doca_buf_inventory_get_num_elements(struct doca_buf_inventory *inventory, uint32_t *num_of_elements)
{
    return call({inventory, num_of_elements}, [&] { *num_of_elements = inventory->num_elements(); });
}

doca_error_t doca_buf_inventory_get_num_free_elements(struct doca_buf_inventory *inventory,
                                                      uint32_t *num_of_free_elements)
{
    return call({inventory, num_of_free_elements}, [&] { *num_of_free_elements = inventory->num_free(); });
}

doca_error_t doca_buf_inventory_get_user_data(struct doca_buf_inventory *inventory, union doca_data *user_data)
{
    return call({inventory, user_data}, [&] { *user_data = inventory->user_data; });
}
