// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// RDMA by tasks of DOCA 3.0: one instance with all connections.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../rdma_loops.hpp"
#include "task_engine.hpp"

namespace opendoca::tools {

namespace {

/// The front end of RdmaLoops: allocated tasks and receives, submitted by their number. Owned by Pairs or Server,
/// and used by one thread at a time, which also runs the callbacks. The user data of a task is its number, with
/// receive_bit for receives.
class RdmaTasks final : public RdmaLoops<RdmaTasks> {
public:
    RdmaTasks(const std::string &ibdev, const PairCase &what);
    ~RdmaTasks() override;

    void submit(std::uint64_t number)
    {
        if (doca_buf *const filled = filled_[number]; filled != nullptr)
            must(doca_buf_reset_data_len(filled), "resetting a destination");
        must(doca_task_submit(jobs_[number]), "submitting a task");
    }

    void repost(std::uint64_t number)
    {
        must(doca_buf_reset_data_len(destinations_[number]), "resetting a destination");
        must(doca_task_submit(receives_[number]), "submitting a receive");
    }

    std::uint64_t retrieve()
    {
        Patience patience;
        return engine_.retrieve([&] {
            if (what().waits_for_events)
                engine_.wait_for_event();
            else
                patience.try_again();
        });
    }

private:
    std::vector<std::byte> export_connection(std::uint32_t number) override;
    void connect_one(std::uint32_t number, std::span<const std::byte> details) override;
    void add_job(std::uint32_t number, doca_buf *first, doca_buf *second) override;
    void add_receive(std::uint32_t number, doca_buf *destination) override;

    TaskEngine engine_;
    Handle<doca_rdma, doca_rdma_destroy> rdma_; // destroyed before the engine on which it runs
    std::vector<doca_rdma_connection *> connections_;
    std::vector<doca_task *> jobs_;
    std::vector<doca_buf *> filled_; ///< for each job, the buffer that it appends to, or null
    std::vector<doca_task *> receives_;
    std::vector<doca_buf *> destinations_; ///< destinations of the receives
};

/// The callback of a task that has succeeded.
template <typename Task>
void ended(Task *, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::ended(task_data, ctx_data);
}

/// The callback of a task that has failed.
template <typename Task, auto as_task>
void failed(Task *task, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::failed(as_task(task), task_data, ctx_data);
}

/// Configures @p count tasks of a type with these callbacks.
template <typename Task, auto set_conf, auto as_task>
void configure(doca_rdma *rdma, std::uint32_t count)
{
    must(set_conf(rdma, ended<Task>, failed<Task, as_task>, count), "configuring tasks");
}

RdmaTasks::RdmaTasks(const std::string &ibdev, const PairCase &what) : RdmaLoops(ibdev, what)
{
    doca_rdma *rdma = nullptr;
    must(doca_rdma_create(dev(), &rdma), "creating an RDMA instance");
    rdma_.reset(rdma);
    must(doca_rdma_set_permissions(rdma, api::rdma_rights), "setting permissions");
    must(doca_rdma_set_max_num_connections(rdma, static_cast<std::uint16_t>(what.connections)),
         "setting the number of connections");
    must(doca_rdma_set_send_queue_size(rdma, what.depth + 1), "setting the send queue's size");
    switch (what.op) {
    case PairOp::write:
        configure<doca_rdma_task_write, doca_rdma_task_write_set_conf, doca_rdma_task_write_as_task>(rdma, num_jobs());
        break;
    case PairOp::read:
        configure<doca_rdma_task_read, doca_rdma_task_read_set_conf, doca_rdma_task_read_as_task>(rdma, num_jobs());
        break;
    case PairOp::send:
        configure<doca_rdma_task_send, doca_rdma_task_send_set_conf, doca_rdma_task_send_as_task>(rdma, num_jobs());
        configure<doca_rdma_task_receive, doca_rdma_task_receive_set_conf, doca_rdma_task_receive_as_task>(
            rdma, num_receives());
        break;
    case PairOp::fetch_add:
        configure<doca_rdma_task_atomic_fetch_add, doca_rdma_task_atomic_fetch_add_set_conf,
                  doca_rdma_task_atomic_fetch_add_as_task>(rdma, num_jobs());
        break;
    }
    engine_.start(doca_rdma_as_ctx(rdma), num_jobs() + num_receives());
}

RdmaTasks::~RdmaTasks()
{
    const api::QuietLog quiet; // the peer may have stopped earlier, and flushed tasks are logged as errors
    jobs_.insert(jobs_.end(), receives_.begin(), receives_.end());
    engine_.stop(jobs_);
    drop_bufs();
}

std::vector<std::byte> RdmaTasks::export_connection(std::uint32_t number)
{
    const void *bytes = nullptr;
    std::size_t size = 0;
    connections_.resize(number + 1);
    must(doca_rdma_export(rdma_.get(), &bytes, &size, &connections_[number]), "exporting a connection");
    const auto *const first = static_cast<const std::byte *>(bytes);
    return {first, first + size};
}

void RdmaTasks::connect_one(std::uint32_t number, std::span<const std::byte> details)
{
    must(doca_rdma_connect(rdma_.get(), details.data(), details.size(), connections_[number]), "connecting");
    while (doca_pe_progress(engine_.pe()) != 0) {
    }
}

void RdmaTasks::add_job(std::uint32_t number, doca_buf *first, doca_buf *second)
{
    doca_rdma_connection *const connection = connections_[number % what().connections];
    const doca_data data{.u64 = number};
    doca_buf *filled = nullptr;
    switch (what().op) {
    case PairOp::write: {
        doca_rdma_task_write *task = nullptr;
        must(doca_rdma_task_write_allocate_init(rdma_.get(), connection, first, second, data, &task),
             "allocating a task");
        jobs_.push_back(doca_rdma_task_write_as_task(task));
        filled = second;
        break;
    }
    case PairOp::read: {
        doca_rdma_task_read *task = nullptr;
        must(doca_rdma_task_read_allocate_init(rdma_.get(), connection, first, second, data, &task),
             "allocating a task");
        jobs_.push_back(doca_rdma_task_read_as_task(task));
        filled = second;
        break;
    }
    case PairOp::send: {
        doca_rdma_task_send *task = nullptr;
        must(doca_rdma_task_send_allocate_init(rdma_.get(), connection, first, data, &task), "allocating a task");
        jobs_.push_back(doca_rdma_task_send_as_task(task));
        break;
    }
    case PairOp::fetch_add: {
        doca_rdma_task_atomic_fetch_add *task = nullptr;
        must(doca_rdma_task_atomic_fetch_add_allocate_init(rdma_.get(), connection, first, second, 1, data, &task),
             "allocating a task");
        jobs_.push_back(doca_rdma_task_atomic_fetch_add_as_task(task));
        break;
    }
    }
    filled_.push_back(filled);
}

void RdmaTasks::add_receive(std::uint32_t number, doca_buf *destination)
{
    doca_rdma_task_receive *task = nullptr;
    must(doca_rdma_task_receive_allocate_init(rdma_.get(), destination, doca_data{.u64 = receive_bit | number}, &task),
         "allocating a receive");
    receives_.push_back(doca_rdma_task_receive_as_task(task));
    destinations_.push_back(destination);
}

} // namespace

std::unique_ptr<RdmaSession> make_rdma_session(const std::string &ibdev, const PairCase &what)
{
    return std::make_unique<RdmaTasks>(ibdev, what);
}

} // namespace opendoca::tools
