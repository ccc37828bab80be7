// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of buffers and their lists. One thread at a time may use a list and the inventories that its buffers
// come from: nothing here takes a lock.
#include <cstddef>
#include <cstdint>

#include "../objects/buf.hpp"

#include <doca_buf.h>

#include "../log/log.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_BUF);

using opendoca::v3::call;

doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount)
{
    return call({buf}, [&] {
        std::uint32_t before = 0;
        const opendoca::Status status = buf->add_reference(before);
        if (status == DOCA_SUCCESS && refcount != nullptr)
            *refcount = static_cast<uint16_t>(before);
        return status;
    });
}

/// Off the fast path: checks the arguments, logs errors, and handles buffers with several references.
static __attribute__((noinline)) doca_error_t drop_checked(doca_buf *buf, uint16_t *refcount)
{
    return call({buf}, [&] {
        std::uint32_t before = 0;
        const doca_error_t status = buf->drop_reference(before);
        if (status == DOCA_SUCCESS && refcount != nullptr)
            *refcount = static_cast<uint16_t>(before);
        return status;
    });
}

doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount)
{
    // Fast path: no checks by call(), no log, and the inventory caches the map's count of buffers.
    if (buf == nullptr || !buf->has_fast_path() || buf->more_references != 0 || !opendoca::BufStore::try_put_back(*buf))
        [[unlikely]]
        return drop_checked(buf, refcount); // a tail call: the fast path needs no stack frame
    if (refcount != nullptr)
        *refcount = 1;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount)
{
    return call({buf, refcount}, [&] { *refcount = static_cast<uint16_t>(buf->num_references()); });
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

doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len)
{
    return call({buf}, [&] { buf->set_data(buf->data, data_len); });
}

doca_error_t doca_buf_reset_data_len(struct doca_buf *buf)
{
    return call({buf}, [&] { buf->data_len = 0; });
}

doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf)
{
    return call({buf, next_buf}, [&] { *next_buf = buf->next; });
}

doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf)
{
    return call({buf, last_buf}, [&] { *last_buf = &buf->last_of_list(); });
}

doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last)
{
    return call({buf, is_last}, [&] { *is_last = buf->next == nullptr; });
}

doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first)
{
    return call({buf, is_first}, [&] { *is_first = buf->is_head(); });
}

doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list)
{
    return call({buf, is_in_list}, [&] { *is_in_list = buf->next != nullptr || !buf->is_head(); });
}

doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements)
{
    return call({buf, num_elements}, [&] { return buf->get_num_elements(*num_elements); });
}

doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2)
{
    return call({list1, list2}, [&] {
        // Later members of a list have no reference count of their own: further references to list2 would be lost.
        if (list2->is_head() && list2->more_references != 0) {
            LOG_ERR("buffer %p has %u references: only one that has 1 can become a later member of a list",
                    static_cast<void *>(list2), list2->num_references());
            return DOCA_ERROR_NOT_PERMITTED;
        }
        return list1->chain(*list2);
    });
}

/// As doca_buf_chain_list(), with a check of the tail: the head of a list refers to it.
doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head, struct doca_buf *list1_tail, struct doca_buf *list2)
{
    return call({list1_head, list1_tail, list2}, [&] {
        if (list1_head->last != list1_tail) {
            LOG_ERR("buffer %p is not the last of the list that starts at %p", static_cast<void *>(list1_tail),
                    static_cast<void *>(list1_head));
            return DOCA_ERROR_INVALID_VALUE;
        }
        return doca_buf_chain_list(list1_head, list2);
    });
}

doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2)
{
    return call({list1, list2}, [&] { return list1->unchain(*list2); });
}
