// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: whoever reaches the port of an RDMA server where our own connector takes the place of rdma_cm. An
// input's first byte says in which pieces the client speaks and what the server's program answers; the others are what
// is changed of a right request, and what follows it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "target.hpp"

namespace {

enum class Answer { accept, reject, none };
Answer answer = Answer::none;

void requested(doca_rdma_connection *connection, doca_data)
{
    if (answer == Answer::accept) {
        const doca_error_t status = doca_rdma_connection_accept(connection, nullptr, 0);
        require(status == DOCA_SUCCESS || status == DOCA_ERROR_CONNECTION_ABORTED,
                "a request is accepted, or can't be");
    } else if (answer == Answer::reject) {
        must(doca_rdma_connection_reject(connection));
    }
}
void told(doca_rdma_connection *, doca_data, doca_data) {}

doca_dev *open_device()
{
    set_up();
    doca_devinfo **list = nullptr;
    std::uint32_t size = 0;
    doca_dev *dev = nullptr;
    must(doca_devinfo_create_list(&list, &size));
    for (std::uint32_t i = 0; i != size && dev == nullptr; ++i) {
        if (doca_rdma_cap_task_send_is_supported(list[i]) == DOCA_SUCCESS)
            must(doca_dev_open(list[i], &dev));
    }
    must(doca_devinfo_destroy_list(list));
    require(dev != nullptr, "there is a device");
    return dev;
}

/// A server, and an instance whose connections a right client would ask for.
class Side {
public:
    Side()
    {
        must(doca_pe_create(&pe_));
        for (doca_rdma **const rdma : {&server_, &client_}) {
            must(doca_rdma_create(dev_, rdma));
            must(doca_rdma_set_connection_state_callbacks(*rdma, requested, told, told, told));
            must(doca_pe_connect_ctx(pe_, doca_rdma_as_ctx(*rdma)));
            must(doca_ctx_start(doca_rdma_as_ctx(*rdma)));
        }
        port_ = static_cast<std::uint16_t>(28'200 + getpid() % 500);
        while (doca_rdma_start_listen_to_port(server_, port_) != DOCA_SUCCESS)
            port_ = static_cast<std::uint16_t>(port_ < 28'699 ? port_ + 1 : 28'200);
    }
    Side(const Side &) = delete;
    Side &operator=(const Side &) = delete;
    ~Side()
    {
        for (doca_rdma *const rdma : {server_, client_}) {
            (void)doca_ctx_stop(doca_rdma_as_ctx(rdma));
            for (doca_ctx_states state{}; state != DOCA_CTX_STATE_IDLE;
                 must(doca_ctx_get_state(doca_rdma_as_ctx(rdma), &state)))
                (void)doca_pe_progress(pe_);
            must(doca_rdma_destroy(rdma));
        }
        must(doca_pe_destroy(pe_));
    }

    [[nodiscard]] std::vector<std::byte> request()
    {
        const void *details = nullptr;
        std::size_t size = 0;
        doca_rdma_connection *connection = nullptr;
        must(doca_rdma_export(client_, &details, &size, &connection));
        std::vector<std::byte> bytes(8 + size);
        std::memcpy(bytes.data(), "ODR1\1", 5);
        const std::uint16_t length = htons(static_cast<std::uint16_t>(size));
        std::memcpy(&bytes[6], &length, sizeof(length));
        std::memcpy(&bytes[8], details, size);
        return bytes;
    }
    void hear(Input bytes, std::size_t piece)
    {
        const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_port = htons(port_);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        require(connect(socket, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0,
                "the server listens");
        const linger at_once = {.l_onoff = 1, .l_linger = 0}; // else the port would be kept for a minute
        (void)setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        while (!bytes.empty()) {
            const Input some = bytes.first(std::min(piece, bytes.size()));
            (void)!send(socket, some.data(), some.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            bytes = bytes.subspan(some.size());
            progress();
        }
        progress();
        close(socket);
        progress();
        doca_ctx_states state{};
        must(doca_ctx_get_state(doca_rdma_as_ctx(server_), &state));
        require(state == DOCA_CTX_STATE_RUNNING, "the server goes on");
    }

private:
    /// As often as it takes to look at the socket.
    void progress()
    {
        for (int i = 0; i != 150; ++i)
            (void)doca_pe_progress(pe_);
    }

    static inline doca_dev *const dev_ = open_device();
    doca_pe *pe_ = nullptr;
    doca_rdma *server_ = nullptr, *client_ = nullptr;
    std::uint16_t port_ = 0;
};

} // namespace

void test_input(Input input)
{
    constexpr unsigned inputs_of_a_server = 200; // whose ended connections stay until it stops
    static std::unique_ptr<Side> side;
    static unsigned count = 0;
    if (count++ % inputs_of_a_server == 0) {
        side.reset();
        side = std::make_unique<Side>();
    }
    const auto first = input.empty() ? 0U : std::to_integer<unsigned>(input.front());
    constexpr std::array<std::size_t, 4> pieces = {4096, 64, 9, 3};
    answer = static_cast<Answer>(first % 3);
    side->hear(changed(side->request(), input.subspan(input.empty() ? 0 : 1)), pieces[first / 3 % pieces.size()]);
}
