// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: a client of Comm Channel that says anything: at first, and in the memory that it shares with
// the service. The first 40 bytes of an input are what is changed of a right hello; the rest, what is changed
// in the memory.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <doca_comm_channel.h>
#include <doca_dev.h>

#include "../../src/comm_channel/wire.hpp"
#include "target.hpp"

namespace {

using opendoca::comm_channel::Hello;
using opendoca::comm_channel::Welcome;

class Service {
public:
    Service()
    {
        char folder[] = "/tmp/opendoca-fuzz-XXXXXX";
        require(mkdtemp(folder) != nullptr, "there is a folder");
        folder_ = folder;
        setenv("XDG_RUNTIME_DIR", folder, 1);
        doca_devinfo **list = nullptr;
        std::uint32_t size = 0;
        must(doca_devinfo_list_create(&list, &size));
        must(doca_dev_open(list[0], &dev_)); // p0
        must(doca_devinfo_list_destroy(list));
        doca_devinfo_rep **reps = nullptr;
        must(doca_devinfo_rep_list_create(dev_, DOCA_DEV_REP_FILTER_ALL, &reps, &size));
        must(doca_dev_rep_open(reps[0], &rep_));
        must(doca_devinfo_rep_list_destroy(reps));
        must(doca_comm_channel_ep_create(&ep_));
        must(doca_comm_channel_ep_set_device(ep_, dev_));
        must(doca_comm_channel_ep_set_device_rep(ep_, rep_));
        must(doca_comm_channel_ep_set_max_msg_size(ep_, 256));
        must(doca_comm_channel_ep_set_recv_queue_size(ep_, 8));
        must(doca_comm_channel_ep_set_send_queue_size(ep_, 8));
        must(doca_comm_channel_ep_listen(ep_, "fuzz"));
        for (const auto &entry : std::filesystem::directory_iterator(folder_ / "opendoca")) {
            if (entry.is_socket())
                socket_ = entry.path();
        }
        const std::string digits = socket_.filename().string().substr(3);
        hello_.magic = opendoca::comm_channel::wire_magic;
        hello_.version = opendoca::comm_channel::wire_version;
        hello_.service = {std::stoull(digits.substr(0, 16), nullptr, 16), std::stoull(digits.substr(16), nullptr, 16)};
        hello_.limits = {256, 8, 8};
    }
    Service(const Service &) = delete;
    Service &operator=(const Service &) = delete;
    ~Service()
    {
        must(doca_comm_channel_ep_destroy(ep_));
        must(doca_dev_rep_close(rep_));
        must(doca_dev_close(dev_));
        std::filesystem::remove_all(folder_);
    }

    void meet(Input input)
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socket_.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
        const int client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        require(connect(client, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0, "it listens");
        std::vector<std::byte> hello =
            changed(std::as_bytes(std::span(&hello_, 1)), input.first(std::min(input.size(), sizeof(hello_))));
        // How much of it is sent: of most inputs all.
        const std::size_t cut =
            input.size() > 41 && input[40] == std::byte{0xff} ? std::to_integer<std::size_t>(input[41]) : 0;
        require(send(client, hello.data(), hello.size() - cut % hello.size(), MSG_NOSIGNAL) > 0, "it can be told");
        poll();
        damage(client, input.subspan(std::min(input.size(), sizeof(hello_))));
        poll();
        (void)send(client, "x", 1, MSG_NOSIGNAL);
        poll();
        close(client);
        require(is_alone_soon(), "who has gone is gone");
        // Its address stays until then. Kept, each would make libFuzzer look for leaks after each input.
        if (doca_comm_channel_addr_t *const gone = std::exchange(client_, nullptr); gone != nullptr)
            (void)doca_comm_channel_ep_disconnect(ep_, gone);
    }

private:
    /// Receives, and answers.
    void poll()
    {
        for (int i = 0; i < 12; ++i) {
            char text[256];
            std::size_t length = sizeof(text);
            doca_comm_channel_addr_t *peer = nullptr;
            const doca_error_t status = doca_comm_channel_ep_recvfrom(ep_, text, &length, DOCA_CC_MSG_FLAG_NONE, &peer);
            if (status == DOCA_ERROR_AGAIN)
                return;
            if (status != DOCA_SUCCESS)
                continue;
            require(length <= sizeof(text), "a message fits");
            require(client_ == nullptr || client_ == peer, "there is one client");
            client_ = peer;
            (void)doca_comm_channel_ep_sendto(ep_, text, std::max<std::size_t>(length, 1), DOCA_CC_MSG_FLAG_NONE, peer);
        }
    }

    /// Nobody is connected. Somebody who looks into /proc/PID/fd, as an importer does, holds a file for that moment,
    /// and if its process closes it just then, the socket's end comes a little later.
    bool is_alone_soon()
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        do {
            poll();
            std::uint32_t count = 1;
            doca_comm_channel_addr_t **peers = nullptr;
            must(doca_comm_channel_ep_update_service_state_info(ep_));
            must(doca_comm_channel_ep_get_peer_addr_list(ep_, &peers, &count));
            if (count == 0)
                return true;
        } while (std::chrono::steady_clock::now() < end);
        return false;
    }

    static void damage(int client, Input input)
    {
        Welcome welcome{};
        iovec part = {&welcome, sizeof(welcome)};
        alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        if (recvmsg(client, &message, MSG_CMSG_CLOEXEC) <= 0 || CMSG_FIRSTHDR(&message) == nullptr)
            return;
        int files[2];
        std::memcpy(files, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(files));
        struct stat info {};
        require(fstat(files[0], &info) == 0, "the memory is there");
        const auto size = static_cast<std::size_t>(info.st_size);
        auto *const memory =
            static_cast<std::byte *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, files[0], 0));
        require(memory != MAP_FAILED, "it can be mapped");
        close(files[0]);
        close(files[1]);
        // Pairs of a place, of which the first ones are the most interesting, and a value.
        for (std::size_t i = 0; i + 2 < input.size(); i += 3) {
            const std::size_t at = std::to_integer<std::size_t>(input[i]) * (input[i + 1] == std::byte{} ? 8 : 4);
            if (at < size)
                memory[at] ^= input[i + 2];
        }
        munmap(memory, size);
    }

    std::filesystem::path folder_, socket_;
    doca_dev *dev_ = nullptr;
    doca_dev_rep *rep_ = nullptr;
    doca_comm_channel_ep_t *ep_ = nullptr;
    doca_comm_channel_addr_t *client_ = nullptr; ///< once it has sent a message
    Hello hello_{};
};

} // namespace

void test_input(Input input)
{
    static Service service;
    service.meet(input);
}
