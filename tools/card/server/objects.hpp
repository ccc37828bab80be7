// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The objects that programs create on the card. Every object belongs to the open file that created it and refers to
// objects of the same file only; `Use` protects those from being destroyed. Across files there are only numbers: queue
// pair numbers and memory keys. Everything here is used by the event loop's thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "device_memory.hpp"
#include "event_pipe.hpp"
#include "pinned_memory.hpp"
#include "process.hpp"
#include "xrc_domain.hpp"

namespace opendoca::card {

class OpenFile;
class LinkTransfer;
class RoceConnection;
struct Receive;

/// Types of objects. The order is the order of destruction when a file is closed: users come before what they use.
enum class Kind : std::uint8_t {
    queue_pair,
    shared_receive_queue,
    completion_queue,
    xrc_domain,
    address_handle,
    memory_key,
    memory_window,
    device_memory,
    user_memory,
    uar,
    devx_object,
    protection_domain
};

/// Base of all objects. Owned by ObjectTable, where the handle is the number of its slot. A program cannot destroy an
/// object that has users; when a file is closed, its objects are destroyed in the order of Kind, so users end first.
struct Object {
    Object(Kind its_kind, OpenFile &its_file, std::uint32_t its_handle)
        : kind(its_kind),
          handle(its_handle),
          file(its_file)
    {
    }
    virtual ~Object() = default;
    Object(const Object &) = delete;
    Object &operator=(const Object &) = delete;

    const Kind kind;
    const std::uint32_t handle;
    OpenFile &file;
    std::uint32_t users = 0;         ///< number of `Use` references
    bool is_created_by_devx = false; ///< created by a DEVX command, so verbs commands cannot name it
};

/// A counted reference to an object, which keeps the program from destroying it. Does not own the object; the pointer
/// stays valid since the order of Kind destroys users first. A member of the object that uses the other one.
template <typename T>
class Use {
public:
    Use() = default;
    explicit Use(T *object) : object_(object)
    {
        if (object_ != nullptr)
            ++object_->users;
    }
    Use(Use &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Use &operator=(Use &&other) noexcept
    {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Use()
    {
        if (object_ != nullptr)
            --object_->users;
    }
    T *operator->() const { return object_; }
    T &operator*() const { return *object_; }
    T *get() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }

private:
    T *object_ = nullptr;
};

/// A protection domain. Keys and queue pairs store its number, and an access is refused if the numbers differ. Numbers
/// begin above 0, so a field of a mailbox that was not set names no domain.
struct ProtectionDomain : Object {
    static constexpr Kind its_kind = Kind::protection_domain;
    static constexpr std::uint32_t first_number = 0x10;
    using Object::Object;
    [[nodiscard]] std::uint32_t number() const { return first_number + handle; }
};

/// A completion that a fault delays. Stored in its queue until it is due; complete except for the last byte of the
/// entry, since the owner bit depends on the slot that the entry gets.
struct DelayedCompletion {
    std::uint64_t due; ///< in ns of now_ns()
    std::array<std::uint8_t, 64> entry;
    std::uint8_t opcode; ///< value of Entry
    bool is_solicited;
};

inline constexpr std::uint32_t not_armed = 0xffffffff; ///< initial value of the arm word, which no program writes

/// A completion queue: its ring and doorbell record are in the program's memory. Its indices run freely; the slot in
/// the ring is the index modulo the ring's size. At most `entries` entries are between consumed and produced: one more
/// is an overrun, after which nothing is written any more.
struct CompletionQueue : Object {
    static constexpr Kind its_kind = Kind::completion_queue;
    static constexpr std::uint32_t first_number = 0x40;
    using Object::Object;
    ~CompletionQueue() override;
    [[nodiscard]] std::uint32_t number() const { return first_number + handle; }

    std::shared_ptr<Process> process;
    std::uint32_t entries = 0;                             ///< a power of two
    std::uint32_t entry_size = 64;                         ///< 64 or 128 bytes
    std::uint32_t produced = 0;                            ///< index of the next entry that the card writes
    std::uint32_t consumed = 0;                            ///< consumer index when the doorbell record was last read
    std::uint32_t notified = 0;                            ///< `produced` when the last event was sent
    std::uint32_t arm = not_armed;                         ///< arm word that was processed last
    bool is_armed = false;                                 ///< an event was requested and not sent yet
    std::uint64_t buffer = 0, doorbell_record = 0;         ///< addresses in the process
    std::uint64_t user_handle = 0;                         ///< the program's name of the queue in events
    std::shared_ptr<EventPipe> channel;                    ///< null if the queue has no completion channel
    std::uint32_t completion_events = 0, async_events = 0; ///< number of events sent
    std::uint64_t moderated_until = 0; ///< time at which a moderated event is due; 0: none is pending
    bool is_overrun = false;
    bool ignores_overrun = false;                        ///< entries that have not been consumed are overwritten
    bool is_subscribed = false;                          ///< a channel of DEVX is subscribed to its completions
    std::deque<DelayedCompletion> delayed;               ///< completions that a fault delays, in the order of the queue
    Use<struct UserMemory> buffer_memory, record_memory; ///< for queues created by DEVX
    PinnedMemory pinned_buffer;
    std::shared_ptr<PinnedMemory> pinned_record;
};

/// A program's part in a domain of XRC: receiving queue pairs deliver to the shared receive queues of their domain,
/// which may be those of other programs.
struct XrcDomain : Object {
    static constexpr Kind its_kind = Kind::xrc_domain;
    using Object::Object;
    std::shared_ptr<const XrcIdentity> identity; ///< the same for all programs of the domain; never null
};

/// A shared receive queue, or a pool of receive memory (RMP), which is what DEVX creates. Its entries form a linked
/// list in the program's memory: each begins with the ring index of its successor, since the program may free entries
/// in any order. Those of a cyclic one follow each other in the ring. The first word of the doorbell record counts the
/// posted requests; the card reads it when a message arrives.
struct SharedReceiveQueue : Object {
    static constexpr Kind its_kind = Kind::shared_receive_queue;
    static constexpr std::uint32_t first_number = 0x40;
    using Object::Object;
    ~SharedReceiveQueue() override;
    [[nodiscard]] std::uint32_t number() const { return first_number + handle; }

    std::shared_ptr<Process> process;
    Use<ProtectionDomain> pd;
    /// Of a queue of XRC, otherwise null: its domain, and where its receive requests are completed, by `user_index`.
    Use<XrcDomain> domain;
    Use<CompletionQueue> cq;
    std::uint32_t user_index = 0;
    std::uint32_t entries = 0; ///< a power of two
    std::uint32_t log_stride = 5, max_sges = 0;
    std::uint32_t limit = 0;    ///< fewer requests than this send the limit event once; 0: no limit is set
    std::uint16_t next = 0;     ///< ring index of the next receive request
    std::uint16_t consumed = 0; ///< number of receive requests consumed so far
    std::uint64_t buffer = 0, doorbell_record = 0, user_handle = 0;
    bool is_cyclic = false; ///< `next` counts freely, as completions show it
    std::uint32_t async_events = 0;
    PinnedMemory pinned_buffer;
    std::shared_ptr<PinnedMemory> pinned_record;
    Use<struct UserMemory> buffer_memory, record_memory; ///< of an RMP
};

enum class QpState : std::uint8_t { reset, init, rtr, rts, sqd, sqe, error };                // as ibv_qp_state
enum class QpType : std::uint8_t { rc = 2, uc = 3, ud = 4, xrc_send = 9, xrc_receive = 10 }; // as ibv_qp_type

/// Attributes of a queue pair (ibv_qp_attr), as far as they were set. A member of QueuePair. Values have the units of
/// verbs: timeouts and RNR timers are 5-bit codes, MTUs are values of ibv_mtu.
struct QpAttributes {
    ib_uverbs_qp_dest path{}, alternate_path{};
    std::uint32_t destination = 0, access = 0, qkey = 0, receive_psn = 0, send_psn = 0;
    std::uint16_t pkey_index = 0, alternate_pkey_index = 0;
    std::uint8_t path_mtu = 0, path_migration = 0, max_reads = 0, max_reads_of_peer = 0, rnr_timer = 0, port = 0;
    std::uint8_t timeout = 0, retry_count = 0, rnr_retry = 0, alternate_port = 0, alternate_timeout = 0;
};

/// A range of a program's memory, of the card's own, or of memory at the other end of the link. Does not own the
/// process: the key from which the range was resolved keeps it alive, and no key is destroyed while a work request is
/// carried out.
struct Segment {
    Process *process; ///< null: the card's own memory, which includes device memory, or the other side's
    std::uint64_t address;
    std::uint64_t length;
    std::uint32_t remote = 0; ///< handle of the alias at the other end of the link; 0: memory of this place
    std::uint32_t rights = 0; ///< rights that the other side has to check
};

/// A scatter/gather list after resolution of its keys. Valid during one work request. Functions that carry out requests
/// reuse a static list, so that a request rarely allocates; only the event loop's thread uses it. `length` is the sum
/// of the lengths of the segments.
struct SegmentList {
    std::vector<Segment> segments;
    std::uint64_t length = 0;
    void clear()
    {
        segments.clear();
        length = 0;
    }
};

/// The attempts of a request that gets no response. Attempts are counted, since elapsed time is not sufficient: a card
/// process that had no processor for a while has made no attempts meanwhile. A member of QueuePair for its first
/// request; replaced by a new object when the request makes progress.
class Attempts {
public:
    /// Called after a failed attempt at @p now. Returns whether to retry: there are up to @p max_attempts attempts,
    /// each for @p duration ns.
    [[nodiscard]] bool should_retry(std::uint64_t now, std::uint64_t duration, unsigned max_attempts)
    {
        if (begun_ != 0 && now < end_)
            return true;
        if (begun_ == max_attempts)
            return false;
        ++begun_;
        end_ = now + duration;
        return true;
    }

private:
    unsigned begun_ = 0;    ///< attempts so far
    std::uint64_t end_ = 0; ///< end of the current attempt
};

/// A queue pair: its rings and doorbell record are in the program's memory. Work requests are carried out in order, one
/// at a time; a request that waits or that is long stays the first one. The counters of both queues have 16 bits and
/// count slots of the send ring and entries of the receive ring; the place in a ring is the counter modulo its size.
struct QueuePair : Object {
    static constexpr Kind its_kind = Kind::queue_pair;
    static constexpr std::uint32_t first_number = 0x100;
    QueuePair(Kind kind_of_it, OpenFile &its_file, std::uint32_t its_handle);
    ~QueuePair() override;
    [[nodiscard]] std::uint32_t number() const { return first_number + handle; }
    [[nodiscard]] bool is_xrc() const { return type == QpType::xrc_send || type == QpType::xrc_receive; }
    /// Returns whether its state lets it accept messages of its peer.
    [[nodiscard]] bool is_responding() const { return state >= QpState::rtr && state <= QpState::sqd; }
    /// Resets the progress of the first request, when that request is dropped.
    void reset_first_request()
    {
        timeout_attempts = rnr_attempts = {};
        lost_until = copied = 0;
        transfer.reset();
    }

    std::shared_ptr<Process> process;
    Use<ProtectionDomain> pd; ///< null for xrc_receive, which uses those of the shared receive queues
    Use<CompletionQueue> send_cq,
        receive_cq;        ///< null without such a queue: xrc_receive has neither, xrc_send the first
    Use<XrcDomain> domain; ///< of xrc_receive only
    Use<SharedReceiveQueue> srq;
    QpType type = QpType::rc;
    QpState state = QpState::reset;
    std::uint32_t user_index = 0;         ///< number by which libmlx5 finds the queue pair of a completion
    std::uint32_t send_slots = 0;         ///< slots of 64 bytes; a power of two, or 0
    std::uint32_t receive_entries = 0;    ///< a power of two, or 0
    std::uint32_t receive_log_stride = 4; ///< size of an entry of the receive ring
    std::uint64_t receive_buffer = 0, send_buffer = 0, doorbell_record = 0; ///< addresses in the process
    std::uint64_t user_handle = 0;                         ///< the program's name of the queue pair in events
    std::uint16_t send_consumed = 0, receive_consumed = 0; ///< counters of what the card has completed
    std::uint16_t receive_posted = 0;                      ///< receive counter when the doorbell record was last read
    bool signals_all = false;                              ///< as requested; libmlx5 marks each request itself
    bool is_mmo_enabled = false;                           ///< DMA (MMO) was enabled for this queue pair
    Use<struct UserMemory> buffer_memory, record_memory;   ///< for queue pairs created by DEVX

    QpAttributes attributes;   ///< as set by the program so far
    ib_uverbs_qp_cap limits{}; ///< sizes that the program has requested

    /// Progress of the first request that is not complete.
    Attempts timeout_attempts;              ///< attempts without a response of the peer
    Attempts rnr_attempts;                  ///< attempts without a receive request of the peer
    std::uint64_t lost_until = 0;           ///< time in ns until which a fault loses its message; it is sent again then
    std::uint64_t copied = 0;               ///< bytes of a long transfer that were copied
    std::shared_ptr<LinkTransfer> transfer; ///< the part that the other side of the card has not answered yet, or null
    std::unique_ptr<Receive> receiving;     ///< receive request that a part of a message of the peer's is in, or null
    std::unique_ptr<RoceConnection> roce;   ///< the peer is reached by the network; null: it is on this card
    bool is_looped_back = false;            ///< the path ends at the function's own port
    std::uint32_t async_events = 0;
    PinnedMemory pinned_buffer;
    std::shared_ptr<PinnedMemory> pinned_record;
};

/// One range of an indirect key (KLM or KSM entry): `length` bytes at `address`, as named by `key`. The entries of a
/// key are consecutive: each begins where the one before it ends.
struct KeyEntry {
    std::uint64_t length;
    std::uint32_t key;
    std::uint64_t address;
};

/// Permission for other functions of the card to create aliases of a key (ALLOW_OTHER_VHCA_ACCESS). A member of the
/// key. A program that creates an alias must present the same 32 bytes, which are the only secret.
struct AliasPermission {
    std::array<std::uint8_t, 32> access_key;
};

/// A memory key of any kind: memory region, direct or indirect key of DEVX, alias. Registered in KeyTable until it is
/// destroyed. A direct key maps [iova, iova + length) to the process's memory from `start` on, an indirect key to its
/// entries; an alias has no range and refers to its target by index and serial number.
struct MemoryKey : Object {
    static constexpr Kind its_kind = Kind::memory_key;
    using Object::Object;
    ~MemoryKey() override;

    std::shared_ptr<Process> process;
    Use<ProtectionDomain> pd; ///< for keys created by verbs
    std::uint32_t key = 0;
    std::uint32_t pd_number = 0;
    std::uint32_t access = 0; ///< ib_uverbs_access_flags
    std::uint64_t start = 0;  ///< address in the process
    std::uint64_t iova = 0, length = 0;
    bool is_indirect = false;    ///< consists of ranges of other keys
    bool is_free = false;        ///< has no range at present: an unbound window
    bool is_user_memory = false; ///< created from a registered user memory, not from a memory region
    std::uint32_t bound_to = 0;  ///< number of the only queue pair that may use it; 0: any
    std::vector<KeyEntry> entries;
    Use<struct UserMemory> user_memory;
    Use<struct DeviceMemory> device_memory; ///< null unless the range is in device memory, from its byte `start` on
    std::optional<AliasPermission> permission;
    std::uint32_t alias_of = 0; ///< index of the key of another function that it stands for; 0: no alias
    std::uint64_t alias_serial = 0;
    std::uint32_t remote_session = 0; ///< of an alias of a key at the other end of the link: its connection; else 0
    std::uint32_t remote_handle = 0;  ///< and its handle there
    std::uint64_t serial = 0;         ///< unique among all keys ever created, unlike their indices
    PinnedMemory pinned;              ///< for keys created by verbs
};

/// A memory window: an indirect key that is free until a UMR request binds it. Its own Kind keeps the commands of
/// memory regions from naming it.
struct MemoryWindow : MemoryKey {
    static constexpr Kind its_kind = Kind::memory_window;
    using MemoryKey::MemoryKey;
};

/// Memory that a program has registered for use by DEVX commands (umem). It counts as pinned as long as it exists, and
/// cannot be deregistered while a key or a queue uses it.
struct UserMemory : Object {
    static constexpr Kind its_kind = Kind::user_memory;
    using Object::Object;
    std::shared_ptr<Process> process;
    std::uint64_t start = 0, length = 0;
    bool is_writable = false;
    PinnedMemory pinned;
};

/// Memory of the device that a program has allocated (MEMIC). It begins with a page of the function's memory, has whole
/// pages, and cannot be freed while a key refers to it.
struct DeviceMemory : Object {
    static constexpr Kind its_kind = Kind::device_memory;
    using Object::Object;
    ~DeviceMemory() override;
    std::uint64_t length = 0; ///< in bytes, as requested
    DevicePages pages;
    std::uint16_t first_page = 0; ///< number of its first page in the function's memory
    std::size_t page_count = 0;
};

/// An address handle. libmlx5 writes the address into each datagram's request, so nothing but the existence is stored.
/// Like the kernel's, it keeps its protection domain in use.
struct AddressHandle : Object {
    static constexpr Kind its_kind = Kind::address_handle;
    using Object::Object;
    Use<ProtectionDomain> pd;
};

/// A UAR page. It is mapped by the preloaded library, at uar_offset() of its handle; the card stores no content, since
/// requests and counters are in the rings and doorbell records. The handle is also the page's number in mailboxes.
struct Uar : Object {
    static constexpr Kind its_kind = Kind::uar;
    using Object::Object;
};

/// The handle by which DEVX names what a create command has created. It does not own that object, which ObjectTable
/// owns as well; devx_destroy() destroys both.
struct DevxObject : Object {
    static constexpr Kind its_kind = Kind::devx_object;
    using Object::Object;
    std::uint16_t opcode = 0;
    Object *created = nullptr;
    std::uint32_t id = 0;
};

} // namespace opendoca::card
