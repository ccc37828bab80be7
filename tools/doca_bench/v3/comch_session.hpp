// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One side of a case of the Comch benchmark: a server or a client with one connection. A case transfers messages over
// the control path, or data from producers to consumers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <doca_comch.h>

#include "../card_functions.hpp"
#include "../doca_memory.hpp"
#include "../pair_case.hpp"
#include "task_engine.hpp"

namespace opendoca::tools {

/// The largest message of the control path in bytes.
inline constexpr std::size_t max_message = 4080;

/// One side of a case: a server in the other process, or a client in this one, with its memory and its progress engine.
/// Owned by the process's ComchPeer and used by its only thread. start() and establish() are called once, in this
/// order, on both sides at the same time; then run() on the measuring side and respond() with equal counts on the other
/// side.
class ComchSession {
public:
    ComchSession(const ComchSession &) = delete;
    ComchSession &operator=(const ComchSession &) = delete;
    virtual ~ComchSession();

    /// Starts the server, which listens from then on, or the client, which connects. A client's start completes when
    /// the server makes progress in its establish().
    void start();
    /// Waits until the other side is connected, and prepares its data path if the case has one.
    virtual void establish() = 0;

    /// Runs @p count operations of the case's test, each a round trip or a send. The last one has arrived when this
    /// returns.
    virtual void run(std::size_t count) = 0;
    /// Does the other side's part of @p count operations.
    virtual void respond(std::size_t count) = 0;

    /// Return the memory of the messages: the next one to send, and the one that arrived last.
    [[nodiscard]] std::span<std::byte> source() const noexcept { return memory_.bytes().first(what_.size); }
    [[nodiscard]] std::span<std::byte> destination() const noexcept
    {
        return memory_.bytes().subspan(memory_.bytes().size() / 2, what_.size);
    }

protected:
    ComchSession(const CardFunctions &functions, bool is_server, const std::string &name, const PairCase &what);

    [[nodiscard]] const PairCase &what() const noexcept { return what_; }
    [[nodiscard]] doca_dev *dev() const noexcept { return dev_; }
    [[nodiscard]] const OwnMemory &memory() const noexcept { return memory_; }
    /// Returns the connection; null before the client has connected.
    [[nodiscard]] doca_comch_connection *connection() const noexcept { return connection_; }
    /// Returns the number of the peer's consumer; 0 before it has been announced.
    [[nodiscard]] std::uint32_t peer_consumer() const noexcept { return peer_consumer_; }
    /// Returns the engine of the control path. Its completions are receive_bit for a message, and 0 for a send.
    [[nodiscard]] TaskEngine &control() noexcept { return control_; }
    /// Makes progress on the control path, which the data path needs while it is being set up.
    void progress_control() { (void)doca_pe_progress(control_.pe()); }

    /// Sends the source's bytes as a message of the control path.
    void send_message();
    /// Ends the connection. Called by the destructors of derived classes, when nothing else uses the connection any
    /// more.
    void leave();

private:
    struct Callbacks;

    /// The engine as the user data of the context: callbacks find the engine by it, and the session by the engine.
    struct Control final : TaskEngine {
        explicit Control(ComchSession &of) : session(of) {}
        ComchSession &session;
    };

    PairCase what_;
    OwnMemory memory_;
    doca_dev *dev_;
    RepresentorHandle rep_; ///< the representor of the client's function; of a server only
    Control control_;
    // Destroyed before the engine on which they run. One of them is null.
    Handle<doca_comch_server, doca_comch_server_destroy> server_;
    Handle<doca_comch_client, doca_comch_client_destroy> client_;
    doca_comch_connection *connection_ = nullptr;
    std::uint32_t peer_consumer_ = 0;
};

/// Creates the session of a case: of messages, or of sends.
[[nodiscard]] std::unique_ptr<ComchSession> make_comch_session(const CardFunctions &functions, bool is_server,
                                                               const std::string &name, const PairCase &what);
/// Creates a session with producer and consumer. Called by make_comch_session().
[[nodiscard]] std::unique_ptr<ComchSession> make_comch_sends(const CardFunctions &functions, bool is_server,
                                                             const std::string &name, const PairCase &what);

} // namespace opendoca::tools
