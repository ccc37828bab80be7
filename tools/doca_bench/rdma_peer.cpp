// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_peer.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.hpp"

namespace opendoca::tools {

namespace {

enum class Command : std::uint32_t { begin, end, serve, fill, look, word };

[[noreturn]] void fail(const char *what)
{
    throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

template <typename Message>
void send_message(int fd, const Message &message)
{
    if (::send(fd, &message, sizeof(message), MSG_NOSIGNAL) != sizeof(message))
        fail("talking to the other process");
}

/// False when the other end has gone.
template <typename Message>
bool receive_message(int fd, Message &message)
{
    ssize_t size = 0;
    while ((size = recv(fd, &message, sizeof(message), 0)) < 0 && errno == EINTR) {
    }
    return size == sizeof(message);
}

std::byte pattern_at(std::size_t i, std::uint32_t seed)
{
    return static_cast<std::byte>((i * 131 + (i >> 8) * 29 + seed * 17 + 5) & 0xff);
}

void run_loop(RdmaSession &session, const RdmaCase &what, std::size_t count)
{
    if (what.op == RdmaOp::write)
        session.pong_by_write(count);
    else if (what.test == RdmaTest::latency)
        session.pong_by_send(count);
    else
        session.receive(count);
}

} // namespace

struct RdmaPeer::Page {
    std::atomic<std::uint32_t> serving; ///< the number of the loop that runs
};

struct RdmaPeer::Request {
    Command command;
    RdmaCase what;
    std::size_t count;
    std::uint32_t seed;
    Place place;
    char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
    RdmaDetails details;
};

struct RdmaPeer::Reply {
    std::uint64_t value;
    RdmaDetails details;
    char problem[200]; ///< empty on success
};

void fill_pattern(std::span<std::byte> bytes, std::uint32_t seed)
{
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = pattern_at(i, seed);
}

bool is_pattern(std::span<const std::byte> bytes, std::uint32_t seed)
{
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] != pattern_at(i, seed))
            return false;
    }
    return true;
}

RdmaPeer::RdmaPeer(int cpu)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        fail("socketpair");
    channel_ = UniqueFd(ends[0]);
    const UniqueFd other_end(ends[1]);
    void *const page = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        fail("mmap");
    page_ = static_cast<Page *>(page);

    const pid_t parent = getpid();
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ < 0)
        fail("fork");
    if (pid_ != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    channel_ = UniqueFd();
    if (getppid() != parent)
        _exit(0);
    try {
        if (cpu >= 0)
            pin_to(cpu);
        run(other_end.get(), *page_);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "doca_bench: the other process: %s\n", error.what());
        _exit(1);
    }
    _exit(0);
}

RdmaPeer::~RdmaPeer()
{
    channel_ = UniqueFd(); // which it waits for
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    munmap(page_, sizeof(Page));
}

void RdmaPeer::run(int channel, Page &page)
{
    std::unique_ptr<RdmaSession> session;
    RdmaCase what{};
    Request request;
    while (receive_message(channel, request)) {
        Reply reply{};
        try {
            switch (request.command) {
            case Command::begin:
                what = request.what;
                session = std::make_unique<RdmaSession>(request.ibdev, what);
                reply.details = session->details();
                session->connect(request.details);
                session->post_receives();
                break;
            case Command::end:
                session.reset();
                break;
            case Command::serve:
                // Pairs with the acquire in serve(): the other side may begin.
                page.serving.fetch_add(1, std::memory_order_release);
                run_loop(*session, what, request.count);
                break;
            case Command::fill:
                fill_pattern({session->exposed(), what.size}, request.seed);
                break;
            case Command::look: {
                const std::byte *const place =
                    request.place == Place::exposed ? session->exposed() : session->destination();
                reply.value = is_pattern({place, what.size}, request.seed) ? 1 : 0;
                break;
            }
            case Command::word:
                std::memcpy(&reply.value, session->exposed(), sizeof(reply.value));
                break;
            }
        } catch (const std::exception &error) {
            std::snprintf(reply.problem, sizeof(reply.problem), "%s", error.what());
        }
        send_message(channel, reply);
    }
}

void RdmaPeer::tell(const Request &request)
{
    send_message(channel_.get(), request);
}

RdmaPeer::Reply RdmaPeer::await_reply()
{
    Reply reply;
    if (!receive_message(channel_.get(), reply))
        throw std::runtime_error("the other process has gone");
    if (reply.problem[0] != '\0')
        throw std::runtime_error(std::string("the other process: ") + reply.problem);
    return reply;
}

RdmaPeer::Reply RdmaPeer::ask(const Request &request)
{
    tell(request);
    return await_reply();
}

RdmaDetails RdmaPeer::begin(const std::string &ibdev, const RdmaCase &what, const RdmaDetails &own)
{
    Request request{};
    request.command = Command::begin;
    request.what = what;
    request.details = own;
    ibdev.copy(request.ibdev, sizeof(request.ibdev) - 1);
    return ask(request).details;
}

void RdmaPeer::end()
{
    Request request{};
    request.command = Command::end;
    ask(request);
}

void RdmaPeer::serve(std::size_t count)
{
    Request request{};
    request.command = Command::serve;
    request.count = count;
    tell(request);
    ++num_served_;
    const double start = seconds_now();
    while (page_->serving.load(std::memory_order_acquire) != num_served_) {
        if (seconds_now() - start > 20)
            throw std::runtime_error("the other process does not answer");
    }
}

void RdmaPeer::finish_serving()
{
    (void)await_reply();
}

void RdmaPeer::fill(std::uint32_t seed)
{
    Request request{};
    request.command = Command::fill;
    request.seed = seed;
    ask(request);
}

bool RdmaPeer::holds(Place place, std::uint32_t seed)
{
    Request request{};
    request.command = Command::look;
    request.place = place;
    request.seed = seed;
    return ask(request).value != 0;
}

std::uint64_t RdmaPeer::word()
{
    Request request{};
    request.command = Command::word;
    return ask(request).value;
}

} // namespace opendoca::tools
