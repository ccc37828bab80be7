// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The objects of DOCA 2.2: on soft_p0 and soft_pf0, with a service and a client of Comm Channel, two connected RDMA
// instances, and a job of DMA in flight.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>

#include <doca_argp.h>
#include <doca_buf.h>
#include <doca_buf_array.h>
#include <doca_buf_inventory.h>
#include <doca_bufpool.h>
#include <doca_comm_channel.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_erasure_coding.h>
#include <doca_graph.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_rdma.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include "arguments.hpp"

namespace arguments {

namespace {

constexpr std::uint32_t all_rights =
    DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;
constexpr std::size_t half = 65536;

alignas(4096) std::byte data[2 * half];
alignas(64) std::byte nothing[4096]; ///< for types of which no device here has an object
char program_name[] = "program";
char *program_arguments[16] = {program_name};
doca_workq *queue;
doca_dma_job_memcpy job, job_of_none;
doca_event event_of_queue;

void must(doca_error_t status, int line = __builtin_LINE())
{
    if (status != DOCA_SUCCESS) {
        std::fprintf(stderr, "%s:%d: %s\n", __FILE__, line, doca_get_error_name(status));
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

struct Devices {
    doca_dev *dev, *host;
    doca_dev_rep *rep, *other_rep;
};

Devices open_devices(World &world)
{
    Devices devices{};
    doca_devinfo **list = nullptr;
    std::uint32_t count = 0;
    must(doca_devinfo_list_create(&list, &count));
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
    must(doca_devinfo_rep_list_create(devices.dev, DOCA_DEV_REP_FILTER_ALL, &reps, &count));
    for (std::uint32_t i = 0; i != count; ++i) {
        std::uint8_t is_equal = 0;
        world.add("doca_devinfo_rep", reps[i]);
        (void)doca_devinfo_rep_get_is_pci_addr_equal(reps[i], "0b:00.0", &is_equal);
        must(doca_dev_rep_open(reps[i], is_equal != 0 ? &devices.rep : &devices.other_rep));
    }
    world.add("doca_devinfo_rep **", reps);
    world.add("doca_dev", devices.dev);
    world.add("doca_dev", devices.host);
    world.add("doca_dev_rep", devices.rep);
    world.add("doca_dev_rep", devices.other_rep);
    return devices;
}

void add_program(World &world)
{
    must(doca_argp_init("program", nullptr));
    world.add("doca_argp_param", make<doca_argp_param>(doca_argp_param_create));
    world.add("doca_argp_param", make<doca_argp_param>(doca_argp_param_create));
    world.add("char **", program_arguments);
    world.add("FILE *", std::fopen("/dev/null", "r+"));
    world.add("doca_logger_backend", make<doca_logger_backend>(doca_log_create_fd_backend, STDERR_FILENO));
    for (const char *type : {"doca_dpa", "doca_gpu"})
        world.add(type, nothing);
}

doca_mmap *make_map(const Devices &devices, std::byte *at)
{
    auto *const map = make<doca_mmap>(doca_mmap_create, static_cast<const doca_data *>(nullptr));
    must(doca_mmap_dev_add(map, devices.dev));
    must(doca_mmap_dev_add(map, devices.host));
    must(doca_mmap_set_memrange(map, at, half));
    must(doca_mmap_set_permissions(map, all_rights));
    return map;
}

doca_error_t no_node(void *, doca_event *)
{
    return DOCA_SUCCESS;
}

void connect_endpoints(World &world, const Devices &devices, doca_comm_channel_ep_t *service,
                       doca_comm_channel_ep_t *client)
{
    const std::string name = "arguments-" + std::to_string(getpid());
    must(doca_comm_channel_ep_set_device(service, devices.dev));
    must(doca_comm_channel_ep_set_device_rep(service, devices.rep));
    must(doca_comm_channel_ep_listen(service, name.c_str()));
    must(doca_comm_channel_ep_set_device(client, devices.host));
    doca_comm_channel_addr_t *to_service = nullptr;
    must(doca_comm_channel_ep_connect(client, name.c_str(), &to_service));
    doca_comm_channel_addr_t *to_client = nullptr;
    doca_error_t sent = DOCA_ERROR_AGAIN, received = DOCA_ERROR_AGAIN;
    while (received == DOCA_ERROR_AGAIN) {
        if (sent == DOCA_ERROR_AGAIN) // until the service has taken the client in, which it does when it receives
            sent = doca_comm_channel_ep_sendto(client, "hello", 5, DOCA_CC_MSG_FLAG_NONE, to_service);
        char text[8];
        std::size_t length = sizeof(text);
        received = doca_comm_channel_ep_recvfrom(service, text, &length, DOCA_CC_MSG_FLAG_NONE, &to_client);
    }
    must(sent);
    must(received);
    world.add("doca_comm_channel_addr_t", to_client);
    world.add("doca_comm_channel_addr_t", to_service);
}

} // namespace

void build(World &world, State state)
{
    const bool is_started = state != State::idle;
    const Devices devices = open_devices(world);
    add_program(world);
    queue = make<doca_workq>(doca_workq_create, 32U);
    world.add("doca_workq", queue);
    world.add("doca_workq", make<doca_workq>(doca_workq_create, 32U));

    doca_mmap *const map = make_map(devices, data);
    doca_mmap *const other_map = make_map(devices, data + half);
    must(doca_mmap_start(other_map));
    constexpr const doca_data *no_data = nullptr;
    constexpr std::uint32_t no_extensions = DOCA_BUF_EXTENSION_NONE;
    auto *const inventory =
        make<doca_buf_inventory>(doca_buf_inventory_create, no_data, std::size_t{64}, no_extensions);
    doca_buf *source = nullptr, *destination = nullptr;
    if (is_started) {
        must(doca_mmap_start(map));
        must(doca_buf_inventory_start(inventory));
        must(doca_buf_inventory_buf_by_data(inventory, map, data, 64, &source));
        must(doca_buf_inventory_buf_by_addr(inventory, map, data + 8192, 4096, &destination));
    }
    world.add("doca_mmap", map);
    world.add("doca_mmap", other_map);
    world.add("doca_buf_inventory", inventory);
    world.add("doca_buf_inventory",
              make<doca_buf_inventory>(doca_buf_inventory_create, no_data, std::size_t{4}, no_extensions));
    world.add("doca_buf", source);
    world.add("doca_buf", destination);
    for (int i = 0; i != 2; ++i) {
        doca_bufpool *pool = nullptr;
        must(doca_bufpool_create(no_data, 4, no_extensions, 1024, 1, other_map, &pool));
        if (is_started)
            must(doca_bufpool_start(pool));
        world.add("doca_bufpool", pool);
    }

    auto *const dma = make<doca_dma>(doca_dma_create);
    auto *const sha = make<doca_sha>(doca_sha_create);
    auto *const compress = make<doca_compress>(doca_compress_create);
    auto *const ec = make<doca_ec>(doca_ec_create);
    auto *const rdma = make<doca_rdma>(doca_rdma_create);
    auto *const peer = make<doca_rdma>(doca_rdma_create);
    auto *const event = make<doca_sync_event>(doca_sync_event_create);
    must(doca_sync_event_publisher_add_location_cpu(event, devices.dev));
    must(doca_sync_event_subscriber_add_location_cpu(event, devices.dev));
    world.add("doca_dma", dma);
    world.add("doca_dma", make<doca_dma>(doca_dma_create));
    world.add("doca_sha", sha);
    world.add("doca_sha", make<doca_sha>(doca_sha_create));
    world.add("doca_compress", compress);
    world.add("doca_compress", make<doca_compress>(doca_compress_create));
    world.add("doca_ec", ec);
    world.add("doca_ec", make<doca_ec>(doca_ec_create));
    for (int i = 0; i != 2; ++i) {
        world.add("doca_matrix", make<doca_matrix>(doca_ec_matrix_create, ec, DOCA_CODING_MATRIX_CAUCHY, std::size_t{3},
                                                   std::size_t{2}));
    }
    world.add("doca_rdma", rdma);
    world.add("doca_rdma", peer);
    world.add("doca_sync_event", event);
    auto *const event_in_queue = make<doca_sync_event>(doca_sync_event_create);
    must(doca_sync_event_publisher_add_location_cpu(event_in_queue, devices.dev));
    must(doca_sync_event_subscriber_add_location_cpu(event_in_queue, devices.dev));
    world.add("doca_sync_event", event_in_queue);
    const std::vector<doca_ctx *> contexts{doca_dma_as_ctx(dma), doca_sha_as_ctx(sha),   doca_compress_as_ctx(compress),
                                           doca_ec_as_ctx(ec),   doca_rdma_as_ctx(rdma), doca_rdma_as_ctx(peer)};
    for (doca_ctx *ctx : contexts) {
        must(doca_ctx_dev_add(ctx, devices.dev));
        world.add("doca_ctx", ctx);
    }
    world.add("doca_ctx", doca_sync_event_as_ctx(event_in_queue));
    must(doca_rdma_set_permissions(rdma, all_rights & ~std::uint32_t{DOCA_ACCESS_LOCAL_READ_WRITE}));
    must(doca_rdma_set_permissions(peer, all_rights & ~std::uint32_t{DOCA_ACCESS_LOCAL_READ_WRITE}));
    auto *const service = make<doca_comm_channel_ep_t>(doca_comm_channel_ep_create);
    auto *const client = make<doca_comm_channel_ep_t>(doca_comm_channel_ep_create);
    world.add("doca_comm_channel_ep_t", service);
    world.add("doca_comm_channel_ep_t", client);

    auto *const graph = make<doca_graph>(doca_graph_create);
    doca_graph_node *node = nullptr, *user_node = nullptr;
    must(doca_graph_ctx_node_create(graph, DOCA_DMA_JOB_MEMCPY, doca_dma_as_ctx(dma), &node));
    must(doca_graph_user_node_create(graph, no_node, &user_node));
    must(doca_graph_add_dependency(graph, node, user_node));
    world.add("doca_graph", graph);
    world.add("doca_graph", make<doca_graph>(doca_graph_create));
    world.add("doca_graph_node", node);
    world.add("doca_graph_node", user_node);
    job.base = {DOCA_DMA_JOB_MEMCPY, DOCA_JOB_FLAGS_NONE, doca_dma_as_ctx(dma), {}};
    job.dst_buff = destination;
    job.src_buff = source;
    world.add("doca_job", &job);
    world.add("doca_job", &job_of_none); // without a context
    world.add("doca_event", &event_of_queue);
    if (!is_started)
        return;

    must(doca_sync_event_start(event));
    for (doca_ctx *ctx : contexts) {
        must(doca_ctx_start(ctx));
        must(doca_ctx_workq_add(ctx, queue));
    }
    must(doca_graph_start(graph));
    must(doca_graph_workq_add(graph, queue));
    for (int i = 0; i != 2; ++i)
        world.add("doca_graph_instance", make<doca_graph_instance>(doca_graph_instance_create, graph));
    for (int i = 0; i != 2; ++i)
        world.add("doca_sha_partial_session",
                  make<doca_sha_partial_session>(doca_sha_partial_session_create, sha, queue));
    const void *details = nullptr, *peer_details = nullptr;
    std::size_t size = 0, peer_size = 0;
    must(doca_rdma_export(rdma, &details, &size));
    must(doca_rdma_export(peer, &peer_details, &peer_size));
    must(doca_rdma_connect(rdma, peer_details, peer_size));
    must(doca_rdma_connect(peer, details, size));
    connect_endpoints(world, devices, service, client);
    if (state == State::in_flight || state == State::stopping)
        must(doca_workq_submit(queue, &job.base));
    if (state == State::stopping || state == State::stopped) {
        for (doca_ctx *ctx : contexts) {
            if (state == State::stopped)
                (void)doca_ctx_workq_rm(ctx, queue);
            (void)doca_ctx_stop(ctx);
        }
    }
}

void wind_down(World &)
{
    for (int i = 0; i != 50; ++i) {
        doca_event ended{};
        (void)doca_workq_progress_retrieve(queue, &ended, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
    }
}

} // namespace arguments
