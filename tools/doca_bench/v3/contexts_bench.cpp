// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench contexts: the cost of polling, arming and tasks with one context or connection on a progress engine and
// with many, measured in turns in one run; and what one more costs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doca_version.h>

#include "../benchmark.hpp"
#include "../card_functions.hpp"
#include "../doca_memory.hpp"
#include "../machine.hpp"
#include "../process_footprint.hpp"
#include "../rdma_session.hpp"
#include "../scaling_report.hpp"
#include "task_engine.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t max_contexts = 100000;
/// No less than a Comch client and its server's end of the connection take. As many clients are measured as the limit
/// of descriptors allows.
constexpr std::size_t descriptors_of_client = 5;
constexpr std::size_t task_size = 8; ///< bytes of a copy or a WRITE

template <typename Task>
void ended(Task *, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::ended(task_data, ctx_data);
}
template <typename Task, auto as_task>
void failed(Task *task, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::failed(as_task(task), task_data, ctx_data);
}

/// Contexts or connections of one kind on one progress engine, and a task on one of them. Owned by the benchmark's
/// function and used by its only thread. A derived class stops the contexts in its destructor.
class Group {
public:
    Group(const Group &) = delete;
    Group &operator=(const Group &) = delete;
    virtual ~Group() = default;

    /// Adds members until there are @p count, and records the time that each takes.
    void grow(std::size_t count)
    {
        while (setup_.count() < count) {
            const double start = seconds_now();
            add();
            setup_.record(seconds_now() - start);
        }
    }
    [[nodiscard]] const SetupTimes &setup() const noexcept { return setup_; }

    void poll_nothing(std::size_t times)
    {
        for (std::size_t i = 0; i != times; ++i)
            (void)doca_pe_progress(engine_.pe());
    }
    void arm_and_clear(std::size_t times)
    {
        for (std::size_t i = 0; i != times; ++i) {
            must(doca_pe_request_notification(engine_.pe()), "asking for an event");
            must(doca_pe_clear_notification(engine_.pe(), 0), "clearing");
        }
        poll_nothing(1);
    }
    /// Submits the task and waits for its completion. Only if has_task().
    void run_task(std::size_t times)
    {
        for (std::size_t i = 0; i != times; ++i) {
            must(doca_buf_reset_data_len(destination_), "resetting a destination");
            must(doca_task_submit(tasks_.front()), "submitting a task");
            (void)engine_.retrieve([] {});
        }
    }
    [[nodiscard]] bool has_task() const noexcept { return !tasks_.empty(); }

protected:
    /// With @p is_remote, the destination is memory that was exported for RDMA and imported.
    Group(doca_dev *dev, std::uint32_t rights, bool is_remote)
        : source_map_(start_map(dev, memory_.bytes().first(task_size), rights)),
          destination_map_(start_map(dev, memory_.bytes().subspan(task_size), rights)),
          inventory_(start_inventory(2))
    {
        std::byte *const bytes = memory_.addr();
        must(api::take_buf(inventory_.get(), source_map_.get(), bytes, task_size, task_size, &source_), "a buffer");
        if (is_remote)
            import_destination(dev);
        doca_mmap *const destination = is_remote ? imported_map_.get() : destination_map_.get();
        must(api::take_buf(inventory_.get(), destination, bytes + task_size, task_size, 0, &destination_), "a buffer");
    }
    void stop()
    {
        const api::QuietLog quiet; // peers that end are logged
        engine_.stop(tasks_);
        others_.stop(no_tasks_);
        for (doca_buf *const buf : {source_, destination_})
            (void)api::drop_buf(buf, nullptr);
    }

    /// Adds one member.
    virtual void add() = 0;

    TaskEngine engine_;              ///< the one that is measured
    TaskEngine others_;              ///< of their peers
    std::vector<doca_task *> tasks_; ///< one at most
    std::vector<doca_task *> no_tasks_;
    doca_buf *source_ = nullptr;
    doca_buf *destination_ = nullptr;

private:
    void import_destination(doca_dev *dev)
    {
        const void *bytes = nullptr;
        std::size_t size = 0;
        must(doca_mmap_export_rdma(destination_map_.get(), dev, &bytes, &size), "exporting memory");
        doca_mmap *map = nullptr;
        must(doca_mmap_create_from_export(nullptr, bytes, size, dev, &map), "importing memory");
        imported_map_.reset(map);
    }

    OwnMemory memory_{MemoryKind::ordinary, 2 * task_size};
    MmapHandle source_map_;
    MmapHandle destination_map_;
    MmapHandle imported_map_; ///< null unless the destination is remote
    InventoryHandle inventory_;
    SetupTimes setup_;
};

/// DMA contexts; a copy on the first.
class DmaContexts final : public Group {
public:
    explicit DmaContexts(doca_dev *dev) : Group(dev, api::local_rights, false), dev_(dev) {}
    ~DmaContexts() override { stop(); }

private:
    void add() override
    {
        doca_dma *dma = nullptr;
        must(doca_dma_create(dev_, &dma), "creating a DMA context");
        contexts_.emplace_back(dma);
        must(doca_dma_task_memcpy_set_conf(dma, ended<doca_dma_task_memcpy>,
                                           failed<doca_dma_task_memcpy, doca_dma_task_memcpy_as_task>, 1),
             "configuring tasks");
        engine_.start(doca_dma_as_ctx(dma), 1);
        if (!tasks_.empty())
            return;
        doca_dma_task_memcpy *task = nullptr;
        must(doca_dma_task_memcpy_alloc_init(dma, source_, destination_, doca_data{}, &task), "allocating a task");
        tasks_.push_back(doca_dma_task_memcpy_as_task(task));
    }

    doca_dev *dev_;
    std::vector<Handle<doca_dma, doca_dma_destroy>> contexts_;
};

/// RDMA connections of contexts with @p connections_each, connected to as many of the other engine; a WRITE on the
/// first.
class RdmaConnections final : public Group {
public:
    RdmaConnections(doca_dev *dev, std::size_t connections_each)
        : Group(dev, api::rdma_rights | api::local_rights, true),
          dev_(dev),
          connections_each_(connections_each)
    {
    }
    ~RdmaConnections() override { stop(); }

private:
    using Instance = Handle<doca_rdma, doca_rdma_destroy>;

    void add() override
    {
        if (num_connections_++ % connections_each_ == 0) {
            lefts_.push_back(make(engine_));
            rights_.push_back(make(others_));
        }
        doca_rdma_connection *left = nullptr, *right = nullptr;
        const std::vector<std::byte> left_details = export_one(lefts_.back().get(), left);
        const std::vector<std::byte> right_details = export_one(rights_.back().get(), right);
        connect(lefts_.back().get(), left, right_details, engine_);
        connect(rights_.back().get(), right, left_details, others_);
        if (!tasks_.empty())
            return;
        doca_rdma_task_write *task = nullptr;
        must(doca_rdma_task_write_allocate_init(lefts_.back().get(), left, source_, destination_, doca_data{}, &task),
             "allocating a task");
        tasks_.push_back(doca_rdma_task_write_as_task(task));
    }

    [[nodiscard]] Instance make(TaskEngine &engine)
    {
        doca_rdma *rdma = nullptr;
        must(doca_rdma_create(dev_, &rdma), "creating an RDMA instance");
        Instance made(rdma);
        must(doca_rdma_set_permissions(rdma, api::rdma_rights), "setting permissions");
        must(doca_rdma_set_send_queue_size(rdma, 16), "setting the send queue's size");
        must(doca_rdma_set_max_num_connections(rdma, static_cast<std::uint16_t>(connections_each_)),
             "setting the number of connections");
        must(doca_rdma_task_write_set_conf(rdma, ended<doca_rdma_task_write>,
                                           failed<doca_rdma_task_write, doca_rdma_task_write_as_task>, 1),
             "configuring tasks");
        engine.start(doca_rdma_as_ctx(rdma), 1);
        return made;
    }
    [[nodiscard]] static std::vector<std::byte> export_one(doca_rdma *rdma, doca_rdma_connection *&connection)
    {
        const void *bytes = nullptr;
        std::size_t size = 0;
        must(doca_rdma_export(rdma, &bytes, &size, &connection), "exporting a connection");
        const auto *const first = static_cast<const std::byte *>(bytes);
        return {first, first + size};
    }
    static void connect(doca_rdma *rdma, doca_rdma_connection *connection, std::span<const std::byte> details,
                        TaskEngine &engine)
    {
        must(doca_rdma_connect(rdma, details.data(), details.size(), connection), "connecting");
        while (doca_pe_progress(engine.pe()) != 0) {
        }
    }

    doca_dev *dev_;
    const std::size_t connections_each_;
    std::size_t num_connections_ = 0;
    std::vector<Instance> lefts_;
    std::vector<Instance> rights_;
};

void ignore_message(doca_comch_event_msg_recv *, std::uint8_t *, std::uint32_t, doca_comch_connection *) {}
void ignore_change(doca_comch_event_connection_status_changed *, doca_comch_connection *, std::uint8_t) {}

/// Comch clients of servers that are on the other engine. They have no task.
class ComchClients final : public Group {
public:
    explicit ComchClients(const CardFunctions &functions)
        : Group(functions.host.get(), api::local_rights, false),
          dpu_(functions.dpu.get()),
          host_(functions.host.get()),
          representor_(open_representor(dpu_, functions.host_pci))
    {
    }
    ~ComchClients() override { stop(); }

private:
    static constexpr std::size_t clients_each = 256; ///< less than the limit of a server

    void add() override
    {
        if (clients_.size() % clients_each == 0)
            add_server();
        doca_comch_client *client = nullptr;
        must(doca_comch_client_create(host_, name_.c_str(), &client), "creating a client");
        clients_.emplace_back(client);
        must(doca_comch_client_task_send_set_conf(client, ended<doca_comch_task_send>,
                                                  failed<doca_comch_task_send, doca_comch_task_send_as_task>, 1),
             "configuring sends");
        must(doca_comch_client_event_msg_recv_register(client, ignore_message), "registering for messages");
        engine_.start(doca_comch_client_as_ctx(client), 1, [&] { (void)doca_pe_progress(others_.pe()); });
    }
    void add_server()
    {
        name_ = "contexts " + std::to_string(servers_.size()) + " of " +
                std::to_string(reinterpret_cast<std::uintptr_t>(this));
        doca_comch_server *server = nullptr;
        must(doca_comch_server_create(dpu_, representor_.get(), name_.c_str(), &server), "creating a server");
        servers_.emplace_back(server);
        must(doca_comch_server_task_send_set_conf(server, ended<doca_comch_task_send>,
                                                  failed<doca_comch_task_send, doca_comch_task_send_as_task>, 1),
             "configuring sends");
        must(doca_comch_server_event_msg_recv_register(server, ignore_message), "registering for messages");
        must(doca_comch_server_event_connection_status_changed_register(server, ignore_change, ignore_change),
             "registering for clients");
        others_.start(doca_comch_server_as_ctx(server), 1);
    }

    doca_dev *dpu_;
    doca_dev *host_;
    RepresentorHandle representor_;
    std::string name_; ///< of the newest server
    std::vector<Handle<doca_comch_server, doca_comch_server_destroy>> servers_;
    std::vector<Handle<doca_comch_client, doca_comch_client_destroy>> clients_;
};

/// What one more of a kind may cost, with its peer in this process; no value if there is no bar.
struct MemberBars {
    std::optional<double> descriptors;
    std::optional<double> kib;
};

/// Measures groups of one kind: with one member, with 10, and with all. The ratio is to that with one. Then what the
/// members beyond the first 10 took.
void measure(const std::string &kind, std::size_t count, const std::function<std::unique_ptr<Group>()> &make,
             const MemberBars &bars, std::vector<ScalingRow> &rows)
{
    constexpr double limit = 1.5;
    const std::unique_ptr<Group> one = make(), many = make();
    one->grow(1);
    const auto add = [&](ScalingRow row) {
        announce(row);
        rows.push_back(std::move(row));
    };
    const auto compare = [&](const std::string &what, void (Group::*action)(std::size_t)) {
        add(compare_scaling(
            what, [&](std::size_t times) { (one.get()->*action)(times); },
            [&](std::size_t times) { (many.get()->*action)(times); }, limit));
    };
    std::vector<std::size_t> stops = {std::min<std::size_t>(10, count)};
    if (count > stops.front())
        stops.push_back(count);
    Footprint before;
    for (const std::size_t number : stops) {
        before = Footprint::now();
        many->grow(number);
        const std::string prefix = std::to_string(number) + " " + kind + ": ";
        compare(prefix + "empty progress", &Group::poll_nothing);
        if (one->has_task())
            compare(prefix + "a task of 8 B on one", &Group::run_task);
        compare(prefix + "request and clear a notification", &Group::arm_and_clear);
    }
    add(many->setup().row(kind + ": setting up the last, to the 100th"));
    const auto num_new = static_cast<double>(stops.size() == 1 ? count : count - stops.front());
    const Footprint cost = Footprint::now() - before;
    const double descriptors = cost.descriptors / num_new, kib = cost.kib / num_new;
    add({kind + ": descriptors of one more", "", descriptors, 0, descriptors, bars.descriptors});
    add({kind + ": memory of one more", "KiB", kib, 0, kib, bars.kib});
}

} // namespace

int run_contexts_benchmark(std::span<char *const> arguments)
{
    ScalingOptions options;
    options.count = 1000;
    if (const auto status = parse_scaling_options(
            "doca_bench contexts",
            "Measures what many contexts and connections on one progress engine cost, within this process.",
            "contexts, or connections, of each kind; default 1000", max_contexts, arguments, options))
        return *status;
    if (!options.cpus.empty())
        pin_to(options.cpus[0]);
    const std::size_t max_descriptors = raise_descriptor_limit();
    const std::string ibdev = find_rdma_device(options.ibdev);
    const DeviceHandle dev = open_by_name(ibdev);
    std::vector<ScalingRow> rows;
    measure(
        "DMA contexts", options.count, [&] { return std::make_unique<DmaContexts>(dev.get()); }, {0.05, std::nullopt},
        rows);
    measure(
        "RDMA contexts", options.count, [&] { return std::make_unique<RdmaConnections>(dev.get(), 1); },
        {0.05, std::nullopt}, rows);
    measure(
        "RDMA connections", options.count, [&] { return std::make_unique<RdmaConnections>(dev.get(), options.count); },
        {0.05, 16}, rows);
    const CardFunctions functions = find_functions();
    const std::size_t num_clients = std::clamp<std::size_t>(max_descriptors / descriptors_of_client, 1, options.count);
    measure(
        "Comch clients", num_clients, [&] { return std::make_unique<ComchClients>(functions); }, {3.3, std::nullopt},
        rows);
    static constexpr ScalingNames names = {"contexts", "contexts", "with_one", "contexts of each kind", "with one"};
    return report_scaling(rows, names, ibdev, doca_version_runtime(), options);
}

} // namespace opendoca::tools
