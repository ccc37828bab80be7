// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One side of a case of the Comch benchmark: a server or a client with one connection, over which messages go, or a
// consumer's and a producer's data.
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

/// Bytes of a message of the control path, at most.
inline constexpr std::size_t max_message = 4080;

class ComchSession {
public:
    ComchSession(const ComchSession &) = delete;
    ComchSession &operator=(const ComchSession &) = delete;
    virtual ~ComchSession();

    /// A server listens from then on. A client waits for the server, which meets it meanwhile.
    void start();
    /// Waits for the other side, which does the same, and makes all ready.
    virtual void meet() = 0;

    /// What the case's test counts, so often: a way there and back, or a send. The last one has arrived at the end. The
    /// other side answers as often.
    virtual void ask(std::size_t count) = 0;
    virtual void answer(std::size_t count) = 0;

    /// What is sent, and what was received last.
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
    /// Null until the client is there.
    [[nodiscard]] doca_comch_connection *connection() const noexcept { return connection_; }
    /// The peer's consumer, or 0.
    [[nodiscard]] std::uint32_t peer_consumer() const noexcept { return peer_consumer_; }
    /// Gives receive_bit for a message, and 0 for the end of a send.
    [[nodiscard]] TaskEngine &control() noexcept { return control_; }
    void progress_control() { (void)doca_pe_progress(control_.pe()); }

    /// Sends the source's bytes as a message.
    void send_message();
    /// Ends the connection. Called by destructors, when nothing else uses it.
    void leave();

private:
    struct Callbacks;

    /// Callbacks get the engine from their context, and the session from it.
    struct Control final : TaskEngine {
        explicit Control(ComchSession &of) : session(of) {}
        ComchSession &session;
    };

    PairCase what_;
    OwnMemory memory_;
    doca_dev *dev_;
    RepresentorHandle rep_; ///< of a server
    Control control_;
    // On the engine, and so gone before it. One of them is null.
    Handle<doca_comch_server, doca_comch_server_destroy> server_;
    Handle<doca_comch_client, doca_comch_client_destroy> client_;
    doca_comch_connection *connection_ = nullptr;
    std::uint32_t peer_consumer_ = 0;
};

/// That of @p what.
[[nodiscard]] std::unique_ptr<ComchSession> make_comch_session(const CardFunctions &functions, bool is_server,
                                                               const std::string &name, const PairCase &what);
[[nodiscard]] std::unique_ptr<ComchSession> make_comch_sends(const CardFunctions &functions, bool is_server,
                                                             const std::string &name, const PairCase &what);

} // namespace opendoca::tools
