// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: a peer of Comm Channel that says anything by its queue pair, and by TCP, in any order. The first byte of
// an input says which side it plays, the second how many of the next ones are what is changed of the right details of
// its queue pair. Then each byte below 0x80 is how many of the next ones are one message by the queue pair; below 0xc0,
// less 0x80, how many it sends by TCP; and others are what one of the two does.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <sys/socket.h>

#include <doca_dev.h>

#include "../../src/comm_channel/stream.hpp"
#include "../../src/core/objects/mmap.hpp"
#include "target.hpp"

using namespace opendoca::comm_channel;

namespace {

constexpr RingShape shape = {8, 64};
constexpr std::uint32_t num_slots = 32;
constexpr std::size_t slot_size = 256;

doca_dev &device()
{
    static doca_dev *const opened = [] {
        doca_devinfo **list = nullptr;
        std::uint32_t size = 0;
        doca_dev *dev = nullptr;
        must(doca_devinfo_list_create(&list, &size));
        must(doca_dev_open(list[0], &dev));
        must(doca_devinfo_list_destroy(list));
        return dev;
    }();
    return *opened;
}

/// The peer's queue pair, and nothing that would hold it to the rules.
class Peer {
public:
    Peer()
    {
        if (map_ == nullptr)
            must(opendoca::map_for_library(device(), {memory_, sizeof(memory_)}, DOCA_ACCESS_LOCAL_READ_WRITE, map_));
        opendoca::QueuePairSettings settings{};
        settings.send_queue_size = settings.recv_queue_size = num_slots;
        settings.send_chain_length = settings.recv_chain_length = 1;
        settings.permissions = DOCA_ACCESS_LOCAL_READ_WRITE;
        settings.mtu = device().function().can.rdma.active_mtu;
        settings.has_grh = true;
        settings.completions = &completions_;
        must(device().device().create_queue_pair(settings, state_, queue_pair_));
        must(queue_pair_->attach(completions_));
    }
    Peer(const Peer &) = delete;
    Peer &operator=(const Peer &) = delete;
    ~Peer()
    {
        if (queue_pair_ != nullptr)
            queue_pair_->detach();
    }

    [[nodiscard]] std::vector<std::byte> details() const
    {
        const auto details = queue_pair_->details();
        return {details.begin(), details.end()};
    }
    void connect(Input details) { (void)queue_pair_->connect(details); }
    void send(Input bytes)
    {
        poll();
        if (!is_connected() || num_sent_ - num_done_ == num_slots)
            return;
        doca_buf &buf = sends_[num_sent_ % num_slots];
        buf = slot(num_sent_ % num_slots, bytes.size());
        buf.last = &buf;
        std::ranges::copy(bytes, static_cast<std::byte *>(buf.data));
        opendoca::Request request{};
        request.opcode = opendoca::Opcode::send;
        request.plan = opendoca::TransferPlan::single_sge(bytes.size());
        request.local = &buf;
        if (queue_pair_->post({0, 0}, request) == DOCA_SUCCESS)
            ++num_sent_;
    }
    void receive()
    {
        poll();
        if (!is_connected() || num_posted_ - num_received_ == num_slots)
            return;
        doca_buf &buf = receives_[num_posted_ % num_slots];
        buf = slot(num_slots + num_posted_ % num_slots, 0);
        buf.last = &buf;
        if (queue_pair_->receive({1, 0}, &buf, opendoca::TransferPlan::single_sge(buf.len)) == DOCA_SUCCESS)
            ++num_posted_;
    }
    void leave()
    {
        if (queue_pair_ != nullptr)
            queue_pair_->detach();
        queue_pair_.reset();
    }
    [[nodiscard]] std::uint32_t num_received() const { return num_received_; }

private:
    [[nodiscard]] bool is_connected() const { return queue_pair_ != nullptr && queue_pair_->is_connected(); }
    [[nodiscard]] doca_buf slot(std::uint32_t number, std::size_t data)
    {
        doca_buf buf{};
        buf.head = buf.data = memory_ + number * slot_size;
        buf.len = slot_size;
        buf.data_len = data;
        buf.mmap = map_.get();
        return buf;
    }
    void note(opendoca::Tag tag) { ++(tag.a == 0 ? num_done_ : num_received_); }
    void poll()
    {
        for (;;) {
            opendoca::Ended ended{};
            if (completions_.pop(ended)) {
                note(ended.tag);
            } else if (opendoca::Operation *const operation = completions_.poll(); operation != nullptr) {
                note(operation->tag);
                completions_.release(*operation);
            } else if (completions_.is_empty()) {
                return;
            }
        }
    }

    // For all inputs, as mapping takes long.
    static inline std::byte memory_[2 * num_slots * slot_size];
    static inline std::shared_ptr<const doca_mmap> map_;
    opendoca::CompletionQueue completions_{2 * num_slots};
    std::atomic<opendoca::ConnectionState> state_{opendoca::ConnectionState::initial};
    std::unique_ptr<opendoca::QueuePair> queue_pair_;
    doca_buf sends_[num_slots] = {}, receives_[num_slots] = {};
    std::uint32_t num_sent_ = 0, num_done_ = 0, num_posted_ = 0, num_received_ = 0;
};

class Side {
public:
    Side(bool is_service, Input changes) : is_service_(is_service)
    {
        int ends[2];
        require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0, "there are sockets");
        own_ = opendoca::UniqueFd(ends[0]);
        socket_of_peer_ = opendoca::UniqueFd(ends[1]);
        stream_ = std::make_unique<Stream>(own_.get());
        opendoca::UniqueFd file;
        require(stream_->open() && memory_.create(shape, shape, file), "there is what is needed");
        const std::vector<std::byte> details = peer_.details();
        offer_.size = static_cast<std::uint32_t>(details.size());
        std::ranges::copy(details, offer_.details.begin());
        const std::vector<std::byte> offered = changed(std::as_bytes(std::span(&offer_, 1)), changes);
        std::memcpy(&offer_, offered.data(), sizeof(offer_));
        if (is_service)
            require(stream_->make_link(device().messages_by(), shape, shape), "there is a queue pair");
        stream_->attach(memory_, is_service, shape, shape);
        if (!is_service)
            stream_->accept_service_offer(device().messages_by(), shape, shape, offer_);
        SharedPage &page = memory_.page();
        out_.attach(is_service ? page.to_client : page.to_service,
                    is_service ? memory_.to_client() : memory_.to_service(), shape);
        in_.attach(is_service ? page.to_service : page.to_client,
                   is_service ? memory_.to_service() : memory_.to_client(), shape);
        const Offer own = stream_->offer();
        if (own.size != 0)
            peer_.connect(own.used_details());
    }

    void say(Input bytes) { (void)!send(socket_of_peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); }
    void send_by_queue_pair(Input bytes) { peer_.send(bytes); }
    /// Of the peer, or of this side's program.
    void act(unsigned what)
    {
        char text[64] = {};
        std::size_t length = sizeof(text);
        std::uint32_t kind = 0;
        RingResult result = RingResult::nothing;
        switch (what % 10) {
        case 0:
            result = in_.receive(text, length, kind);
            require(result != RingResult::done || (length != 0 && length <= sizeof(text) && kind < 0xffffff00),
                    "only messages get into the ring");
            break;
        case 1:
            result = out_.send(text, sizeof(text), 3);
            require(out_.in_flight() <= shape.messages, "not more than fit");
            break;
        case 2:
            char got[512];
            (void)!recv(socket_of_peer_.get(), got, sizeof(got), MSG_DONTWAIT);
            break;
        case 3:
            in_.arm_for_message();
            stream_->wake_for_message(true);
            break;
        case 4:
            out_.arm_for_space();
            stream_->wake_for_space(true);
            break;
        case 5:
            peer_.receive();
            break;
        case 6: // what lets the queue pair be used
            if (is_service_)
                say_frame(StreamKind::offer, std::as_bytes(std::span(&offer_, 1)));
            else
                say_frame(StreamKind::connected, std::as_bytes(std::span(&one_, 1)));
            break;
        case 7:
            say_frame(StreamKind::by_queue_pair, {});
            break;
        case 8:
            send_message(what & 7);
            break;
        default:
            if (what == 9)
                peer_.leave();
            else
                stream_->wake_for_message(false);
        }
        require(result != RingResult::damaged && result != RingResult::too_long, "the rings are in order");
    }
    /// False when the peer does not keep the rules, or has ended.
    [[nodiscard]] bool pump() { return stream_->pump() && !stream_->has_ended(); }

private:
    void say_frame(StreamKind kind, Input bytes)
    {
        const std::uint32_t header[] = {static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(kind)};
        say(std::as_bytes(std::span(header)));
        say(bytes);
    }
    /// One by the rules.
    void send_message(std::uint32_t length)
    {
        std::uint32_t words[6] = {peer_.num_received(), 0, length, 0, 0, 0};
        peer_.send(std::as_bytes(std::span(words)).first(length == 0 ? 8 : 16 + length));
    }

    const bool is_service_;
    static constexpr std::uint32_t one_ = 1;
    Peer peer_;
    Offer offer_{};
    opendoca::UniqueFd own_, socket_of_peer_;
    std::unique_ptr<Stream> stream_;
    SharedMemory memory_;
    SendRing out_;
    ReceiveRing in_;
};

/// The next @p count bytes, or as many as there are.
Input take(Input &input, std::size_t count)
{
    const Input taken = input.first(std::min(count, input.size()));
    input = input.subspan(taken.size());
    return taken;
}

} // namespace

void test_input(Input input)
{
    const auto byte = [&] { return input.empty() ? 0 : std::to_integer<unsigned>(take(input, 1).front()); };
    const bool is_service = byte() % 2 == 0;
    const Input changes = take(input, byte());
    Side side(is_service, changes.first(std::min(changes.size(), sizeof(Offer))));
    while (!input.empty()) {
        const unsigned what = byte();
        if (what < 0x80)
            side.send_by_queue_pair(take(input, what));
        else if (what < 0xc0)
            side.say(take(input, what - 0x80));
        else
            side.act(what - 0xc0);
        if (!side.pump())
            return;
    }
}
