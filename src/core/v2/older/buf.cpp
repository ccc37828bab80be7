// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../../objects/buf.hpp"

#include <cinttypes>
#include <cstddef>
#include <cstdint>

#include <doca_rdma_bridge.h>

#include "../../log/log.hpp"
#include "../call.hpp"
#include "symbols.hpp"

OPENDOCA_LOG_SOURCE(DOCA_OLDER_BUF);

using opendoca::v2::call;

namespace {

constexpr std::uint32_t extension_linked_list = 1; ///< accepted and ignored: lists always work
constexpr std::uint32_t all_access = 0xf;          // DOCA_ACCESS_LOCAL_WRITE and DOCA_ACCESS_REMOTE_*

} // namespace

doca_error_t opendoca_buf_set_data_1_3(struct doca_buf *buf, void *data, size_t data_len)
{
    // Older releases check what 2.2 leaves to the job.
    return call({buf}, [&] {
        const auto *const start = static_cast<std::byte *>(data);
        if (!opendoca::MemoryRange{buf->head, buf->len}.contains(start, data_len)) {
            LOG_ERR("the data section [%p, +%zu) is outside the buffer [%p, +%zu)", data, data_len,
                    static_cast<void *>(buf->head), buf->len);
            return DOCA_ERROR_INVALID_VALUE;
        }
        buf->set_data(static_cast<std::byte *>(data), data_len);
        return DOCA_SUCCESS;
    });
}

doca_error_t opendoca_buf_get_lkey_1_5(const struct doca_buf *buf, struct doca_dev *dev, uint32_t doca_access_flags,
                                       uint32_t *lkey)
{
    if ((doca_access_flags & ~all_access) != 0) {
        LOG_ERR("access flags 0x%" PRIx32 ": the bits 0x%" PRIx32 " are not defined", doca_access_flags,
                doca_access_flags & ~all_access);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return doca_buf_get_mkey(buf, dev, lkey);
}

doca_error_t opendoca_buf_inventory_create_1_3(const char *, size_t num_elements, uint32_t extensions,
                                               struct doca_buf_inventory **buf_inventory)
{
    return opendoca_buf_inventory_create_1_5(nullptr, num_elements, extensions, buf_inventory);
}

doca_error_t opendoca_buf_inventory_create_1_5(const union doca_data *user_data, size_t num_elements,
                                               uint32_t extensions, struct doca_buf_inventory **buf_inventory)
{
    return doca_buf_inventory_create(user_data, num_elements, extensions & ~extension_linked_list, buf_inventory);
}
