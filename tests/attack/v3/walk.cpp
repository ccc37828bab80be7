// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The walk through the API of DOCA 3.0, and what its parts have in common.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <span>

#include <doca_log.h>

#include "parts.hpp"

namespace attack {

const char *name_of(doca_error_t status)
{
    return doca_error_get_name(status);
}

void silence()
{
    doca_log_backend *backend = nullptr;
    std::FILE *const sink = std::fopen("/dev/null", "we");
    if (sink == nullptr || doca_log_backend_create_with_file_sdk(sink, &backend) != DOCA_SUCCESS)
        std::exit(2);
    load_openssl();
    doca_buf_inventory *inventory = nullptr;
    if (doca_buf_inventory_create(0, &inventory) == DOCA_SUCCESS)
        std::exit(2);
}

End &new_end()
{
    static End ends[64];
    static std::size_t next = 0;
    End &end = ends[next++ % std::size(ends)];
    end.reset();
    return end;
}

Map::Map(Walk &walk, doca_dev *dev, std::span<std::byte> bytes, std::uint32_t access) : mmap_(walk, doca_mmap_destroy)
{
    is_made_ = walk.call([&] { return doca_mmap_create(mmap_.out()); }) &&
               walk.call([&] { return doca_mmap_add_dev(mmap_, dev); }) &&
               walk.call([&] { return doca_mmap_set_memrange(mmap_, bytes.data(), bytes.size()); }) &&
               walk.call([&] { return doca_mmap_set_permissions(mmap_, access); }) &&
               walk.call([&] { return doca_mmap_start(mmap_); });
}

Inventory::Inventory(Walk &walk, std::size_t size) : walk_(walk), inventory_(walk, doca_buf_inventory_destroy)
{
    bufs_.reserve(size);
    is_made_ = walk.call([&] { return doca_buf_inventory_create(size, inventory_.out()); }) &&
               walk.call([&] { return doca_buf_inventory_start(inventory_); });
}

void Inventory::release_all()
{
    for (doca_buf *const buf : bufs_)
        walk_.undo([&] { return doca_buf_dec_refcount(buf, nullptr); });
    bufs_.clear();
}

doca_buf *Inventory::make(doca_mmap *mmap, std::byte *at, std::size_t len, bool is_full)
{
    doca_buf *buf = nullptr;
    if (walk_.call([&] {
            return is_full ? doca_buf_inventory_buf_get_by_data(inventory_, mmap, at, len, &buf)
                           : doca_buf_inventory_buf_get_by_addr(inventory_, mmap, at, len, &buf);
        }))
        bufs_.push_back(buf);
    return buf;
}

Engine::Engine(Walk &walk, Idle idle) : walk_(walk), pe_(walk, doca_pe_destroy), idle_(idle)
{
    is_made_ = walk.call([&] { return doca_pe_create(pe_.out()); }) &&
               (idle == Idle::polls || walk.call([&] { return doca_pe_get_notification_handle(pe_, &handle_); }));
}

bool Engine::progress()
{
    const Inside inside;
    return doca_pe_progress(pe_) != 0;
}

doca_error_t Engine::wait_for(const End &end, const char *what, bool is_armed)
{
    return run_until([&] { return end.has_value(); }, what, is_armed) ? *end : DOCA_ERROR_TIME_OUT;
}

doca_error_t Engine::run(doca_task *task, End &end)
{
    const doca_error_t status = walk_.enter([&] { return doca_task_submit(task); });
    if (status != DOCA_SUCCESS) {
        const Inside inside;
        doca_task_free(task);
        return status;
    }
    return wait_for(end, "the end of a task");
}

bool Engine::arm()
{
    return walk_.call([&] { return doca_pe_request_notification(pe_); });
}

bool Engine::sleep()
{
    const bool is_woken = walk_.wait_for(handle_);
    walk_.undo([&] { return doca_pe_clear_notification(pe_, handle_); });
    return is_woken;
}

Running::Running(Walk &walk, Engine &engine, doca_ctx *ctx) : walk_(walk), engine_(engine), ctx_(ctx)
{
    is_started_ = walk.call([&] { return doca_pe_connect_ctx(engine, ctx); }) && walk.call([&] {
        const doca_error_t status = doca_ctx_start(ctx);
        return status == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : status;
    });
}

Running::~Running()
{
    if (!is_started_)
        return;
    if (state() == DOCA_CTX_STATE_RUNNING || state() == DOCA_CTX_STATE_STARTING)
        walk_.undo([&] {
            const doca_error_t status = doca_ctx_stop(ctx_);
            return status == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : status;
        });
    walk_.require(engine_.run_until([&] { return state() == DOCA_CTX_STATE_IDLE; }, "the end of a context"),
                  "a context that stops becomes idle");
}

doca_ctx_states Running::state() const
{
    doca_ctx_states state{};
    walk_.undo([&] { return doca_ctx_get_state(ctx_, &state); });
    return state;
}

Device::Device(Walk &walk, const char *name) : dev_(walk, doca_dev_close)
{
    doca_devinfo **list = nullptr;
    std::uint32_t size = 0;
    if (!walk.call([&] { return doca_devinfo_create_list(&list, &size); }))
        return;
    const AtEnd destroy([&] { walk.undo([&] { return doca_devinfo_destroy_list(list); }); });
    for (std::uint32_t i = 0; i < size && !is_open(); ++i) {
        char its_name[DOCA_DEVINFO_IBDEV_NAME_SIZE] = {};
        if (walk.call([&] { return doca_devinfo_get_ibdev_name(list[i], its_name, sizeof(its_name)); }) &&
            std::strcmp(its_name, name) == 0)
            (void)walk.call([&] { return doca_dev_open(list[i], dev_.out()); });
    }
}

bool Walk::run()
{
    const Device dev(*this, is_host() ? "soft_pf0" : "soft_p0");
    if (!agree(dev.is_open()))
        return is_good_;
    walk_part("local_copies", [&] { walk_through_local_copies(*this, dev); });
    walk_part("exports", [&] { walk_through_exports(*this, dev); });
    walk_part("hashes", [&] { walk_through_hashes(*this, dev); });
    walk_part("compression", [&] { walk_through_compression(*this, dev); });
    walk_part("erasure_coding", [&] { walk_through_erasure_coding(*this, dev); });
    walk_part("aes_gcm", [&] { walk_through_aes_gcm(*this, dev); });
    walk_part("graphs", [&] { walk_through_graphs(*this, dev); });
    walk_part("sync_events", [&] { walk_through_sync_events(*this, dev); });
    walk_part("ended_sync_events", [&] { walk_through_ends_of_sync_events(*this, dev, false); });
    walk_part("words", [&] { walk_through_ends_of_sync_events(*this, dev, true); });
    walk_part("rdma", [&] { walk_through_rdma(*this, dev, false); });
    walk_part("rdma_events", [&] { walk_through_rdma(*this, dev, true); });
    walk_part("addresses", [&] { walk_through_addresses(*this, dev); });
    walk_part("comch", [&] { walk_through_comch(*this, dev); });
    return is_good_;
}

} // namespace attack
