// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "buffer_check.hpp"

#include "log.hpp"
#include "mmap.hpp"

OPENDOCA_LOG_SOURCE(DOCA_BUFFER);

namespace opendoca {

doca_error_t check_buffer(const doca_buf &buf, const Device &device) noexcept
{
    if (buf.mmap->key_for(device) == nullptr) {
        LOG_ERR("device %s was not added to the memory map of buffer %p", device.function().name.c_str(),
                static_cast<const void *>(&buf));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (!buf.has_data_inside()) {
        LOG_ERR("the data section [%p, +%zu) of buffer %p is outside of its memory [%p, +%zu)",
                static_cast<void *>(buf.data), buf.data_len, static_cast<const void *>(&buf),
                static_cast<void *>(buf.head), buf.len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

} // namespace opendoca
