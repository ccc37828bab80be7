// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of buffers and their lists. One thread at a time may use a list and the inventories that its buffers
// come from: nothing here takes a lock.
#include <cstddef>

#include "../objects/buf.hpp"

#include <doca_buf.h>

#include "call.hpp"

using opendoca::v2::call;

doca_error_t doca_buf_refcount_add(struct doca_buf *, uint16_t *)
{
    // Buffers of 2.2 have one reference.
    return DOCA_ERROR_NOT_SUPPORTED;
}

/// Off the fast path: checks the arguments and logs errors.
static __attribute__((noinline)) doca_error_t release_checked(doca_buf *buf, uint16_t *refcount)
{
    return call(
        {buf},
        [&] {
            const doca_error_t status = buf->release();
            if (status == DOCA_SUCCESS && refcount != nullptr)
                *refcount = 1;
            return status;
        },
        "doca_buf_refcount_rm");
}

doca_error_t doca_buf_refcount_rm(struct doca_buf *buf, uint16_t *refcount)
{
    // Fast path: no checks by call(), no log, and the inventory caches the map's count of buffers.
    if (buf == nullptr || !buf->has_fast_path() || !opendoca::BufStore::try_put_back(*buf)) [[unlikely]]
        return release_checked(buf, refcount); // a tail call: the fast path needs no stack frame
    if (refcount != nullptr)
        *refcount = 1;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_refcount(struct doca_buf *buf, uint16_t *refcount)
{
    return call({buf, refcount}, [&] { *refcount = 1; }); // DOCA 2.2 does not count references
}

doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len)
{
    return call({buf, len}, [&] { *len = buf->len; });
}

doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head)
{
    return call({buf, head}, [&] { *head = buf->head; });
}

doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len)
{
    return call({buf, data_len}, [&] { *data_len = buf->data_len; });
}

doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data)
{
    return call({buf, data}, [&] { *data = buf->data; });
}

doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len)
{
    return call({buf}, [&] { buf->set_data(static_cast<std::byte *>(data), data_len); });
}

doca_error_t doca_buf_reset_data_len(struct doca_buf *buf)
{
    return call({buf}, [&] { buf->data_len = 0; });
}

doca_error_t doca_buf_list_next(struct doca_buf *buf, struct doca_buf **next_buf)
{
    return call({buf, next_buf}, [&] { *next_buf = buf->next; });
}

doca_error_t doca_buf_list_last(struct doca_buf *buf, struct doca_buf **last_buf)
{
    return call({buf, last_buf}, [&] { *last_buf = &buf->last_of_list(); });
}

doca_error_t doca_buf_list_is_last(const struct doca_buf *buf, bool *is_last)
{
    return call({buf, is_last}, [&] { *is_last = buf->next == nullptr; });
}

doca_error_t doca_buf_list_is_first(const struct doca_buf *buf, bool *is_first)
{
    return call({buf, is_first}, [&] { *is_first = buf->is_head(); });
}

doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list)
{
    return call({buf, is_in_list}, [&] { *is_in_list = buf->next != nullptr || !buf->is_head(); });
}

doca_error_t doca_buf_list_num_elements(const struct doca_buf *buf, uint32_t *num_elements)
{
    return call({buf, num_elements}, [&] { return buf->get_num_elements(*num_elements); });
}

doca_error_t doca_buf_list_chain(struct doca_buf *list1, struct doca_buf *list2)
{
    // Appends list2 to list1. The head of list2 is no head any more.
    return call({list1, list2}, [&] { return list1->chain(*list2); });
}

doca_error_t doca_buf_list_unchain(struct doca_buf *list1, struct doca_buf *list2)
{
    return call({list1, list2}, [&] { return list1->unchain(*list2); });
}
