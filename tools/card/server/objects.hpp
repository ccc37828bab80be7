// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What programs create on the card. Every object belongs to the open file that created it, and refers only to
// objects of that file; `Use` keeps those from being destroyed. Only numbers cross files: queue pair numbers
// and memory keys.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "event_pipe.hpp"
#include "pinned_memory.hpp"
#include "process.hpp"

namespace opendoca::card {

class OpenFile;

enum class Kind : std::uint8_t {
    queue_pair,
    shared_receive_queue,
    completion_queue,
    address_handle,
    memory_key,
    memory_window,
    user_memory,
    uar,
    devx_object,
    protection_domain
};

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
    std::uint32_t users = 0;
    bool is_below_devx = false; ///< made by a DEVX command: no verbs call finds it by its handle
};

/// Refers to an object that must not be destroyed before this is.
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

struct ProtectionDomain : Object {
    static constexpr Kind its_kind = Kind::protection_domain;
    static constexpr std::uint32_t first_number = 0x10;
    using Object::Object;
    [[nodiscard]] std::uint32_t number() const { return first_number + handle; }
};

/// A completion that a fault holds back.
struct LateCompletion {
    std::uint64_t due;
    std::array<std::uint8_t, 64> entry;
    std::uint8_t opcode;
    bool is_solicited;
};

inline constexpr std::uint32_t not_armed = 0xffffffff; ///< in a queue's arm word: no program writes this

struct CompletionQueue : Object {
    static constexpr Kind its_kind = Kind::completion_queue;
    static constexpr std::uint32_t first_number = 0x40;
    using Object::Object;
    ~CompletionQueue() override;
    [[nodiscard]] std::uint32_t number() const { return first_number + handle; }

    std::shared_ptr<Process> process;
    std::uint32_t entries = 0; ///< a power of two
    std::uint32_t entry_size = 64;
    std::uint32_t produced = 0;
    std::uint32_t consumed = 0;    ///< how many the program had taken when the card last looked
    std::uint32_t notified = 0;    ///< `produced` when the last event was sent
    std::uint32_t arm = not_armed; ///< the word that the queue was last armed by
    bool is_armed = false;         ///< there was no event for it yet
    std::uint64_t buffer = 0, doorbell_record = 0, user_handle = 0;
    std::shared_ptr<EventPipe> channel;
    std::uint32_t completion_events = 0, async_events = 0;
    std::uint64_t moderated_until = 0; ///< an event is due then, if none came before; 0: none is
    bool is_overrun = false;
    std::deque<LateCompletion> late;
    Use<struct UserMemory> buffer_memory, record_memory; ///< of those made by DEVX
    PinnedMemory pinned_buffer;
    std::shared_ptr<PinnedMemory> pinned_record;
};

struct SharedReceiveQueue : Object {
    static constexpr Kind its_kind = Kind::shared_receive_queue;
    static constexpr std::uint32_t first_number = 0x40;
    using Object::Object;
    [[nodiscard]] std::uint32_t number() const { return first_number + handle; }

    std::shared_ptr<Process> process;
    Use<ProtectionDomain> pd;
    std::uint32_t entries = 0, log_stride = 5, most_sges = 0, limit = 0;
    std::uint16_t next = 0;     ///< entry to be consumed
    std::uint16_t consumed = 0; ///< how many have been
    std::uint64_t buffer = 0, doorbell_record = 0, user_handle = 0;
    std::uint32_t async_events = 0;
    PinnedMemory pinned_buffer;
    std::shared_ptr<PinnedMemory> pinned_record;
};

enum class QpState : std::uint8_t { reset, init, rtr, rts, sqd, sqe, error }; // as ibv_qp_state
enum class QpType : std::uint8_t { rc = 2, uc = 3, ud = 4 };                  // as ibv_qp_type

/// As of ibv_qp_attr.
struct QpAttributes {
    ib_uverbs_qp_dest path{}, alternate_path{};
    std::uint32_t destination = 0, access = 0, qkey = 0, receive_psn = 0, send_psn = 0;
    std::uint16_t pkey_index = 0, alternate_pkey_index = 0;
    std::uint8_t path_mtu = 0, path_migration = 0, most_reads = 0, most_reads_of_peer = 0, rnr_timer = 0,
                 port = 0;
    std::uint8_t timeout = 0, retry_count = 0, rnr_retry = 0, alternate_port = 0, alternate_timeout = 0;
};

/// Part of a program's memory, or of the card's own.
struct Segment {
    Process *process; ///< null: the card's own
    std::uint64_t address;
    std::uint64_t length;
};

struct SegmentList {
    std::vector<Segment> segments;
    std::uint64_t length = 0;
    void clear()
    {
        segments.clear();
        length = 0;
    }
};

/// Those of a request that gets no answer. They are counted, the time alone is not enough: a card that had
/// no processor for a while has not tried in it.
class Tries {
public:
    /// After one at @p now that was in vain: whether to go on. @p most, each of @p duration ns.
    [[nodiscard]] bool go_on(std::uint64_t now, std::uint64_t duration, unsigned most)
    {
        if (begun_ != 0 && now < end_)
            return true;
        if (begun_ == most)
            return false;
        ++begun_;
        end_ = now + duration;
        return true;
    }

private:
    unsigned begun_ = 0;
    std::uint64_t end_ = 0; ///< of the one that was begun last
};

struct QueuePair : Object {
    static constexpr Kind its_kind = Kind::queue_pair;
    static constexpr std::uint32_t first_number = 0x100;
    using Object::Object;
    ~QueuePair() override;
    [[nodiscard]] std::uint32_t number() const { return first_number + handle; }
    /// Takes messages of its peer.
    [[nodiscard]] bool is_responding() const { return state >= QpState::rtr && state <= QpState::sqd; }
    void forget_first_request()
    {
        unanswered = not_ready = {};
        lost_until = copied = 0;
    }

    std::shared_ptr<Process> process;
    Use<ProtectionDomain> pd;
    Use<CompletionQueue> send_cq, receive_cq;
    Use<SharedReceiveQueue> srq;
    QpType type = QpType::rc;
    QpState state = QpState::reset;
    std::uint32_t user_index = 0;
    std::uint32_t send_slots = 0;      ///< of 64 bytes; a power of two, or 0
    std::uint32_t receive_entries = 0; ///< a power of two, or 0
    std::uint32_t receive_log_stride = 4;
    std::uint64_t receive_buffer = 0, send_buffer = 0, doorbell_record = 0, user_handle = 0;
    std::uint16_t send_consumed = 0, receive_consumed = 0;
    std::uint16_t receive_posted = 0; ///< when the card last looked
    bool signals_all = false;
    bool may_copy = false; ///< MMO was switched on
    Use<struct UserMemory> buffer_memory, record_memory; ///< of those made by DEVX

    QpAttributes attributes; ///< as set so far
    ib_uverbs_qp_cap limits{};

    /// Where the first request stands that is not done.
    Tries unanswered;             ///< by the peer
    Tries not_ready;              ///< the peer has no receive request
    std::uint64_t lost_until = 0; ///< a fault has lost its message: it is sent again then
    std::uint64_t copied = 0;     ///< bytes of a long transfer
    bool is_looped_back = false;  ///< its path ends at its own function
    std::uint32_t async_events = 0;
    PinnedMemory pinned_buffer;
    std::shared_ptr<PinnedMemory> pinned_record;
};

/// Part of the address range of an indirect key.
struct KeyEntry {
    std::uint64_t length;
    std::uint32_t key;
    std::uint64_t address;
};

/// What a program has let another function of the card do with a key.
struct AliasPermission {
    std::array<std::uint8_t, 32> access_key;
};

struct MemoryKey : Object {
    static constexpr Kind its_kind = Kind::memory_key;
    using Object::Object;
    ~MemoryKey() override;

    std::shared_ptr<Process> process;
    Use<ProtectionDomain> pd; ///< of keys that verbs made
    std::uint32_t key = 0;
    std::uint32_t pd_number = 0;
    std::uint32_t access = 0; ///< ib_uverbs_access_flags
    std::uint64_t start = 0;  ///< in the process
    std::uint64_t iova = 0, length = 0;
    bool is_indirect = false;    ///< its range is made of other keys'
    bool is_free = false;        ///< has no range: an unbound window
    bool is_user_memory = false; ///< made of a registered user memory, without a system's memory region
    std::uint32_t bound_to = 0;  ///< only through this queue pair; 0: any
    std::vector<KeyEntry> entries;
    Use<struct UserMemory> user_memory;
    std::optional<AliasPermission> permission;
    std::uint32_t alias_of = 0; ///< index of another function's key; 0: none
    std::uint64_t alias_serial = 0;
    std::uint64_t serial = 0; ///< no two keys have the same, though their indices come again
    PinnedMemory pinned;      ///< of keys that verbs made
};

struct MemoryWindow : MemoryKey {
    static constexpr Kind its_kind = Kind::memory_window;
    using MemoryKey::MemoryKey;
};

struct UserMemory : Object {
    static constexpr Kind its_kind = Kind::user_memory;
    using Object::Object;
    std::shared_ptr<Process> process;
    std::uint64_t start = 0, length = 0;
    bool is_writable = false;
    PinnedMemory pinned;
};

struct AddressHandle : Object {
    static constexpr Kind its_kind = Kind::address_handle;
    using Object::Object;
    Use<ProtectionDomain> pd;
};

struct Uar : Object {
    static constexpr Kind its_kind = Kind::uar;
    using Object::Object;
};

/// What a DEVX create command made, if that is an object of its own.
struct DevxObject : Object {
    static constexpr Kind its_kind = Kind::devx_object;
    using Object::Object;
    std::uint16_t opcode = 0;
    Object *made = nullptr;
    std::uint32_t id = 0;
};

} // namespace opendoca::card
