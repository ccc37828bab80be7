// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Connections by rdma_cm:
//
//     client                                      server
//     resolves address and route
//     REQ ->                                      reports a request to the program
//                                                 on accept(): connects its queue pair
//                                              <- REP
//     connects its queue pair
//     RTU ->
//     established                                 established
//
// An event is acknowledged as soon as it has been read, since an id cannot be destroyed before.
#include "rdma_cm.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include <fcntl.h>
#include <net/if.h>

#include "../../log/deferred_log.hpp"
#include "../../log/log.hpp"
#include "../../process/unauthenticated_clients.hpp"
#include "cm_steps.hpp"
#include "device.hpp"
#include "queue_pair.hpp"
#include "rdma_cm_address.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_CM);

namespace opendoca::verbs {

namespace {

constexpr int backlog = 1024;

/// The contents of an event that has been acknowledged.
struct CmEvent {
    rdma_cm_event_type type;
    int status; ///< errno's value, negative, or the reason of a rejection
};

/// Returns the reason why an attempt has failed, for log messages.
std::string explain(const RdmaCmLibrary &library, const CmEvent &cm_event)
{
    // Reasons of a rejection, as the InfiniBand architecture numbers them.
    constexpr int no_listener = 8, by_program = 28;
    std::string text = library.event_text(cm_event.type);
    if (cm_event.type == RDMA_CM_EVENT_REJECTED)
        return text + (cm_event.status == no_listener  ? " (no program listens on that port)"
                       : cm_event.status == by_program ? " (by the peer's program)"
                                                       : " (reason " + std::to_string(cm_event.status) + ")");
    return cm_event.status < 0 ? text + " (" + std::strerror(-cm_event.status) + ")" : text;
}

/// One connection of RdmaCm, as a client or as a server. Owned by the library, and used by the thread that polls the
/// RdmaCm. state_ advances only in the order of its enumerators; a step that does not fit the state is ignored.
class CmLink final : public Link {
public:
    enum class State : std::uint8_t {
        resolving,        ///< client: address or route is being resolved
        awaiting_server,  ///< client: the server has not replied yet
        awaiting_program, ///< server: the program has not replied yet
        awaiting_client,  ///< server: the client has not confirmed yet
        established,
        over,
    };
    using Id = std::unique_ptr<rdma_cm_id, int (*)(rdma_cm_id *)>;

    CmLink(const RdmaCm &cm, Id id, State state) noexcept : cm_(cm), id_(std::move(id)), state_(state)
    {
        id_->context = static_cast<Link *>(this);
    }

    /// Starts a connection as a client.
    [[nodiscard]] doca_error_t start(const ServerAddress &address, CmAddress *source, CmAddress &destination,
                                     std::chrono::milliseconds timeout, VerbsQueuePair &queue_pair);
    [[nodiscard]] doca_error_t accept(QueuePair &queue_pair, std::span<const std::byte> private_data) override;
    void reject() noexcept override;
    void disconnect() noexcept override;
    [[nodiscard]] bool is_over() const noexcept override { return id_ == nullptr; }

    [[nodiscard]] LinkEvent take(const CmEvent &cm_event);

private:
    [[nodiscard]] const RdmaCmLibrary &library() const noexcept { return cm_.library(); }
    [[nodiscard]] doca_error_t try_to_accept(QueuePair &queue_pair, std::span<const std::byte> private_data);
    [[nodiscard]] bool take_step(const CmEvent &cm_event);
    [[nodiscard]] bool request() noexcept;
    [[nodiscard]] bool establish();
    [[nodiscard]] bool explain_failure(const char *what) const noexcept;

    const RdmaCm &cm_;
    Id id_; ///< null once the exchange with the peer is complete
    State state_;
    int timeout_ = 0;                      ///< milliseconds
    VerbsQueuePair *queue_pair_ = nullptr; ///< set by start() or accept(); not owned
};

doca_error_t CmLink::start(const ServerAddress &address, CmAddress *source, CmAddress &destination,
                           std::chrono::milliseconds timeout, VerbsQueuePair &queue_pair)
{
    server = address.text + ", port " + std::to_string(address.port);
    timeout_ = static_cast<int>(timeout.count());
    queue_pair_ = &queue_pair;
    if (library().resolve_address(id_.get(), source != nullptr ? &source->any : nullptr, &destination.any, timeout_) ==
        0)
        return DOCA_SUCCESS;
    (void)explain_failure("resolving the address");
    return DOCA_ERROR_CONNECTION_ABORTED;
}

/// Logs @p what with errno's text. Returns false, for the convenience of callers.
bool CmLink::explain_failure(const char *what) const noexcept
{
    const int error = errno;
    LOG_ERR("%s: %s: %s", server.empty() ? "a client" : server.c_str(), what, std::strerror(error));
    return false;
}

/// Takes the next step of a client. Returns false, logged, if that fails.
bool CmLink::take_step(const CmEvent &cm_event)
{
    switch (cm_event.type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        if (!cm_.is_on_this_port(*id_)) {
            LOG_ERR("the route to %s uses device %s, port %u, which is not that of the instance", server.c_str(),
                    id_->verbs != nullptr ? ibv_get_device_name(id_->verbs->device) : "none", id_->port_num);
            return false;
        }
        return library().resolve_route(id_.get(), timeout_) == 0 || explain_failure("resolving the route");
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        return request();
    default:
        return establish();
    }
}

/// Sends the connection request (REQ) with the number of the queue pair.
bool CmLink::request() noexcept
{
    rdma_conn_param parameters{};
    parameters.responder_resources = RDMA_MAX_RESP_RES; // the device's maximum
    parameters.initiator_depth = RDMA_MAX_INIT_DEPTH;
    parameters.flow_control = 1;
    parameters.retry_count = parameters.rnr_retry_count = no_cm_limit;
    parameters.srq = queue_pair_->uses_srq();
    parameters.qp_num = queue_pair_->number();
    state_ = State::awaiting_server;
    return library().connect(id_.get(), &parameters) == 0 || explain_failure("requesting the connection");
}

/// Handles the server's reply (REP): connects the queue pair and confirms with RTU. From then on the server may send.
bool CmLink::establish()
{
    if (connect_by_id(library(), *id_, *queue_pair_) != DOCA_SUCCESS)
        return false;
    if (library().establish(id_.get()) != 0)
        return explain_failure("confirming the connection");
    state_ = State::established;
    return true;
}

/// Accepts the client. Log messages are deferred, since clients are not authenticated: one that fails again and again
/// must not flood the log.
doca_error_t CmLink::accept(QueuePair &queue_pair, std::span<const std::byte> private_data)
{
    DeferredLog log;
    const doca_error_t status = try_to_accept(queue_pair, private_data);
    if (status != DOCA_SUCCESS && !may_log_unauthenticated_client())
        log.discard();
    return status;
}

doca_error_t CmLink::try_to_accept(QueuePair &queue_pair, std::span<const std::byte> private_data)
{
    if (state_ != State::awaiting_program) {
        LOG_ERR("the client has disconnected before it was accepted");
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    queue_pair_ = &static_cast<VerbsQueuePair &>(queue_pair);
    if (connect_by_id(library(), *id_, *queue_pair_) != DOCA_SUCCESS)
        return DOCA_ERROR_CONNECTION_ABORTED;
    if (!accept_client(library(), *id_, *queue_pair_, private_data)) {
        (void)explain_failure("accepting the connection");
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    state_ = State::awaiting_client;
    return DOCA_SUCCESS;
}

void CmLink::reject() noexcept
{
    if (state_ == State::awaiting_program)
        (void)library().reject(id_.get(), nullptr, 0);
    state_ = State::over;
    id_.reset();
}

/// Keeps the id until the peer has acknowledged the disconnect, since rdma_cm repeats lost messages only while the id
/// exists.
void CmLink::disconnect() noexcept
{
    const bool must_notify = state_ == State::established || state_ == State::awaiting_client;
    state_ = State::over;
    if (id_ != nullptr && (!must_notify || library().disconnect(id_.get()) != 0))
        id_.reset();
}

/// Translates an event of rdma_cm, and takes the step that it requires.
LinkEvent CmLink::take(const CmEvent &cm_event)
{
    using Kind = LinkEvent::Kind;
    LinkEvent event{.kind = Kind::step, .link = this};
    switch (cm_event.type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        if (state_ != State::resolving && state_ != State::awaiting_server)
            break;
        if (!take_step(cm_event))
            event.kind = Kind::failed;
        else if (state_ == State::established)
            event.kind = Kind::established;
        break;
    case RDMA_CM_EVENT_ESTABLISHED:
        if (state_ == State::awaiting_client) {
            state_ = State::established;
            event.kind = Kind::established;
        }
        break;
    // For example because a bond has changed its active port; the connection may continue.
    case RDMA_CM_EVENT_ADDR_CHANGE:
        LOG_INFO("rdma_cm reports that an address of the connection has changed");
        break;
    default:
        if (state_ == State::over) {
            id_.reset();
        } else if (state_ == State::established) {
            event.kind = Kind::ended;
        } else if (state_ == State::awaiting_program) {
            state_ = State::over; // accept() reports that the client has disconnected
        } else {
            if (!server.empty() || may_log_unauthenticated_client())
                LOG_ERR("%s: %s", server.empty() ? "a client that was accepted" : server.c_str(),
                        explain(library(), cm_event).c_str());
            event.kind = Kind::failed;
        }
    }
    return event;
}

} // namespace

doca_error_t RdmaCm::create(const VerbsDevice &device, std::unique_ptr<Connector> &made)
{
    // rdma_cm finds an InfiniBand port by the addresses of its IPoIB interface; without them, a connection could end at
    // another port of the machine.
    const VerbsFunction &port = device.port();
    if (!port.can.rdma.is_ethernet && port.iface_name.empty()) {
        LOG_INFO("rdma_cm is not used: device %s, port %u, has no IPoIB interface", port.ibdev_name.c_str(),
                 port.port());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    const RdmaCmLibrary *const library = load_rdma_cm();
    if (library == nullptr)
        return DOCA_ERROR_NOT_SUPPORTED;
    rdma_event_channel *const channel = library->create_event_channel();
    if (channel == nullptr) {
        LOG_INFO("rdma_cm is not available: %s (is the kernel's module rdma_ucm loaded?)", std::strerror(errno));
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    close_in_children(channel->fd);
    std::unique_ptr<RdmaCm> fresh(new RdmaCm(device, *library, *channel));
    const int flags = fcntl(channel->fd, F_GETFL);
    if (flags < 0 || fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) != 0) {
        LOG_ERR("creating a channel for events of rdma_cm: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    made = std::move(fresh);
    return DOCA_SUCCESS;
}

RdmaCm::~RdmaCm()
{
    listener_.reset();
    keep_in_children(channel_->fd);
    library_.destroy_event_channel(channel_);
}

RdmaCm::Id RdmaCm::create_id() const noexcept
{
    rdma_cm_id *id = nullptr;
    if (library_.create_id(channel_, &id, nullptr, RDMA_PS_TCP) != 0)
        LOG_ERR("creating an id of rdma_cm: %s", std::strerror(errno));
    return Id(id, library_.destroy_id);
}

bool RdmaCm::is_on_this_port(const rdma_cm_id &id) const noexcept
{
    return is_id_on_port(id, device_.port());
}

doca_error_t RdmaCm::listen(std::uint16_t port)
{
    Id id = create_id();
    if (id == nullptr)
        return DOCA_ERROR_CONNECTION_ABORTED;
    // Optional: without it, a port can be bound again only after connections of an earlier process have timed out.
    int yes = 1;
    (void)library_.set_option(id.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, sizeof(yes));
    // An IPv6 wildcard address accepts both families, if the system has IPv6.
    CmAddress any{};
    any.v6.sin6_family = AF_INET6;
    any.v6.sin6_port = htons(port);
    int refused = library_.bind_address(id.get(), &any.any);
    if (refused != 0 && errno != EADDRINUSE) {
        any = {};
        any.v4.sin_family = AF_INET;
        any.v4.sin_port = htons(port);
        refused = library_.bind_address(id.get(), &any.any);
    }
    if (refused != 0 || library_.listen(id.get(), backlog) != 0) {
        LOG_ERR("listening on port %u of rdma_cm: %s", port, std::strerror(errno));
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    listener_ = std::move(id);
    return DOCA_SUCCESS;
}

doca_error_t RdmaCm::connect(const ServerAddress &server, std::chrono::milliseconds timeout, QueuePair &queue_pair,
                             std::unique_ptr<Link> &link)
{
    auto &own = static_cast<VerbsQueuePair &>(queue_pair);
    const VerbsFunction &port = device_.port();
    const bool is_ethernet = own.own_end().link_layer == IBV_LINK_LAYER_ETHERNET;
    if (server.is_gid && !is_ethernet) {
        LOG_ERR("%s: on InfiniBand servers are named by their IPoIB addresses, and not by GIDs", server.text.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    const unsigned scope = if_nametoindex(port.iface_name.c_str());
    CmAddress destination{};
    if (const doca_error_t status = parse_address(server.text, server.port, scope, destination); status != DOCA_SUCCESS)
        return status;
    // On InfiniBand, GIDs are not IP addresses, so the source address is left to the routes.
    CmAddress source{};
    if (is_ethernet && !find_source(destination, own.own_end(), scope, source)) {
        LOG_ERR("device %s, port %u, has no address of the family and scope of %s", port.ibdev_name.c_str(),
                port.port(), server.text.c_str());
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    Id id = create_id();
    if (id == nullptr)
        return DOCA_ERROR_CONNECTION_ABORTED;
    auto made = std::make_unique<CmLink>(*this, std::move(id), CmLink::State::resolving);
    const doca_error_t status = made->start(server, is_ethernet ? &source : nullptr, destination, timeout, own);
    if (status == DOCA_SUCCESS)
        link = std::move(made);
    return status;
}

LinkEvent RdmaCm::take_client(rdma_cm_id &client)
{
    Id id(&client, library_.destroy_id);
    if (!is_on_this_port(client)) {
        LOG_DBG("refused a client that has connected to another device");
        (void)library_.reject(&client, nullptr, 0);
        return {.kind = LinkEvent::Kind::step};
    }
    return {.kind = LinkEvent::Kind::request,
            .client = std::make_unique<CmLink>(*this, std::move(id), CmLink::State::awaiting_program)};
}

LinkEvent RdmaCm::poll()
{
    rdma_cm_event *event = nullptr;
    if (library_.get_event(channel_, &event) != 0)
        return {};
    // Copied, since acknowledging frees the event.
    const CmEvent cm_event = {event->event, event->status};
    rdma_cm_id &id = *event->id;
    (void)library_.ack_event(event);
    if (cm_event.type == RDMA_CM_EVENT_CONNECT_REQUEST)
        return take_client(id);
    if (id.context == nullptr) // an event of the listener
        return {.kind = LinkEvent::Kind::step};
    return static_cast<CmLink *>(static_cast<Link *>(id.context))->take(cm_event);
}

} // namespace opendoca::verbs
