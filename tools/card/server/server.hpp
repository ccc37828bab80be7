// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

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

/// The card's process: one event loop over its sockets, its clients and their doorbells. No
/// client can keep it from the others, and none that is idle costs anything.
class Server {
public:
    /// `folder` has to exist, and to belong to this user alone.
    Server(Card &card, std::string folder);

    /// Makes the sockets: false with a message on stderr where it cannot.
    [[nodiscard]] bool listen();
    /// Serves until a signal comes or nobody has needed the card for a while.
    void run();

private:
    using Handler = std::function<void()>;

    [[nodiscard]] bool listen_at(const std::string &path, std::function<void(UniqueFd)> on_connection);
    void watch(int fd, Handler handler);
    void unwatch(int fd);

    void add_file(Function &function, UniqueFd socket);
    void serve(OpenFile &file);
    int answer(OpenFile &file, const Request &request, const std::shared_ptr<Process> &process,
               UniqueFd traps, Reply &reply, UniqueFd &descriptor);
    void add_control(UniqueFd socket);
    void add_netlink(UniqueFd socket, std::function<std::vector<Datagram>(std::span<const std::uint8_t>)> answer);
    /// A connection of single messages, until the other side closes it.
    void add_line(UniqueFd socket, std::function<void(int, std::span<const char>)> on_message);
    std::shared_ptr<Process> process_of(OpenFile &file, pid_t pid);
    void forget(const std::shared_ptr<Process> &process);

    /// Looks at the processes that may have posted work: how long the next wait may be, in ms, or -1.
    int turn();
    bool protect_idle_pages(std::uint64_t now);
    [[nodiscard]] bool may_end(std::uint64_t now);

    Card &card_;
    std::string folder_;
    UniqueFd epoll_, signals_;
    std::map<int, std::shared_ptr<Handler>> handlers_;
    std::vector<UniqueFd> listeners_;
    std::map<int, UniqueFd> lines_; ///< control and netlink connections
    ProcessorKeeper keeper_;
    std::uint64_t last_work_ = 0;
    unsigned idle_turns_ = 0; ///< since then
    std::uint64_t needed_at_ = 0; ///< the last time that anybody did
    bool is_stopping_ = false;
};

} // namespace opendoca::card
