// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the parts have in common, and those that need one process.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_argp.h>
#include <doca_buf.h>
#include <doca_bufpool.h>
#include <doca_graph.h>
#include <doca_sha.h>

#include "parts.hpp"

namespace attack {

Map::Map(Walk &walk, doca_dev *dev, std::span<std::byte> bytes, std::uint32_t access) : mmap_(walk, doca_mmap_destroy)
{
    is_made_ = walk.call([&] { return doca_mmap_create(nullptr, mmap_.out()); }) &&
               walk.call([&] { return doca_mmap_dev_add(mmap_, dev); }) &&
               walk.call([&] { return doca_mmap_set_memrange(mmap_, bytes.data(), bytes.size()); }) &&
               walk.call([&] { return doca_mmap_set_permissions(mmap_, access); }) &&
               walk.call([&] { return doca_mmap_start(mmap_); });
}

Inventory::Inventory(Walk &walk, std::size_t size) : walk_(walk), inventory_(walk, doca_buf_inventory_destroy)
{
    is_made_ = walk.call([&] {
        return doca_buf_inventory_create(nullptr, size, DOCA_BUF_EXTENSION_NONE, inventory_.out());
    }) && walk.call([&] { return doca_buf_inventory_start(inventory_); });
}

doca_buf *Inventory::make(doca_mmap *mmap, std::byte *at, std::size_t len, bool is_full)
{
    doca_buf *buf = nullptr;
    (void)walk_.call(
        [&] { return doca_buf_inventory_buf_by_args(inventory_, mmap, at, len, at, is_full ? len : 0, &buf); });
    return buf;
}

Queue::Queue(Walk &walk, doca_ctx *ctx, doca_dev *dev, bool is_event_driven)
    : walk_(walk),
      ctx_(ctx),
      workq_(walk, doca_workq_destroy),
      is_event_driven_(is_event_driven)
{
    if (dev != nullptr) {
        is_device_added_ = walk.call([&] { return doca_ctx_dev_add(ctx, dev); });
        if (!is_device_added_)
            return;
    }
    is_started_ = walk.call([&] { return doca_ctx_start(ctx); });
    is_added_ = is_started_ && walk.call([&] { return doca_workq_create(16, workq_.out()); }) &&
                (!is_event_driven || (walk.call([&] { return doca_workq_set_event_driven_enable(workq_, 1); }) &&
                                      walk.call([&] { return doca_workq_get_event_handle(workq_, &handle_); }))) &&
                walk.call([&] { return doca_ctx_workq_add(ctx, workq_); });
    is_made_ = is_added_;
}

Queue::~Queue()
{
    if (is_added_) {
        doca_error_t status = DOCA_SUCCESS;
        while ((status = walk_.enter([&] { return doca_ctx_workq_rm(ctx_, workq_); })) == DOCA_ERROR_NOT_PERMITTED) {
            doca_event event = {};
            (void)walk_.enter([&] { return doca_workq_progress_retrieve(workq_, &event, 0); });
        }
        if (status != DOCA_SUCCESS)
            walk_.undo([&] { return doca_ctx_workq_rm(ctx_, workq_); });
    }
    if (is_started_)
        walk_.undo([&] { return doca_ctx_stop(ctx_); });
}

bool Queue::arm()
{
    return walk_.call([&] { return doca_workq_event_handle_arm(workq_); });
}

doca_error_t Queue::retrieve(doca_event &event, bool is_armed)
{
    const Patience patience(walk_);
    do {
        if (is_armed) {
            const bool is_woken = walk_.wait_for(handle_);
            walk_.undo([&] { return doca_workq_event_handle_clear(workq_, handle_); });
            if (!is_woken)
                break;
        }
        const doca_error_t status = walk_.enter([&] { return doca_workq_progress_retrieve(workq_, &event, 0); });
        if (status != DOCA_ERROR_AGAIN)
            return status;
        is_armed = is_event_driven_ && arm();
        if (!is_armed)
            sched_yield();
    } while (!patience.is_over());
    walk_.expect(false, "an event");
    return DOCA_ERROR_TIME_OUT;
}

doca_error_t Queue::run(const doca_job &job)
{
    const doca_error_t status = walk_.enter([&] { return doca_workq_submit(workq_, &job); });
    if (status != DOCA_SUCCESS)
        return status;
    doca_event event = {};
    return retrieve(event);
}

doca_dma_job_memcpy copy_job(doca_ctx *ctx, doca_buf *dst, doca_buf *src)
{
    doca_dma_job_memcpy job = {};
    job.base.type = DOCA_DMA_JOB_MEMCPY;
    job.base.ctx = ctx;
    job.dst_buff = dst;
    job.src_buff = src;
    return job;
}

void walk_through_devices(Walk &walk)
{
    doca_devinfo **list = nullptr;
    std::uint32_t size = 0;
    if (!walk.call([&] { return doca_devinfo_list_create(&list, &size); }))
        return;
    for (std::uint32_t i = 0; i < size; ++i) {
        char text[DOCA_DEVINFO_IFACE_NAME_SIZE] = {};
        (void)walk.call([&] { return doca_devinfo_get_pci_addr_str(list[i], text); });
        (void)walk.call([&] { return doca_devinfo_get_iface_name(list[i], text, DOCA_DEVINFO_IFACE_NAME_SIZE); });
        std::uint8_t is_supported = 0;
        (void)walk.call([&] { return doca_devinfo_get_is_mmap_export_dpu_supported(list[i], &is_supported); });
        (void)walk.call([&] { return doca_devinfo_rep_get_is_list_all_supported(list[i], &is_supported); });
        if (is_supported == 0)
            continue;
        Owned<doca_dev> dev(walk, doca_dev_close);
        doca_devinfo_rep **reps = nullptr;
        std::uint32_t num_reps = 0;
        if (!walk.call([&] { return doca_dev_open(list[i], dev.out()); }) ||
            !walk.call([&] { return doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_ALL, &reps, &num_reps); }))
            continue;
        Owned<doca_dev_rep> rep(walk, doca_dev_rep_close);
        (void)walk.call([&] { return doca_dev_rep_open(reps[0], rep.out()); });
        walk.undo([&] { return doca_devinfo_rep_list_destroy(reps); });
    }
    walk.undo([&] { return doca_devinfo_list_destroy(list); });
}

void walk_through_local_copies(Walk &walk, doca_dev *dev)
{
    std::vector<std::byte> memory(8192, std::byte{7});
    Map map(walk, dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE);
    Owned<doca_mmap> of_nobody(walk, doca_mmap_destroy);
    if (!walk.call([&] { return doca_mmap_create(nullptr, of_nobody.out()); }) ||
        !walk.call([&] { return doca_mmap_set_memrange(of_nobody, memory.data(), memory.size()); }) ||
        !walk.call([&] { return doca_mmap_start(of_nobody); }))
        return;
    Inventory inventory(walk, 4);
    for (const bool is_event_driven : {false, true}) {
        Owned<doca_dma> dma(walk, doca_dma_destroy);
        if (!map.is_made() || !inventory.is_made() || !walk.call([&] { return doca_dma_create(dma.out()); }))
            return;
        doca_ctx *const ctx = doca_dma_as_ctx(dma);
        Queue queue(walk, ctx, dev, is_event_driven);
        if (!queue.is_made())
            return;
        Owned<doca_buf> src(walk, [](doca_buf *buf) { return doca_buf_refcount_rm(buf, nullptr); });
        Owned<doca_buf> dst(walk, [](doca_buf *buf) { return doca_buf_refcount_rm(buf, nullptr); });
        *src.out() = inventory.make(map, memory.data(), 4096, true);
        *dst.out() = inventory.make(map, memory.data() + 4096, 4096, false);
        if (src.get() == nullptr || dst.get() == nullptr)
            return;
        memory[5000] = std::byte{1};
        const doca_dma_job_memcpy job = copy_job(ctx, dst, src);
        if (walk.call([&] { return queue.run(job.base); }))
            walk.require(memory[5000] == std::byte{7}, "what was copied is there");
        // One that is refused, with words that may need memory.
        Owned<doca_buf> stranger(walk, [](doca_buf *buf) { return doca_buf_refcount_rm(buf, nullptr); });
        *stranger.out() = inventory.make(of_nobody, memory.data(), 64, false);
        if (stranger.get() != nullptr)
            walk.require(walk.enter([&] { return queue.run(copy_job(ctx, stranger, src).base); }) != DOCA_SUCCESS,
                         "memory of no device is not copied to");
    }
}

void walk_through_hashes(Walk &walk, doca_dev *dev)
{
    std::vector<std::byte> memory(256);
    Map map(walk, dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE);
    Inventory inventory(walk, 2);
    Owned<doca_sha> sha(walk, doca_sha_destroy);
    if (!map.is_made() || !inventory.is_made() || !walk.call([&] { return doca_sha_create(sha.out()); }))
        return;
    doca_ctx *const ctx = doca_sha_as_ctx(sha);
    Queue queue(walk, ctx, dev, false);
    if (!queue.is_made())
        return;
    doca_sha_partial_session *session = nullptr;
    const bool has_session = walk.call([&] { return doca_sha_partial_session_create(sha, queue, &session); });
    Owned<doca_buf> src(walk, [](doca_buf *buf) { return doca_buf_refcount_rm(buf, nullptr); });
    Owned<doca_buf> dst(walk, [](doca_buf *buf) { return doca_buf_refcount_rm(buf, nullptr); });
    *src.out() = inventory.make(map, memory.data(), 128, true);
    *dst.out() = inventory.make(map, memory.data() + 128, 128, false);
    if (src.get() != nullptr && dst.get() != nullptr) {
        doca_sha_partial_job job = {};
        job.sha_job.base.ctx = ctx;
        job.sha_job.req_buf = src;
        job.sha_job.resp_buf = dst;
        job.session = session;
        for (const int type : {DOCA_SHA_JOB_SHA1, DOCA_SHA_JOB_SHA256, DOCA_SHA_JOB_SHA512_PARTIAL}) {
            job.sha_job.base.type = type;
            job.sha_job.flags = type == DOCA_SHA_JOB_SHA512_PARTIAL ? DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL : 0;
            if (has_session || type != DOCA_SHA_JOB_SHA512_PARTIAL)
                walk.require(queue.run(job.sha_job.base) == DOCA_SUCCESS, "hashing can't fail");
        }
    }
    if (has_session)
        walk.undo([&] { return doca_sha_partial_session_destroy(sha, queue, session); });
}

void walk_through_graphs(Walk &walk, doca_dev *dev)
{
    std::vector<std::byte> memory(128, std::byte{3});
    Map map(walk, dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE);
    Inventory inventory(walk, 2);
    Owned<doca_dma> dma(walk, doca_dma_destroy);
    if (!map.is_made() || !inventory.is_made() || !walk.call([&] { return doca_dma_create(dma.out()); }))
        return;
    doca_ctx *const ctx = doca_dma_as_ctx(dma);
    Queue queue(walk, ctx, dev, false);
    Owned<doca_buf> src(walk, [](doca_buf *buf) { return doca_buf_refcount_rm(buf, nullptr); });
    Owned<doca_buf> dst(walk, [](doca_buf *buf) { return doca_buf_refcount_rm(buf, nullptr); });
    *src.out() = inventory.make(map, memory.data(), 64, true);
    *dst.out() = inventory.make(map, memory.data() + 64, 64, false);
    Owned<doca_graph> graph(walk, doca_graph_destroy);
    doca_graph_node *user = nullptr, *copy = nullptr;
    if (!queue.is_made() || src.get() == nullptr || dst.get() == nullptr ||
        !walk.call([&] { return doca_graph_create(graph.out()); }) || !walk.call([&] {
            return doca_graph_user_node_create(
                graph, [](void *, doca_event *) { return DOCA_SUCCESS; }, &user);
        }) ||
        !walk.call([&] { return doca_graph_ctx_node_create(graph, DOCA_DMA_JOB_MEMCPY, ctx, &copy); }) ||
        !walk.call([&] { return doca_graph_add_dependency(graph, user, copy); }) ||
        !walk.call([&] { return doca_graph_start(graph); }))
        return;
    const AtEnd stop([&] { walk.undo([&] { return doca_graph_stop(graph); }); });
    if (!walk.call([&] { return doca_graph_workq_add(graph, queue); }))
        return;
    const AtEnd remove([&] { walk.undo([&] { return doca_graph_workq_rm(graph, queue); }); });
    Owned<doca_graph_instance> instance(walk, doca_graph_instance_destroy);
    doca_dma_job_memcpy job = copy_job(ctx, dst, src);
    doca_event event = {}, note = {};
    if (!walk.call([&] { return doca_graph_instance_create(graph, instance.out()); }) ||
        !walk.call([&] { return doca_graph_instance_set_ctx_node_data(instance, copy, &job.base, &event); }) ||
        !walk.call([&] { return doca_graph_instance_set_user_node_data(instance, user, nullptr, &note); }) ||
        !walk.call([&] { return doca_workq_graph_submit(queue, instance, {.u64 = 1}); }))
        return;
    doca_event ended = {};
    (void)walk.call([&] { return queue.retrieve(ended); });
}

void walk_through_pools(Walk &walk, doca_dev *dev)
{
    std::vector<std::byte> memory(4096);
    Map map(walk, dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE);
    Owned<doca_bufpool> pool(walk, doca_bufpool_destroy);
    if (!map.is_made() ||
        !walk.call([&] { return doca_bufpool_create(nullptr, 4, DOCA_BUF_EXTENSION_NONE, 64, 64, map, pool.out()); }) ||
        !walk.call([&] { return doca_bufpool_start(pool); }))
        return;
    Owned<doca_buf> buf(walk, [](doca_buf *one) { return doca_buf_refcount_rm(one, nullptr); });
    (void)walk.call([&] { return doca_bufpool_buf_alloc(pool, buf.out()); });
    buf.reset();
    walk.undo([&] { return doca_bufpool_stop(pool); });
}

void walk_through_arguments(Walk &walk)
{
    static const char text[] =
        R"({"doca_program_flags": {"text": "a", "object": {"a": [1, 2.5, {"b": null}]}},
                                   "doca_general_flags": {"log-level": 20}})";
    const int file = memfd_create("arguments", MFD_CLOEXEC);
    const AtEnd close_file([&] { close(file); });
    walk.require(write(file, text, sizeof(text) - 1) == sizeof(text) - 1, "the file is written");
    if (!walk.call([&] { return doca_argp_init("attack", nullptr); }))
        return;
    const AtEnd destroy([&] { walk.undo([] { return doca_argp_destroy(); }); });
    for (const auto &[name, type] :
         {std::pair("text", DOCA_ARGP_TYPE_STRING), std::pair("object", DOCA_ARGP_TYPE_JSON_OBJ)}) {
        doca_argp_param *param = nullptr;
        if (!walk.call([&] { return doca_argp_param_create(&param); }))
            return;
        {
            const Inside inside; // these answer nothing
            doca_argp_param_set_long_name(param, name);
            doca_argp_param_set_description(param, "for the walk");
            doca_argp_param_set_type(param, type);
            doca_argp_param_set_callback(param, [](void *, void *) { return DOCA_SUCCESS; });
        }
        if (!walk.call([&] { return doca_argp_register_param(param); }))
            return;
    }
    std::string program = "attack", flag = "--json=/proc/self/fd/" + std::to_string(file);
    char *arguments[] = {program.data(), flag.data(), nullptr};
    (void)walk.call([&] { return doca_argp_start(2, arguments); });
}

} // namespace attack
