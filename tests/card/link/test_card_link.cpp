// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Both ends of the link between the two sides of a card, in this process: two cards, or a card and a peer that sends
// what no card sends.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/access.hpp"
#include "server/big_endian.hpp"
#include "server/link.hpp"
#include "server/link_transfer.hpp"
#include "server/representor.hpp"
#include "server/work_request.hpp"

namespace opendoca::card {
namespace {

constexpr std::uint32_t all_rights =
    right::local_write | right::remote_write | right::remote_read | right::remote_atomic;
constexpr std::array<std::uint8_t, 32> secret = {'s', 'e', 'c', 'r', 'e', 't'};
constexpr std::uint16_t host_vhca = 1;
constexpr std::uint8_t untouched = 0xa5;

/// One side of a card, and a program's memory.
struct Place {
    Place(Side side, const std::string &address, const std::optional<LinkKey> &key = std::nullopt,
          const std::string &services = "")
        : card(*find_profile("bluefield-3"), side)
    {
        std::string message;
        card.link = std::make_unique<Link>(
            card, LinkSettings{*LinkAddress::parse(address, message), std::nullopt, key, services});
        EXPECT_TRUE(card.link->start(message)) << message;
        file = &card.open(*card.function(side, 0), UniqueFd());
    }
    Link &link() { return *card.link; }

    MemoryKey *share(std::span<std::uint8_t> memory, std::uint32_t access = all_rights)
    {
        auto *key = card.objects.create<MemoryKey>(*file);
        EXPECT_TRUE(card.keys.add(*key));
        key->process = Process::open(getpid());
        key->pd_number = 1;
        key->access = access;
        key->start = key->iova = reinterpret_cast<std::uintptr_t>(memory.data());
        key->length = memory.size();
        key->permission.emplace().access_key = secret;
        return key;
    }

    Card card;
    OpenFile *file = nullptr;
};

/// A peer that sends bytes.
class RawPeer {
public:
    /// With a connection that is there.
    explicit RawPeer(UniqueFd socket) : socket_(std::move(socket)) {}
    explicit RawPeer(const std::string &path) : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))
    {
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        path.copy(name.sun_path, sizeof(name.sun_path) - 1);
        EXPECT_EQ(connect(socket_.get(), reinterpret_cast<const sockaddr *>(&name), sizeof(name)), 0);
    }
    /// Sends what the socket takes.
    void send(std::span<const std::uint8_t> bytes) const
    {
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    void send(LinkType type, std::uint64_t id, std::span<const std::uint8_t> body) const
    {
        send(message(static_cast<std::uint8_t>(type), id, body));
    }
    static std::vector<std::uint8_t> message(std::uint8_t type, std::uint64_t id, std::span<const std::uint8_t> body)
    {
        std::vector<std::uint8_t> bytes(link_header_bytes + body.size());
        store_big(&bytes[0], static_cast<std::uint32_t>(body.size()));
        bytes[4] = type;
        store_big(&bytes[8], id);
        std::ranges::copy(body, bytes.begin() + link_header_bytes);
        return bytes;
    }
    /// Reads what has come. Sets is_closed at its end.
    std::vector<std::uint8_t> read()
    {
        std::vector<std::uint8_t> all;
        for (;;) {
            std::array<std::uint8_t, 1 << 16> bytes;
            const ssize_t got = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
            is_closed = is_closed || got == 0 || (got < 0 && errno == ECONNRESET);
            if (got <= 0)
                return all;
            all.insert(all.end(), bytes.begin(), bytes.begin() + got);
        }
    }
    /// Reads what has come, and takes the messages that are complete.
    void take(const std::function<void(const LinkMessage &)> &handle)
    {
        const std::vector<std::uint8_t> more = read();
        partial_.insert(partial_.end(), more.begin(), more.end());
        std::size_t at = 0;
        for (std::span<const std::uint8_t> rest = partial_; rest.size() >= link_header_bytes;
             rest = std::span(partial_).subspan(at)) {
            const std::size_t bytes = be32(&rest[0]);
            if (rest.size() - link_header_bytes < bytes)
                break;
            handle({static_cast<LinkType>(rest[4]), be64(&rest[8]), rest.subspan(link_header_bytes, bytes)});
            at += link_header_bytes + bytes;
        }
        partial_.erase(partial_.begin(), partial_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    bool is_closed = false;

private:
    UniqueFd socket_;
    std::vector<std::uint8_t> partial_; ///< of a message that has not come as a whole
};

class LinkEnds : public testing::Test {
protected:
    LinkEnds()
    {
        std::string name = "/tmp/link-XXXXXX";
        folder = mkdtemp(name.data());
        path = folder + "/link";
        address = "unix:" + path;
        dpu = std::make_unique<Place>(Side::dpu, address, std::nullopt, folder + "/dpu");
    }
    ~LinkEnds() override
    {
        host.reset();
        dpu.reset();
        std::filesystem::remove_all(folder);
    }

    /// Drives both ends until the condition holds. Returns whether it does, in a minute.
    bool drive(const std::function<bool()> &is_reached)
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (!is_reached()) {
            if (std::chrono::steady_clock::now() > end)
                return false;
            std::vector<pollfd> waits;
            for (const auto &place : {host.get(), dpu.get()}) {
                if (place != nullptr)
                    waits.push_back({place->link().descriptor(), POLLIN, 0});
            }
            poll(waits.data(), waits.size(), -1); // each link has a timer
            for (const auto &place : {host.get(), dpu.get()}) {
                if (place != nullptr)
                    place->link().progress();
            }
        }
        return true;
    }
    void connect()
    {
        host = std::make_unique<Place>(Side::host, address, std::nullopt, folder + "/host");
        ASSERT_TRUE(drive([&] { return host->link().session() != 0 && dpu->link().session() != 0; }));
    }
    /// The DPU's alias of the host's key; nothing if it was refused.
    std::optional<OpenedAlias> open(const MemoryKey &key, std::array<std::uint8_t, 32> access_key = secret,
                                    std::uint16_t vhca_id = host_vhca)
    {
        const LinkOpen wanted{vhca_id, key.key >> 8, access_key};
        std::optional<OpenedAlias> result;
        EXPECT_TRUE(drive([&] {
            result = dpu->link().requester().open(*dpu->file, wanted);
            dpu->link().flush();
            return !result || result->handle != 0;
        }));
        return result;
    }
    /// Makes a transfer of the DPU's side, and returns how it ended.
    Access transfer(LinkType type, const std::shared_ptr<LinkOperation> &operation, const Segment &segment,
                    std::uint64_t at)
    {
        dpu->link().requester().transfer(type, operation, segment, at, 0, operation->bytes.size());
        dpu->link().flush();
        EXPECT_TRUE(drive([&] { return operation->outstanding == 0; }));
        return operation->result;
    }
    static std::shared_ptr<LinkOperation> operation_of(std::size_t bytes, std::uint8_t fill = 0)
    {
        auto operation = std::make_shared<LinkOperation>();
        operation->bytes.assign(bytes, fill);
        return operation;
    }
    static Segment segment_of(std::span<const std::uint8_t> memory, const OpenedAlias &alias, std::uint32_t rights)
    {
        return {nullptr, reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(), alias.handle, rights};
    }
    /// The first message of a side.
    [[nodiscard]] LinkHello host_hello() const { return hello_of(Side::host, dpu->card); }
    [[nodiscard]] static LinkHello hello_of(Side side, const Card &card)
    {
        LinkHello hello{static_cast<std::uint8_t>(side), card.guid, "bluefield-3", {}};
        for (const FunctionProfile &its : functions_of(card.profile)) {
            if (its.side == side)
                hello.functions.push_back({its.vhca_id, its.vport, static_cast<std::uint8_t>(its.kind), its.subfunction,
                                           its.device_name, its.pci_address});
        }
        return hello;
    }
    /// A peer that the DPU's side takes for the host's.
    std::unique_ptr<RawPeer> connect_raw()
    {
        auto peer = std::make_unique<RawPeer>(path);
        peer->send(LinkType::hello, 0, host_hello().encode());
        EXPECT_TRUE(drive([&] { return dpu->link().session() != 0; }));
        return peer;
    }
    /// Waits until the DPU's side has closed the connection.
    bool is_ended(RawPeer &peer)
    {
        return drive([&] {
            peer.read();
            return peer.is_closed;
        });
    }

    /// Lets a place try to accept while there are no descriptors. Returns whether it waits in between.
    static bool waits_without_descriptors(Place &place)
    {
        rlimit before{};
        EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
        rlimit none = before;
        const UniqueFd lowest(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        none.rlim_cur = static_cast<rlim_t>(lowest.get());
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
        bool waits = false;
        for (unsigned round = 0; round < 1000 && !waits; ++round) {
            place.link().progress();
            pollfd ready{place.link().descriptor(), POLLIN, 0};
            waits = poll(&ready, 1, 0) == 0; // the timer may have come in between
        }
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
        return waits;
    }

    std::string folder, path, address;
    std::unique_ptr<Place> host, dpu;
};

TEST_F(LinkEnds, ShowTheFunctionsOfTheOtherSideWhileItIsConnected)
{
    EXPECT_EQ(representors_of(dpu->card).size(), 2u) << "the uplink and the subfunction";
    connect();
    EXPECT_EQ(representors_of(dpu->card).size(), 4u);
    host.reset();
    EXPECT_TRUE(drive([&] { return dpu->link().session() == 0; }));
    EXPECT_EQ(representors_of(dpu->card).size(), 2u);
}

TEST_F(LinkEnds, MoveBytesAndCarryOutAtomics)
{
    connect();
    std::vector<std::uint8_t> memory(3 << 20);
    std::iota(memory.begin(), memory.end(), std::uint8_t{1});
    const auto alias = open(*host->share(memory));
    ASSERT_TRUE(alias);
    EXPECT_EQ(alias->access, all_rights);
    // More requests than the window has.
    static_assert((6 << 20) / max_link_data > link_window);
    const auto read = operation_of(memory.size() - 5), again = operation_of(memory.size());
    dpu->link().requester().transfer(LinkType::read, again, segment_of(memory, *alias, 0), 0, 0, memory.size());
    EXPECT_EQ(transfer(LinkType::read, read, segment_of(memory, *alias, 0), 5), Access::done);
    EXPECT_TRUE(drive([&] { return again->outstanding == 0; }));
    EXPECT_TRUE(std::equal(read->bytes.begin(), read->bytes.end(), memory.begin() + 5));
    EXPECT_EQ(again->bytes, memory);
    const std::vector<std::uint8_t> before = memory;
    EXPECT_EQ(transfer(LinkType::write, operation_of(100'000, 'w'), segment_of(memory, *alias, right::local_write), 3),
              Access::done);
    EXPECT_TRUE(std::all_of(memory.begin() + 3, memory.begin() + 100'003, [](auto byte) { return byte == 'w'; }));
    EXPECT_TRUE(std::equal(memory.begin(), memory.begin() + 3, before.begin()));
    EXPECT_TRUE(std::equal(memory.begin() + 100'003, memory.end(), before.begin() + 100'003));
    std::uint64_t word = 40;
    std::memcpy(memory.data() + 8, &word, sizeof(word));
    for (const auto &[atomic, expected] :
         {std::pair(LinkAtomic{true, 2, 0}, 42u), {LinkAtomic{false, 7, 41}, 42u}, {LinkAtomic{false, 7, 42}, 7u}}) {
        const std::uint64_t old = word;
        const auto operation = operation_of(sizeof(word));
        dpu->link().requester().swap(
            operation, segment_of(std::span(memory).subspan(8, sizeof(word)), *alias, right::remote_atomic), atomic);
        dpu->link().flush();
        EXPECT_TRUE(drive([&] { return operation->outstanding == 0; }));
        EXPECT_EQ(operation->result, Access::done);
        std::memcpy(&word, operation->bytes.data(), sizeof(word));
        EXPECT_EQ(word, old);
        std::memcpy(&word, memory.data() + 8, sizeof(word));
        EXPECT_EQ(word, expected);
    }
}

TEST_F(LinkEnds, CheckEachAccessWhereTheMemoryIs)
{
    connect();
    std::vector<std::uint8_t> arena(3 * 4096, untouched);
    const std::span memory = std::span(arena).subspan(4096, 4096);
    MemoryKey *const key = host->share(memory, right::local_write | right::remote_read);
    const auto alias = open(*key);
    ASSERT_TRUE(alias);
    const auto write = [&](std::span<const std::uint8_t> range, std::uint32_t rights, std::uint64_t at = 0) {
        return transfer(LinkType::write, operation_of(16, 'w'), segment_of(range, *alias, rights), at);
    };
    EXPECT_EQ(write(memory, right::remote_write), Access::fault) << "a right that the key does not have";
    EXPECT_EQ(write(std::span(arena).subspan(4095, 4096), right::local_write, 8), Access::fault) << "begins in front";
    EXPECT_EQ(write(std::span(arena).subspan(4097, 4096), right::local_write, 8), Access::fault) << "ends behind";
    EXPECT_EQ(write({memory.data(), ~std::size_t{0}}, right::local_write), Access::fault);
    EXPECT_TRUE(std::ranges::all_of(arena, [](auto byte) { return byte == untouched; }));
    EXPECT_EQ(write(memory, right::local_write), Access::done);
    EXPECT_EQ(transfer(LinkType::read, operation_of(16), segment_of(memory, *alias, right::remote_read), 0),
              Access::done);
    // A destroyed key, also if another one has its index.
    host->card.objects.destroy(*key);
    EXPECT_EQ(write(memory, right::local_write), Access::fault);
    OpenedAlias unknown = *alias;
    ++unknown.handle;
    EXPECT_EQ(transfer(LinkType::read, operation_of(16), segment_of(memory, unknown, 0), 0), Access::fault);
    EXPECT_EQ(host->link().session(), 1u) << "no program's mistake ends the connection";
}

TEST_F(LinkEnds, OpenKeysThatWereSharedWithTheSecretOnly)
{
    connect();
    std::vector<std::uint8_t> memory(4096);
    MemoryKey *const key = host->share(memory);
    std::array<std::uint8_t, 32> wrong = secret;
    wrong.back() ^= 1;
    EXPECT_FALSE(open(*key, wrong));
    EXPECT_FALSE(open(*key, secret, 2)) << "of another function";
    EXPECT_TRUE(open(*key));
    key->permission.reset();
    EXPECT_FALSE(open(*key)) << "not shared";
}

TEST_F(LinkEnds, ReportTheDeathOfTheProgram)
{
    connect();
    std::vector<std::uint8_t> memory(4096);
    MemoryKey *const key = host->share(memory);
    const auto alias = open(*key);
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    key->process = Process::open(child);
    kill(child, SIGKILL);
    pollfd dead{key->process->death_fd(), POLLIN, 0};
    EXPECT_EQ(poll(&dead, 1, -1), 1);
    EXPECT_EQ(transfer(LinkType::read, operation_of(16), segment_of(memory, *alias, 0), 0), Access::gone);
    waitpid(child, nullptr, 0);
}

TEST_F(LinkEnds, FailWhatIsInFlightWhenTheConnectionEnds)
{
    connect();
    std::vector<std::uint8_t> memory(8 << 20);
    const auto alias = open(*host->share(memory));
    const auto operation = operation_of(memory.size());
    dpu->link().requester().transfer(LinkType::read, operation, segment_of(memory, *alias, 0), 0, 0, memory.size());
    EXPECT_EQ(operation->outstanding, memory.size() / max_link_data);
    const LinkOpen wanted{host_vhca, 2, secret};
    EXPECT_EQ(dpu->link().requester().open(*dpu->file, wanted)->handle, 0u);
    host.reset();
    EXPECT_TRUE(drive([&] { return dpu->link().session() == 0; }));
    EXPECT_EQ(operation->outstanding, 0u);
    EXPECT_EQ(operation->result, Access::fault);
    EXPECT_FALSE(dpu->link().requester().open(*dpu->file, wanted));
    EXPECT_EQ(transfer(LinkType::read, operation_of(16), segment_of(memory, *alias, 0), 0), Access::fault);
    // An alias of an earlier connection is of no use in a later one.
    connect();
    EXPECT_EQ(dpu->link().session(), 2u);
    EXPECT_EQ(transfer(LinkType::read, operation_of(16), segment_of(memory, *alias, 0), 0), Access::fault);
}

TEST_F(LinkEnds, DropRequestsThatNothingWaitsFor)
{
    connect();
    std::vector<std::uint8_t> memory(16 << 20, 'm');
    const auto alias = open(*host->share(memory));
    {
        const auto operation = operation_of(memory.size(), 'w');
        dpu->link().requester().transfer(LinkType::write, operation, segment_of(memory, *alias, right::local_write), 0,
                                         0, memory.size());
    }
    EXPECT_EQ(transfer(LinkType::read, operation_of(16), segment_of(memory, *alias, 0), 0), Access::done);
    EXPECT_EQ(memory[link_window * max_link_data], 'm') << "beyond the window";
    EXPECT_EQ(memory.back(), 'm');
}

TEST_F(LinkEnds, RefuseAPeerThatDoesNotBeginLikeACard)
{
    const std::vector<std::uint8_t> right_one = host_hello().encode();
    const auto changed = [&](std::size_t at, std::uint8_t value) {
        std::vector<std::uint8_t> hello = right_one;
        hello[at] ^= value;
        return RawPeer::message(1, 0, hello);
    };
    std::vector<std::uint8_t> shorter(right_one.begin(), right_one.end() - 1), longer = right_one;
    longer.push_back(0);
    const std::vector<std::uint8_t> nothing, too_long = {0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (const auto &bytes :
         {changed(0, 1), changed(5, 1), changed(6, 1), changed(6, 0x80), changed(7, 1), changed(7, 0xff), changed(8, 1),
          changed(16, 1), changed(48, 1), changed(60, 1), RawPeer::message(1, 0, shorter),
          RawPeer::message(1, 0, longer), RawPeer::message(1, 0, nothing), RawPeer::message(2, 0, nothing),
          RawPeer::message(0, 0, nothing), RawPeer::message(18, 0, nothing), RawPeer::message(7, 1, right_one),
          too_long}) {
        RawPeer peer(path);
        peer.send(bytes);
        EXPECT_TRUE(is_ended(peer));
        EXPECT_EQ(dpu->link().session(), 0u);
    }
    EXPECT_EQ(representors_of(dpu->card).size(), 2u);
    connect();
}

TEST_F(LinkEnds, EndAConnectionWithAMalformedMessage)
{
    std::vector<std::uint8_t> memory(4096, untouched);
    const auto address_of_memory = reinterpret_cast<std::uintptr_t>(memory.data());
    const LinkRange to_read{1, 0, address_of_memory, 4096, 0, 8},
        to_write{1, right::local_write, address_of_memory, 4096, 0, 8};
    const auto encoded = [](const LinkRange &range, std::size_t more) {
        std::vector<std::uint8_t> bytes(LinkRange::bytes + more);
        range.encode(std::span(bytes).first<LinkRange::bytes>());
        return bytes;
    };
    const auto with = [&](LinkRange range, auto member, auto value) {
        range.*member = value;
        return encoded(range, range.rights == 0 || range.rights == right::remote_write ? 0 : 8);
    };
    struct Case {
        std::uint8_t type;
        std::vector<std::uint8_t> body;
    };
    const std::vector<Case> cases = {
        {0, {}},
        {18, {}},
        {255, {}},
        {1, host_hello().encode()},
        {2, {1}},
        {3, {1}},
        {4, std::vector<std::uint8_t>(39)},
        {4, std::vector<std::uint8_t>(41)},
        // Replies to nothing.
        {5, std::vector<std::uint8_t>(16)},
        {8, std::vector<std::uint8_t>(4)},
        {10, std::vector<std::uint8_t>(4)},
        {12, std::vector<std::uint8_t>(16)},
        {8, {}},
        // An alias that is not open.
        {6, {0, 0, 0, 9}},
        {6, {0, 0, 0}},
        {6, {}},
        // Reads: too short, too long, for writing, of too much, outside of their range.
        {7, std::vector<std::uint8_t>(39)},
        {7, encoded(to_read, 1)},
        {7, with(to_read, &LinkRange::rights, right::remote_write)},
        {7, with(to_read, &LinkRange::count, static_cast<std::uint32_t>(max_link_data + 1))},
        {7, with(to_read, &LinkRange::offset, ~std::uint64_t{0})},
        {7, with(to_read, &LinkRange::offset, std::uint64_t{4089})},
        // Writes: less and more than their length, without a right to write, with others, outside of their range.
        {9, {}},
        {9, encoded(to_write, 7)},
        {9, encoded(to_write, 9)},
        {9, encoded(to_read, 8)},
        {9, with(to_write, &LinkRange::rights, 0xffffffffu)},
        {9, with(to_write, &LinkRange::offset, std::uint64_t{4089})},
        // Atomics: not of 8 bytes, of another size.
        {11, encoded(to_write, 24)},
        {11, encoded(to_write, 23)},
        {11, {}}};
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto peer = connect_raw();
        peer->send(RawPeer::message(cases[i].type, 1, cases[i].body));
        EXPECT_TRUE(is_ended(*peer)) << i;
        EXPECT_EQ(dpu->link().session(), 0u) << i;
    }
    EXPECT_TRUE(std::ranges::all_of(memory, [](auto byte) { return byte == untouched; }));
    connect();
}

TEST_F(LinkEnds, AcceptTheOtherSideLaterIfDescriptorsAreShort)
{
    RawPeer peer(path);
    peer.send(LinkType::hello, 0, host_hello().encode());
    EXPECT_TRUE(waits_without_descriptors(*dpu));
    EXPECT_TRUE(drive([&] { return dpu->link().session() != 0; }));
}

TEST_F(LinkEnds, TakeMessagesInPieces)
{
    const auto peer = connect_raw();
    const std::vector<std::uint8_t> ping = RawPeer::message(2, 0, {});
    std::vector<std::uint8_t> replies;
    for (const std::uint8_t byte : ping) {
        peer->send(std::span(&byte, 1));
        dpu->link().progress();
    }
    EXPECT_TRUE(drive([&] {
        const auto more = peer->read();
        replies.insert(replies.end(), more.begin(), more.end());
        return replies.size() >= link_header_bytes && replies[replies.size() - link_header_bytes + 4] == 3;
    }));
    EXPECT_NE(dpu->link().session(), 0u);
}

TEST_F(LinkEnds, DropAPeerThatDoesNotReadItsReplies)
{
    std::vector<std::uint8_t> memory(max_link_data);
    MemoryKey *const key = dpu->share(memory);
    const auto peer = connect_raw();
    constexpr std::uint16_t dpu_vhca = 5;
    peer->send(LinkType::open, 1, LinkOpen{dpu_vhca, key->key >> 8, secret}.encode());
    std::vector<std::uint8_t> body(LinkRange::bytes);
    LinkRange{1, 0, reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(), 0, max_link_data}.encode(
        std::span(body).first<LinkRange::bytes>());
    for (std::uint64_t id = 2; dpu->link().session() != 0 && id < 10'000; ++id) {
        peer->send(LinkType::read, id, body);
        dpu->link().progress();
    }
    EXPECT_EQ(dpu->link().session(), 0u);
}

TEST_F(LinkEnds, SurviveRandomMessagesAndWriteNothingElse)
{
    constexpr std::size_t shared_at = 4096, shared_bytes = 8192;
    std::vector<std::uint8_t> arena(1 << 16, untouched);
    const std::span shared = std::span(arena).subspan(shared_at, shared_bytes);
    MemoryKey *const key = dpu->share(shared);
    std::mt19937 generator(1); // NOLINT: the same in each run
    const auto random = [&](std::uint32_t below) { return static_cast<std::uint32_t>(generator() % below); };
    std::unique_ptr<RawPeer> peer;
    unsigned written = 0;
    for (unsigned round = 0; round < 20'000; ++round) {
        if (peer == nullptr || peer->is_closed) {
            peer.reset();
            EXPECT_TRUE(drive([&] { return dpu->link().session() == 0; }));
            peer = connect_raw();
            peer->send(LinkType::open, 1, LinkOpen{5, key->key >> 8, secret}.encode());
        }
        // Mostly right requests, of which one field is changed.
        std::vector<std::uint8_t> body(LinkRange::bytes);
        const std::uint32_t count = random(200);
        constexpr std::uint8_t types[] = {7, 9, 9, 11, 4, 6, 2, 5, 8, 10, 12, 1};
        const std::uint8_t type = types[random(random(50) == 0 ? std::uint32_t{std::size(types)} : 3)];
        const std::uint32_t rights = type == 7 ? 4 * random(2) : 1 + random(3);
        LinkRange{1 + (random(10) == 0 ? random(3) : 0),
                  random(50) == 0 ? random(16) : rights,
                  reinterpret_cast<std::uintptr_t>(shared.data()) + random(64) - 32,
                  shared_bytes - random(64),
                  random(64),
                  count}
            .encode(std::span(body).first<LinkRange::bytes>());
        body.resize(type == 7 ? body.size() : type == 9 ? body.size() + count : random(80), 'w');
        if (random(20) == 0 && !body.empty())
            body[random(static_cast<std::uint32_t>(body.size()))] = static_cast<std::uint8_t>(generator());
        std::vector<std::uint8_t> bytes = RawPeer::message(type, round, body);
        if (random(200) == 0)
            bytes[random(link_header_bytes)] = static_cast<std::uint8_t>(generator());
        if (random(200) == 0)
            bytes.resize(random(static_cast<std::uint32_t>(bytes.size())));
        peer->send(bytes);
        dpu->link().progress();
        peer->read();
        written += shared[64] == 'w';
    }
    EXPECT_GT(written, 0u) << "some requests are carried out";
    const auto is_untouched = [](auto byte) { return byte == untouched; };
    EXPECT_TRUE(std::all_of(arena.begin(), arena.begin() + shared_at, is_untouched));
    EXPECT_TRUE(std::all_of(arena.begin() + shared_at + shared_bytes, arena.end(), is_untouched));
    peer.reset();
    EXPECT_TRUE(drive([&] { return dpu->link().session() == 0; }));
    connect();
}

TEST_F(LinkEnds, EndAConnectionWithAPeerThatAnswersPingsButNoRequest)
{
    const auto peer = connect_raw();
    std::array<std::uint8_t, 8> memory{};
    const auto operation = operation_of(memory.size());
    dpu->link().requester().transfer(LinkType::read, operation, segment_of(memory, {1, 0}, 0), 0, 0, memory.size());
    testing::internal::CaptureStderr();
    EXPECT_TRUE(drive([&] {
        if (!peer->read().empty())
            peer->send(LinkType::pong, 0, {});
        return dpu->link().session() == 0;
    }));
    EXPECT_NE(testing::internal::GetCapturedStderr().find("answered no request for 10 s"), std::string::npos);
    EXPECT_EQ(operation->outstanding, 0u);
    EXPECT_EQ(operation->result, Access::fault);
}

TEST_F(LinkEnds, EndAConnectionWithAPeerThatAnswersALaterRequestFirst)
{
    for (const std::uint64_t first : {1, 2}) {
        const auto peer = connect_raw();
        const std::uint64_t before = dpu->link().requester().requests();
        std::array<std::uint8_t, 8> memory{};
        const auto operation = operation_of(2 * memory.size());
        for (std::uint64_t at : {0, 8})
            dpu->link().requester().transfer(LinkType::read, operation, segment_of(memory, {1, 0}, 0), 0, at,
                                             memory.size());
        std::vector<std::uint8_t> body(link_status_bytes + memory.size());
        peer->send(LinkType::data, before + first, body);
        EXPECT_TRUE(drive([&] { return operation->outstanding != 2; }));
        EXPECT_EQ(operation->outstanding, first == 1 ? 1u : 0u);
        EXPECT_EQ(dpu->link().session() != 0, first == 1);
        if (first == 1) {
            peer->send(LinkType::ping, 0, body); // malformed: the end
            EXPECT_TRUE(is_ended(*peer));
        }
    }
}

TEST_F(LinkEnds, ForgetThePartOfARequestThatHasEnded)
{
    connect();
    std::vector<std::uint8_t> first(4096, '1'), second(4096, '2'), to(4096);
    const auto alias_of_first = open(*host->share(first)), alias_of_second = open(*host->share(second));
    ASSERT_TRUE(alias_of_first && alias_of_second);
    auto *const qp = dpu->card.objects.create<QueuePair>(*dpu->file);
    SegmentList source, destination;
    source.segments.push_back(segment_of(first, *alias_of_first, 0));
    destination.segments.push_back({nullptr, reinterpret_cast<std::uintptr_t>(to.data()), to.size()});
    source.length = destination.length = to.size();
    EXPECT_EQ(copy_by_link(*qp, source, destination, 0, to.size()), CopyResult::pending);
    finish(*qp, WorkRequest{}, 0); // as a message of UC that is lost in the middle
    source.segments.front() = segment_of(second, *alias_of_second, 0);
    CopyResult result = CopyResult::pending;
    EXPECT_TRUE(drive([&] {
        result = copy_by_link(*qp, source, destination, 0, to.size());
        dpu->link().flush();
        return result != CopyResult::pending;
    }));
    EXPECT_EQ(result, CopyResult::done);
    EXPECT_EQ(to, second);
}

TEST_F(LinkEnds, HoldALimitedNumberOfParts)
{
    const auto peer = connect_raw();
    std::vector<std::uint8_t> memory(max_bytes_per_transfer);
    SegmentList there, here;
    there.segments.push_back(segment_of(memory, {1, 0}, 0));
    here.segments.push_back({nullptr, reinterpret_cast<std::uintptr_t>(memory.data()), memory.size()});
    there.length = here.length = memory.size();
    std::vector<QueuePair *> qps;
    for (unsigned i = 0; i < 100; ++i)
        qps.push_back(dpu->card.objects.create<QueuePair>(*dpu->file));
    for (QueuePair *qp : qps)
        EXPECT_EQ(copy_by_link(*qp, there, here, 0, memory.size()), CopyResult::pending);
    const auto begun = std::ranges::count_if(qps, [](const QueuePair *qp) { return qp->transfer != nullptr; });
    EXPECT_EQ(begun, (5 * link_window) / (max_bytes_per_transfer / max_link_data)) << "in the window and waiting";
    // What has not begun is tried again, also when the connection has ended.
    peer->send(LinkType::ping, 0, std::array<std::uint8_t, 1>{});
    EXPECT_TRUE(is_ended(*peer));
    for (QueuePair *qp : qps)
        EXPECT_EQ(copy_by_link(*qp, there, here, 0, memory.size()), CopyResult::source_fault);
}

TEST_F(LinkEnds, OpenALimitedNumberOfAliasesOfAFileAtATime)
{
    const auto peer = connect_raw();
    LinkRequester &requester = dpu->link().requester();
    for (std::uint32_t i = 0; i < 64; ++i)
        EXPECT_TRUE(requester.open(*dpu->file, {host_vhca, i, secret}));
    EXPECT_FALSE(requester.open(*dpu->file, {host_vhca, 64, secret}));
    EXPECT_TRUE(requester.open(*dpu->file, {host_vhca, 0, secret})) << "the same once more";
    EXPECT_TRUE(requester.open(dpu->card.open(*dpu->card.function(Side::dpu, 0), UniqueFd()), {host_vhca, 64, secret}));
}

TEST_F(LinkEnds, LogPrintableTextOnly)
{
    LinkHello hello = host_hello();
    hello.profile = "a\x1b[2J\n\xff";
    RawPeer peer(path);
    testing::internal::CaptureStderr();
    peer.send(LinkType::hello, 0, hello.encode());
    EXPECT_TRUE(is_ended(peer));
    EXPECT_NE(testing::internal::GetCapturedStderr().find("it is a a?[2J??, and"), std::string::npos);
}

/// Connections of programs with services.
class LinkRelays : public LinkEnds {
protected:
    static constexpr comm_channel::RelayRequest name = {0x0123456789abcdef, 0xfedcba9876543210};

    static UniqueFd unix_socket(const std::string &at, bool is_listening, int type = SOCK_STREAM)
    {
        UniqueFd made(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        sockaddr_un its{};
        its.sun_family = AF_UNIX;
        at.copy(its.sun_path, sizeof(its.sun_path) - 1);
        const auto *const generic = reinterpret_cast<const sockaddr *>(&its);
        EXPECT_EQ(is_listening ? bind(made.get(), generic, sizeof(its)) : ::connect(made.get(), generic, sizeof(its)),
                  0);
        if (is_listening) {
            EXPECT_EQ(listen(made.get(), 1000), 0);
        }
        return made;
    }
    [[nodiscard]] UniqueFd listen_as_service() const
    {
        return unix_socket(folder + "/dpu/" + comm_channel::service_file_name(name), true);
    }
    /// A program that asks the host's side for a service.
    [[nodiscard]] UniqueFd ask(comm_channel::RelayRequest wanted = name) const
    {
        UniqueFd program = unix_socket(folder + "/host/" + comm_channel::relay_name, false);
        EXPECT_EQ(send(program.get(), &wanted, sizeof(wanted), MSG_NOSIGNAL), ssize_t{sizeof(wanted)});
        return program;
    }
    comm_channel::RelayAnswer answer_to(const UniqueFd &program)
    {
        auto answer = static_cast<comm_channel::RelayAnswer>(99);
        EXPECT_TRUE(drive([&] { return recv(program.get(), &answer, sizeof(answer), MSG_DONTWAIT) >= 0; }));
        return answer;
    }
    UniqueFd accept(const UniqueFd &service)
    {
        UniqueFd accepted;
        EXPECT_TRUE(drive([&] {
            accepted = UniqueFd(accept4(service.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            return accepted.is_open();
        }));
        return accepted;
    }
    /// Sends bytes and returns those that have arrived at the other end.
    std::vector<std::uint8_t> carry(const UniqueFd &from, const UniqueFd &to, std::span<const std::uint8_t> bytes)
    {
        std::vector<std::uint8_t> arrived(bytes.size());
        std::size_t sent = 0, got = 0;
        EXPECT_TRUE(drive([&] {
            if (const ssize_t count = send(from.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
                count > 0)
                sent += static_cast<std::size_t>(count);
            if (const ssize_t count = recv(to.get(), arrived.data() + got, arrived.size() - got, 0); count > 0)
                got += static_cast<std::size_t>(count);
            return got == arrived.size();
        }));
        return arrived;
    }
    bool has_ended(const UniqueFd &program)
    {
        return drive([&] {
            std::array<std::uint8_t, 4096> bytes;
            const ssize_t got = recv(program.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
            return got == 0 || (got < 0 && errno == ECONNRESET);
        });
    }
    static bool has_connections(Place &place, unsigned count)
    {
        return place.link().describe().ends_with("link-connections " + std::to_string(count));
    }
    static std::vector<std::uint8_t> key_of(comm_channel::RelayRequest wanted = name)
    {
        std::vector<std::uint8_t> key(link_key_bytes);
        store_big(&key[0], wanted[0]);
        store_big(&key[8], wanted[1]);
        return key;
    }
    static std::vector<std::uint8_t> number(std::uint32_t value)
    {
        std::vector<std::uint8_t> bytes(sizeof(value));
        store_big(&bytes[0], value);
        return bytes;
    }
    /// Sends a connection's bytes until its program takes no more of them. Returns their number.
    std::size_t fill(RawPeer &peer, std::uint64_t id)
    {
        const std::vector<std::uint8_t> part(4096);
        std::vector<std::uint8_t> replies;
        std::size_t in_flight = 0, sent = 0;
        while (in_flight < link_connection_window * 3 / 4) {
            peer.send(LinkType::bytes, id, part);
            sent += part.size();
            in_flight += part.size();
            dpu->link().progress();
            const auto more = peer.read();
            replies.insert(replies.end(), more.begin(), more.end());
            while (replies.size() >= link_header_bytes && replies.size() >= link_header_bytes + be32(&replies[0])) {
                if (replies[4] == static_cast<std::uint8_t>(LinkType::credit))
                    in_flight -= be32(&replies[link_header_bytes]);
                replies.erase(replies.begin(), replies.begin() + link_header_bytes + be32(&replies[0]));
            }
        }
        return sent;
    }
    /// A peer that the host's side takes for the DPU's.
    std::unique_ptr<RawPeer> accept_raw()
    {
        dpu.reset();
        const UniqueFd listener = unix_socket(path, true);
        host = std::make_unique<Place>(Side::host, address, std::nullopt, folder + "/host");
        auto peer = std::make_unique<RawPeer>(accept(listener));
        unlink(path.c_str());
        peer->send(LinkType::hello, 0, hello_of(Side::dpu, host->card).encode());
        EXPECT_TRUE(drive([&] { return host->link().session() != 0; }));
        peer->read();
        return peer;
    }
};

TEST_F(LinkRelays, CarryBytesInBothDirectionsAndEndWithEitherProgram)
{
    connect();
    const UniqueFd service = listen_as_service();
    std::vector<std::uint8_t> bytes(3'000'001);
    std::mt19937 generator(2); // NOLINT: the same in each run
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(generator()); });
    for (const bool ends_at_client : {true, false}) {
        UniqueFd client = ask();
        EXPECT_EQ(answer_to(client), comm_channel::RelayAnswer::connected);
        UniqueFd served = accept(service);
        EXPECT_EQ(carry(client, served, bytes), bytes);
        EXPECT_EQ(carry(served, client, bytes), bytes);
        EXPECT_TRUE(has_connections(*host, 1) && has_connections(*dpu, 1));
        // What was sent before an end arrives.
        UniqueFd &ends = ends_at_client ? client : served, &stays = ends_at_client ? served : client;
        EXPECT_EQ(send(ends.get(), "last", 4, MSG_NOSIGNAL), 4);
        ends.reset();
        std::array<char, 5> last{};
        EXPECT_TRUE(drive([&] { return recv(stays.get(), last.data(), 4, MSG_DONTWAIT) == 4; }));
        EXPECT_STREQ(last.data(), "last");
        EXPECT_TRUE(has_ended(stays));
        EXPECT_TRUE(drive([&] { return has_connections(*host, 0) && has_connections(*dpu, 0); }));
    }
}

TEST_F(LinkRelays, ShowThatThereIsNoService)
{
    host = std::make_unique<Place>(Side::host, address, std::nullopt, folder + "/host");
    dpu->link().progress();
    {
        const UniqueFd early = ask();
        host->link().progress(); // connects, and serves the program before the other side has shown what it is
        host->link().progress();
        EXPECT_EQ(answer_to(early), comm_channel::RelayAnswer::not_found) << "the sides are not connected";
    }
    ASSERT_TRUE(drive([&] { return host->link().session() != 0 && dpu->link().session() != 0; }));
    EXPECT_EQ(answer_to(ask()), comm_channel::RelayAnswer::not_found);
    EXPECT_TRUE(listen_as_service().is_open()) << "and has gone";
    EXPECT_EQ(answer_to(ask()), comm_channel::RelayAnswer::not_found);
    EXPECT_TRUE(has_connections(*host, 0) && has_connections(*dpu, 0));
}

TEST_F(LinkRelays, HoldUpOnlyWhoDoesNotRead)
{
    connect();
    const UniqueFd service = listen_as_service();
    const UniqueFd client = ask();
    EXPECT_EQ(answer_to(client), comm_channel::RelayAnswer::connected);
    const UniqueFd served = accept(service);
    // As much as fits on the way.
    const std::vector<std::uint8_t> bytes(1 << 16, 'b');
    std::size_t sent = 0;
    unsigned idle = 0;
    EXPECT_TRUE(drive([&] {
        const ssize_t count = send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        sent += count > 0 ? static_cast<std::size_t>(count) : 0;
        idle = count > 0 ? 0 : idle + 1;
        return idle == 5;
    }));
    int buffer = 0;
    socklen_t size = sizeof(buffer);
    EXPECT_EQ(getsockopt(client.get(), SOL_SOCKET, SO_SNDBUF, &buffer, &size), 0);
    EXPECT_LT(sent, 2 * static_cast<std::size_t>(buffer) + 2 * link_connection_window);
    // Others are served.
    const UniqueFd other = ask();
    EXPECT_EQ(answer_to(other), comm_channel::RelayAnswer::connected);
    const UniqueFd other_served = accept(service);
    std::vector<std::uint8_t> more(1 << 20, 'm');
    EXPECT_EQ(carry(other, other_served, more), more);
    EXPECT_EQ(carry(other_served, other, more), more);
    std::vector<std::uint8_t> memory(4096);
    EXPECT_TRUE(open(*host->share(memory)));
    // It all arrives in the end.
    std::size_t got = 0;
    EXPECT_TRUE(drive([&] {
        std::array<std::uint8_t, 1 << 16> part;
        const ssize_t count = recv(served.get(), part.data(), part.size(), MSG_DONTWAIT);
        got += count > 0 ? static_cast<std::size_t>(count) : 0;
        return got == sent;
    }));
}

TEST_F(LinkRelays, CarryBytesWhileTheMemoryOfOthersIsRead)
{
    const UniqueFd service = listen_as_service();
    std::vector<std::uint8_t> memory(max_link_data, 'm');
    MemoryKey *const key = dpu->share(memory);
    const auto peer = connect_raw();
    peer->send(LinkType::connect, 1, key_of());
    const UniqueFd served = accept(service);
    constexpr std::uint16_t dpu_vhca = 5;
    std::uint64_t last = 2;
    peer->send(LinkType::open, last, LinkOpen{dpu_vhca, key->key >> 8, secret}.encode());
    std::vector<std::uint8_t> range(LinkRange::bytes);
    LinkRange{1, 0, reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(), 0, max_link_data}.encode(
        std::span(range).first<LinkRange::bytes>());
    // The window of requests is full all the time, and so is the socket of the link.
    const auto request = [&] { peer->send(LinkType::read, ++last, range); };
    for (std::size_t i = 0; i < link_window; ++i)
        request();
    std::size_t replies = 0, carried = 0;
    EXPECT_TRUE(drive([&] {
        const std::vector<std::uint8_t> part(1 << 12);
        static_cast<void>(!send(served.get(), part.data(), part.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
        peer->take([&](const LinkMessage &message) {
            if (message.type == LinkType::data) {
                ++replies;
                request();
            } else if (message.type == LinkType::bytes) {
                carried += message.body.size();
                peer->send(LinkType::credit, 1, number(static_cast<std::uint32_t>(message.body.size())));
            }
        });
        return carried > 2 * link_connection_window || replies > 100 * link_window;
    }));
    EXPECT_GT(carried, 2 * link_connection_window);
}

TEST_F(LinkRelays, ServeEachProgramInItsTurn)
{
    const auto peer = accept_raw();
    std::map<std::uint64_t, std::size_t> carried;
    const auto serve = [&] {
        peer->take([&](const LinkMessage &message) {
            if (message.type == LinkType::connect)
                peer->send(LinkType::connected, message.id, number(0));
            if (message.type != LinkType::bytes)
                return;
            carried[message.id] += message.body.size();
            peer->send(LinkType::credit, message.id, number(static_cast<std::uint32_t>(message.body.size())));
        });
    };
    constexpr std::size_t most = 40; // more than fill what may be unsent
    std::vector<UniqueFd> programs;
    while (programs.size() < most) {
        programs.push_back(ask());
        comm_channel::RelayAnswer answer{};
        EXPECT_TRUE(drive([&] {
            serve();
            return recv(programs.back().get(), &answer, sizeof(answer), MSG_DONTWAIT) > 0;
        }));
    }
    unsigned rounds = 0;
    const std::vector<std::uint8_t> bytes(link_connection_window);
    EXPECT_TRUE(drive([&] {
        for (const UniqueFd &program : programs)
            static_cast<void>(!send(program.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
        serve();
        return carried.size() == most || ++rounds == 1000;
    }));
    EXPECT_EQ(carried.size(), most) << "the others have sent all the time";
}

TEST_F(LinkRelays, AcceptProgramsLaterIfDescriptorsAreShort)
{
    connect();
    const UniqueFd service = listen_as_service();
    const UniqueFd program = ask();
    EXPECT_TRUE(waits_without_descriptors(*host));
    EXPECT_EQ(answer_to(program), comm_channel::RelayAnswer::connected);
}

TEST_F(LinkRelays, EndWithAServiceThatAChildKeepsOpen)
{
    connect();
    std::array<int, 2> ready{};
    ASSERT_EQ(pipe2(ready.data(), O_CLOEXEC), 0);
    const UniqueFd ready_end(ready[0]);
    UniqueFd child_end(ready[1]);
    const pid_t service = fork();
    if (service == 0) {
        alarm(120); // which its child does not inherit
        const UniqueFd listener = listen_as_service();
        const UniqueFd served(fcntl(listener.get(), F_SETFL, 0) == 0 ? accept4(listener.get(), nullptr, nullptr, 0)
                                                                     : -1);
        if (fork() == 0) {
            alarm(120);
            const pid_t own = getpid();
            static_cast<void>(!write(child_end.get(), &own, sizeof(own)));
            pause();
        }
        pause();
        _exit(0);
    }
    child_end.reset();
    std::optional<UniqueFd> client;
    EXPECT_TRUE(
        drive([&] { return access((folder + "/dpu/" + comm_channel::service_file_name(name)).c_str(), F_OK) == 0; }));
    EXPECT_TRUE(drive([&] {
        client = ask();
        return answer_to(*client) == comm_channel::RelayAnswer::connected;
    }));
    pid_t child = 0;
    ASSERT_EQ(read(ready_end.get(), &child, sizeof(child)), ssize_t{sizeof(child)});
    kill(service, SIGKILL);
    waitpid(service, nullptr, 0);
    EXPECT_TRUE(has_ended(*client));
    EXPECT_EQ(answer_to(ask()), comm_channel::RelayAnswer::not_found);
    kill(child, SIGKILL);
}

TEST_F(LinkRelays, DeliverWhatHasComeBeforeTheEndOfTheLink)
{
    const UniqueFd service = listen_as_service();
    for (const bool has_ended_before : {true, false}) {
        auto peer = connect_raw();
        peer->send(LinkType::connect, 1, key_of());
        const UniqueFd served = accept(service);
        const std::size_t sent = fill(*peer, 1);
        if (has_ended_before)
            peer->send(LinkType::end, 1, {});
        dpu->link().progress();
        EXPECT_TRUE(dpu->link().is_carrying(now_ns()));
        peer.reset();
        EXPECT_TRUE(drive([&] { return dpu->link().session() == 0; }));
        EXPECT_TRUE(has_connections(*dpu, 0));
        EXPECT_EQ(dpu->link().is_carrying(now_ns()), has_ended_before);
        std::size_t got = 0;
        ssize_t count = 0;
        EXPECT_TRUE(drive([&] {
            std::array<std::uint8_t, 1 << 16> part;
            while ((count = recv(served.get(), part.data(), part.size(), MSG_DONTWAIT)) > 0)
                got += static_cast<std::size_t>(count);
            return count == 0;
        }));
        EXPECT_EQ(got == sent, has_ended_before);
        EXPECT_FALSE(dpu->link().is_carrying(now_ns()));
    }
}

TEST_F(LinkRelays, TakeAPrivateDirectoryOnly)
{
    dpu.reset();
    const std::string services = folder + "/dpu";
    const auto start = [&](std::string &message) {
        Card card(*find_profile("bluefield-3"), Side::dpu);
        return Link(card, {*LinkAddress::parse(address, message), std::nullopt, std::nullopt, services}).start(message);
    };
    for (const mode_t mode : {0750, 0701, 0720}) {
        std::string message;
        EXPECT_EQ(chmod(services.c_str(), mode), 0);
        EXPECT_FALSE(start(message));
        EXPECT_NE(message.find(services + " is not a directory"), std::string::npos) << message;
    }
    std::string message;
    EXPECT_EQ(chmod(services.c_str(), 0700), 0);
    EXPECT_TRUE(start(message)) << message;
}

TEST_F(LinkRelays, EndWithTheLink)
{
    connect();
    const UniqueFd service = listen_as_service();
    const UniqueFd client = ask();
    EXPECT_EQ(answer_to(client), comm_channel::RelayAnswer::connected);
    const UniqueFd served = accept(service);
    host.reset();
    EXPECT_TRUE(has_ended(client));
    EXPECT_TRUE(has_ended(served));
    EXPECT_TRUE(has_connections(*dpu, 0));
}

TEST_F(LinkRelays, HaveALimitedNumberOfConnections)
{
    connect();
    const UniqueFd service = listen_as_service();
    std::vector<UniqueFd> programs;
    for (std::size_t i = 0; i < max_link_connections; ++i) {
        programs.push_back(ask());
        EXPECT_EQ(answer_to(programs.back()), comm_channel::RelayAnswer::connected) << i;
    }
    // A program that is slow to ask gets its answer as well.
    const UniqueFd slow = unix_socket(folder + "/host/" + comm_channel::relay_name, false);
    EXPECT_EQ(answer_to(ask()), comm_channel::RelayAnswer::full);
    EXPECT_EQ(send(slow.get(), &name, sizeof(name), MSG_NOSIGNAL), ssize_t{sizeof(name)});
    EXPECT_EQ(answer_to(slow), comm_channel::RelayAnswer::full);
    programs.pop_back();
    EXPECT_TRUE(drive([&] { return recv(accept(service).get(), nullptr, 0, MSG_DONTWAIT) <= 0; }));
    programs.clear();
    EXPECT_TRUE(drive([&] { return has_connections(*host, 0); }));
    // A program of which nothing comes is not there for long.
    const UniqueFd silent = unix_socket(folder + "/host/" + comm_channel::relay_name, false);
    EXPECT_TRUE(has_ended(silent));
}

TEST_F(LinkRelays, RefuseMoreThanThatFromTheOtherSide)
{
    const UniqueFd service = listen_as_service();
    const auto peer = connect_raw();
    peer->read();
    for (std::uint64_t i = 1; i <= max_link_connections + 1; ++i) {
        peer->send(LinkType::connect, i, key_of());
        dpu->link().progress();
    }
    std::vector<std::uint8_t> replies;
    constexpr std::size_t reply_bytes = link_header_bytes + link_status_bytes;
    EXPECT_TRUE(drive([&] {
        const auto more = peer->read();
        replies.insert(replies.end(), more.begin(), more.end());
        return replies.size() >= (max_link_connections + 1) * reply_bytes;
    }));
    EXPECT_EQ(be32(&replies[(max_link_connections - 1) * reply_bytes + link_header_bytes]), 0u);
    EXPECT_EQ(be32(&replies[max_link_connections * reply_bytes + link_header_bytes]),
              static_cast<std::uint32_t>(LinkStatus::full));
}

TEST_F(LinkRelays, EndTheLinkWithAMalformedMessageOfTheHost)
{
    const UniqueFd service = listen_as_service();
    using Body = std::vector<std::uint8_t>;
    struct Case {
        LinkType type;
        std::uint64_t id; ///< 1 is connected, 2 has ended at that side, 3 is not there
        Body body;
    };
    const std::vector<Case> cases = {{LinkType::connect, 3, Body(15)},
                                     {LinkType::connect, 3, Body(17)},
                                     {LinkType::connect, 0, key_of()},
                                     {LinkType::connect, 1, key_of()},
                                     {LinkType::connect, 2, key_of()},
                                     {LinkType::connected, 1, number(0)},
                                     {LinkType::connected, 3, number(0)},
                                     {LinkType::bytes, 1, {}},
                                     {LinkType::bytes, 1, Body(link_connection_window + 1)},
                                     {LinkType::bytes, 2, Body(1)},
                                     {LinkType::bytes, 3, Body(1)},
                                     {LinkType::credit, 1, number(1)},
                                     {LinkType::credit, 1, number(0)},
                                     {LinkType::credit, 1, {}},
                                     {LinkType::credit, 2, number(1)},
                                     {LinkType::credit, 3, number(1)},
                                     {LinkType::end, 1, Body(1)},
                                     {LinkType::end, 2, {}},
                                     {LinkType::end, 3, {}}};
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto peer = connect_raw();
        peer->send(LinkType::connect, 1, key_of());
        peer->send(LinkType::connect, 2, key_of());
        const UniqueFd first = accept(service), second = accept(service);
        // The second has more to read than it takes, so that it is still there after its end.
        fill(*peer, 2);
        peer->send(LinkType::end, 2, {});
        dpu->link().progress();
        EXPECT_NE(dpu->link().session(), 0u) << i;
        peer->send(cases[i].type, cases[i].id, cases[i].body);
        EXPECT_TRUE(is_ended(*peer)) << i;
        EXPECT_EQ(dpu->link().session(), 0u) << i;
        EXPECT_TRUE(has_ended(first)) << i;
    }
    connect();
}

TEST_F(LinkRelays, EndTheLinkWithMoreRequestsThanConnections)
{
    for (const std::size_t count : {max_link_connections, max_link_connections + 1}) {
        const auto peer = connect_raw();
        std::vector<std::uint8_t> all;
        for (std::uint64_t id = 1; id <= count; ++id) {
            const auto one = RawPeer::message(static_cast<std::uint8_t>(LinkType::connect), id, key_of());
            all.insert(all.end(), one.begin(), one.end());
        }
        peer->send(all); // which arrives as a whole
        std::size_t replies = 0;
        EXPECT_TRUE(drive([&] {
            peer->take([&](const LinkMessage &message) { replies += message.type == LinkType::connected; });
            return peer->is_closed || replies == count;
        }));
        EXPECT_EQ(peer->is_closed, count > max_link_connections);
    }
}

TEST_F(LinkRelays, EndTheLinkWithMoreBytesThanTheWindow)
{
    const UniqueFd service = listen_as_service();
    const auto peer = connect_raw();
    peer->send(LinkType::connect, 1, key_of());
    const UniqueFd served = accept(service); // which reads nothing
    const int small = 1;
    EXPECT_EQ(setsockopt(served.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
    const std::vector<std::uint8_t> part(1 << 12);
    std::size_t sent = 0;
    EXPECT_TRUE(drive([&] {
        for (unsigned i = 0; i < 4 && dpu->link().session() != 0; ++i, sent += part.size())
            peer->send(LinkType::bytes, 1, part);
        peer->read();
        return peer->is_closed;
    }));
    EXPECT_GT(sent, link_connection_window);
    EXPECT_LT(sent, std::size_t{2} << 20);
}

TEST_F(LinkRelays, EndTheLinkWithAMalformedMessageOfTheDpu)
{
    using Body = std::vector<std::uint8_t>;
    struct Case {
        LinkType type;
        std::uint64_t id; ///< 1 has asked
        Body body;
    };
    for (const Case &one : std::vector<Case>{{LinkType::connect, 2, key_of()},
                                             {LinkType::connected, 2, number(0)},
                                             {LinkType::connected, 1, Body(3)},
                                             {LinkType::connected, 1, Body(5)},
                                             {LinkType::bytes, 1, Body(1)},
                                             {LinkType::credit, 1, number(1)},
                                             {LinkType::end, 1, {}}}) {
        const auto peer = accept_raw();
        const UniqueFd program = ask();
        std::vector<std::uint8_t> asked;
        EXPECT_TRUE(drive([&] {
            const auto more = peer->read();
            asked.insert(asked.end(), more.begin(), more.end());
            return asked.size() >= link_header_bytes + link_key_bytes;
        }));
        EXPECT_EQ(be64(&asked[8]), 1u);
        peer->send(one.type, one.id, one.body);
        EXPECT_TRUE(is_ended(*peer)) << static_cast<unsigned>(one.type);
        EXPECT_TRUE(has_ended(program));
        host.reset();
        std::filesystem::remove_all(folder + "/host");
    }
}

TEST_F(LinkRelays, EndTheLinkWithADpuThatDoesNotReply)
{
    const auto peer = accept_raw();
    const UniqueFd program = ask();
    testing::internal::CaptureStderr();
    EXPECT_TRUE(drive([&] {
        if (!peer->read().empty())
            peer->send(LinkType::pong, 0, {});
        return peer->is_closed;
    }));
    EXPECT_NE(testing::internal::GetCapturedStderr().find("answered no request for 10 s"), std::string::npos);
    EXPECT_TRUE(has_ended(program));
}

TEST_F(LinkRelays, KeepTheLinkWithADpuThatHasMuchToReplyToBefore)
{
    const auto peer = accept_raw();
    const UniqueFd program = ask();
    // Longer than a reply may take, if there is no other.
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(11'500);
    EXPECT_TRUE(drive([&] {
        static_cast<void>(host->link().requester().open(*host->file, {host_vhca, 1, secret}));
        peer->take([&](const LinkMessage &message) {
            std::vector<std::uint8_t> refused(link_opened_bytes);
            store_big(&refused[0], static_cast<std::uint32_t>(LinkStatus::refused));
            if (message.type == LinkType::open)
                peer->send(LinkType::opened, message.id, refused);
        });
        return peer->is_closed || std::chrono::steady_clock::now() > end;
    }));
    EXPECT_FALSE(peer->is_closed);
    EXPECT_EQ(host->link().session(), 1u);
    peer->send(LinkType::connected, 1, number(static_cast<std::uint32_t>(LinkStatus::full)));
    EXPECT_EQ(answer_to(program), comm_channel::RelayAnswer::full);
}

TEST_F(LinkRelays, SurviveRandomMessages)
{
    const UniqueFd service = listen_as_service();
    std::mt19937 generator(3); // NOLINT: the same in each run
    const auto random = [&](std::uint32_t below) { return static_cast<std::uint32_t>(generator() % below); };
    std::unique_ptr<RawPeer> peer;
    std::vector<UniqueFd> programs;
    std::size_t arrived = 0;
    for (unsigned round = 0; round < 20'000; ++round) {
        if (peer == nullptr || peer->is_closed) {
            peer.reset();
            EXPECT_TRUE(drive([&] { return dpu->link().session() == 0; }));
            EXPECT_TRUE(has_connections(*dpu, 0));
            peer = connect_raw();
        }
        constexpr LinkType types[] = {LinkType::connect, LinkType::bytes,  LinkType::bytes,    LinkType::bytes,
                                      LinkType::end,     LinkType::credit, LinkType::connected};
        const LinkType type = types[random(random(20) == 0 ? std::uint32_t{std::size(types)} : 4)];
        std::vector<std::uint8_t> body = type == LinkType::connect ? key_of()
                                         : type == LinkType::bytes ? std::vector<std::uint8_t>(1 + random(5000))
                                                                   : number(random(3));
        if (type == LinkType::end || random(500) == 0)
            body.resize(random(random(50) == 0 ? 100 : 1));
        // Numbers rise, so that most connections are new and most other messages are of one that is there.
        peer->send(type, type == LinkType::connect ? round : round - random(3), body);
        dpu->link().progress();
        peer->read();
        if (UniqueFd one(accept4(service.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)); one.is_open())
            programs.push_back(std::move(one));
        for (const UniqueFd &program : programs) {
            std::array<std::uint8_t, 4096> part;
            if (random(2) == 0) {
                const ssize_t got = recv(program.get(), part.data(), part.size(), MSG_DONTWAIT);
                arrived += got > 0 ? static_cast<std::size_t>(got) : 0;
                static_cast<void>(!send(program.get(), part.data(), 100, MSG_NOSIGNAL | MSG_DONTWAIT));
            }
        }
        if (programs.size() > 20 || random(50) == 0)
            programs.clear();
    }
    EXPECT_GT(arrived, 0u) << "some are right";
    peer.reset();
    EXPECT_TRUE(drive([&] { return dpu->link().session() == 0; }));
    connect();
}

/// The same by TLS.
class LinkEndsByTls : public LinkEnds {
protected:
    LinkEndsByTls()
    {
        std::signal(SIGPIPE, SIG_IGN); // as the card's server does
        dpu.reset();
        address = "tls:127.0.0.1:" + std::to_string(free_port());
        dpu = std::make_unique<Place>(Side::dpu, address, key_of('k'));
    }
    static LinkKey key_of(std::uint8_t byte)
    {
        LinkKey key;
        key.secret.fill(byte);
        return key;
    }
    static std::uint16_t free_port()
    {
        const UniqueFd any(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(name);
        EXPECT_EQ(bind(any.get(), reinterpret_cast<const sockaddr *>(&name), size), 0);
        EXPECT_EQ(getsockname(any.get(), reinterpret_cast<sockaddr *>(&name), &size), 0);
        return ntohs(name.sin_port);
    }
    /// A peer that sends nothing.
    [[nodiscard]] UniqueFd connect_as_stranger() const
    {
        UniqueFd stranger(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        name.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
        EXPECT_EQ(::connect(stranger.get(), reinterpret_cast<const sockaddr *>(&name), sizeof(name)), 0);
        return stranger;
    }
    static bool has_refused(Place &place)
    {
        return place.link().describe().find("link-refused 0") == std::string::npos;
    }
};

TEST_F(LinkEndsByTls, MoveBytes)
{
    host = std::make_unique<Place>(Side::host, address, key_of('k'));
    ASSERT_TRUE(drive([&] { return host->link().session() != 0 && dpu->link().session() != 0; }));
    std::vector<std::uint8_t> memory(7 << 20);
    std::iota(memory.begin(), memory.end(), std::uint8_t{1});
    const auto alias = open(*host->share(memory));
    ASSERT_TRUE(alias);
    const auto read = operation_of(memory.size());
    EXPECT_EQ(transfer(LinkType::read, read, segment_of(memory, *alias, 0), 0), Access::done);
    EXPECT_EQ(read->bytes, memory);
    EXPECT_EQ(
        transfer(LinkType::write, operation_of(memory.size(), 'w'), segment_of(memory, *alias, right::local_write), 0),
        Access::done);
    EXPECT_TRUE(std::ranges::all_of(memory, [](auto byte) { return byte == 'w'; }));
    host.reset();
    EXPECT_TRUE(drive([&] { return dpu->link().session() == 0; }));
}

TEST_F(LinkEndsByTls, RefuseASideWithAnotherKey)
{
    host = std::make_unique<Place>(Side::host, address, key_of('x'));
    EXPECT_TRUE(drive([&] { return has_refused(*host) && has_refused(*dpu); }));
    EXPECT_EQ(host->link().session(), 0u);
    EXPECT_EQ(dpu->link().session(), 0u);
    host = std::make_unique<Place>(Side::host, address, key_of('k'));
    EXPECT_TRUE(drive([&] { return dpu->link().session() != 0; }));
}

TEST_F(LinkEndsByTls, GiveAStrangerASecondOnly)
{
    const UniqueFd stranger = connect_as_stranger();
    testing::internal::CaptureStderr();
    EXPECT_TRUE(drive([&] { return has_refused(*dpu); }));
    EXPECT_NE(testing::internal::GetCapturedStderr().find("not introduced itself within 1 s"), std::string::npos);
}

TEST_F(LinkEndsByTls, TakeTheOtherSideWhileStrangersKeepConnectionsOpen)
{
    constexpr unsigned most = 64;
    std::vector<UniqueFd> strangers;
    const auto refused = [&] {
        const std::string state = dpu->link().describe();
        return std::stoul(state.substr(state.find("link-refused ") + std::strlen("link-refused ")));
    };
    while (strangers.size() < most) {
        strangers.push_back(connect_as_stranger());
        dpu->link().progress();
    }
    EXPECT_EQ(refused(), 0u);
    host = std::make_unique<Place>(Side::host, address, key_of('k'));
    ASSERT_TRUE(drive([&] { return host->link().session() != 0 && dpu->link().session() != 0; }));
    EXPECT_GE(refused(), 1u) << "the oldest one has given way";
    // All of them are gone.
    for (const UniqueFd &stranger : strangers) {
        char byte = 0;
        EXPECT_LE(recv(stranger.get(), &byte, sizeof(byte), 0), 0);
    }
}

TEST_F(LinkEndsByTls, RefuseASideWithoutTls)
{
    const std::string plain = "tcp" + address.substr(3);
    host = std::make_unique<Place>(Side::host, plain);
    EXPECT_TRUE(drive([&] { return has_refused(*host) && has_refused(*dpu); }));
    EXPECT_EQ(host->link().session(), 0u);
    EXPECT_EQ(dpu->link().session(), 0u);
}

TEST_F(LinkEnds, TakeKeysOfPrivateFilesOnly)
{
    const std::string file = folder + "/key";
    const auto write = [&](std::size_t bytes, mode_t mode) {
        unlink(file.c_str());
        std::FILE *out = std::fopen(file.c_str(), "w");
        std::fputs(std::string(bytes, 'k').c_str(), out);
        std::fclose(out);
        EXPECT_EQ(chmod(file.c_str(), mode), 0);
    };
    std::string message;
    write(16, 0600);
    const auto key = LinkKey::read(file, message);
    ASSERT_TRUE(key) << message;
    write(17, 0600);
    const auto other = LinkKey::read(file, message);
    ASSERT_TRUE(other) << message;
    EXPECT_NE(key->secret, other->secret);
    EXPECT_NE(key->name, other->name);
    for (const auto &[bytes, mode] :
         {std::pair(15u, 0600u), {4097u, 0600u}, {16u, 0640u}, {16u, 0604u}, {16u, 0620u}}) {
        write(bytes, mode);
        EXPECT_FALSE(LinkKey::read(file, message)) << bytes << " bytes, mode " << mode;
        EXPECT_NE(message.find(file), std::string::npos);
    }
    unlink(file.c_str());
    EXPECT_FALSE(LinkKey::read(file, message));
    EXPECT_FALSE(LinkKey::read(folder, message));
}

TEST(LinkAddresses, AreReadAndShown)
{
    std::string message;
    for (const char *text : {"unix:/run/card/link", "tcp:127.0.0.1:4000", "tcp:[::1]:4000", "tls:192.0.2.1:4000",
                             "tls:[2001:db8::1]:4000"}) {
        const auto address = LinkAddress::parse(text, message);
        ASSERT_TRUE(address) << message;
        EXPECT_EQ(address->text(), text);
    }
    EXPECT_EQ(LinkAddress::parse("unix:/run/card/link", message)->common_name(), "link");
    EXPECT_EQ(LinkAddress::parse("tcp:127.0.0.1:4000", message)->common_name(), "4000");
    for (const std::string &text :
         {std::string("unix:link"), std::string("unix:/"), std::string("unix:/a b"), "unix:/" + std::string(107, 'x'),
          std::string("tcp:127.0.0.1"), std::string("tcp:192.0.2.1:4000"), std::string("tcp:localhost:4000"),
          std::string("tcp::4000"), std::string("tcp:127.0.0.1:0"), std::string("tcp:127.0.0.1:"), std::string("")})
        EXPECT_FALSE(LinkAddress::parse(text, message)) << text;
}

TEST_F(LinkEnds, LeaveAFileOrASocketInUseAlone)
{
    std::string message;
    const auto same = LinkAddress::parse(address, message);
    EXPECT_FALSE(listen_for_link(*same, false, message).is_open()) << "a card listens";
    EXPECT_NE(message.find("in use"), std::string::npos) << message;
    const std::string file = folder + "/file";
    fclose(fopen(file.c_str(), "w"));
    EXPECT_FALSE(listen_for_link(*LinkAddress::parse("unix:" + file, message), false, message).is_open());
    EXPECT_EQ(access(file.c_str(), F_OK), 0);
    unlink(file.c_str());
    struct stat state {};
    EXPECT_EQ(stat(path.c_str(), &state), 0);
    EXPECT_EQ(state.st_mode & 0777u, 0600u);
}

} // namespace
} // namespace opendoca::card
