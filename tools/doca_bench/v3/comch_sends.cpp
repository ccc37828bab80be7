// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages from a producer, each into a buffer of the peer's consumer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "../send_loops.hpp"
#include "comch_session.hpp"

namespace opendoca::tools {

namespace {

/// One side of a case of sends: a consumer with posted receives, and a producer, both on an engine of their own. Used
/// by the process's only thread. Tasks and buffers are allocated once. The control path has another engine, which makes
/// progress only while the data path is set up or torn down.
class Sends final : public ComchSession {
public:
    Sends(const CardFunctions &functions, bool is_server, const std::string &name, const PairCase &what)
        : ComchSession(functions, is_server, name, what),
          num_jobs_(what.depth),
          // Twice the depth: the sender finds a posted receive while the receiver reposts those it has consumed.
          num_receives_(std::max(2 * what.depth, 16U))
    {
    }
    ~Sends() override;

    void establish() override;
    void run(std::size_t count) override;
    void respond(std::size_t count) override;

    // The functions that send_loops.hpp requires.
    void submit(std::uint64_t job) { must(doca_task_submit(sends_[job]), "submitting a send"); }
    void repost(std::uint64_t receive)
    {
        must(doca_buf_reset_data_len(receive_bufs_[receive]), "resetting a buffer");
        must(doca_task_submit(receives_[receive]), "submitting a receive");
    }
    std::uint64_t retrieve()
    {
        Patience patience;
        return data_.retrieve([&] {
            if (what().waits_for_events)
                data_.wait_for_event();
            else
                patience.try_again();
        });
    }

private:
    struct Callbacks;

    /// Creates the consumer and posts all receives.
    void make_consumer();
    /// Creates the producer and its sends, after the peer's consumer has been announced.
    void make_producer();
    /// Allocates a send of the first @p length bytes of the source.
    void add_send(std::size_t length);
    /// Exchanges a message each way. The first message of a direction sets up its path, with help from the control
    /// path.
    void open_both_ways();
    doca_buf *take_buf(std::byte *addr, std::size_t size, std::size_t data_len);
    /// Returns the number of the last send, beyond those of the loops. The receiving side submits it when all messages
    /// have arrived.
    [[nodiscard]] std::uint64_t last_send() const noexcept { return num_jobs_; }

    std::uint32_t num_jobs_;
    std::uint32_t num_receives_;
    TaskEngine data_;
    MmapHandle map_;
    InventoryHandle inventory_;
    // Destroyed before the engine and the connection on which they run.
    Handle<doca_comch_consumer, doca_comch_consumer_destroy> consumer_;
    Handle<doca_comch_producer, doca_comch_producer_destroy> producer_;
    std::vector<doca_task *> sends_; ///< one for each job in flight, and the last send
    std::vector<doca_task *> receives_;
    std::vector<doca_buf *> receive_bufs_; ///< destinations of the receives
    std::vector<doca_buf *> bufs_;         ///< all buffers, which the destructor releases
};

/// The callbacks of tasks, which record completions in the engine.
struct Sends::Callbacks {
    static void sent(doca_comch_producer_task_send *, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::ended(task_data, ctx_data);
    }
    static void send_failed(doca_comch_producer_task_send *task, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::failed(doca_comch_producer_task_send_as_task(task), task_data, ctx_data);
    }
    static void received(doca_comch_consumer_task_post_recv *, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::ended(task_data, ctx_data);
    }
    static void receive_failed(doca_comch_consumer_task_post_recv *task, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::failed(doca_comch_consumer_task_post_recv_as_task(task), task_data, ctx_data);
    }
};

Sends::~Sends()
{
    const api::QuietLog quiet; // the peer may have stopped earlier, and flushed tasks are logged as errors
    sends_.insert(sends_.end(), receives_.begin(), receives_.end());
    data_.stop(sends_, [this] { progress_control(); });
    for (doca_buf *const buf : bufs_)
        (void)api::drop_buf(buf, nullptr);
    producer_.reset();
    consumer_.reset();
    leave();
}

doca_buf *Sends::take_buf(std::byte *addr, std::size_t size, std::size_t data_len)
{
    doca_buf *buf = nullptr;
    must(api::take_buf(inventory_.get(), map_.get(), addr, size, data_len, &buf), "taking a buffer");
    return bufs_.emplace_back(buf);
}

void Sends::make_consumer()
{
    doca_comch_consumer *consumer = nullptr;
    must(doca_comch_consumer_create(connection(), map_.get(), &consumer), "creating a consumer");
    consumer_.reset(consumer);
    must(doca_comch_consumer_task_post_recv_set_conf(consumer, Callbacks::received, Callbacks::receive_failed,
                                                     num_receives_),
         "configuring receives");
    data_.start(doca_comch_consumer_as_ctx(consumer), num_receives_, [this] { progress_control(); });
    for (std::uint32_t i = 0; i < num_receives_; ++i) {
        doca_comch_consumer_task_post_recv *task = nullptr;
        receive_bufs_.push_back(take_buf(destination().data(), what().size, 0));
        must(doca_comch_consumer_task_post_recv_alloc_init(consumer, receive_bufs_.back(), &task),
             "allocating a receive");
        receives_.push_back(doca_comch_consumer_task_post_recv_as_task(task));
        doca_task_set_user_data(receives_.back(), doca_data{.u64 = receive_bit | i});
        repost(i);
    }
}

void Sends::add_send(std::size_t length)
{
    doca_comch_producer_task_send *task = nullptr;
    doca_buf *const buf = take_buf(source().data(), length, length);
    must(doca_comch_producer_task_send_alloc_init(producer_.get(), buf, nullptr, 0, peer_consumer(), &task),
         "allocating a send");
    doca_task *const made = doca_comch_producer_task_send_as_task(task);
    doca_task_set_user_data(made, doca_data{.u64 = sends_.size()});
    sends_.push_back(made);
}

void Sends::make_producer()
{
    doca_comch_producer *producer = nullptr;
    must(doca_comch_producer_create(connection(), &producer), "creating a producer");
    producer_.reset(producer);
    must(doca_comch_producer_task_send_set_conf(producer, Callbacks::sent, Callbacks::send_failed, num_jobs_ + 1),
         "configuring sends");
    data_.start(doca_comch_producer_as_ctx(producer), num_jobs_ + 1);
    // The peer announces its consumer over the control path.
    Patience patience;
    while (peer_consumer() == 0) {
        progress_control();
        patience.try_again();
    }
    for (std::uint32_t i = 0; i < num_jobs_; ++i)
        add_send(what().size);
    add_send(1);
}

void Sends::open_both_ways()
{
    submit(last_send());
    Patience patience;
    // One completion of the send and one receive, in any order.
    for (int left = 2; left > 0; --left) {
        const std::uint64_t ended = data_.retrieve([&] {
            progress_control();
            patience.try_again();
        });
        if ((ended & receive_bit) != 0)
            repost(ended & ~receive_bit);
    }
}

void Sends::establish()
{
    Patience patience;
    while (connection() == nullptr) {
        progress_control();
        patience.try_again();
    }
    map_ = start_map(dev(), memory().bytes(), api::pci_rights);
    inventory_ = start_inventory(num_jobs_ + 1 + num_receives_);
    make_consumer();
    make_producer();
    open_both_ways();
}

void Sends::run(std::size_t count)
{
    if (what().test == PairTest::latency) {
        ping_by_send(*this, count, [] { return std::uint64_t{0}; });
        return;
    }
    // The test ends with the peer's last send, so the time includes the arrival of all messages.
    bool has_arrived = false;
    const auto retrieve_one = [&] {
        const std::uint64_t ended = retrieve();
        if ((ended & receive_bit) != 0) {
            has_arrived = true;
            repost(ended & ~receive_bit);
        }
        return ended;
    };
    run_in_flight(*this, num_jobs_, count, [&] {
        std::uint64_t ended = receive_bit;
        while ((ended & receive_bit) != 0)
            ended = retrieve_one();
        return ended;
    });
    while (!has_arrived)
        (void)retrieve_one();
}

void Sends::respond(std::size_t count)
{
    if (what().test == PairTest::latency) {
        pong_by_send(*this, count, [] { return std::uint64_t{0}; });
        return;
    }
    receive_sends(*this, count);
    submit(last_send());
    (void)retrieve();
}

} // namespace

std::unique_ptr<ComchSession> make_comch_sends(const CardFunctions &functions, bool is_server, const std::string &name,
                                               const PairCase &what)
{
    return std::make_unique<Sends>(functions, is_server, name, what);
}

} // namespace opendoca::tools
