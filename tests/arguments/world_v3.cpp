// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The objects of DOCA 3.0: on soft_p0 and soft_pf0, with a connection of Comch and one of RDMA between contexts of this
// process, and a task of each type.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <sched.h>
#include <unistd.h>

#include <doca_aes_gcm.h>
#include <doca_argp.h>
#include <doca_buf.h>
#include <doca_buf_array.h>
#include <doca_buf_inventory.h>
#include <doca_buf_pool.h>
#include <doca_clock.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_erasure_coding.h>
#include <doca_graph.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_mmap_advise.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include "arguments.hpp"

namespace arguments {

namespace {

constexpr std::uint32_t all_rights = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
                                     DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC;
constexpr std::uint8_t num_tasks = 4;
constexpr std::size_t half = 65536;

alignas(4096) std::byte data[2 * half];
alignas(64) std::byte nothing[4096]; ///< for types of which no device here has an object
std::uint64_t word;
char program_name[] = "program";
char *program_arguments[16] = {program_name};

std::vector<doca_ctx *> contexts; ///< in the order of their start
std::vector<doca_task *> tasks;
doca_pe *engine, *data_engine;
doca_comch_connection *of_server;
std::uint32_t consumer_id;

void must(doca_error_t status, int line = __builtin_LINE())
{
    if (status != DOCA_SUCCESS) {
        std::fprintf(stderr, "%s:%d: %s\n", __FILE__, line, doca_error_get_name(status));
        _exit(1);
    }
}

template <typename T, typename... A, typename... B>
T *make(doca_error_t (*create)(A...), B... arguments)
{
    T *object = nullptr;
    must(create(arguments..., &object));
    return object;
}

template <typename Done>
void progress_until(Done done)
{
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!done()) {
        if ((doca_pe_progress(engine) | doca_pe_progress(data_engine)) == 0)
            sched_yield();
        if (std::chrono::steady_clock::now() > limit)
            must(DOCA_ERROR_TIME_OUT);
    }
}

void connect(doca_pe *pe, doca_ctx *ctx)
{
    must(doca_pe_connect_ctx(pe, ctx));
    contexts.push_back(ctx);
}

void start(doca_ctx *ctx)
{
    const doca_error_t status = doca_ctx_start(ctx);
    if (status != DOCA_ERROR_IN_PROGRESS)
        return must(status);
    progress_until([&] {
        doca_ctx_states state{};
        must(doca_ctx_get_state(ctx, &state));
        return state == DOCA_CTX_STATE_RUNNING;
    });
}

/// Asks for tasks of a type, with callbacks that do nothing.
template <typename Object, typename Callback, typename Count>
void configure(doca_error_t (*set_conf)(Object *, Callback, Callback, Count), Object *object)
{
    must(set_conf(object, &Stub<Callback>::run, &Stub<Callback>::run, num_tasks));
}

/// Of a type of tasks: allocates one and adds it, under its own type and as a task.
template <typename Task, typename... A, typename... B>
void add_task(World &world, const char *type, doca_task *(*as_task)(Task *), doca_error_t (*allocate)(A...),
              B... arguments)
{
    Task *const task = make<Task>(allocate, arguments...);
    world.add(type, task);
    tasks.push_back(as_task(task));
}

void client_came(doca_comch_event_connection_status_changed *, doca_comch_connection *connection, std::uint8_t is_done)
{
    if (is_done != 0)
        of_server = connection;
}

void consumer_came(doca_comch_event_consumer *, doca_comch_connection *, std::uint32_t id)
{
    consumer_id = id;
}

void no_consumer(doca_comch_event_consumer *, doca_comch_connection *, std::uint32_t) {}
void no_message(doca_comch_event_msg_recv *, std::uint8_t *, std::uint32_t, doca_comch_connection *) {}
void no_client(doca_comch_event_connection_status_changed *, doca_comch_connection *, std::uint8_t) {}

struct Devices {
    doca_dev *dev, *host;
    doca_dev_rep *rep, *other_rep;
};

Devices open_devices(World &world)
{
    Devices devices{};
    doca_devinfo **list = nullptr;
    std::uint32_t count = 0;
    must(doca_devinfo_create_list(&list, &count));
    for (std::uint32_t i = 0; i != count; ++i) {
        char name[64] = "";
        (void)doca_devinfo_get_ibdev_name(list[i], name, sizeof(name));
        if (std::string(name) == "soft_p0")
            must(doca_dev_open(list[i], &devices.dev));
        if (std::string(name) == "soft_pf0")
            must(doca_dev_open(list[i], &devices.host));
    }
    if (devices.dev == nullptr || devices.host == nullptr)
        must(DOCA_ERROR_NOT_FOUND);
    world.add("doca_devinfo", doca_dev_as_devinfo(devices.dev));
    world.add("doca_devinfo", doca_dev_as_devinfo(devices.host));
    world.add("doca_devinfo **", list);
    doca_devinfo_rep **reps = nullptr;
    must(doca_devinfo_rep_create_list(devices.dev, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &count));
    for (std::uint32_t i = 0; i != count; ++i) {
        std::uint8_t is_equal = 0;
        world.add("doca_devinfo_rep", reps[i]);
        (void)doca_devinfo_rep_is_equal_pci_addr(reps[i], "0b:00.0", &is_equal);
        must(doca_dev_rep_open(reps[i], is_equal != 0 ? &devices.rep : &devices.other_rep));
    }
    world.add("doca_devinfo_rep **", reps);
    world.add("doca_dev", devices.dev);
    world.add("doca_dev", devices.host);
    for (int i = 0; i != 2; ++i)
        world.add("doca_clock", make<doca_clock>(doca_clock_create, devices.dev));
    world.add("doca_dev_rep", devices.rep);
    world.add("doca_dev_rep", devices.other_rep);
    return devices;
}

void add_program(World &world)
{
    must(doca_argp_init("program", nullptr));
    for (int i = 0; i != 2; ++i) {
        world.add("doca_argp_param", make<doca_argp_param>(doca_argp_param_create));
        world.add("doca_argp_cmd", make<doca_argp_cmd>(doca_argp_cmd_create));
    }
    world.add("char **", program_arguments);
    world.add("FILE", std::fopen("/dev/null", "r+"));
    world.add("FILE *", std::fopen("/dev/null", "r+"));
    world.add("doca_log_backend", make<doca_log_backend>(doca_log_backend_create_with_fd, STDERR_FILENO));
    world.add("doca_log_backend", make<doca_log_backend>(doca_log_backend_create_with_fd_sdk, STDERR_FILENO));
    for (const char *type : {"doca_dpa", "doca_gpu", "doca_dpa_thread", "doca_dpa_completion", "doca_task_batch",
                             "doca_comch_msgq", "doca_comch_consumer_completion"})
        world.add(type, nothing);
}

doca_mmap *make_map(const Devices &devices, std::byte *at)
{
    auto *const map = make<doca_mmap>(doca_mmap_create);
    must(doca_mmap_add_dev(map, devices.dev));
    must(doca_mmap_add_dev(map, devices.host));
    must(doca_mmap_set_memrange(map, at, half));
    must(doca_mmap_set_permissions(map, all_rights));
    return map;
}

doca_rdma *make_rdma(World &world, const Devices &devices)
{
    auto *const rdma = make<doca_rdma>(doca_rdma_create, devices.dev);
    world.add("doca_rdma", rdma);
    connect(engine, doca_rdma_as_ctx(rdma));
    must(doca_rdma_set_permissions(rdma, all_rights));
    must(doca_rdma_set_connection_state_callbacks(
        rdma, &Stub<doca_rdma_connection_request_cb_t>::run, &Stub<doca_rdma_connection_established_cb_t>::run,
        &Stub<doca_rdma_connection_failure_cb_t>::run, &Stub<doca_rdma_connection_disconnection_cb_t>::run));
    configure(doca_rdma_task_receive_set_conf, rdma);
    configure(doca_rdma_task_send_set_conf, rdma);
    configure(doca_rdma_task_send_imm_set_conf, rdma);
    configure(doca_rdma_task_read_set_conf, rdma);
    configure(doca_rdma_task_write_set_conf, rdma);
    configure(doca_rdma_task_write_imm_set_conf, rdma);
    configure(doca_rdma_task_atomic_cmp_swp_set_conf, rdma);
    configure(doca_rdma_task_atomic_fetch_add_set_conf, rdma);
    configure(doca_rdma_task_remote_net_sync_event_get_set_conf, rdma);
    configure(doca_rdma_task_remote_net_sync_event_notify_set_set_conf, rdma);
    configure(doca_rdma_task_remote_net_sync_event_notify_add_set_conf, rdma);
    return rdma;
}

} // namespace

void build(World &world, State state)
{
    const bool is_started = state != State::idle;
    const Devices devices = open_devices(world);
    add_program(world);
    engine = make<doca_pe>(doca_pe_create);
    data_engine = make<doca_pe>(doca_pe_create);
    world.add("doca_pe", engine);
    world.add("doca_pe", data_engine);

    // Memory.
    doca_mmap *const map = make_map(devices, data);
    doca_mmap *const other_map = make_map(devices, data + half);
    doca_mmap *imported = nullptr;
    auto *const inventory = make<doca_buf_inventory>(doca_buf_inventory_create, std::size_t{64});
    must(doca_mmap_start(other_map));
    doca_buf *source = nullptr, *destination = nullptr, *remote = nullptr;
    if (is_started) {
        must(doca_mmap_start(map));
        must(doca_buf_inventory_start(inventory));
        const void *details = nullptr;
        std::size_t size = 0;
        must(doca_mmap_export_rdma(map, devices.dev, &details, &size));
        must(doca_mmap_create_from_export(nullptr, details, size, devices.dev, &imported));
        must(doca_buf_inventory_buf_get_by_data(inventory, map, data, 64, &source));
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, data + 8192, 4096, &destination));
        must(doca_buf_inventory_buf_get_by_args(inventory, imported, data + 16384, 4096, data + 16384, 8, &remote));
    }
    world.add("doca_mmap", map);
    world.add("doca_mmap", other_map);
    world.add("doca_mmap", imported);
    world.add("doca_buf_inventory", inventory);
    world.add("doca_buf_inventory", make<doca_buf_inventory>(doca_buf_inventory_create, std::size_t{4}));
    world.add("doca_buf", source);
    world.add("doca_buf", destination);
    world.add("doca_buf", remote);
    for (int i = 0; i != 2; ++i) {
        auto *const pool = make<doca_buf_pool>(doca_buf_pool_create, std::size_t{4}, std::size_t{1024}, other_map);
        if (is_started)
            must(doca_buf_pool_start(pool));
        world.add("doca_buf_pool", pool);
        world.add("doca_buf_arr", make<doca_buf_arr>(doca_buf_arr_create, std::size_t{4}));
    }

    // Contexts.
    auto *const dma = make<doca_dma>(doca_dma_create, devices.dev);
    connect(engine, doca_dma_as_ctx(dma));
    configure(doca_dma_task_memcpy_set_conf, dma);
    world.add("doca_dma", dma);
    world.add("doca_dma", make<doca_dma>(doca_dma_create, devices.dev));
    doca_rdma *const rdma = make_rdma(world, devices);
    doca_rdma *const peer = make_rdma(world, devices);
    for (const std::uint16_t port : {std::uint16_t{4242}, std::uint16_t{4243}})
        world.add("doca_rdma_addr",
                  make<doca_rdma_addr>(doca_rdma_addr_create, DOCA_RDMA_ADDR_TYPE_IPv4, "127.0.0.1", port));
    auto *const event = make<doca_sync_event>(doca_sync_event_create);
    must(doca_sync_event_add_publisher_location_remote_net(event));
    must(doca_sync_event_add_subscriber_location_cpu(event, devices.dev));
    connect(engine, doca_sync_event_as_ctx(event));
    configure(doca_sync_event_task_get_set_conf, event);
    configure(doca_sync_event_task_notify_set_set_conf, event);
    configure(doca_sync_event_task_notify_add_set_conf, event);
    configure(doca_sync_event_task_wait_eq_set_conf, event);
    configure(doca_sync_event_task_wait_neq_set_conf, event);
    world.add("doca_sync_event", event);
    auto *const other_event = make<doca_sync_event>(doca_sync_event_create);
    must(doca_sync_event_add_publisher_location_cpu(other_event, devices.dev));
    must(doca_sync_event_add_subscriber_location_cpu(other_event, devices.dev));
    world.add("doca_sync_event", other_event);
    auto *const sha = make<doca_sha>(doca_sha_create, devices.dev);
    connect(engine, doca_sha_as_ctx(sha));
    configure(doca_sha_task_hash_set_conf, sha);
    configure(doca_sha_task_partial_hash_set_conf, sha);
    world.add("doca_sha", sha);
    world.add("doca_sha", make<doca_sha>(doca_sha_create, devices.dev));
    auto *const compress = make<doca_compress>(doca_compress_create, devices.dev);
    connect(engine, doca_compress_as_ctx(compress));
    configure(doca_compress_task_compress_deflate_set_conf, compress);
    configure(doca_compress_task_decompress_deflate_set_conf, compress);
    configure(doca_compress_task_decompress_lz4_stream_set_conf, compress);
    configure(doca_compress_task_decompress_lz4_block_set_conf, compress);
    world.add("doca_compress", compress);
    world.add("doca_compress", make<doca_compress>(doca_compress_create, devices.dev));
    auto *const ec = make<doca_ec>(doca_ec_create, devices.dev);
    connect(engine, doca_ec_as_ctx(ec));
    configure(doca_ec_task_galois_mul_set_conf, ec);
    configure(doca_ec_task_create_set_conf, ec);
    configure(doca_ec_task_update_set_conf, ec);
    configure(doca_ec_task_recover_set_conf, ec);
    world.add("doca_ec", ec);
    world.add("doca_ec", make<doca_ec>(doca_ec_create, devices.dev));
    auto *const matrix = make<doca_ec_matrix>(doca_ec_matrix_create, ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1);
    world.add("doca_ec_matrix", matrix);
    world.add("doca_ec_matrix", make<doca_ec_matrix>(doca_ec_matrix_create, ec, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 2, 1));
    auto *const gcm = make<doca_aes_gcm>(doca_aes_gcm_create, devices.dev);
    connect(engine, doca_aes_gcm_as_ctx(gcm));
    configure(doca_aes_gcm_task_encrypt_set_conf, gcm);
    configure(doca_aes_gcm_task_decrypt_set_conf, gcm);
    static constexpr std::uint8_t raw_key[32] = {};
    auto *const key = make<doca_aes_gcm_key>(doca_aes_gcm_key_create, gcm, raw_key, DOCA_AES_GCM_KEY_128);
    world.add("doca_aes_gcm", gcm);
    world.add("doca_aes_gcm", make<doca_aes_gcm>(doca_aes_gcm_create, devices.dev));
    world.add("doca_aes_gcm_key", key);
    world.add("doca_aes_gcm_key", make<doca_aes_gcm_key>(doca_aes_gcm_key_create, gcm, raw_key, DOCA_AES_GCM_KEY_256));
    auto *const advise = make<doca_mmap_advise>(doca_mmap_advise_create, devices.dev);
    connect(engine, doca_mmap_advise_as_ctx(advise));
    configure(doca_mmap_advise_task_invalidate_cache_set_conf, advise);
    world.add("doca_mmap_advise", advise);

    const std::string name = "arguments-" + std::to_string(getpid());
    auto *const server = make<doca_comch_server>(doca_comch_server_create, devices.dev, devices.rep, name.c_str());
    connect(engine, doca_comch_server_as_ctx(server));
    configure(doca_comch_server_task_send_set_conf, server);
    must(doca_comch_server_event_msg_recv_register(server, no_message));
    must(doca_comch_server_event_connection_status_changed_register(server, client_came, no_client));
    must(doca_comch_server_event_consumer_register(server, consumer_came, no_consumer));
    world.add("doca_comch_server", server);
    world.add("doca_comch_server",
              make<doca_comch_server>(doca_comch_server_create, devices.dev, devices.rep, "arguments-other"));
    auto *const client = make<doca_comch_client>(doca_comch_client_create, devices.host, name.c_str());
    connect(engine, doca_comch_client_as_ctx(client));
    configure(doca_comch_client_task_send_set_conf, client);
    must(doca_comch_client_event_msg_recv_register(client, no_message));
    must(doca_comch_client_event_consumer_register(client, no_consumer, no_consumer));
    world.add("doca_comch_client", client);
    world.add("doca_comch_client", make<doca_comch_client>(doca_comch_client_create, devices.host, "arguments-other"));

    auto *const graph = make<doca_graph>(doca_graph_create, engine);
    auto *const node = make<doca_graph_node>(doca_graph_node_create_from_ctx, graph, doca_dma_as_ctx(dma));
    auto *const user_node =
        make<doca_graph_node>(doca_graph_node_create_from_user, graph, &Stub<doca_graph_user_node_cb_t>::run);
    must(doca_graph_add_dependency(graph, node, user_node));
    must(doca_graph_set_conf(graph, &Stub<doca_graph_completion_cb_t>::run, &Stub<doca_graph_completion_cb_t>::run, 2));
    world.add("doca_graph", graph);
    world.add("doca_graph", make<doca_graph>(doca_graph_create, engine));
    world.add("doca_graph_node", node);
    world.add("doca_graph_node", user_node);
    for (doca_ctx *ctx : contexts)
        world.add("doca_ctx", ctx);
    if (!is_started)
        return;

    for (doca_ctx *ctx : contexts)
        start(ctx);
    must(doca_sync_event_start(other_event));
    must(doca_graph_start(graph));
    for (int i = 0; i != 2; ++i)
        world.add("doca_graph_instance", make<doca_graph_instance>(doca_graph_instance_create, graph));

    // Connections.
    const void *details = nullptr, *peer_details = nullptr;
    std::size_t size = 0, peer_size = 0;
    doca_rdma_connection *connection = nullptr, *of_peer = nullptr;
    must(doca_rdma_export(rdma, &details, &size, &connection));
    must(doca_rdma_export(peer, &peer_details, &peer_size, &of_peer));
    must(doca_rdma_connect(rdma, peer_details, peer_size, connection));
    must(doca_rdma_connect(peer, details, size, of_peer));
    world.add("doca_rdma_connection", connection);
    world.add("doca_rdma_connection", of_peer);
    const std::uint8_t *blob = nullptr;
    must(doca_sync_event_export_to_remote_net(event, &blob, &size));
    doca_sync_event_remote_net *remote_event = nullptr;
    must(doca_sync_event_remote_net_create_from_export(devices.dev, blob, size, &remote_event));
    world.add("doca_sync_event_remote_net", remote_event);
    progress_until([] { return of_server != nullptr; });
    auto *const of_client = make<doca_comch_connection>(doca_comch_client_get_connection, client);
    world.add("doca_comch_connection", of_server);
    world.add("doca_comch_connection", of_client);
    auto *const consumer = make<doca_comch_consumer>(doca_comch_consumer_create, of_client, map);
    auto *const producer = make<doca_comch_producer>(doca_comch_producer_create, of_server);
    connect(data_engine, doca_comch_consumer_as_ctx(consumer));
    connect(data_engine, doca_comch_producer_as_ctx(producer));
    configure(doca_comch_consumer_task_post_recv_set_conf, consumer);
    configure(doca_comch_producer_task_send_set_conf, producer);
    start(doca_comch_consumer_as_ctx(consumer));
    start(doca_comch_producer_as_ctx(producer));
    progress_until([] { return consumer_id != 0; });
    world.add("doca_comch_consumer", consumer);
    world.add("doca_comch_consumer", make<doca_comch_consumer>(doca_comch_consumer_create, of_server, map));
    world.add("doca_comch_producer", producer);
    world.add("doca_comch_producer", make<doca_comch_producer>(doca_comch_producer_create, of_client));
    world.add("doca_ctx", doca_comch_consumer_as_ctx(consumer));
    world.add("doca_ctx", doca_comch_producer_as_ctx(producer));

    // Tasks.
    constexpr doca_data no_data{};
    auto *const bytes = reinterpret_cast<std::uint8_t *>(data);
    add_task(world, "doca_dma_task_memcpy", doca_dma_task_memcpy_as_task, doca_dma_task_memcpy_alloc_init, dma, source,
             destination, no_data);
#define ADD_RDMA(type, of, ...)                                                                                        \
    add_task(world, "doca_rdma_task_" #type, doca_rdma_task_##type##_as_task, doca_rdma_task_##type##_allocate_init,   \
             of __VA_OPT__(, ) __VA_ARGS__, no_data)
    ADD_RDMA(receive, peer, destination);
    ADD_RDMA(send, rdma, connection, source);
    ADD_RDMA(send_imm, rdma, connection, source, doca_be32_t{1});
    ADD_RDMA(read, rdma, connection, remote, destination);
    ADD_RDMA(write, rdma, connection, source, remote);
    ADD_RDMA(write_imm, rdma, connection, source, remote, doca_be32_t{1});
    ADD_RDMA(atomic_cmp_swp, rdma, connection, remote, source, std::uint64_t{1}, std::uint64_t{2});
    ADD_RDMA(atomic_fetch_add, rdma, connection, remote, source, std::uint64_t{1});
    ADD_RDMA(remote_net_sync_event_get, rdma, connection, remote_event, destination);
    ADD_RDMA(remote_net_sync_event_notify_set, rdma, connection, remote_event, source);
    ADD_RDMA(remote_net_sync_event_notify_add, rdma, connection, remote_event, destination, std::uint64_t{1});
#define ADD_EVENT(type, ...)                                                                                           \
    add_task(world, "doca_sync_event_task_" #type, doca_sync_event_task_##type##_as_doca_task,                         \
             doca_sync_event_task_##type##_alloc_init, event, __VA_ARGS__, no_data)
    ADD_EVENT(get, &word);
    ADD_EVENT(notify_set, std::uint64_t{1});
    ADD_EVENT(notify_add, std::uint64_t{1}, &word);
    ADD_EVENT(wait_eq, std::uint64_t{99}, UINT64_MAX);
    ADD_EVENT(wait_neq, std::uint64_t{0}, UINT64_MAX);
    add_task(world, "doca_sha_task_hash", doca_sha_task_hash_as_task, doca_sha_task_hash_alloc_init, sha,
             DOCA_SHA_ALGORITHM_SHA256, source, destination, no_data);
    add_task(world, "doca_sha_task_partial_hash", doca_sha_task_partial_hash_as_task,
             doca_sha_task_partial_hash_alloc_init, sha, DOCA_SHA_ALGORITHM_SHA256, source, destination, no_data);
    add_task(world, "doca_compress_task_compress_deflate", doca_compress_task_compress_deflate_as_task,
             doca_compress_task_compress_deflate_alloc_init, compress, source, destination, no_data);
    add_task(world, "doca_compress_task_decompress_deflate", doca_compress_task_decompress_deflate_as_task,
             doca_compress_task_decompress_deflate_alloc_init, compress, source, destination, no_data);
    add_task(world, "doca_compress_task_decompress_lz4_stream", doca_compress_task_decompress_lz4_stream_as_task,
             doca_compress_task_decompress_lz4_stream_alloc_init, compress, std::uint8_t{0}, std::uint8_t{1}, source,
             destination, no_data);
    add_task(world, "doca_compress_task_decompress_lz4_block", doca_compress_task_decompress_lz4_block_as_task,
             doca_compress_task_decompress_lz4_block_alloc_init, compress, source, destination, no_data);
#define ADD_CODING(type)                                                                                               \
    add_task(world, "doca_ec_task_" #type, doca_ec_task_##type##_as_task, doca_ec_task_##type##_allocate_init, ec,     \
             matrix, source, destination, no_data)
    ADD_CODING(galois_mul);
    ADD_CODING(create);
    ADD_CODING(update);
    ADD_CODING(recover);
    add_task(world, "doca_aes_gcm_task_encrypt", doca_aes_gcm_task_encrypt_as_task,
             doca_aes_gcm_task_encrypt_alloc_init, gcm, source, destination, key, bytes, 12U, 16U, 8U, no_data);
    add_task(world, "doca_aes_gcm_task_decrypt", doca_aes_gcm_task_decrypt_as_task,
             doca_aes_gcm_task_decrypt_alloc_init, gcm, source, destination, key, bytes, 12U, 16U, 8U, no_data);
    add_task(world, "doca_mmap_advise_task_invalidate_cache", doca_mmap_advise_task_invalidate_cache_as_doca_task,
             doca_mmap_advise_task_invalidate_cache_alloc_init, advise, source, no_data);
    add_task(world, "doca_comch_task_send", doca_comch_task_send_as_task, doca_comch_client_task_send_alloc_init,
             client, of_client, data, 10U);
    add_task(world, "doca_comch_consumer_task_post_recv", doca_comch_consumer_task_post_recv_as_task,
             doca_comch_consumer_task_post_recv_alloc_init, consumer, destination);
    add_task(world, "doca_comch_producer_task_send", doca_comch_producer_task_send_as_task,
             doca_comch_producer_task_send_alloc_init, producer, source, bytes, 8U, consumer_id);
    for (doca_task *task : tasks)
        world.add("doca_task", task);

    if (state == State::in_flight || state == State::stopping) {
        for (doca_task *task : tasks)
            must(doca_task_submit(task));
    }
    if (state == State::stopping || state == State::stopped) {
        for (auto ctx = contexts.rbegin(); ctx != contexts.rend(); ++ctx)
            (void)doca_ctx_stop(*ctx);
    }
    if (state == State::stopped) {
        for (doca_task *task : tasks)
            doca_task_free(task);
        // What has been destroyed must not be passed: freed tasks, and connections, which ended with their contexts.
        std::erase_if(world.objects,
                      [](const auto &of_type) { return of_type.first.find("_task") != std::string::npos; });
        world.objects.erase("doca_comch_connection");
        world.objects.erase("doca_rdma_connection");
        for (int i = 0; i != 100; ++i)
            (void)(doca_pe_progress(engine) | doca_pe_progress(data_engine));
    }
}

/// Programs may end with anything in any state. What was destroyed is left out by not destroying anything here.
void wind_down(World &)
{
    for (int i = 0; i != 50; ++i)
        (void)(doca_pe_progress(engine) | doca_pe_progress(data_engine));
}

} // namespace arguments
