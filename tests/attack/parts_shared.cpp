// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The parts that take two processes.
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_comm_channel.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>

#include "failing.hpp"
#include "parts.hpp"

namespace attack {

namespace {

constexpr std::size_t size = 32768; ///< of what is exported: some copies are short, some long

std::span<const std::byte> as_bytes(const void *data, std::size_t length)
{
    return {static_cast<const std::byte *>(data), length};
}

doca_error_t release(doca_buf *buf)
{
    return doca_buf_refcount_rm(buf, nullptr);
}

/// Memory of an object that others can map.
class SharedMemory {
public:
    SharedMemory() : fd_(memfd_create("walk", MFD_CLOEXEC))
    {
        if (ftruncate(fd_, size) == 0)
            start_ = static_cast<std::byte *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
    }
    SharedMemory(const SharedMemory &) = delete;
    SharedMemory &operator=(const SharedMemory &) = delete;
    ~SharedMemory()
    {
        munmap(start_, size);
        close(fd_);
    }
    [[nodiscard]] std::span<std::byte> bytes() const { return {start_, size}; }

private:
    int fd_;
    std::byte *start_ = nullptr;
};

/// The host exports; the DPU imports and copies in both directions; the host stops; the DPU gets no further.
void walk_through_export(Walk &walk, doca_dev *dev, std::span<std::byte> memory)
{
    if (walk.is_host()) {
        std::memset(memory.data(), 5, memory.size());
        Map map(walk, dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
        const void *descriptor = nullptr;
        std::size_t length = 0;
        const bool is_exported =
            map.is_made() && walk.call([&] { return doca_mmap_export_dpu(map, dev, &descriptor, &length); });
        (void)walk.exchange(as_bytes(descriptor, is_exported ? length : 0));
        const bool is_written = walk.agree(true);
        if (is_written)
            walk.require(memory[size - 1] == std::byte{6}, "the DPU has written");
        if (map.is_made())
            walk.undo([&] { return doca_mmap_stop(map); });
        std::memset(memory.data(), 9, memory.size());
        (void)walk.agree(true);
        (void)walk.agree(true);
        const bool is_untouched = std::memcmp(memory.data(), memory.data() + 1, memory.size() - 1) == 0;
        walk.require(is_untouched && memory[0] == std::byte{9}, "nobody writes after doca_mmap_stop");
        return;
    }
    const std::vector<std::byte> descriptor = walk.exchange({});
    std::vector<std::byte> own(size, std::byte{6});
    Map own_map(walk, dev, own, DOCA_ACCESS_LOCAL_READ_WRITE);
    Inventory inventory(walk, 8);
    Owned<doca_dma> dma(walk, doca_dma_destroy);
    Owned<doca_mmap> imported(walk, doca_mmap_destroy);
    bool is_ready = own_map.is_made() && inventory.is_made() && !descriptor.empty() && walk.call([&] {
        return doca_dma_create(dma.out());
    }) && walk.call([&] {
        return doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev, imported.out());
    });
    void *start = nullptr;
    std::size_t length = 0;
    is_ready = is_ready && walk.call([&] { return doca_mmap_get_memrange(imported, &start, &length); });
    doca_ctx *const ctx = dma.get() == nullptr ? nullptr : doca_dma_as_ctx(dma);
    if (!is_ready) {
        for (int i = 0; i < 3; ++i)
            (void)walk.agree(i != 0);
        return;
    }
    auto *const there = static_cast<std::byte *>(start);
    Queue queue(walk, ctx, dev, false);
    // One to read and one to write: first short ones, then all of it.
    const auto copy = [&](bool is_write, std::size_t bytes) {
        Owned<doca_buf> far(walk, release), near(walk, release);
        *far.out() = inventory.make(imported, there, bytes, !is_write);
        *near.out() = inventory.make(own_map, own.data(), bytes, is_write);
        if (far.get() == nullptr || near.get() == nullptr || !queue.is_made())
            return DOCA_ERROR_NO_MEMORY;
        return queue.run(is_write ? copy_job(ctx, far, near).base : copy_job(ctx, near, far).base);
    };
    if (walk.call([&] { return copy(false, 100); }))
        walk.require(own[99] == std::byte{5} && own[100] == std::byte{6}, "what was read is there");
    (void)walk.call([&] { return copy(false, size); });
    std::memset(own.data(), 6, own.size());
    bool is_written = walk.call([&] { return copy(true, 100); });
    is_written = walk.call([&] { return copy(true, size); }) && is_written;
    (void)walk.agree(is_written);
    (void)walk.agree(true); // now it is stopped
    walk.require(walk.enter([&] { return copy(true, 100); }) != DOCA_SUCCESS, "a copy after the stop fails");
    walk.require(walk.enter([&] { return copy(true, size); }) != DOCA_SUCCESS, "a long copy after the stop fails");
    (void)walk.agree(true);
}

} // namespace

void walk_through_exports(Walk &walk, doca_dev *dev)
{
    std::vector<std::byte> heap(walk.is_host() ? size : 0);
    walk_through_export(walk, dev, heap);
    const SharedMemory shared;
    walk_through_export(walk, dev, shared.bytes());
}

void walk_through_rdma(Walk &walk, doca_dev *dev, bool is_event_driven)
{
    constexpr std::uint32_t access =
        DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;
    std::vector<std::byte> memory(size);
    Map map(walk, dev, memory, access);
    Inventory inventory(walk, 16);
    Owned<doca_rdma> rdma(walk, doca_rdma_destroy);
    const bool is_created = map.is_made() && inventory.is_made() &&
                            walk.call([&] { return doca_rdma_create(rdma.out()); }) &&
                            walk.call([&] { return doca_ctx_dev_add(doca_rdma_as_ctx(rdma), dev); }) &&
                            walk.call([&] { return doca_rdma_set_permissions(rdma, access); }) &&
                            walk.call([&] { return doca_rdma_set_recv_queue_size(rdma, 16); }) &&
                            walk.call([&] { return doca_rdma_set_send_queue_size(rdma, 16); });
    if (!walk.agree(is_created))
        return;
    doca_ctx *const ctx = doca_rdma_as_ctx(rdma);
    std::optional<Queue> used(std::in_place, walk, ctx, nullptr, is_event_driven); // which has its device
    Queue &queue = *used;
    const void *details = nullptr, *descriptor = nullptr;
    std::size_t details_size = 0, descriptor_size = 0;
    const bool is_exported = queue.is_made() &&
                             walk.call([&] { return doca_rdma_export(rdma, &details, &details_size); }) &&
                             walk.call([&] { return doca_mmap_export_rdma(map, dev, &descriptor, &descriptor_size); });
    const std::vector<std::byte> theirs = walk.exchange(as_bytes(details, is_exported ? details_size : 0));
    const std::vector<std::byte> their_map = walk.exchange(as_bytes(descriptor, is_exported ? descriptor_size : 0));
    Owned<doca_mmap> imported(walk, doca_mmap_destroy);
    void *start = nullptr;
    std::size_t length = 0;
    const bool is_connected = is_exported && !theirs.empty() && !their_map.empty() && walk.call([&] {
        return doca_rdma_connect(rdma, theirs.data(), theirs.size());
    }) && walk.call([&] {
        return doca_mmap_create_from_export(nullptr, their_map.data(), their_map.size(), dev, imported.out());
    }) && walk.call([&] { return doca_mmap_get_memrange(imported, &start, &length); });
    auto *const there = static_cast<std::byte *>(start);

    // A short receive, a medium one and a long one on each side.
    static constexpr std::size_t lengths[] = {32, 4000, 16000};
    std::vector<doca_buf *> bufs;
    const AtEnd release_all([&] {
        for (doca_buf *const buf : bufs)
            walk.undo([&] { return release(buf); });
    });
    const auto make = [&](doca_mmap *of, std::byte *at, std::size_t bytes, bool is_full) {
        doca_buf *const buf = inventory.make(of, at, bytes, is_full);
        if (buf != nullptr)
            bufs.push_back(buf);
        return buf;
    };
    bufs.reserve(16);
    std::uint32_t num_receives = 0;
    doca_rdma_result results[16] = {};
    const auto submit = [&](doca_job &job, int type) {
        job.type = type;
        job.ctx = ctx;
        return walk.call([&] { return doca_workq_submit(queue, &job); });
    };
    for (const std::size_t bytes : lengths) {
        doca_rdma_job_recv job = {};
        job.dst_buff = is_connected ? make(map, memory.data(), bytes, false) : nullptr;
        if (job.dst_buff != nullptr && submit(job.base, DOCA_RDMA_JOB_RECV))
            ++num_receives;
    }
    if (!walk.agree(num_receives == std::size(lengths)))
        return; // what is posted is flushed
    // From here on a failed job ends the connection for both, and each end of a job is an error.
    std::uint32_t num_jobs = num_receives;
    for (const std::size_t bytes : lengths) {
        doca_rdma_job_send job = {};
        job.src_buff = make(map, memory.data() + 16384, bytes, true);
        num_jobs += job.src_buff != nullptr && submit(job.base, DOCA_RDMA_JOB_SEND);
    }
    for (const int type : {DOCA_RDMA_JOB_READ, DOCA_RDMA_JOB_WRITE}) {
        doca_rdma_job_read_write job = {};
        const bool is_read = type == DOCA_RDMA_JOB_READ;
        doca_buf *const near = make(map, memory.data() + 20000, 8192, !is_read);
        doca_buf *const far = make(imported, there + 20000, 8192, is_read);
        job.src_buff = is_read ? far : near;
        job.dst_buff = is_read ? near : far;
        num_jobs += near != nullptr && far != nullptr && submit(job.base, type);
    }
    doca_rdma_job_atomic add = {};
    add.result_buff = make(map, memory.data() + 32000, 8, false);
    add.cmp_or_add_dest_buff = make(imported, there + 32000, 8, false);
    add.swap_or_add_data = 1;
    if (add.result_buff != nullptr && add.cmp_or_add_dest_buff != nullptr)
        num_jobs += submit(add.base, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD);
    bool is_good = walk.agree(num_jobs == 2 * std::size(lengths) + 3);
    for (std::uint32_t i = 0; is_good && i < num_jobs; ++i) {
        doca_event event = {};
        event.result.ptr = &results[i];
        is_good = walk.call([&] { return queue.retrieve(event); });
    }
    if (!walk.agree(is_good))
        return; // the connection is not taken down before
    // One leaves; the other one's last receive ends with it.
    const bool leaves = walk.is_host() != is_event_driven;
    doca_rdma_job_recv last = {};
    last.dst_buff = leaves ? nullptr : make(map, memory.data(), 32, false);
    const bool is_waiting = last.dst_buff != nullptr && submit(last.base, DOCA_RDMA_JOB_RECV);
    const bool is_asleep = is_waiting && is_event_driven && queue.arm();
    if (walk.agree(leaves || is_waiting) && leaves)
        used.reset();
    else if (is_waiting) {
        doca_event event = {};
        event.result.ptr = results;
        walk.require(walk.enter([&] { return queue.retrieve(event, is_asleep); }) != DOCA_SUCCESS,
                     "a receive from who has left ends with an error");
    }
    (void)walk.agree(true);
}

void walk_through_sync_events(Walk &walk, doca_dev *dev)
{
    Owned<doca_sync_event> event(walk, doca_sync_event_destroy);
    const std::uint8_t *blob = nullptr;
    std::size_t length = 0;
    bool is_started = false;
    if (walk.is_host()) {
        const bool is_exported = walk.call([&] { return doca_sync_event_create(event.out()); }) &&
                                 walk.call([&] { return doca_sync_event_publisher_add_location_cpu(event, dev); }) &&
                                 walk.call([&] { return doca_sync_event_subscriber_add_location_dpu(event); }) &&
                                 (is_started = walk.call([&] { return doca_sync_event_start(event); })) &&
                                 walk.call([&] { return doca_sync_event_export_to_dpu(event, dev, &blob, &length); });
        (void)walk.exchange(as_bytes(blob, is_exported ? length : 0));
    } else {
        const std::vector<std::byte> theirs = walk.exchange({});
        if (!theirs.empty())
            (void)walk.call([&] {
                return doca_sync_event_create_from_export(dev, reinterpret_cast<const std::uint8_t *>(theirs.data()),
                                                          theirs.size(), event.out());
            });
    }
    const AtEnd stop([&] {
        if (is_started)
            walk.undo([&] { return doca_sync_event_stop(event); });
    });
    if (walk.is_host()) {
        if (!walk.agree(is_started && blob != nullptr))
            return;
        std::uint64_t before = 0;
        bool is_updated = walk.call([&] { return doca_sync_event_update_set(event, 10); });
        is_updated = walk.call([&] { return doca_sync_event_update_add(event, 5, &before); }) && is_updated;
        if (walk.agree(is_updated) && walk.agree(true)) // the DPU sleeps
            (void)walk.call([&] { return doca_sync_event_update_set(event, 100); });
        (void)walk.agree(true);
        return;
    }
    // The DPU's handle is a context, and waits by jobs.
    if (event.get() == nullptr) {
        (void)walk.agree(false);
        return;
    }
    doca_ctx *const ctx = doca_sync_event_as_ctx(event);
    Queue queue(walk, ctx, nullptr, true);
    if (!walk.agree(queue.is_made()))
        return;
    const bool is_updated = walk.agree(true);
    const auto wait_for = [&](std::uint64_t value) {
        doca_sync_event_job_wait job = {};
        job.base.type = DOCA_SYNC_EVENT_JOB_WAIT_GT;
        job.base.ctx = ctx;
        job.value = value;
        job.mask = UINT64_MAX;
        return walk.call([&] { return doca_workq_submit(queue, &job.base); });
    };
    doca_event ended = {};
    if (is_updated && wait_for(14))
        (void)walk.call([&] { return queue.retrieve(ended); });
    if (is_updated) {
        const bool is_asleep = wait_for(99) && queue.arm();
        if (walk.agree(is_asleep))
            (void)walk.call([&] { return queue.retrieve(ended, true); });
    }
    (void)walk.agree(true);
}

namespace {

/// The host makes an event, and destroys it while the DPU has handles of it.
void walk_through_an_end(Walk &walk, doca_dev *dev, std::uint64_t *word)
{
    Owned<doca_sync_event> event(walk, doca_sync_event_destroy);
    const std::uint8_t *blob = nullptr;
    std::size_t length = 0;
    bool is_started = false;
    const bool is_exported = walk.call([&] { return doca_sync_event_create(event.out()); }) &&
                             walk.call([&] { return doca_sync_event_publisher_add_location_cpu(event, dev); }) &&
                             walk.call([&] { return doca_sync_event_subscriber_add_location_dpu(event); }) &&
                             (word == nullptr || walk.call([&] { return doca_sync_event_set_addr(event, word); })) &&
                             (is_started = walk.call([&] { return doca_sync_event_start(event); })) &&
                             walk.call([&] { return doca_sync_event_export_to_dpu(event, dev, &blob, &length); });
    (void)walk.exchange(as_bytes(blob, is_exported ? length : 0));
    std::uint64_t value = 0;
    if (walk.agree(is_exported) && walk.call([&] { return doca_sync_event_get(event, &value); }))
        walk.require(value == 7, "the DPU's update is there");
    (void)walk.agree(true); // the DPU sleeps
    if (is_started)
        walk.undo([&] { return doca_sync_event_stop(event); });
    event.reset();
    if (word != nullptr)
        *word = 1;
    (void)walk.agree(true);
    (void)walk.agree(true); // the DPU has tried to update it
    walk.require(word == nullptr || *word == 1, "nobody writes to the memory of an event that was destroyed");
}

/// The DPU's side: one handle that updates, and one that sleeps.
void walk_beyond_an_end(Walk &walk, doca_dev *dev)
{
    const std::vector<std::byte> theirs = walk.exchange({});
    const auto import = [&](Owned<doca_sync_event> &handle) {
        return !theirs.empty() && walk.call([&] {
            return doca_sync_event_create_from_export(dev, reinterpret_cast<const std::uint8_t *>(theirs.data()),
                                                      theirs.size(), handle.out());
        });
    };
    Owned<doca_sync_event> updater(walk, doca_sync_event_destroy), sleeper(walk, doca_sync_event_destroy);
    std::uint64_t before = 0;
    const bool is_started = import(updater) && walk.call([&] { return doca_sync_event_start(updater); });
    const AtEnd stop([&] {
        if (is_started)
            walk.undo([&] { return doca_sync_event_stop(updater); });
    });
    bool is_ready =
        is_started && walk.call([&] { return doca_sync_event_update_add(updater, 7, &before); }) && import(sleeper);
    if (!is_ready) {
        for (int i = 0; i < 4; ++i)
            (void)walk.agree(i != 0);
        return;
    }
    doca_ctx *const ctx = doca_sync_event_as_ctx(sleeper);
    Queue queue(walk, ctx, nullptr, true);
    doca_sync_event_job_wait job = {};
    job.base.type = DOCA_SYNC_EVENT_JOB_WAIT_GT;
    job.base.ctx = ctx;
    job.value = 1000;
    job.mask = UINT64_MAX;
    is_ready = queue.is_made() && walk.call([&] { return doca_workq_submit(queue, &job.base); });
    (void)walk.agree(is_ready);
    const bool is_asleep = is_ready && queue.arm();
    (void)walk.agree(true);
    doca_event ended = {};
    if (is_asleep)
        walk.require(walk.enter([&] { return queue.retrieve(ended, true); }) != DOCA_SUCCESS,
                     "a wait for what was destroyed ends with an error");
    (void)walk.agree(true); // it is destroyed
    walk.require(walk.enter([&] { return doca_sync_event_update_set(updater, 0xdead); }) != DOCA_SUCCESS,
                 "an update of what was destroyed is refused");
    (void)walk.agree(true);
}

} // namespace

void walk_through_ends_of_sync_events(Walk &walk, doca_dev *dev, bool has_word)
{
    std::uint64_t word = 0;
    if (walk.is_host())
        walk_through_an_end(walk, dev, has_word ? &word : nullptr);
    else
        walk_beyond_an_end(walk, dev);
}

void walk_through_comm_channel(Walk &walk, doca_dev *dev, bool by_address)
{
    // An address of this machine that no other pair of processes has.
    const auto parent = static_cast<unsigned>(getppid());
    const std::string address = "127." + std::to_string(64 + parent / 65536 % 60) + "." +
                                std::to_string(parent / 256 % 256) + "." + std::to_string(parent % 256) + ":5002";
    if (by_address)
        setenv("DOCA_COMM_CHANNEL_ADDRESS", address.c_str(), 1);
    const AtEnd unset([] { unsetenv("DOCA_COMM_CHANNEL_ADDRESS"); });
    const std::string name = "walk " + std::to_string(getppid());
    Owned<doca_dev_rep> rep(walk, doca_dev_rep_close);
    Owned<doca_comm_channel_ep_t> ep(walk, doca_comm_channel_ep_destroy);
    bool is_ready = walk.call([&] { return doca_comm_channel_ep_create(ep.out()); }) &&
                    walk.call([&] { return doca_comm_channel_ep_set_device(ep, dev); }) &&
                    walk.call([&] { return doca_comm_channel_ep_set_max_msg_size(ep, 256); });
    doca_event_channel_t sends = -1, receives = -1, service = -1;
    if (!walk.is_host() && is_ready) {
        doca_devinfo_rep **reps = nullptr;
        std::uint32_t num_reps = 0;
        is_ready =
            walk.call([&] { return doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_ALL, &reps, &num_reps); });
        if (is_ready) {
            is_ready = walk.call([&] { return doca_dev_rep_open(reps[0], rep.out()); }); // pf0
            walk.undo([&] { return doca_devinfo_rep_list_destroy(reps); });
        }
        is_ready = is_ready && walk.call([&] { return doca_comm_channel_ep_set_device_rep(ep, rep); }) &&
                   walk.call([&] { return doca_comm_channel_ep_listen(ep, name.c_str()); }) &&
                   walk.call([&] { return doca_comm_channel_ep_get_service_event_channel(ep, &service); });
    }
    if (!walk.agree(is_ready))
        return;
    doca_comm_channel_addr_t *peer = nullptr;
    bool is_connecting = true;
    if (walk.is_host())
        is_connecting = walk.call([&] { return doca_comm_channel_ep_connect(ep, name.c_str(), &peer); }) &&
                        walk.call([&] { return doca_comm_channel_ep_get_event_channel(ep, &sends, &receives); });
    if (!walk.agree(is_connecting))
        return;

    // Each waits for what the other does, so whoever fails says so by going away, which the other one sees.
    const auto patiently = [&](doca_error_t not_yet, auto body) {
        doca_error_t status = not_yet;
        const Patience patience(walk);
        while (status == not_yet && !patience.is_over()) {
            status = walk.enter(body);
            if (status == not_yet)
                sched_yield();
        }
        // A service turns a client away that it cannot watch, without an error of its own.
        const char *const failed = find_failed_function != nullptr ? find_failed_function() : nullptr;
        const bool is_turned_away = !walk.is_host() && failed != nullptr && std::strcmp(failed, "epoll_ctl") == 0;
        walk.expect(status != not_yet || is_turned_away, "what the other side of Comm Channel does");
        return status;
    };
    char text[256];
    std::size_t text_size = 0;
    const auto receive = [&] {
        text_size = sizeof(text);
        return doca_comm_channel_ep_recvfrom(ep, text, &text_size, DOCA_CC_MSG_FLAG_NONE, &peer);
    };
    const auto send = [&] { return doca_comm_channel_ep_sendto(ep, "hello", 5, DOCA_CC_MSG_FLAG_NONE, peer); };
    bool is_good = true;
    if (walk.is_host())
        is_good = walk.call([&] {
            return patiently(DOCA_ERROR_CONNECTION_INPROGRESS,
                             [&] { return doca_comm_channel_peer_addr_update_info(peer); });
        });
    else // accepts
        is_good = walk.call([&] {
            return patiently(DOCA_ERROR_AGAIN, [&] {
                std::uint32_t count = 0;
                doca_comm_channel_addr_t **peers = nullptr;
                (void)receive(); // which takes clients in
                doca_error_t status = doca_comm_channel_ep_update_service_state_info(ep);
                if (status == DOCA_SUCCESS)
                    status = doca_comm_channel_ep_get_peer_addr_list(ep, &peers, &count);
                return status == DOCA_SUCCESS && count == 0 ? DOCA_ERROR_AGAIN : status;
            });
        });
    walk.expect(is_good, "that client and service meet");
    if (!walk.agree(is_good))
        return;
    if (walk.is_host()) {
        if (walk.agree(walk.call([&] { return patiently(DOCA_ERROR_AGAIN, send); })))
            (void)walk.call([&] { return patiently(DOCA_ERROR_AGAIN, receive); });
        (void)walk.enter([&] { return doca_comm_channel_ep_disconnect(ep, peer); });
    } else if (walk.agree(true)) {
        if (walk.call([&] { return patiently(DOCA_ERROR_AGAIN, receive); }))
            (void)walk.call([&] { return patiently(DOCA_ERROR_AGAIN, send); });
    }
    (void)walk.agree(true);
}

} // namespace attack
