// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "buf_inventory.hpp"

#include <memory>

#include <doca_log.h>

#include "guard.hpp"
#include "mmap.hpp"

DOCA_LOG_REGISTER(DOCA_BUF_INVENTORY);

namespace {
constexpr std::size_t max_num_elements = std::size_t{1} << 26; // 4 GiB of descriptors
} // namespace

doca_error_t doca_buf_inventory::check_usable(const doca_mmap &mmap) const noexcept
{
    if (!is_started) {
        DOCA_LOG_ERR("the buffer inventory is not started");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (!mmap.is_usable()) {
        DOCA_LOG_ERR("the memory map is not started");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory::buf_by_args(const doca_mmap &mmap, std::byte *addr, std::size_t len,
                                             std::byte *data, std::size_t data_len, doca_buf *&buf) noexcept
{
    if (const doca_error_t status = check_usable(mmap); status != DOCA_SUCCESS)
        return status;
    if (!mmap.range().contains(addr, len)) {
        DOCA_LOG_ERR("[%p, +%zu) is outside the memory map's range [%p, +%zu)", static_cast<void *>(addr), len,
                     static_cast<void *>(mmap.range().addr), mmap.range().len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (!opendoca::MemoryRange{addr, len}.contains(data, data_len)) {
        DOCA_LOG_ERR("the data section [%p, +%zu) is outside the buffer [%p, +%zu)", static_cast<void *>(data),
                     data_len, static_cast<void *>(addr), len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    doca_buf *taken = store.take(mmap, addr, len);
    if (taken == nullptr) {
        DOCA_LOG_ERR("all %u elements of the buffer inventory are in use", store.num_elements());
        return DOCA_ERROR_NO_MEMORY;
    }
    taken->data = data;
    taken->data_len = data_len;
    buf = taken;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory::buf_dup(const doca_buf &source, doca_buf *&copy) noexcept
{
    if (source.mmap == nullptr) {
        DOCA_LOG_ERR("buffer %p was released", static_cast<const void *>(&source));
        return DOCA_ERROR_INVALID_VALUE;
    }
    return buf_by_args(*source.mmap, source.head, source.len, source.data, source.data_len, copy);
}

doca_error_t doca_buf_inventory_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
                                       struct doca_buf_inventory **buf_inventory)
{
    if (buf_inventory == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (num_elements == 0 || num_elements > max_num_elements) {
        DOCA_LOG_ERR("a buffer inventory has 1 to %zu elements, not %zu", max_num_elements, num_elements);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (extensions != DOCA_BUF_EXTENSION_NONE) {
        DOCA_LOG_ERR("buffer extensions 0x%x do not exist", extensions);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return opendoca::guarded([&] {
        *buf_inventory = new doca_buf_inventory(user_data != nullptr ? *user_data : doca_data{}, num_elements);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory)
{
    if (inventory == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    const auto &store = inventory->store;
    if (store.num_free() != store.num_elements()) {
        DOCA_LOG_ERR("%u of the inventory's %u buffers are still out", store.num_elements() - store.num_free(),
                     store.num_elements());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    delete inventory;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory)
{
    if (inventory == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    inventory->is_started = true;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory)
{
    if (inventory == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    inventory->is_started = false;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_buf_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr,
                                            size_t len, void *data, size_t data_len, struct doca_buf **buf)
{
    if (inventory == nullptr || mmap == nullptr || buf == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return inventory->buf_by_args(*mmap, static_cast<std::byte *>(addr), len, static_cast<std::byte *>(data),
                                  data_len, *buf);
}

doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory, const struct doca_buf *src_buf,
                                        struct doca_buf **dst_buf)
{
    if (inventory == nullptr || src_buf == nullptr || dst_buf == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return inventory->buf_dup(*src_buf, *dst_buf);
}

doca_error_t doca_buf_inventory_get_num_elements(struct doca_buf_inventory *inventory, uint32_t *num_of_elements)
{
    if (inventory == nullptr || num_of_elements == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *num_of_elements = inventory->store.num_elements();
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_get_num_free_elements(struct doca_buf_inventory *inventory,
                                                      uint32_t *num_of_free_elements)
{
    if (inventory == nullptr || num_of_free_elements == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *num_of_free_elements = inventory->store.num_free();
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_get_user_data(struct doca_buf_inventory *inventory, union doca_data *user_data)
{
    if (inventory == nullptr || user_data == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *user_data = inventory->user_data;
    return DOCA_SUCCESS;
}
