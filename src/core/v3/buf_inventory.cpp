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

using opendoca::v3::call;

namespace {

constexpr std::size_t most = opendoca::BufStore::max_num_elements;

doca_error_t check_number(std::size_t num_elements)
{
    if (num_elements != 0 && num_elements <= most)
        return DOCA_SUCCESS;
    LOG_ERR("a buffer inventory has 1 to %zu elements, not %zu", most, num_elements);
    return DOCA_ERROR_INVALID_VALUE;
}

} // namespace

doca_error_t doca_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory)
{
    return call({inventory}, [&] {
        const doca_error_t status = check_number(num_elements);
        if (status == DOCA_SUCCESS)
            *inventory = new doca_buf_inventory(num_elements);
        return status;
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
    return call({inventory, mmap, buf}, [&]() -> opendoca::Status {
        const opendoca::Status status =
            inventory->take(*mmap, static_cast<std::byte *>(addr), len, static_cast<std::byte *>(data), data_len, *buf);
        // The code of this function differs from the one that 3.0 otherwise has for an object that is not started.
        if (status == opendoca::Reason::not_started)
            return DOCA_ERROR_NOT_PERMITTED;
        return status;
    });
}

doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
                                                void *addr, size_t len, void *data, size_t data_len,
                                                struct doca_buf **buf)
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
    return call({inventory, src_buf, dst_buf}, [&]() -> opendoca::Status {
        // A freed buffer has no map: duplicate() reports that.
        if (src_buf->mmap != nullptr && !src_buf->is_head()) {
            LOG_ERR("buffer %p is in a list and not its head", static_cast<const void *>(src_buf));
            return DOCA_ERROR_NOT_PERMITTED;
        }
        return inventory->duplicate(*src_buf, *dst_buf);
    });
}

doca_error_t doca_buf_inventory_buf_reuse_by_args(struct doca_buf *buf, void *addr, size_t len, void *data,
                                                  size_t data_len)
{
    return call({buf}, [&] {
        return doca_buf_inventory::reuse(*buf, static_cast<std::byte *>(addr), len, static_cast<std::byte *>(data),
                                         data_len);
    });
}

doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory, union doca_data user_data)
{
    return call({inventory}, [&] {
        if (inventory->is_started()) {
            LOG_ERR("the buffer inventory is started: its user data can't be changed");
            return DOCA_ERROR_BAD_STATE;
        }
        inventory->user_data = user_data;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inventory, uint32_t *num_of_elements)
{
    return call({inventory, num_of_elements}, [&] { *num_of_elements = inventory->num_elements(); });
}

doca_error_t doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inventory,
                                                      uint32_t *num_of_free_elements)
{
    return call({inventory, num_of_free_elements}, [&] { *num_of_free_elements = inventory->num_free(); });
}

doca_error_t doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inventory, union doca_data *user_data)
{
    return call({inventory, user_data}, [&] { *user_data = inventory->user_data; });
}

doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory, uint32_t num_elements)
{
    return call({inventory}, [&] {
        if (!inventory->is_started()) {
            LOG_ERR("the buffer inventory is not started: it can't be expanded");
            return DOCA_ERROR_BAD_STATE;
        }
        const std::size_t present = inventory->num_elements();
        if (const doca_error_t status = check_number(num_elements == 0 ? 0 : present + num_elements);
            status != DOCA_SUCCESS)
            return status;
        inventory->expand(num_elements);
        return DOCA_SUCCESS;
    });
}
