// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A sync event of DOCA 3.0 across the PCIe: "v3_sync_event host | v3_sync_event dpu", each on its side of a card. The
// host writes the export to its output, the DPU reads it from its input. The DPU counts to 2 and, by a task, to 5; the
// host waits for that by a task, asleep.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include <poll.h>
#include <unistd.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

namespace {

constexpr std::uint64_t all_bits = UINT64_MAX;
constexpr int patience = 60'000; ///< ms

[[noreturn]] void end(const char *what)
{
    (void)std::fprintf(stderr, "%s has failed\n", what);
    _exit(1);
}

void must(doca_error_t status, const char *what)
{
    if (status != DOCA_SUCCESS)
        end((std::string(what) + ": " + doca_error_get_name(status)).c_str());
}

doca_dev *open_first()
{
    doca_devinfo **list = nullptr;
    std::uint32_t count = 0;
    doca_dev *dev = nullptr;
    must(doca_devinfo_create_list(&list, &count), "listing");
    if (count == 0)
        end("finding a device");
    must(doca_dev_open(list[0], &dev), "opening");
    must(doca_devinfo_destroy_list(list), "freeing the list");
    return dev;
}

bool has_ended = false;

template <typename Task>
void ended(Task *, doca_data, doca_data)
{
    has_ended = true;
}
template <typename Task>
void failed(Task *, doca_data, doca_data)
{
    end("a task");
}

/// Until the task's callback is called, with sleep in between.
void sleep_until_ended(doca_pe *pe)
{
    doca_event_handle_t handle{};
    must(doca_pe_get_notification_handle(pe, &handle), "getting a handle");
    while (!has_ended) {
        if (doca_pe_progress(pe) != 0)
            continue;
        must(doca_pe_request_notification(pe), "arming");
        pollfd event = {.fd = static_cast<int>(handle), .events = POLLIN, .revents = 0};
        if (poll(&event, 1, patience) != 1)
            end("waking");
        must(doca_pe_clear_notification(pe, handle), "clearing");
    }
}

void be_host(doca_dev *dev)
{
    doca_sync_event *event = nullptr;
    doca_pe *pe = nullptr;
    must(doca_sync_event_create(&event), "creating");
    must(doca_sync_event_add_publisher_location_remote_pci(event), "adding the publisher");
    must(doca_sync_event_add_subscriber_location_cpu(event, dev), "adding the subscriber");
    must(doca_sync_event_task_wait_eq_set_conf(event, ended, failed, 1), "configuring");
    must(doca_pe_create(&pe), "creating an engine");
    doca_ctx *const ctx = doca_sync_event_as_ctx(event);
    must(doca_pe_connect_ctx(pe, ctx), "connecting");
    must(doca_ctx_start(ctx), "starting");
    const std::uint8_t *data = nullptr;
    std::size_t size = 0;
    must(doca_sync_event_export_to_remote_pci(event, dev, &data, &size), "exporting");
    doca_sync_event_task_wait_eq *task = nullptr;
    must(doca_sync_event_task_wait_eq_alloc_init(event, 5, all_bits, {}, &task), "allocating");
    must(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(task)), "submitting");
    if (write(STDOUT_FILENO, data, size) != static_cast<ssize_t>(size))
        end("writing");
    sleep_until_ended(pe);
}

void be_dpu(doca_dev *dev)
{
    std::uint8_t blob[256];
    const ssize_t size = read(STDIN_FILENO, blob, sizeof(blob));
    doca_sync_event *event = nullptr, *as_ctx = nullptr;
    if (size <= 0)
        end("reading");
    must(doca_sync_event_create_from_export(dev, blob, static_cast<std::size_t>(size), &event), "importing");
    must(doca_sync_event_start(event), "starting");
    must(doca_sync_event_update_set(event, 2), "setting");
    must(doca_sync_event_wait_eq(event, 2, all_bits), "waiting");
    must(doca_sync_event_wait_neq_yield(event, 1, all_bits), "waiting for another value");
    must(doca_sync_event_create_from_export(dev, blob, static_cast<std::size_t>(size), &as_ctx), "importing again");
    must(doca_sync_event_task_notify_add_set_conf(as_ctx, ended, failed, 1), "configuring");
    doca_pe *pe = nullptr;
    must(doca_pe_create(&pe), "creating an engine");
    doca_ctx *const ctx = doca_sync_event_as_ctx(as_ctx);
    must(doca_pe_connect_ctx(pe, ctx), "connecting");
    must(doca_ctx_start(ctx), "starting the context");
    std::uint64_t before = 0;
    doca_sync_event_task_notify_add *task = nullptr;
    must(doca_sync_event_task_notify_add_alloc_init(as_ctx, 3, &before, {}, &task), "allocating");
    must(doca_task_submit(doca_sync_event_task_notify_add_as_doca_task(task)), "submitting");
    sleep_until_ended(pe);
    if (before != 2)
        end("adding to 2");
}

} // namespace

int main(int argc, char **argv)
{
    doca_dev *const dev = open_first();
    if (argc == 2 && std::strcmp(argv[1], "host") == 0)
        be_host(dev);
    else
        be_dpu(dev);
}
