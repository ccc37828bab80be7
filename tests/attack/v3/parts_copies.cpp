// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies within a process and between two, hashes, graphs and sync events.
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <doca_buf_pool.h>
#include <doca_graph.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include "parts.hpp"

namespace attack {

Dma::Dma(Walk &walk, Engine &engine, doca_dev *dev) : walk_(walk), engine_(engine), dma_(walk, doca_dma_destroy)
{
    if (engine.is_made() && walk.call([&] { return doca_dma_create(dev, dma_.out()); }) && walk.call([&] {
            return doca_dma_task_memcpy_set_conf(dma_, record_end<doca_dma_task_memcpy>,
                                                 record_end<doca_dma_task_memcpy>, 8);
        }))
        running_.emplace(walk, engine, doca_dma_as_ctx(dma_));
}

doca_dma_task_memcpy *Dma::make(const doca_buf *src, doca_buf *dst, End &end)
{
    doca_dma_task_memcpy *task = nullptr;
    if (is_made() && src != nullptr && dst != nullptr)
        (void)walk_.call([&] { return doca_dma_task_memcpy_alloc_init(dma_, src, dst, {.ptr = &end}, &task); });
    return task;
}

doca_error_t Dma::copy(const doca_buf *src, doca_buf *dst)
{
    End &end = new_end();
    doca_dma_task_memcpy *const task = make(src, dst, end);
    return task == nullptr ? DOCA_ERROR_NO_MEMORY : engine_.run(doca_dma_task_memcpy_as_task(task), end);
}

namespace {

constexpr std::size_t size = 32768; ///< some copies are short, some long

/// The host exports; the DPU imports and copies in both directions; the host stops; the DPU gets no further.
void walk_through_export(Walk &walk, doca_dev *dev, std::span<std::byte> memory)
{
    if (walk.is_host()) {
        std::memset(memory.data(), 5, memory.size());
        Map map(walk, dev, memory, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
        const void *descriptor = nullptr;
        std::size_t length = 0;
        const bool is_exported =
            map.is_made() && walk.call([&] { return doca_mmap_export_pci(map, dev, &descriptor, &length); });
        (void)walk.exchange({static_cast<const std::byte *>(descriptor), is_exported ? length : 0});
        if (walk.agree(true))
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
    Map own_map(walk, dev, own, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
    Owned<doca_mmap> imported(walk, doca_mmap_destroy);
    Inventory inventory(walk, 16);
    Engine engine(walk);
    Dma dma(walk, engine, dev);
    void *start = nullptr;
    std::size_t length = 0;
    const bool is_ready =
        own_map.is_made() && inventory.is_made() && dma.is_made() && !descriptor.empty() && walk.call([&] {
            return doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev, imported.out());
        }) &&
        walk.call([&] { return doca_mmap_get_memrange(imported, &start, &length); });
    auto *const there = static_cast<std::byte *>(start);
    const auto copy = [&](bool is_write, std::size_t bytes) {
        if (!is_ready)
            return DOCA_ERROR_NO_MEMORY;
        doca_buf *const far = inventory.make(imported, there, bytes, !is_write);
        doca_buf *const near = inventory.make(own_map, own.data(), bytes, is_write);
        return is_write ? dma.copy(near, far) : dma.copy(far, near);
    };
    bool is_written = is_ready;
    if (is_ready) {
        if (walk.call([&] { return copy(false, 100); }))
            walk.require(own[99] == std::byte{5} && own[100] == std::byte{6}, "what was read is there");
        (void)walk.call([&] { return copy(false, size); });
        std::memset(own.data(), 6, own.size());
        is_written = walk.call([&] { return copy(true, 100); });
        is_written = walk.call([&] { return copy(true, size); }) && is_written;
    }
    (void)walk.agree(is_written);
    (void)walk.agree(true); // now it is stopped
    // The first failure stops the context, which then takes no more.
    walk.require(copy(true, 100) != DOCA_SUCCESS, "a copy after the stop fails");
    (void)walk.agree(true);
}

} // namespace

void walk_through_local_copies(Walk &walk, doca_dev *dev)
{
    std::vector<std::byte> memory(2 * size, std::byte{3});
    Map map(walk, dev, memory, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
    Inventory inventory(walk, 8);
    Engine engine(walk);
    Dma dma(walk, engine, dev);
    if (!map.is_made() || !inventory.is_made() || !dma.is_made())
        return;
    for (const std::size_t bytes : {std::size_t{100}, size}) {
        std::memset(memory.data(), 4, bytes);
        doca_buf *const src = inventory.make(map, memory.data(), bytes, true);
        doca_buf *const dst = inventory.make(map, memory.data() + size, bytes, false);
        if (walk.call([&] { return dma.copy(src, dst); }))
            walk.require(memory[size + bytes - 1] == std::byte{4}, "what was copied is there");
    }
    Owned<doca_buf_pool> pool(walk, doca_buf_pool_destroy);
    Owned<doca_buf> buf(walk, [](doca_buf *each) { return doca_buf_dec_refcount(each, nullptr); });
    if (walk.call([&] { return doca_buf_pool_create(8, 512, map, pool.out()); }) &&
        walk.call([&] { return doca_buf_pool_start(pool); }))
        (void)walk.call([&] { return doca_buf_pool_buf_alloc(pool, buf.out()); });
}

void walk_through_exports(Walk &walk, doca_dev *dev)
{
    std::vector<std::byte> heap(walk.is_host() ? size : 0);
    walk_through_export(walk, dev, heap);
    const int fd = memfd_create("walk", MFD_CLOEXEC);
    walk.require(ftruncate(fd, size) == 0, "there is memory");
    auto *const shared = static_cast<std::byte *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    walk_through_export(walk, dev, {shared, size});
    munmap(shared, size);
    close(fd);
}

void walk_through_hashes(Walk &walk, doca_dev *dev)
{
    std::vector<std::byte> memory(4096, std::byte{7});
    Map map(walk, dev, memory, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
    Inventory inventory(walk, 4);
    Engine engine(walk);
    Owned<doca_sha> sha(walk, doca_sha_destroy);
    if (!map.is_made() || !inventory.is_made() || !engine.is_made() ||
        !walk.call([&] { return doca_sha_create(dev, sha.out()); }) || !walk.call([&] {
            return doca_sha_task_hash_set_conf(sha, record_end<doca_sha_task_hash>, record_end<doca_sha_task_hash>, 2);
        }))
        return;
    Running running(walk, engine, doca_sha_as_ctx(sha));
    doca_buf *const src = inventory.make(map, memory.data(), 1000, true);
    doca_buf *const dst = inventory.make(map, memory.data() + 2048, 64, false);
    End &end = new_end();
    doca_sha_task_hash *task = nullptr;
    if (running.is_started() && src != nullptr && dst != nullptr && walk.call([&] {
            return doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, {.ptr = &end}, &task);
        }))
        (void)walk.call([&] { return engine.run(doca_sha_task_hash_as_task(task), end); });
}

void walk_through_graphs(Walk &walk, doca_dev *dev)
{
    std::vector<std::byte> memory(4096, std::byte{8});
    Map map(walk, dev, memory, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
    Inventory inventory(walk, 4);
    Engine engine(walk);
    Dma dma(walk, engine, dev);
    if (!map.is_made() || !inventory.is_made() || !dma.is_made())
        return;
    End &end = new_end(), &of_task = new_end();
    Owned<doca_graph> graph(walk, doca_graph_destroy);
    bool is_started = false;
    const AtEnd stop([&] {
        if (is_started)
            walk.undo([&] { return doca_graph_stop(graph); });
    });
    Owned<doca_graph_instance> instance(walk, doca_graph_instance_destroy);
    doca_graph_node *copy = nullptr, *after = nullptr;
    const auto done = [](doca_graph_instance *, doca_data data, doca_data) {
        *static_cast<End *>(data.ptr) = DOCA_SUCCESS;
    };
    const auto failed = [](doca_graph_instance *, doca_data data, doca_data) {
        *static_cast<End *>(data.ptr) = DOCA_ERROR_IO_FAILED;
    };
    is_started = walk.call([&] { return doca_graph_create(engine, graph.out()); }) &&
                 walk.call([&] { return doca_graph_set_conf(graph, done, failed, 1); }) &&
                 walk.call([&] { return doca_graph_node_create_from_ctx(graph, dma.ctx(), &copy); }) && walk.call([&] {
                     return doca_graph_node_create_from_user(
                         graph, [](void *) { return DOCA_SUCCESS; }, &after);
                 }) &&
                 walk.call([&] { return doca_graph_add_dependency(graph, copy, after); }) &&
                 walk.call([&] { return doca_graph_start(graph); });
    if (!is_started || !walk.call([&] { return doca_graph_instance_create(graph, instance.out()); }) ||
        !walk.call([&] { return doca_graph_instance_set_user_data(instance, {.ptr = &end}); }))
        return;
    doca_dma_task_memcpy *const task = dma.make(inventory.make(map, memory.data(), 100, true),
                                                inventory.make(map, memory.data() + 2048, 100, false), of_task);
    if (task == nullptr)
        return;
    if (walk.call([&] {
            return doca_graph_instance_set_ctx_node_data(instance, copy, doca_dma_task_memcpy_as_task(task));
        }) &&
        walk.call([&] { return doca_graph_instance_set_user_node_data(instance, after, memory.data()); }) &&
        walk.call([&] { return doca_graph_instance_submit(instance); }))
        (void)walk.call([&] { return engine.wait_for(end, "the end of a graph"); });
    const Inside inside;
    doca_task_free(doca_dma_task_memcpy_as_task(task)); // a graph's task is the program's
}

void walk_through_sync_events(Walk &walk, doca_dev *dev)
{
    Engine engine(walk, Engine::Idle::sleeps);
    Owned<doca_sync_event> event(walk, doca_sync_event_destroy);
    const std::uint8_t *blob = nullptr;
    std::size_t length = 0;
    bool is_started = false;
    const AtEnd stop([&] {
        if (is_started)
            walk.undo([&] { return doca_sync_event_stop(event); });
    });
    if (walk.is_host()) {
        const bool is_exported =
            walk.call([&] { return doca_sync_event_create(event.out()); }) &&
            walk.call([&] { return doca_sync_event_add_publisher_location_cpu(event, dev); }) &&
            walk.call([&] { return doca_sync_event_add_subscriber_location_remote_pci(event); }) &&
            (is_started = walk.call([&] { return doca_sync_event_start(event); })) &&
            walk.call([&] { return doca_sync_event_export_to_remote_pci(event, dev, &blob, &length); });
        (void)walk.exchange({reinterpret_cast<const std::byte *>(blob), is_exported ? length : 0});
        if (walk.agree(is_exported))
            (void)walk.agree(walk.call([&] { return doca_sync_event_update_set(event, 100); })); // whoever sleeps wakes
        (void)walk.agree(true);
        return;
    }
    const std::vector<std::byte> theirs = walk.exchange({});
    const bool is_imported = engine.is_made() && !theirs.empty() && walk.call([&] {
        return doca_sync_event_create_from_export(dev, reinterpret_cast<const std::uint8_t *>(theirs.data()),
                                                  theirs.size(), event.out());
    }) && walk.call([&] {
        return doca_sync_event_task_wait_neq_set_conf(event, record_end<doca_sync_event_task_wait_neq>,
                                                      record_end<doca_sync_event_task_wait_neq>, 4);
    });
    if (!is_imported) {
        if (walk.agree(false))
            (void)walk.agree(false);
        (void)walk.agree(true);
        return;
    }
    Running running(walk, engine, doca_sync_event_as_ctx(event));
    End &end = new_end();
    doca_sync_event_task_wait_neq *task = nullptr;
    const bool is_waiting = running.is_started() && walk.call([&] {
        return doca_sync_event_task_wait_neq_alloc_init(event, 0, UINT64_MAX, {.ptr = &end}, &task);
    });
    bool is_submitted =
        is_waiting && walk.call([&] { return doca_task_submit(doca_sync_event_task_wait_neq_as_doca_task(task)); });
    if (is_waiting && !is_submitted) {
        const Inside inside;
        doca_task_free(doca_sync_event_task_wait_neq_as_doca_task(task));
    }
    const bool is_asleep = is_submitted && engine.arm();
    if (walk.agree(is_asleep)) {
        if (walk.agree(true))
            (void)walk.call([&] { return engine.wait_for(end, "the end of a wait", true); });
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
    const bool is_exported =
        walk.call([&] { return doca_sync_event_create(event.out()); }) &&
        walk.call([&] { return doca_sync_event_add_publisher_location_cpu(event, dev); }) &&
        walk.call([&] { return doca_sync_event_add_subscriber_location_remote_pci(event); }) &&
        (word == nullptr || walk.call([&] { return doca_sync_event_set_addr(event, word); })) &&
        (is_started = walk.call([&] { return doca_sync_event_start(event); })) &&
        walk.call([&] { return doca_sync_event_export_to_remote_pci(event, dev, &blob, &length); });
    (void)walk.exchange({reinterpret_cast<const std::byte *>(blob), is_exported ? length : 0});
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
    Engine engine(walk, Engine::Idle::sleeps);
    Owned<doca_sync_event> updater(walk, doca_sync_event_destroy), sleeper(walk, doca_sync_event_destroy);
    std::uint64_t before = 0;
    const bool is_started = import(updater) && walk.call([&] { return doca_sync_event_start(updater); });
    const AtEnd stop([&] {
        if (is_started)
            walk.undo([&] { return doca_sync_event_stop(updater); });
    });
    bool is_ready =
        engine.is_made() && is_started && walk.call([&] { return doca_sync_event_update_add(updater, 7, &before); }) &&
        import(sleeper) && walk.call([&] {
            return doca_sync_event_task_wait_neq_set_conf(sleeper, record_end<doca_sync_event_task_wait_neq>,
                                                          record_end<doca_sync_event_task_wait_neq>, 4);
        });
    if (!is_ready) {
        for (int i = 0; i < 4; ++i)
            (void)walk.agree(i != 0);
        return;
    }
    Running running(walk, engine, doca_sync_event_as_ctx(sleeper));
    End &end = new_end();
    doca_sync_event_task_wait_neq *task = nullptr;
    is_ready = running.is_started() && walk.call([&] {
        return doca_sync_event_task_wait_neq_alloc_init(sleeper, 7, UINT64_MAX, {.ptr = &end}, &task);
    });
    if (is_ready && !walk.call([&] { return doca_task_submit(doca_sync_event_task_wait_neq_as_doca_task(task)); })) {
        const Inside inside;
        doca_task_free(doca_sync_event_task_wait_neq_as_doca_task(task));
        is_ready = false;
    }
    (void)walk.agree(is_ready);
    const bool is_asleep = is_ready && engine.arm();
    (void)walk.agree(true);
    if (is_asleep)
        walk.require(walk.enter([&] { return engine.wait_for(end, "the end of a wait", true); }) != DOCA_SUCCESS,
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

} // namespace attack
