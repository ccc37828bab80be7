// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The connection manager of a card: the ids that programs create by /dev/infiniband/rdma_cm, and the exchange of
// messages that connects two of them. InfiniBand specification, volume 1, chapter 12, and annex A11 (IP addresses).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <rdma/rdma_user_cm.h>
#include <sys/types.h>

#include "card.hpp"
#include "cm_message.hpp"

namespace opendoca::card {

struct Reply;

/// An event that a program has not read yet.
struct CmEvent {
    std::uint32_t owner = 0;   ///< id that the event is counted for; of a connection request the listener
    std::uint32_t request = 0; ///< id of the connection that is requested, or 0
    rdma_ucm_event_resp content{};
};

/// An open /dev/infiniband/rdma_cm: an event channel with its ids. Owned by ConnectionManager. It ends when the program
/// has closed its last descriptor, by whatever means, and destroys its ids then.
struct CmFile {
    Side side;
    UniqueFd socket;
    ino_t inode = 0;       ///< of the program's descriptor; 0 before its first request
    bool has_mark = false; ///< a byte is in the program's socket, since events wait
    std::uint32_t ids = 0;
    std::deque<CmEvent> events;
    std::vector<std::shared_ptr<Process>> processes; ///< that have sent a request by this file
};

/// Where a connection manager is that messages come from or go to: at a function of this card, or at an address of the
/// network. A value.
struct CmNode {
    Function *function = nullptr; ///< null: not on this card
    Address gid;

    [[nodiscard]] bool is_set() const { return function != nullptr || gid != Address{}; }
    /// A function is the same by each of its addresses.
    friend bool operator==(const CmNode &one, const CmNode &other)
    {
        return one.function == other.function && (one.function != nullptr || one.gid == other.gid);
    }
};

/// States of an id, as the kernel's connection manager has them.
enum class CmState : std::uint8_t {
    idle,
    bound,
    address_resolved,
    route_resolved,
    listening,
    request_sent,
    request_received,
    reply_sent,
    reply_received,
    established,
    disconnect_sent,
    disconnect_received,
    time_wait, ///< the connection has ended
    failed,    ///< it never came into being
};

/// An id of rdma_cm: a listener, or one end of a connection. Owned by ConnectionManager, created by a command of its
/// file or by a connection request to a listener of its file.
struct CmId {
    std::uint32_t number;
    CmFile *file;
    std::uint64_t uid; ///< the program's name of it; 0: a request that was not accepted yet, which gets no events
    std::uint16_t port_space;
    std::uint8_t qp_type;
    CmState state = CmState::idle;
    CmAddress source, destination;
    bool has_port = false; ///< holds a port of its side
    bool is_reusing = false, is_ipv6_only = false;
    std::uint8_t traffic_class = 0;
    std::optional<std::uint8_t> ack_timeout;
    Function *function = nullptr;           ///< device that it is bound to
    CmNode peer_node;                       ///< where its destination is
    std::uint32_t backlog = 0, waiting = 0; ///< of a listener: requests that were not fetched
    std::uint32_t events_reported = 0;

    // The connection, from REQ on.
    std::uint32_t peer = 0; ///< communication id of the other end
    bool is_passive = false;
    /// The numbers of the first packets that this end and its peer receive. Each is chosen by the receiver.
    std::uint32_t psn = 0, remote_psn = 0;
    std::uint32_t local_qpn = 0, remote_qpn = 0;
    std::uint8_t path_mtu = 0;
    std::uint8_t responder_resources = 0, initiator_depth = 0, retry_count = 0, rnr_retry_count = 0;
    std::uint64_t transaction = 0; ///< of the request and its answers
    CmMessage last_sent;           ///< is sent again if it is lost
    std::uint8_t repetitions = 0;  ///< how often `last_sent` was sent again for want of an answer
    std::uint64_t deadline = 0;    ///< in ns; 0: none

    [[nodiscard]] bool is_datagram() const;
};

/// The addresses, ports and paths of ids. Base of the connection manager; not used by itself.
class CmPorts {
protected:
    explicit CmPorts(Card &card) : card_(card) {}
    CmPorts(const CmPorts &) = delete;
    CmPorts &operator=(const CmPorts &) = delete;
    ~CmPorts() = default;

    /// Returns the function that has an address as a GID, or null.
    [[nodiscard]] Function *owner_of(const CmAddress &address) const;
    [[nodiscard]] Function *first_function(Side side) const;
    int bind_to(CmId &id, CmAddress address);
    int check_port(const CmId &id, const CmAddress &address, bool is_reusing) const;
    int resolve_to(CmId &id, const CmAddress *source, const CmAddress &destination);
    /// Returns the function whose network leads to an address that is not on this card, or null.
    [[nodiscard]] Function *exit_to(const CmId &id, const CmAddress &destination) const;
    [[nodiscard]] CmId *listener_of(const Function &function, const CmMessage &request, bool is_from_network);

    [[nodiscard]] std::size_t source_index(const CmId &id) const;
    [[nodiscard]] Address source_gid(const CmId &id) const;
    /// Returns the function as the place of a peer that knows it by an address.
    [[nodiscard]] static CmNode node_of(Function &function, const CmAddress &address);
    void describe_path(const CmId &id, ib_user_path_rec &path) const;
    void describe_address_handle(const CmId &id, ib_uverbs_ah_attr &attributes) const;

    /// Adds an event to the file of an id.
    virtual void report(CmId &id, std::uint32_t event, std::int32_t status = 0, const CmMessage *message = nullptr) = 0;

    Card &card_;
    std::multimap<std::uint32_t, CmId *> ports_; ///< that hold a port, by side, port space and port
};

/// Files, ids, the messages between ids and their events. Base of the connection manager; not used by itself.
/// Invariant: a file has a mark exactly while events wait in it, apart from a mark that was ordered to be removed.
class CmExchange : protected CmPorts {
public:
    CmFile &open(Side side, UniqueFd socket);
    /// Destroys the file and its ids; peers get a rejection or a disconnect.
    void close(CmFile &file);
    [[nodiscard]] std::list<CmFile> &files() { return files_; }
    [[nodiscard]] std::size_t num_ids() const { return ids_.size(); }
    [[nodiscard]] std::size_t num_listeners() const;
    /// Identifies the file by the descriptor that the program has of it.
    void identify(CmFile &file, const Process &process, std::uint64_t descriptor);
    /// Reports the removal of a device to all ids that are bound to it.
    void remove_device(const Function &function);
    /// Handles deadlines. Returns the time until the next one in ms, or -1.
    int serve_timers();
    /// Handles a management datagram that has come from an address of the network.
    void receive(Function &function, const Address &source,
                 std::span<const std::uint8_t, management_datagram_bytes> datagram);

protected:
    explicit CmExchange(Card &card);
    ~CmExchange() = default;

    CmId *new_id(CmFile &file, std::uint64_t uid, std::uint16_t port_space, std::uint8_t qp_type);
    /// Ends what the id has begun, and removes it with its events.
    void destroy(CmId &id);
    [[nodiscard]] CmId *find(std::uint32_t number);

    /// Returns the name of an id in messages. It differs in each run of a card, so that peers tell a new connection
    /// from one that they have with a card that has ended.
    [[nodiscard]] std::uint32_t communication_id(std::uint32_t number) const { return number ^ salt_; }
    [[nodiscard]] std::uint32_t number_of(std::uint32_t communication_id) const { return communication_id ^ salt_; }
    /// Fills in the fields that follow from the sender.
    void complete(CmId &from, CmMessage &message);
    /// Sends a message to the peer of an id, and keeps it, to send it again.
    void send(CmId &from, CmMessage message);
    /// Sends a message that needs an answer, and sends it again until one comes.
    void send_until_answered(CmId &from, const CmMessage &message);
    /// Delivers a complete message, unless it is lost.
    void deliver(Function &from, const CmNode &to, const CmMessage &message);
    void send_receipt(CmId &id, CmMessage::Answered answered);
    void refuse(Function &function, const CmNode &from, const CmMessage &request, std::uint16_t reason);

    void handle(Function &function, const CmNode &from, const CmMessage &message);
    void handle_request(Function &function, const CmNode &from, const CmMessage &message);
    void begin_passive(CmId &listener, CmId &id, const CmMessage &message);
    void handle_repeated_request(CmId &id, const CmMessage &request);
    /// Returns the id that a request of a peer has created, or null.
    [[nodiscard]] CmId *requested_by(const CmNode &from, std::uint32_t communication_id);
    bool end_stale_connection(const CmNode &from, std::uint32_t qpn);
    void handle_reply(CmId &id, const CmMessage &message);
    void handle_rejection(CmId &id, const CmMessage &message);
    void handle_service_reply(CmId &id, const CmMessage &message);
    void handle_receipt(CmId &id, const CmMessage &message);
    void handle_disconnect(Function &function, const CmNode &from, CmId *id, const CmMessage &message);

    void fail(CmId &id, std::uint32_t event, std::int32_t status, const CmMessage *message);
    void end_connection(CmId &id);
    void set_deadline(CmId &id, std::uint64_t delay_ns);
    void expire(CmId &id);

    void add_event(CmId &id, CmEvent event);
    void report(CmId &id, std::uint32_t event, std::int32_t status = 0, const CmMessage *message = nullptr) final;
    void add_mark(CmFile &file);
    /// Orders the removal of the mark if no event is left.
    static bool take_mark(CmFile &file);

    std::list<CmFile> files_;
    std::map<std::uint32_t, std::unique_ptr<CmId>> ids_;
    std::uint32_t last_number_ = 0;
    const std::uint32_t salt_;
    std::uint32_t last_transaction_ = 0;
    /// Ids that requests have created, by the peer's address and id.
    std::map<std::pair<std::array<std::uint8_t, 16>, std::uint32_t>, CmId *> requests_;
    std::multimap<std::uint64_t, std::uint32_t> timers_; ///< numbers of ids by time in ns, some of them outdated
};

/// The connection manager of one card: executes the commands of programs, none of which waits. Owned by Card; used by
/// the event loop's thread only.
class ConnectionManager final : public CmExchange {
public:
    explicit ConnectionManager(Card &card) : CmExchange(card) {}

    /// Executes a command of `size` bytes at `address`. Returns an errno, or 0. Sets the members of `reply` about the
    /// mark.
    int execute(CmFile &file, const Process &process, std::uint64_t address, std::uint64_t size, Reply &reply);

private:
    class Call;
    using Handler = int (ConnectionManager::*)(Call &);

    // Commands; each returns an errno, or 0.
    int create_id(Call &call);
    int destroy_id(Call &call);
    int bind_ip(Call &call);
    int bind(Call &call);
    int resolve_ip(Call &call);
    int resolve_address(Call &call);
    int resolve_route(Call &call);
    int query_route(Call &call);
    int query(Call &call);
    int connect(Call &call);
    int listen(Call &call);
    int accept(Call &call);
    int reject(Call &call);
    int disconnect(Call &call);
    int init_qp_attributes(Call &call);
    int get_event(Call &call);
    int set_option(Call &call);
    int notify(Call &call);
    int migrate(Call &call);
    int join_multicast(Call &call);
};

} // namespace opendoca::card
