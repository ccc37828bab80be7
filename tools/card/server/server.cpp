// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <rdma/mlx5-abi.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "command.hpp"
#include "connection_manager.hpp"
#include "control.hpp"
#include "device_events.hpp"
#include "devlink.hpp"
#include "engine.hpp"
#include "limits.hpp"
#include "link.hpp"
#include "message.hpp"
#include "rdma_netlink.hpp"
#include "roce_network.hpp"

namespace opendoca::card {

namespace {

constexpr std::uint64_t spin_ns = 50'000;          // doorbell records are polled for this long after the last work
constexpr std::uint64_t linger_ns = 2'000'000'000; // the card is kept for this long after the last program
constexpr unsigned polls_between_waits = 4;        // idle polls between two calls of epoll_wait, which is a system call
constexpr int wait_for_peers_ms = 1;               // time between two polls of a request that waits for its peer
constexpr std::ptrdiff_t max_pending_of_file = 64; // commands of an open file that wait for the other side of the card
constexpr int wait_to_end_ms = 250;                // time between two checks whether the card is still needed

/// Returns the page size of the machine.
std::uint64_t page_size()
{
    return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Builds the page that programs use to convert a completion's timestamp to wall clock time. The card's clock counts
/// nanoseconds, so the conversion is constant and the page is never updated.
mlx5_ib_clock_info clock_page()
{
    timespec wall{};
    clock_gettime(CLOCK_REALTIME, &wall);
    mlx5_ib_clock_info info{};
    info.nsec = static_cast<std::uint64_t>(wall.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(wall.tv_nsec);
    info.cycles = now_ns();
    info.mult = 1;
    info.mask = ~0ull;
    info.overflow_period = ~0ull;
    return info;
}

/// Handles a map request: device memory, a UAR page or the clock page. Returns an errno, or 0. Sets `pages` to the file
/// that the program must map in place of its own pages, if there is one.
int map(OpenFile &file, Process &process, const Request &request, UniqueFd &pages)
{
    const std::uint64_t page = page_size();
    if (request.a % page != 0)
        return EINVAL;
    // mlx5's offsets, in pages: the kind of mapping in bits 8 to 15, an index in bits 0 to 7 and 16 to 23.
    const std::uint64_t number = request.c / page, kind = number >> 8 & 0xff,
                        index = (number & 0xff) | (number >> 16 & 0xff) << 8;
    if (request.c < first_uar_offset && number >> 24 == 0 && kind == MLX5_IB_MMAP_DEVICE_MEM)
        return map_device_memory(file, index, request.b, pages);
    if (request.b != page)
        return EINVAL;
    if (request.c >= first_uar_offset) {
        const std::uint64_t handle = (request.c - first_uar_offset) >> uar_offset_shift;
        if (handle > ObjectTable::max_objects ||
            file.card.objects.find<Uar>(static_cast<std::uint32_t>(handle), file) == nullptr)
            return EINVAL;
        process.doorbells.add(request.a, request.b);
        return 0;
    }
    if (number >> 8 != MLX5_IB_MMAP_CLOCK_INFO)
        return EINVAL;
    const mlx5_ib_clock_info info = clock_page();
    return process.write(request.a, &info, sizeof(info)) == Access::done ? 0 : EFAULT;
}

/// Verifies that the card can read the program's memory. Returns an errno, or 0.
int check_memory_access(const Process &process, const Request &request)
{
    std::uint64_t word = 0;
    return process.read(request.a, &word, sizeof(word)) == Access::done && word == hello_word ? 0 : EPERM;
}

} // namespace

Server::Server(Card &card, std::string folder)
    : card_(card),
      folder_(std::move(folder)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      last_needed_(now_ns())
{
    // Each client needs several descriptors.
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    // A client that closes its socket must not end the card.
    std::signal(SIGPIPE, SIG_IGN);
    // The ending signals arrive through a descriptor, so the loop ends between two requests and destructors run.
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGHUP);
    sigprocmask(SIG_BLOCK, &ending, nullptr);
    signals_ = UniqueFd(signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
    watch(signals_.get(), [this] { is_stopping_ = true; });
}

bool Server::listen()
{
    // The preloaded library connects to a function by the name of its socket.
    for (Function &function : card_.functions) {
        if (card_.is_elsewhere(function))
            continue;
        const std::string path = folder_ + (function.profile.side == Side::host ? "/host" : "/dpu") + "/dev/uverbs" +
                                 std::to_string(function.number);
        if (!listen_at(path, [this, &function](UniqueFd socket) { add_file(function, std::move(socket)); }))
            return false;
    }
    // Only the DPU has an e-switch, which devlink describes.
    if (card_.serves(Side::dpu) && !listen_at(folder_ + "/dpu/dev/netlink", [this](UniqueFd socket) {
            add_netlink(std::move(socket), [this](auto request) { return handle_netlink(card_, request); });
        }))
        return false;
    for (const Side side : {Side::host, Side::dpu}) {
        if (!card_.serves(side))
            continue;
        const char *const name = side == Side::host ? "/host" : "/dpu";
        const auto make_replies = [this, side](auto request) { return handle_rdma_netlink(card_, side, request); };
        if (!listen_at(folder_ + name + "/dev/rdma_netlink",
                       [this, make_replies](UniqueFd socket) { add_netlink(std::move(socket), make_replies); }) ||
            !listen_at(folder_ + name + "/dev/rdma_cm",
                       [this, side](UniqueFd socket) { add_cm_file(side, std::move(socket)); }))
            return false;
    }
    watch(card_.waiting_channels.descriptor(), [this] { card_.waiting_channels.write(); });
    if (card_.network != nullptr) {
        // The loop calls progress() after each wait.
        for (const int fd : card_.network->descriptors())
            watch(fd, [this] { network_has_news_ = true; });
    }
    if (card_.link != nullptr)
        watch(card_.link->descriptor(), [this] {
            card_.link->progress();
            last_work_ = now_ns();
            if (card_.link->requester().take_news())
                run_pending_commands();
        });
    return listen_at(folder_ + "/control", [this](UniqueFd socket) { add_control(std::move(socket)); });
}

bool Server::listen_at(const std::string &path, std::function<void(UniqueFd)> on_connection)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) {
        std::fprintf(stderr, "with_card: the socket name '%s' is longer than %zu characters\n", path.c_str(),
                     sizeof(address.sun_path) - 1);
        return false;
    }
    std::strcpy(address.sun_path, path.c_str());
    UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int one = 1;
    // A card that was killed leaves its sockets behind.
    unlink(path.c_str());
    if (!socket.is_open() || setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) != 0 ||
        bind(socket.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0 ||
        ::listen(socket.get(), SOMAXCONN) != 0) {
        std::fprintf(stderr, "with_card: cannot listen at %s: %s\n", path.c_str(), std::strerror(errno));
        return false;
    }
    const int fd = socket.get();
    listeners_.push_back(std::move(socket));
    watch(fd, [fd, on_connection = std::move(on_connection)] {
        UniqueFd connection(accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        // The folder's mode keeps other users out; this check holds even if the mode was changed.
        if (connection.is_open() && peer_user(connection.get()) == geteuid())
            on_connection(std::move(connection));
    });
    return true;
}

void Server::watch(int fd, Handler handler)
{
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0)
        handlers_[fd] = std::make_shared<Handler>(std::move(handler));
}

void Server::unwatch(int fd)
{
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    handlers_.erase(fd);
}

void Server::add_file(Function &function, UniqueFd socket)
{
    const int fd = socket.get();
    OpenFile &file = card_.open(function, std::move(socket));
    watch(fd, [this, &file] { serve(file); });
}

void Server::add_cm_file(Side side, UniqueFd socket)
{
    const int fd = socket.get();
    CmFile &file = card_.connections->open(side, std::move(socket));
    watch(fd, [this, &file] { serve(file); });
}

void Server::serve(CmFile &file)
{
    Incoming incoming = receive_request(file.socket.get());
    if (incoming.is_closed) {
        unwatch(file.socket.get());
        card_.connections->close(file);
        return;
    }
    if (!incoming.request || incoming.descriptors.empty())
        return;
    Reply reply{};
    reply.mark_descriptor = -1;
    const Request &request = *incoming.request;
    const std::shared_ptr<Process> process =
        incoming.user == geteuid() ? process_of(file.processes, incoming.sender) : nullptr;
    if (process == nullptr) {
        reply.error = EPERM;
    } else if (request.type == RequestType::hello) {
        reply.error = check_memory_access(*process, request);
        card_.connections->identify(file, *process, request.b);
    } else if (request.type == RequestType::rdma_cm) {
        reply.error = card_.connections->execute(file, *process, request.a, request.b, reply);
    } else {
        reply.error = EINVAL;
    }
    send_reply(incoming.descriptors[0].get(), reply, UniqueFd());
}

std::shared_ptr<Process> Server::process_of(std::vector<std::shared_ptr<Process>> &of_file, pid_t pid)
{
    std::shared_ptr<Process> process = pid > 0 ? card_.process(pid) : nullptr;
    if (process == nullptr)
        return nullptr;
    if (std::ranges::find(of_file, process) == of_file.end())
        of_file.push_back(process);
    if (!handlers_.contains(process->death_fd())) {
        // The handler must not keep the process alive: its reference count shows whether it is in use.
        std::weak_ptr<Process> weak = process;
        watch(process->death_fd(), [this, weak] {
            if (const std::shared_ptr<Process> dead = weak.lock())
                remove_process(dead);
        });
    }
    return process;
}

void Server::remove_process(const std::shared_ptr<Process> &process)
{
    // The descriptors must leave the event loop before they are closed.
    unwatch(process->death_fd());
    if (process->doorbells.userfaultfd() >= 0)
        unwatch(process->doorbells.userfaultfd());
    process->doorbells.clear();
    std::erase_if(pending_, [&](const PendingCommand &pending) { return pending.process == process; });
    for (OpenFile &file : card_.files)
        std::erase(file.processes, process);
    for (CmFile &file : card_.connections->files())
        std::erase(file.processes, process);
    std::erase(card_.processes, process);
}

void Server::serve(OpenFile &file)
{
    Incoming incoming = receive_request(file.socket.get());
    if (incoming.is_closed) {
        unwatch(file.socket.get());
        std::erase_if(pending_, [&](const PendingCommand &pending) { return pending.file == &file; });
        card_.close(file);
        return;
    }
    // Not a message of the preloaded library; there is no socket to send a reply to.
    if (!incoming.request || incoming.descriptors.empty())
        return;
    Reply reply{};
    reply.wanted_descriptor = -1;
    UniqueFd descriptor;
    const std::shared_ptr<Process> process =
        incoming.user == geteuid() ? process_of(file.processes, incoming.sender) : nullptr;
    // The second descriptor is the process's userfaultfd, which comes with the first map request only, or one that a
    // command refers to.
    UniqueFd attached = incoming.descriptors.size() > 1 ? std::move(incoming.descriptors[1]) : UniqueFd();
    reply.error = process == nullptr
                      ? EPERM
                      : execute_request(file, *incoming.request, process, std::move(attached), reply, descriptor);
    if (reply.error == command_pending &&
        std::ranges::count(pending_, &file, &PendingCommand::file) == max_pending_of_file)
        reply.error = ENOMEM;
    if (reply.error == command_pending) {
        pending_.push_back({&file, *incoming.request, process, std::move(incoming.descriptors[0])});
        return;
    }
    send_reply(incoming.descriptors[0].get(), reply, descriptor);
    last_work_ = now_ns();
}

void Server::run_pending_commands()
{
    for (PendingCommand &pending : std::exchange(pending_, {})) {
        Reply reply{};
        UniqueFd descriptor;
        reply.error = execute_request(*pending.file, pending.request, pending.process, UniqueFd(), reply, descriptor);
        if (reply.error == command_pending)
            pending_.push_back(std::move(pending));
        else
            send_reply(pending.reply_socket.get(), reply, descriptor);
    }
}

int Server::execute_request(OpenFile &file, const Request &request, const std::shared_ptr<Process> &process,
                            UniqueFd attached, Reply &reply, UniqueFd &descriptor)
{
    switch (request.type) {
    case RequestType::hello:
        return check_memory_access(*process, request);
    case RequestType::map:
        if (attached.is_open() && is_userfaultfd(attached.get())) {
            if (process->doorbells.userfaultfd() >= 0)
                unwatch(process->doorbells.userfaultfd());
            const int fd = attached.get();
            process->doorbells.set_userfaultfd(std::move(attached));
            std::weak_ptr<Process> weak = process;
            watch(fd, [this, weak] {
                const std::shared_ptr<Process> faulted = weak.lock();
                if (faulted != nullptr && faulted->doorbells.take_faults(*faulted, now_ns()))
                    last_work_ = now_ns();
            });
        }
        if (const int error = map(file, *process, request, descriptor))
            return error;
        if (descriptor.is_open()) {
            reply.descriptors = 1;
            reply.slot[0] = {request.a, sizeof(std::int32_t), 0};
        }
        return 0;
    case RequestType::ioctl: {
        Command command(file, process, request.a);
        command.attached = std::move(attached);
        const int error = run_command(command);
        reply.wanted_descriptor = command.wanted_descriptor;
        process->needs_poll = true; // a state change may allow requests that were posted before
        if (error == 0 && command.new_descriptor.is_open()) {
            reply.descriptors = 1;
            reply.slot[0] = command.descriptor_slot;
            descriptor = std::move(command.new_descriptor);
        }
        return error;
    }
    case RequestType::rdma_cm: // goes to the other device
        break;
    }
    return EINVAL;
}

void Server::add_control(UniqueFd socket)
{
    add_connection(std::move(socket), [this](int fd, std::span<const char> text) {
        const std::string reply = run_control(card_, {text.data(), text.size()});
        send(fd, reply.data(), reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    });
}

void Server::add_netlink(UniqueFd socket,
                         std::function<std::vector<Datagram>(std::span<const std::uint8_t>)> make_replies)
{
    add_connection(std::move(socket), [make_replies = std::move(make_replies)](int fd, std::span<const char> request) {
        const std::span bytes(reinterpret_cast<const std::uint8_t *>(request.data()), request.size());
        for (const Datagram &datagram : make_replies(bytes))
            send(fd, datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    });
}

void Server::add_connection(UniqueFd socket, std::function<void(int, std::span<const char>)> on_message)
{
    const int fd = socket.get();
    connections_[fd] = std::move(socket);
    watch(fd, [this, fd, on_message = std::move(on_message)] {
        // Longer messages are truncated.
        std::array<char, 4096> message;
        const ssize_t got = recv(fd, message.data(), message.size(), MSG_DONTWAIT);
        if (got > 0) {
            on_message(fd, std::span(message).first(static_cast<std::size_t>(got)));
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            unwatch(fd);
            connections_.erase(fd);
        }
    });
}

bool Server::protect_idle_pages(std::uint64_t now)
{
    bool has_protected = false;
    for (const auto &process : card_.processes) {
        if (process->doorbells.are_open() && process->doorbells.try_protect(*process, now)) {
            process->needs_poll = true; // a store may have been made just before the protection
            has_protected = true;
        }
    }
    return has_protected;
}

int Server::poll_processes()
{
    // Only processes that may have work are polled. The doorbell pages of all others are protected.
    unsigned done = 0;
    for (std::size_t i = 0; i < card_.processes.size(); ++i) {
        Process &process = *card_.processes[i];
        if (!process.needs_poll && !process.is_waiting && !process.doorbells.are_open() &&
            !process.doorbells.needs_polling())
            continue;
        process.needs_poll = false;
        const Progress progress = poll_process(process);
        process.is_waiting = progress.is_waiting;
        done += progress.done;
        if (progress.done != 0)
            process.needs_poll = true; // a poll is limited, and no doorbell announces the rest
    }
    done += serve_network();
    if (card_.link != nullptr)
        card_.link->flush();
    const std::uint64_t now = now_ns();
    const std::uint64_t next_late = write_delayed_entries(card_, now);
    const bool has_moderated = send_moderated_events(card_, now);
    idle_polls_ = done == 0 ? idle_polls_ + 1 : 0;
    if (done != 0)
        last_work_ = now;
    const bool has_open = std::ranges::any_of(card_.processes, [](const auto &p) { return p->doorbells.are_open(); });
    if (done == 0 && has_open && now - last_work_ > spin_ns && !protect_idle_pages(now))
        sched_yield(); // gives the faulting thread a processor to repeat its store
    bool needs_poll = done != 0 || has_moderated || (card_.network != nullptr && card_.network->has_work());
    bool has_waiting = next_late != 0;
    for (const auto &process : card_.processes) {
        needs_poll = needs_poll || process->needs_poll || process->doorbells.are_open();
        has_waiting = has_waiting || process->is_waiting || process->doorbells.needs_polling();
    }
    // 0: poll again at once. Requests that only wait for a peer are polled without a pause for a short time, and then
    // once a millisecond.
    return needs_poll || (has_waiting && now - last_work_ < spin_ns) ? 0 : has_waiting ? wait_for_peers_ms : -1;
}

unsigned Server::serve_network()
{
    if (card_.network == nullptr || (!network_has_news_ && !card_.network->has_work()))
        return 0;
    network_has_news_ = false;
    return card_.network->progress();
}

bool Server::is_needed() const
{
    return !card_.files.empty() || !connections_.empty() || !card_.connections->files().empty() ||
           (card_.link != nullptr && card_.link->is_carrying(now_ns()));
}

bool Server::may_end(std::uint64_t now)
{
    if (is_needed())
        last_needed_ = now;
    return now - last_needed_ > linger_ns && release_folder(folder_);
}

void Server::run()
{
    std::array<epoll_event, 64> events;
    while (!is_stopping_) {
        int wait_ms = poll_processes();
        keeper_.set_busy(wait_ms == 0);
        // While there is work, the sockets are served after each poll that found some, and else after every few polls.
        if (wait_ms == 0 && idle_polls_ % polls_between_waits != 0)
            continue;
        // The loop must wake up to find out that the card can end.
        if (!is_needed() && wait_ms < 0)
            wait_ms = wait_to_end_ms;
        const int timer_ms = card_.connections->serve_timers();
        if (timer_ms >= 0 && (wait_ms < 0 || timer_ms < wait_ms))
            wait_ms = timer_ms;
        const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms);
        for (int i = 0; i < count; ++i) {
            const auto found = handlers_.find(events[static_cast<std::size_t>(i)].data.fd);
            if (found == handlers_.end())
                continue;                                           // removed by a handler before it in this round
            const std::shared_ptr<Handler> handler = found->second; // the reference keeps it alive if it removes itself
            (*handler)();
        }
        if (may_end(now_ns()))
            break;
    }
}

} // namespace opendoca::card
