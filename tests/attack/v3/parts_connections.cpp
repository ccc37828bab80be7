// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Connections between the two processes: RDMA, and Comch with its fast path.
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_rdma.h>

#include "parts.hpp"

namespace attack {

namespace {

constexpr std::uint32_t num_tasks = 8;

/// Submits a task whose end is waited for later. Null tasks have been refused.
template <typename Task>
bool submit(Walk &walk, Task *task)
{
    if (task == nullptr)
        return false;
    auto *const base = reinterpret_cast<doca_task *>(task);
    if (walk.call([&] { return doca_task_submit(base); }))
        return true;
    const Inside inside;
    doca_task_free(base);
    return false;
}

doca_error_t is_running(const Running &running)
{
    return running.state() == DOCA_CTX_STATE_RUNNING ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED;
}

/// What the callbacks of a server or a client have told.
struct Side {
    doca_comch_connection *connection = nullptr;
    std::uint32_t num_messages = 0;
    std::uint32_t consumer = 0;
};

Side side; // of this process

void received(doca_comch_event_msg_recv *, std::uint8_t *, std::uint32_t, doca_comch_connection *)
{
    ++side.num_messages;
}
void connected(doca_comch_event_connection_status_changed *, doca_comch_connection *connection, std::uint8_t is_done)
{
    if (is_done != 0)
        side.connection = connection;
}
void disconnected(doca_comch_event_connection_status_changed *, doca_comch_connection *connection, std::uint8_t)
{
    if (side.connection == connection)
        side.connection = nullptr;
}
void consumer_came(doca_comch_event_consumer *, doca_comch_connection *, std::uint32_t id)
{
    side.consumer = id;
}
void consumer_went(doca_comch_event_consumer *, doca_comch_connection *, std::uint32_t)
{
    side.consumer = 0;
}

/// What one side of Comch does can wait for the progress of the other.
bool agree_meanwhile(Walk &walk, Engine &engine, bool mine)
{
    return walk.agree(mine, [&] { engine.progress(); });
}

/// Each sends a message and gets one.
bool exchange_messages(Walk &walk, Engine &engine, doca_comch_server *server, doca_comch_client *client)
{
    End &end = new_end();
    static const char text[] = "hello";
    doca_comch_task_send *task = nullptr;
    const bool is_made = side.connection != nullptr && walk.call([&] {
        return server != nullptr
                   ? doca_comch_server_task_send_alloc_init(server, side.connection, text, sizeof(text), &task)
                   : doca_comch_client_task_send_alloc_init(client, side.connection, text, sizeof(text), &task);
    });
    if (is_made)
        doca_task_set_user_data(doca_comch_task_send_as_task(task), {.ptr = &end});
    const bool is_sent =
        is_made && submit(walk, task) && walk.call([&] { return engine.wait_for(end, "the end of a send"); });
    if (!agree_meanwhile(walk, engine, is_sent))
        return false;
    return agree_meanwhile(walk, engine, engine.run_until([&] { return side.num_messages != 0; }, "a message"));
}

/// The server's consumer gets what the client's producer sends.
void use_fast_path(Walk &walk, Engine &engine, doca_dev *dev)
{
    std::vector<std::byte> memory(8192, std::byte{4});
    Map map(walk, dev, memory, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    Inventory inventory(walk, 2);
    Owned<doca_comch_consumer> consumer(walk, doca_comch_consumer_destroy);
    Owned<doca_comch_producer> producer(walk, doca_comch_producer_destroy);
    std::optional<Running> running;
    End &end = new_end();
    bool is_ready = map.is_made() && inventory.is_made() && side.connection != nullptr;
    if (is_ready && !walk.is_host()) {
        is_ready = walk.call([&] { return doca_comch_consumer_create(side.connection, map, consumer.out()); }) &&
                   walk.call([&] {
                       return doca_comch_consumer_task_post_recv_set_conf(
                           consumer, record_end<doca_comch_consumer_task_post_recv>,
                           record_end<doca_comch_consumer_task_post_recv>, num_tasks);
                   });
        doca_comch_consumer_task_post_recv *task = nullptr;
        if (is_ready) {
            running.emplace(walk, engine, doca_comch_consumer_as_ctx(consumer));
            is_ready = running->is_started() &&
                       engine.run_until([&] { return running->state() != DOCA_CTX_STATE_STARTING; }, "a consumer") &&
                       walk.call([&] { return is_running(*running); });
        }
        doca_buf *const buf = is_ready ? inventory.make(map, memory.data(), 4096, false) : nullptr;
        is_ready = buf != nullptr &&
                   walk.call([&] { return doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &task); });
        if (is_ready) {
            doca_task_set_user_data(doca_comch_consumer_task_post_recv_as_task(task), {.ptr = &end});
            is_ready = submit(walk, task);
        }
    } else if (is_ready) {
        is_ready =
            walk.call([&] { return doca_comch_producer_create(side.connection, producer.out()); }) && walk.call([&] {
                return doca_comch_producer_task_send_set_conf(producer, record_end<doca_comch_producer_task_send>,
                                                              record_end<doca_comch_producer_task_send>, num_tasks);
            });
        if (is_ready) {
            running.emplace(walk, engine, doca_comch_producer_as_ctx(producer));
            is_ready = running->is_started();
        }
    }
    if (agree_meanwhile(walk, engine, is_ready)) {
        bool is_sent = true;
        if (walk.is_host()) {
            (void)engine.run_until([&] { return side.consumer != 0; }, "the news of a consumer");
            doca_buf *const buf = inventory.make(map, memory.data(), 4000, true);
            doca_comch_producer_task_send *task = nullptr;
            is_sent = buf != nullptr && side.consumer != 0 && walk.call([&] {
                return doca_comch_producer_task_send_alloc_init(producer, buf, nullptr, 0, side.consumer, &task);
            });
            if (is_sent) {
                doca_task_set_user_data(doca_comch_producer_task_send_as_task(task), {.ptr = &end});
                is_sent = submit(walk, task);
            }
        }
        if (is_sent)
            (void)walk.call([&] { return engine.wait_for(end, "the end of what a producer sends"); });
        (void)agree_meanwhile(walk, engine, true);
    }
}

/// What a side of a connection by address has been told.
struct Meeting {
    doca_rdma_connection *connection = nullptr; ///< once it is established
    bool has_failed = false;
    bool has_ended = false;
};
Meeting meeting;

void asked(doca_rdma_connection *connection, doca_data)
{
    if (doca_rdma_connection_accept(connection, nullptr, 0) != DOCA_SUCCESS)
        meeting.has_failed = true;
}
void established(doca_rdma_connection *connection, doca_data, doca_data)
{
    meeting.connection = connection;
}
void not_established(doca_rdma_connection *, doca_data, doca_data)
{
    meeting.has_failed = true;
}
void ended(doca_rdma_connection *, doca_data, doca_data)
{
    meeting.has_ended = true;
}

} // namespace

void walk_through_rdma(Walk &walk, doca_dev *dev, bool is_event_driven)
{
    constexpr std::uint32_t access = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
                                     DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC;
    std::vector<std::byte> memory(32768);
    Map map(walk, dev, memory, access);
    Owned<doca_mmap> imported(walk, doca_mmap_destroy);
    Inventory inventory(walk, 16);
    Engine engine(walk, is_event_driven ? Engine::Idle::sleeps : Engine::Idle::polls);
    Owned<doca_rdma> rdma(walk, doca_rdma_destroy);
    const bool is_created = map.is_made() && inventory.is_made() && engine.is_made() && walk.call([&] {
        return doca_rdma_create(dev, rdma.out());
    }) && walk.call([&] {
        return doca_rdma_set_permissions(rdma, access);
    }) && walk.call([&] {
        return doca_rdma_set_connection_state_callbacks(rdma, asked, established, not_established, ended);
    }) && walk.call([&] {
        return doca_rdma_task_receive_set_conf(rdma, record_end<doca_rdma_task_receive>,
                                               record_end<doca_rdma_task_receive>, num_tasks);
    }) && walk.call([&] {
        return doca_rdma_task_send_set_conf(rdma, record_end<doca_rdma_task_send>, record_end<doca_rdma_task_send>,
                                            num_tasks);
    }) && walk.call([&] {
        return doca_rdma_task_write_set_conf(rdma, record_end<doca_rdma_task_write>, record_end<doca_rdma_task_write>,
                                             num_tasks);
    }) && walk.call([&] {
        return doca_rdma_task_read_set_conf(rdma, record_end<doca_rdma_task_read>, record_end<doca_rdma_task_read>,
                                            num_tasks);
    });
    if (!walk.agree(is_created))
        return;
    meeting = {};
    std::optional<Running> used(std::in_place, walk, engine, doca_rdma_as_ctx(rdma));
    const void *details = nullptr, *descriptor = nullptr;
    std::size_t details_size = 0, descriptor_size = 0;
    doca_rdma_connection *connection = nullptr;
    const bool is_exported = used->is_started() &&
                             walk.call([&] { return doca_rdma_export(rdma, &details, &details_size, &connection); }) &&
                             walk.call([&] { return doca_mmap_export_rdma(map, dev, &descriptor, &descriptor_size); });
    const std::vector<std::byte> theirs =
        walk.exchange({static_cast<const std::byte *>(details), is_exported ? details_size : 0});
    const std::vector<std::byte> their_map =
        walk.exchange({static_cast<const std::byte *>(descriptor), is_exported ? descriptor_size : 0});
    void *start = nullptr;
    std::size_t length = 0;
    const bool is_connected = is_exported && !theirs.empty() && !their_map.empty() && walk.call([&] {
        return doca_rdma_connect(rdma, theirs.data(), theirs.size(), connection);
    }) && walk.call([&] {
        return doca_mmap_create_from_export(nullptr, their_map.data(), their_map.size(), dev, imported.out());
    }) && walk.call([&] { return doca_mmap_get_memrange(imported, &start, &length); });
    auto *const there = static_cast<std::byte *>(start);

    // A short receive, a medium one and a long one on each side.
    static constexpr std::size_t lengths[] = {32, 4000, 16000};
    End *ends[8] = {};
    std::size_t num_ends = 0;
    const auto begin = [&](auto alloc) {
        End &end = new_end();
        if (alloc(end))
            ends[num_ends++] = &end;
    };
    for (const std::size_t bytes : lengths) {
        begin([&](End &end) {
            doca_buf *const buf = is_connected ? inventory.make(map, memory.data(), bytes, false) : nullptr;
            doca_rdma_task_receive *task = nullptr;
            return buf != nullptr &&
                   walk.call([&] { return doca_rdma_task_receive_allocate_init(rdma, buf, {.ptr = &end}, &task); }) &&
                   submit(walk, task);
        });
    }
    if (!walk.agree(num_ends == std::size(lengths)))
        return; // what is posted is flushed
    for (const std::size_t bytes : lengths) {
        begin([&](End &end) {
            doca_buf *const buf = inventory.make(map, memory.data() + 16384, bytes, true);
            doca_rdma_task_send *task = nullptr;
            return buf != nullptr && walk.call([&] {
                return doca_rdma_task_send_allocate_init(rdma, connection, buf, {.ptr = &end}, &task);
            }) && submit(walk, task);
        });
    }
    begin([&](End &end) {
        doca_buf *const near = inventory.make(map, memory.data() + 20000, 8192, true);
        doca_buf *const far = inventory.make(imported, there + 20000, 8192, false);
        doca_rdma_task_write *task = nullptr;
        return near != nullptr && far != nullptr && walk.call([&] {
            return doca_rdma_task_write_allocate_init(rdma, connection, near, far, {.ptr = &end}, &task);
        }) && submit(walk, task);
    });
    begin([&](End &end) {
        doca_buf *const near = inventory.make(map, memory.data() + 30000, 64, false);
        doca_buf *const far = inventory.make(imported, there + 30000, 64, true);
        doca_rdma_task_read *task = nullptr;
        return near != nullptr && far != nullptr && walk.call([&] {
            return doca_rdma_task_read_allocate_init(rdma, connection, far, near, {.ptr = &end}, &task);
        }) && submit(walk, task);
    });
    bool is_good = walk.agree(num_ends == std::size(ends));
    for (std::size_t i = 0; is_good && i < num_ends; ++i)
        is_good = walk.call([&] { return engine.wait_for(*ends[i], "the end of a task"); });
    if (!walk.agree(is_good))
        return; // the connection is not taken down before
    // One leaves, and the other one is told.
    const bool leaves = walk.is_host() != is_event_driven;
    const bool is_asleep = !leaves && is_event_driven && engine.arm();
    (void)walk.agree(true);
    if (leaves)
        used.reset();
    else
        (void)engine.run_until([] { return meeting.has_ended; }, "the end of a connection", is_asleep);
    (void)walk.agree(true);
}

/// The DPU listens, the host asks, and disconnects.
void walk_through_addresses(Walk &walk, doca_dev *dev)
{
    meeting = {};
    Engine engine(walk);
    Owned<doca_rdma> rdma(walk, doca_rdma_destroy);
    Owned<doca_rdma_addr> address(walk, doca_rdma_addr_destroy);
    if (!walk.agree(engine.is_made() && walk.call([&] { return doca_rdma_create(dev, rdma.out()); }) && walk.call([&] {
            return doca_rdma_set_connection_state_callbacks(rdma, asked, established, not_established, ended);
        })))
        return;
    const Running running(walk, engine, doca_rdma_as_ctx(rdma));
    std::uint16_t port = 0;
    if (running.is_started() && !walk.is_host()) {
        // Somebody else may have one.
        const auto first = static_cast<std::uint16_t>(31'000 + getppid() % 900);
        for (std::uint16_t each = first; port == 0 && each != first + 50; ++each) {
            if (walk.enter([&] { return doca_rdma_start_listen_to_port(rdma, each); }) == DOCA_SUCCESS)
                port = each;
        }
        (void)walk.call([&] { return port != 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE; });
    }
    const std::vector<std::byte> theirs =
        walk.exchange(std::as_bytes(std::span(&port, port != 0 || walk.is_host() ? 1 : 0)));
    bool is_asking = running.is_started() && !theirs.empty();
    if (is_asking && walk.is_host()) {
        std::memcpy(&port, theirs.data(), sizeof(port));
        const auto ask = [&] { return walk.call([&] { return doca_rdma_connect_to_addr(rdma, address, {}); }); };
        is_asking = walk.call(
            [&] { return doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "127.0.0.1", port, address.out()); });
        if (is_asking && !ask()) {
            // What has failed leaves nothing behind, and nothing that a deadline could come for.
            is_asking = walk.may_fail() && ask();
            const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(3);
            while (std::chrono::steady_clock::now() < end)
                (void)engine.progress();
        }
    }
    if (!walk.agree(is_asking))
        return;
    if (engine.run_until([] { return meeting.connection != nullptr || meeting.has_failed; }, "a connection"))
        (void)walk.call([] { return meeting.has_failed ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_SUCCESS; });
    if (agree_meanwhile(walk, engine, meeting.connection != nullptr)) {
        if (walk.is_host())
            (void)walk.call([&] { return doca_rdma_connection_disconnect(meeting.connection); });
        else
            (void)engine.run_until([] { return meeting.has_ended; }, "the end of a connection");
    }
    (void)agree_meanwhile(walk, engine, true);
}

void walk_through_comch(Walk &walk, doca_dev *dev)
{
    const std::string name = "walk " + std::to_string(getppid());
    side = {};
    Owned<doca_dev_rep> rep(walk, doca_dev_rep_close);
    Engine engine(walk);
    Owned<doca_comch_server> server(walk, doca_comch_server_destroy);
    Owned<doca_comch_client> client(walk, doca_comch_client_destroy);
    std::optional<Running> running;
    const auto sent = record_end<doca_comch_task_send>;
    bool is_ready = engine.is_made();
    if (is_ready && !walk.is_host()) {
        doca_devinfo_rep **reps = nullptr;
        std::uint32_t num_reps = 0;
        is_ready =
            walk.call([&] { return doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &num_reps); });
        if (is_ready) {
            is_ready = walk.call([&] { return doca_dev_rep_open(reps[0], rep.out()); }); // pf0
            walk.undo([&] { return doca_devinfo_rep_destroy_list(reps); });
        }
        is_ready =
            is_ready && walk.call([&] { return doca_comch_server_create(dev, rep, name.c_str(), server.out()); }) &&
            walk.call([&] { return doca_comch_server_event_msg_recv_register(server, received); }) && walk.call([&] {
                return doca_comch_server_event_connection_status_changed_register(server, connected, disconnected);
            }) &&
            walk.call(
                [&] { return doca_comch_server_event_consumer_register(server, consumer_came, consumer_went); }) &&
            walk.call([&] { return doca_comch_server_task_send_set_conf(server, sent, sent, num_tasks); });
        if (is_ready)
            running.emplace(walk, engine, doca_comch_server_as_ctx(server));
        is_ready = is_ready && running->is_started();
    }
    if (!walk.agree(is_ready))
        return;
    if (walk.is_host()) {
        is_ready = walk.call([&] { return doca_comch_client_create(dev, name.c_str(), client.out()); }) &&
                   walk.call([&] { return doca_comch_client_event_msg_recv_register(client, received); }) &&
                   walk.call([&] {
                       return doca_comch_client_event_consumer_register(client, consumer_came, consumer_went);
                   }) &&
                   walk.call([&] { return doca_comch_client_task_send_set_conf(client, sent, sent, num_tasks); });
        if (is_ready)
            running.emplace(walk, engine, doca_comch_client_as_ctx(client));
        is_ready = is_ready && running->is_started() &&
                   engine.run_until([&] { return running->state() != DOCA_CTX_STATE_STARTING; }, "a client") &&
                   walk.call([&] { return is_running(*running); }) &&
                   walk.call([&] { return doca_comch_client_get_connection(client, &side.connection); });
    } else {
        is_ready = engine.run_until([&] { return side.connection != nullptr; }, "a client at the server");
    }
    if (!agree_meanwhile(walk, engine, is_ready) || !exchange_messages(walk, engine, server, client))
        return;
    use_fast_path(walk, engine, dev);
    (void)agree_meanwhile(walk, engine, true);
}

} // namespace attack
