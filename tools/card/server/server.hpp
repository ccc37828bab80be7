// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../wire.hpp"
#include "card.hpp"
#include "devlink.hpp"
#include "processor_keeper.hpp"

namespace opendoca::card {

struct CmFile;

/// The card's process: one event loop over its sockets, its clients' requests and their doorbells. A client cannot
/// block the others, and an idle client costs nothing. Everything runs in the thread that calls run(), so no state of
/// the card needs a lock. Every descriptor that is watched leaves the event loop before it is closed.
class Server {
public:
    /// `folder` must exist and belong to this user alone.
    Server(Card &card, std::string folder);

    /// Creates the sockets. Returns false, with a message on stderr, if it cannot.
    [[nodiscard]] bool listen();
    /// Serves clients until a signal arrives or no program has needed the card for two seconds.
    void run();

private:
    using Handler = std::function<void()>;

    /// A command that waits for the other side of the card, and what is needed to run it again. Dropped with its file
    /// or its process.
    struct PendingCommand {
        OpenFile *file;
        Request request;
        std::shared_ptr<Process> process;
        UniqueFd reply_socket;
    };

    /// Creates a listening socket. Connections of other users are closed.
    [[nodiscard]] bool listen_at(const std::string &path, std::function<void(UniqueFd)> on_connection);
    /// Calls `handler` whenever the descriptor is readable.
    void watch(int fd, Handler handler);
    /// Stops watching a descriptor; may be called from within its handler.
    void unwatch(int fd);

    /// Adds an open file for a new connection of a preloaded library.
    void add_file(Function &function, UniqueFd socket);
    /// Handles one request of an open file, or its end.
    void serve(OpenFile &file);
    /// Adds an event channel for a new connection to rdma_cm.
    void add_cm_file(Side side, UniqueFd socket);
    /// Handles one request of an event channel, or its end.
    void serve(CmFile &file);
    /// Carries out a request. Returns an errno, 0 or `command_pending`.
    int execute_request(OpenFile &file, const Request &request, const std::shared_ptr<Process> &process,
                        UniqueFd attached, Reply &reply, UniqueFd &descriptor);
    /// Runs the commands again that wait for the other side of the card.
    void run_pending_commands();
    /// Adds a connection that sends control lines.
    void add_control(UniqueFd socket);
    /// Adds a connection that sends netlink requests; `make_replies` makes the replies.
    void add_netlink(UniqueFd socket, std::function<std::vector<Datagram>(std::span<const std::uint8_t>)> make_replies);
    /// Adds a connection that is served message by message until the peer closes it.
    void add_connection(UniqueFd socket, std::function<void(int, std::span<const char>)> on_message);
    /// Returns the process that sent a request, watches for its death, and adds it to those of the file.
    std::shared_ptr<Process> process_of(std::vector<std::shared_ptr<Process>> &of_file, pid_t pid);
    /// Removes a dead process. Objects in its memory stay until their file is closed.
    void remove_process(const std::shared_ptr<Process> &process);

    /// Polls the processes that may have posted work. Returns the maximum time of the next wait in ms; -1: no limit.
    int poll_processes();
    /// Handles packets of the network, and sends some. Returns how many.
    unsigned serve_network();
    /// Protects the doorbell pages of idle processes. Returns whether any were protected.
    bool protect_idle_pages(std::uint64_t now);
    /// Returns whether a program has a file or another connection open.
    [[nodiscard]] bool is_needed() const;
    /// Returns whether no program needs the card any more; the card's folder is removed then.
    [[nodiscard]] bool may_end(std::uint64_t now);

    Card &card_;
    std::string folder_;
    UniqueFd epoll_, signals_;
    std::map<int, std::shared_ptr<Handler>> handlers_; ///< by descriptor; shared, since a handler may remove itself
    std::vector<UniqueFd> listeners_;
    std::map<int, UniqueFd> connections_; ///< control and netlink connections
    std::vector<PendingCommand> pending_;
    ProcessorKeeper keeper_;
    std::uint64_t last_work_ = 0;   ///< time of the last poll that found work, or of the last request
    unsigned idle_polls_ = 0;       ///< polls since last_work_ that found nothing
    std::uint64_t last_needed_ = 0; ///< last time at which a program needed the card
    bool network_has_news_ = false; ///< packets have come, or a timer has expired
    bool is_stopping_ = false;
};

} // namespace opendoca::card
