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

class Sends final : public ComchSession {
public:
    Sends(const CardFunctions &functions, bool is_server, const std::string &name, const PairCase &what)
        : ComchSession(functions, is_server, name, what),
          num_jobs_(what.depth),
          num_receives_(std::max(2 * what.depth,
                                 16U)) // the sender finds a posted receive whatever the receiver has just consumed
    {
    }
    ~Sends() override;

    void meet() override;
    void ask(std::size_t count) override;
    void answer(std::size_t count) override;

    // The requirements of send_loops.hpp.
    void submit(std::uint64_t job) { must(doca_task_submit(sends_[job]), "submitting a send"); }
    void repost(std::uint64_t receive)
    {
        must(doca_buf_reset_data_len(rooms_[receive]), "resetting a buffer");
        must(doca_task_submit(receives_[receive]), "submitting a receive");
    }
    std::uint64_t retrieve()
    {
        Patience patience;
        return data_.retrieve([&] {
            if (what().waits_for_events)
                data_.sleep();
            else
                patience.try_again();
        });
    }

private:
    struct Callbacks;

    void make_consumer();
    void make_producer();
    void add_send(std::size_t length);
    /// The first message each way opens it, which the control path has a part in.
    void open_both_ways();
    doca_buf *take_buf(std::byte *addr, std::size_t size, std::size_t data_len);
    /// The job after those in flight, which shows that all have arrived.
    [[nodiscard]] std::uint64_t farewell() const noexcept { return num_jobs_; }

    std::uint32_t num_jobs_;
    std::uint32_t num_receives_;
    TaskEngine data_;
    MmapHandle map_;
    InventoryHandle inventory_;
    // On the engine and the connection, and so gone before them.
    Handle<doca_comch_consumer, doca_comch_consumer_destroy> consumer_;
    Handle<doca_comch_producer, doca_comch_producer_destroy> producer_;
    std::vector<doca_task *> sends_;
    std::vector<doca_task *> receives_;
    std::vector<doca_buf *> rooms_; ///< of the receives
    std::vector<doca_buf *> bufs_;  ///< all of them
};

struct Sends::Callbacks {
    static void sent(doca_comch_producer_task_send *, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::ended(task_data, ctx_data);
    }
    static void not_sent(doca_comch_producer_task_send *task, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::failed(doca_comch_producer_task_send_as_task(task), task_data, ctx_data);
    }
    static void received(doca_comch_consumer_task_post_recv *, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::ended(task_data, ctx_data);
    }
    static void not_received(doca_comch_consumer_task_post_recv *task, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::failed(doca_comch_consumer_task_post_recv_as_task(task), task_data, ctx_data);
    }
};

Sends::~Sends()
{
    const api::QuietLog quiet; // the peer may have left before
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
    must(doca_comch_consumer_task_post_recv_set_conf(consumer, Callbacks::received, Callbacks::not_received,
                                                     num_receives_),
         "configuring receives");
    data_.start(doca_comch_consumer_as_ctx(consumer), num_receives_, [this] { progress_control(); });
    for (std::uint32_t i = 0; i < num_receives_; ++i) {
        doca_comch_consumer_task_post_recv *task = nullptr;
        rooms_.push_back(take_buf(destination().data(), what().size, 0));
        must(doca_comch_consumer_task_post_recv_alloc_init(consumer, rooms_.back(), &task), "allocating a receive");
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
    must(doca_comch_producer_task_send_set_conf(producer, Callbacks::sent, Callbacks::not_sent, num_jobs_ + 1),
         "configuring sends");
    data_.start(doca_comch_producer_as_ctx(producer), num_jobs_ + 1);
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
    submit(farewell());
    Patience patience;
    for (int left = 2; left > 0; --left) {
        const std::uint64_t ended = data_.retrieve([&] {
            progress_control();
            patience.try_again();
        });
        if ((ended & receive_bit) != 0)
            repost(ended & ~receive_bit);
    }
}

void Sends::meet()
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

void Sends::ask(std::size_t count)
{
    if (what().test == PairTest::latency) {
        ping_by_send(*this, count, [] { return std::uint64_t{0}; });
        return;
    }
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

void Sends::answer(std::size_t count)
{
    if (what().test == PairTest::latency) {
        pong_by_send(*this, count, [] { return std::uint64_t{0}; });
        return;
    }
    receive_sends(*this, count);
    submit(farewell());
    (void)retrieve();
}

} // namespace

std::unique_ptr<ComchSession> make_comch_sends(const CardFunctions &functions, bool is_server, const std::string &name,
                                               const PairCase &what)
{
    return std::make_unique<Sends>(functions, is_server, name, what);
}

} // namespace opendoca::tools
