// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "buf.hpp"

#include <doca_log.h>

#include "mmap.hpp"

DOCA_LOG_REGISTER(DOCA_BUF);

void doca_buf::chain(doca_buf &list) noexcept
{
    last->next = &list;
    last = list.last;
    list.last = nullptr;
}

doca_error_t doca_buf::unchain(doca_buf &list) noexcept
{
    doca_buf *before = this;
    while (before->next != nullptr && before->next != &list)
        before = before->next;
    if (before->next == nullptr) {
        DOCA_LOG_ERR("buffer %p is not a later member of the list that starts at %p", static_cast<void *>(&list),
                     static_cast<void *>(this));
        return DOCA_ERROR_INVALID_VALUE;
    }
    before->next = nullptr;
    list.last = last;
    last = before;
    return DOCA_SUCCESS;
}

std::size_t doca_buf::num_elements() const noexcept
{
    std::size_t count = 0;
    for (const doca_buf *element = this; element != nullptr; element = element->next)
        ++count;
    return count;
}

void doca_buf::release() noexcept
{
    for (doca_buf *element = this; element != nullptr;) {
        doca_buf *following = element->next;
        element->store->give_back(*element);
        element = following;
    }
}

namespace opendoca {

BufStore::BufStore(std::size_t num_elements) : elements_(num_elements)
{
    for (auto element = elements_.rbegin(); element != elements_.rend(); ++element) {
        element->store = this;
        element->next = free_;
        free_ = &*element;
    }
    num_free_ = static_cast<std::uint32_t>(num_elements);
}

doca_buf *BufStore::take(const doca_mmap &mmap, std::byte *head, std::size_t len) noexcept
{
    doca_buf *buf = free_;
    if (buf == nullptr)
        return nullptr;
    free_ = buf->next;
    --num_free_;
    *buf = doca_buf{head, len, head, 0, &mmap, nullptr, buf, this};
    mmap.buf_created();
    return buf;
}

void BufStore::give_back(doca_buf &buf) noexcept
{
    buf.mmap->buf_released();
    buf.mmap = nullptr;
    buf.last = nullptr;
    buf.next = free_;
    free_ = &buf;
    ++num_free_;
}

} // namespace opendoca

// The hot calls rely on non-null arguments, as doca_buf.h says.

doca_error_t doca_buf_refcount_add(doca_buf *, uint16_t *)
{
    return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_buf_refcount_rm(doca_buf *buf, uint16_t *refcount)
{
    if (!buf->is_head()) {
        DOCA_LOG_ERR("buffer %p is free already, or a member of a list and not its head", static_cast<void *>(buf));
        return DOCA_ERROR_NOT_PERMITTED;
    }
    buf->release();
    if (refcount != nullptr)
        *refcount = 1;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_refcount(doca_buf *, uint16_t *refcount)
{
    *refcount = 1;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_len(const doca_buf *buf, size_t *len)
{
    *len = buf->len;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_head(const doca_buf *buf, void **head)
{
    *head = buf->head;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_data_len(const doca_buf *buf, size_t *data_len)
{
    *data_len = buf->data_len;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_data(const doca_buf *buf, void **data)
{
    *data = buf->data;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_set_data(doca_buf *buf, void *data, size_t data_len)
{
    buf->data = static_cast<std::byte *>(data);
    buf->data_len = data_len;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_reset_data_len(doca_buf *buf)
{
    buf->data_len = 0;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_list_next(doca_buf *buf, doca_buf **next_buf)
{
    *next_buf = buf->next;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_list_last(doca_buf *buf, doca_buf **last_buf)
{
    if (buf == nullptr || last_buf == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    while (!buf->is_head() && buf->next != nullptr)
        buf = buf->next;
    *last_buf = buf->is_head() ? buf->last : buf;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_list_is_last(const doca_buf *buf, bool *is_last)
{
    *is_last = buf->next == nullptr;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_list_is_first(const doca_buf *buf, bool *is_first)
{
    *is_first = buf->is_head();
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_is_in_list(const doca_buf *buf, uint8_t *is_in_list)
{
    *is_in_list = buf->next != nullptr || !buf->is_head();
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_list_num_elements(const doca_buf *buf, uint32_t *num_elements)
{
    if (buf == nullptr || num_elements == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (!buf->is_head()) {
        DOCA_LOG_ERR("buffer %p is not the head of its list", static_cast<const void *>(buf));
        return DOCA_ERROR_NOT_PERMITTED;
    }
    *num_elements = static_cast<uint32_t>(buf->num_elements());
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_list_chain(doca_buf *list1, doca_buf *list2)
{
    if (list1 == list2 || !list1->is_head() || !list2->is_head()) {
        DOCA_LOG_ERR("cannot chain %p and %p: both must be heads of different lists", static_cast<void *>(list1),
                     static_cast<void *>(list2));
        return DOCA_ERROR_INVALID_VALUE;
    }
    list1->chain(*list2);
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_list_unchain(doca_buf *list1, doca_buf *list2)
{
    if (list1 == nullptr || list2 == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (list1 == list2 || !list1->is_head()) {
        DOCA_LOG_ERR("cannot unchain %p from %p: the latter must be the head of a list, and another buffer",
                     static_cast<void *>(list2), static_cast<void *>(list1));
        return DOCA_ERROR_INVALID_VALUE;
    }
    return list1->unchain(*list2);
}
