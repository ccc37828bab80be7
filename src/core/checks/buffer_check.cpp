// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "buffer_check.hpp"

#include "../log/log.hpp"
#include "../objects/mmap.hpp"

OPENDOCA_LOG_SOURCE(DOCA_BUFFER);

namespace opendoca {

doca_error_t check_buffer(const doca_buf &buf, const Device &device) noexcept
{
    if (buf.mmap->key_for(device) == nullptr) {
        explain_missing_key(buf, device);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // The program can move the data section anywhere; the range of the buffer itself was checked when it was taken.
    if (!buf.has_data_inside()) {
        LOG_ERR("the data section [%p, +%zu) of buffer %p is outside of its memory [%p, +%zu)",
                static_cast<void *>(buf.data), buf.data_len, static_cast<const void *>(&buf),
                static_cast<void *>(buf.head), buf.len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

void explain_missing_key(const doca_buf &buf, const Device &device) noexcept
{
    const doca_mmap &mmap = *buf.mmap;
    const void *const at = &buf;
    const char *const name = device.function().name.c_str();
    // From the most to the least general reason: a map that is not started has no keys at all.
    if (!mmap.is_usable())
        LOG_ERR("the memory map of buffer %p is not started", at);
    else if (mmap.is_imported())
        LOG_ERR("the memory map of buffer %p was imported by device %s, and device %s needs an import of its own", at,
                mmap.importer().function().name.c_str(), name);
    else
        LOG_ERR("device %s was not added to the memory map of buffer %p", name, at);
}

} // namespace opendoca
