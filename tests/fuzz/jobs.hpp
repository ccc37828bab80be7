// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the targets of jobs of DOCA 2.2 have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>

#include "target.hpp"

/// A started context of one library on a software device, with a work queue and memory for one job at a time. Lives as
/// long as the process.
template <typename Library>
class JobContext {
public:
    /// Takes the first device that @p is_suitable accepts. Without one has_device() is false, and nothing else works.
    JobContext(bool (*is_suitable)(doca_devinfo *), doca_error_t (*create)(Library **), doca_ctx *(*as_ctx)(Library *),
               std::span<std::byte> memory)
    {
        doca_devinfo **list = nullptr;
        std::uint32_t count = 0;
        must(doca_devinfo_list_create(&list, &count));
        for (std::uint32_t i = 0; i != count && dev_ == nullptr; ++i) {
            if (is_suitable(list[i]))
                must(doca_dev_open(list[i], &dev_));
        }
        must(doca_devinfo_list_destroy(list));
        if (dev_ == nullptr)
            return;
        must(doca_mmap_create(nullptr, &map_));
        must(doca_mmap_dev_add(map_, dev_));
        must(doca_mmap_set_memrange(map_, memory.data(), memory.size()));
        must(doca_mmap_start(map_));
        must(doca_buf_inventory_create(nullptr, 100, DOCA_BUF_EXTENSION_NONE, &inventory_));
        must(doca_buf_inventory_start(inventory_));
        must(create(&library_));
        ctx_ = as_ctx(library_);
        must(doca_ctx_dev_add(ctx_, dev_));
        must(doca_ctx_start(ctx_));
        must(doca_workq_create(1, &workq_));
        must(doca_ctx_workq_add(ctx_, workq_));
    }
    JobContext(const JobContext &) = delete;
    JobContext &operator=(const JobContext &) = delete;

    [[nodiscard]] bool has_device() const { return dev_ != nullptr; }
    [[nodiscard]] Library *library() const { return library_; }

    /// Makes a list of buffers of [at, at + length), each of next_length() bytes at most, and of 20 at most. All but
    /// the first @p data bytes are free space.
    template <typename NextLength>
    doca_buf *list(std::byte *at, std::size_t length, std::size_t data, NextLength next_length) const
    {
        constexpr std::size_t max_elements = 20;
        doca_buf *head = nullptr;
        std::size_t num_elements = 0;
        do {
            const bool is_last = ++num_elements == max_elements;
            const std::size_t part = is_last ? length : std::min<std::size_t>(length, next_length());
            const std::size_t part_of_data = std::min(part, data);
            doca_buf *buf = nullptr;
            must(doca_buf_inventory_buf_by_args(inventory_, map_, at, part, at, part_of_data, &buf));
            if (head == nullptr)
                head = buf;
            else
                must(doca_buf_list_chain(head, buf));
            at += part;
            length -= part;
            data -= part_of_data;
        } while (length != 0);
        return head;
    }

    /// What every job of type @p type begins with.
    [[nodiscard]] doca_job base(int type) const { return {type, DOCA_JOB_FLAGS_NONE, ctx_, {.u64 = user_data}}; }

    /// What has become of a job.
    struct Outcome {
        doca_error_t submit;
        doca_error_t result; ///< DOCA_SUCCESS if the submit has failed
    };
    /// Runs a job, and checks its event.
    [[nodiscard]] Outcome run(const doca_job &job) const
    {
        doca_event event = {};
        if (const doca_error_t status = doca_workq_submit(workq_, &job); status != DOCA_SUCCESS) {
            require(doca_workq_progress_retrieve(workq_, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE) == DOCA_ERROR_AGAIN,
                    "a job that is refused has no event");
            return {status, DOCA_SUCCESS};
        }
        doca_error_t status = DOCA_ERROR_AGAIN;
        while (status == DOCA_ERROR_AGAIN)
            status = doca_workq_progress_retrieve(workq_, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
        const auto result = static_cast<doca_error_t>(event.result.u64);
        require(status == (result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED), "both results agree");
        require(event.type == job.type && event.user_data.u64 == user_data, "the event is that of the job");
        return {DOCA_SUCCESS, result};
    }

private:
    static constexpr std::uint64_t user_data = 0x5eed;

    doca_dev *dev_ = nullptr;
    doca_mmap *map_ = nullptr;
    doca_buf_inventory *inventory_ = nullptr;
    Library *library_ = nullptr;
    doca_ctx *ctx_ = nullptr;
    doca_workq *workq_ = nullptr;
};

/// Returns the number of bytes of data in a list.
inline std::size_t length_of(const doca_buf *list)
{
    std::size_t length = 0;
    for (auto *buf = const_cast<doca_buf *>(list); buf != nullptr;) {
        std::size_t part = 0;
        must(doca_buf_get_data_len(buf, &part));
        length += part;
        must(doca_buf_list_next(buf, &buf));
    }
    return length;
}

inline void release(doca_buf *list)
{
    must(doca_buf_refcount_rm(list, nullptr));
}
