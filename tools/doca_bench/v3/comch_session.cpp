// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "comch_session.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "../send_loops.hpp"

namespace opendoca::tools {

namespace {

constexpr std::uint32_t num_sends = 16; ///< more than are ever in flight
constexpr std::size_t cache_line = 64;  ///< bytes of a cache line, the alignment of the messages

/// One side of a case of messages over the control path: round trips. Messages need no posted receives; the callback
/// copies each into the destination.
class Messages final : public ComchSession {
public:
    Messages(const CardFunctions &functions, bool is_server, const std::string &name, const PairCase &what)
        : ComchSession(functions, is_server, name, what)
    {
    }
    ~Messages() override { leave(); }

    void establish() override
    {
        Patience patience;
        while (connection() == nullptr) {
            progress_control();
            patience.try_again();
        }
    }

    void run(std::size_t count) override
    {
        ping_by_send(*this, count, [] { return std::uint64_t{0}; });
    }
    void respond(std::size_t count) override
    {
        pong_by_send(*this, count, [] { return std::uint64_t{0}; });
    }

    // The functions that send_loops.hpp requires. Messages need no receive, so there is nothing to repost.
    void submit(std::uint64_t) { send_message(); }
    void repost(std::uint64_t) {}
    std::uint64_t retrieve()
    {
        Patience patience;
        return control().retrieve([&] {
            if (what().waits_for_events)
                control().wait_for_event();
            else
                patience.try_again();
        });
    }
};

} // namespace

/// The callbacks of server and client. They run on the session's thread, inside of doca_pe_progress().
struct ComchSession::Callbacks {
    /// Returns the user data of a connection's context: its engine.
    static doca_data data_of(doca_comch_connection *connection)
    {
        doca_comch_server *const server = doca_comch_server_get_server_ctx(connection);
        const doca_ctx *const ctx = server != nullptr
                                        ? doca_comch_server_as_ctx(server)
                                        : doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection));
        doca_data data{};
        (void)doca_ctx_get_user_data(ctx, &data); // does not fail for a valid context
        return data;
    }
    static ComchSession &session_of(doca_comch_connection *connection)
    {
        return static_cast<Control *>(static_cast<TaskEngine *>(data_of(connection).ptr))->session;
    }

    static void received(doca_comch_event_msg_recv *, std::uint8_t *bytes, std::uint32_t length,
                         doca_comch_connection *from)
    {
        const doca_data data = data_of(from);
        const std::span<std::byte> room =
            static_cast<Control *>(static_cast<TaskEngine *>(data.ptr))->session.destination();
        std::memcpy(room.data(), bytes, std::min<std::size_t>(length, room.size()));
        TaskEngine::ended(doca_data{.u64 = receive_bit}, data);
    }
    static void sent(doca_comch_task_send *task, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::ended(task_data, ctx_data);
        // Tasks of messages are allocated for each send and freed at its completion.
        doca_task_free(doca_comch_task_send_as_task(task));
    }
    static void send_failed(doca_comch_task_send *task, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::failed(doca_comch_task_send_as_task(task), task_data, ctx_data);
        doca_task_free(doca_comch_task_send_as_task(task));
    }
    static void connected(doca_comch_event_connection_status_changed *, doca_comch_connection *connection,
                          std::uint8_t is_successful)
    {
        // A benchmark has one client, so the last connection is the only one.
        if (is_successful != 0)
            session_of(connection).connection_ = connection;
    }
    static void disconnected(doca_comch_event_connection_status_changed *, doca_comch_connection *, std::uint8_t) {}
    static void consumer_added(doca_comch_event_consumer *, doca_comch_connection *connection, std::uint32_t id)
    {
        session_of(connection).peer_consumer_ = id;
    }
    static void consumer_removed(doca_comch_event_consumer *, doca_comch_connection *, std::uint32_t) {}
};

ComchSession::ComchSession(const CardFunctions &functions, bool is_server, const std::string &name,
                           const PairCase &what)
    : what_(what),
      memory_(what.memory, 2 * ((what.size + cache_line - 1) / cache_line * cache_line)),
      dev_(is_server ? functions.dpu.get() : functions.host.get()),
      control_(*this)
{
    if (is_server) {
        rep_ = open_representor(dev_, functions.host_pci);
        doca_comch_server *server = nullptr;
        must(doca_comch_server_create(dev_, rep_.get(), name.c_str(), &server), "creating a server");
        server_.reset(server);
        must(doca_comch_server_task_send_set_conf(server, Callbacks::sent, Callbacks::send_failed, num_sends),
             "configuring sends");
        must(doca_comch_server_event_msg_recv_register(server, Callbacks::received), "registering for messages");
        must(doca_comch_server_event_connection_status_changed_register(server, Callbacks::connected,
                                                                        Callbacks::disconnected),
             "registering for clients");
        must(doca_comch_server_event_consumer_register(server, Callbacks::consumer_added, Callbacks::consumer_removed),
             "registering for consumers");
    } else {
        doca_comch_client *client = nullptr;
        must(doca_comch_client_create(dev_, name.c_str(), &client), "creating a client");
        client_.reset(client);
        must(doca_comch_client_task_send_set_conf(client, Callbacks::sent, Callbacks::send_failed, num_sends),
             "configuring sends");
        must(doca_comch_client_event_msg_recv_register(client, Callbacks::received), "registering for messages");
        must(doca_comch_client_event_consumer_register(client, Callbacks::consumer_added, Callbacks::consumer_removed),
             "registering for consumers");
    }
}

ComchSession::~ComchSession() = default;

void ComchSession::start()
{
    if (server_ != nullptr) {
        control_.start(doca_comch_server_as_ctx(server_.get()), num_sends);
        return;
    }
    control_.start(doca_comch_client_as_ctx(client_.get()), num_sends);
    must(doca_comch_client_get_connection(client_.get(), &connection_), "a client's connection");
}

void ComchSession::send_message()
{
    doca_comch_task_send *task = nullptr;
    const auto length = static_cast<std::uint32_t>(what_.size);
    must(server_ != nullptr
             ? doca_comch_server_task_send_alloc_init(server_.get(), connection_, source().data(), length, &task)
             : doca_comch_client_task_send_alloc_init(client_.get(), connection_, source().data(), length, &task),
         "allocating a send");
    const doca_error_t status = doca_task_submit(doca_comch_task_send_as_task(task));
    if (status != DOCA_SUCCESS) [[unlikely]] {
        doca_task_free(doca_comch_task_send_as_task(task));
        throw_error(status, "submitting a send");
    }
}

void ComchSession::leave()
{
    const api::QuietLog quiet;     // the peer may have stopped earlier, and flushed tasks are logged as errors
    std::vector<doca_task *> none; // callbacks free the tasks of messages
    control_.stop(none);
}

std::unique_ptr<ComchSession> make_comch_session(const CardFunctions &functions, bool is_server,
                                                 const std::string &name, const PairCase &what)
{
    if (what.test != PairTest::round_trip)
        return make_comch_sends(functions, is_server, name, what);
    return std::make_unique<Messages>(functions, is_server, name, what);
}

} // namespace opendoca::tools
