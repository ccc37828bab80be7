// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Queues that DEVX commands create in user memories, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "verbs.hpp"

namespace card_test {

/// The answer to a DEVX command.
struct Answer {
    Owned<mlx5dv_devx_obj> object; ///< null where the command was refused
    std::uint8_t status = 0;
    std::uint32_t number = 0;
};

/// A user memory with a page for a ring, and a page for a doorbell record and others.
class QueueMemory {
public:
    explicit QueueMemory(ibv_context &context, unsigned access = IBV_ACCESS_LOCAL_WRITE);
    ~QueueMemory();
    QueueMemory(const QueueMemory &) = delete;
    QueueMemory &operator=(const QueueMemory &) = delete;
    static constexpr std::size_t record_at = 4096;
    [[nodiscard]] std::uint8_t *ring() const { return pages_; }
    [[nodiscard]] std::uint32_t id() const { return memory_->umem_id; }
    /// Stores a word of the doorbell record.
    void set_record(unsigned word, std::uint32_t value) const;

private:
    std::uint8_t *pages_;
    Owned<mlx5dv_devx_umem> memory_;
};

/// A UAR.
class Uar {
public:
    explicit Uar(ibv_context &context);
    ~Uar() { mlx5dv_devx_free_uar(uar_); }
    Uar(const Uar &) = delete;
    Uar &operator=(const Uar &) = delete;
    [[nodiscard]] std::uint32_t number() const { return uar_->page_id; }
    /// Rings the doorbell of a send queue, or of a completion queue that is armed.
    void ring(std::size_t offset, std::uint64_t value) const;

private:
    mlx5dv_devx_uar *uar_;
};

/// A completion queue.
class DevxCq {
public:
    static constexpr std::uint32_t entries = 4;
    DevxCq(ibv_context &context, const Uar &uar, bool ignores_overrun = false);
    /// Requests an event at the next entry.
    void arm();
    /// Returns the opcode of the next entry, or -1, and consumes it.
    int poll();
    /// Returns the counter of the request in the entry that was polled last.
    [[nodiscard]] std::uint16_t counter() const { return counter_; }
    [[nodiscard]] std::uint32_t number() const { return answer_.number; }
    [[nodiscard]] mlx5dv_devx_obj *object() const { return answer_.object.get(); }

private:
    QueueMemory memory_;
    const Uar &uar_;
    Answer answer_;
    std::uint32_t consumed_ = 0, arms_ = 0;
    std::uint16_t counter_ = 0;
};

enum class Topology : std::uint8_t { list = 0, cyclic = 1 };

/// A pool of receive memory (RMP).
class Pool {
public:
    static constexpr std::uint32_t entries = 8, log_stride = 5;
    /// Its ring begins that many bytes after the start of its memory.
    Pool(Device &device, Topology topology, std::size_t ring_offset = 0);
    /// Posts a receive request to the end.
    void post(const ibv_mr &memory, std::uint32_t bytes);
    /// Sets the limit: the status of the command.
    std::uint8_t set_limit(std::uint32_t limit);
    [[nodiscard]] std::uint32_t number() const { return answer_.number; }
    [[nodiscard]] mlx5dv_devx_obj *object() const { return answer_.object.get(); }

private:
    QueueMemory memory_;
    std::uint8_t *ring_;
    Answer answer_;
    std::uint16_t posted_ = 0;
};

/// The status of the creation of a pool with another value in one field of its context.
std::uint8_t create_wrong_pool(Device &device, unsigned bit, unsigned width, std::uint64_t value);

/// The queue that receives for a queue pair: a pool, or a shared receive queue of verbs.
struct ReceiveQueue {
    std::uint32_t kind = 3, number = 0; ///< none
};

/// A queue pair of the service RC, which receives only.
class DevxQp {
public:
    DevxQp(Device &device, const Uar &uar, const DevxCq &cq, ReceiveQueue receives);
    /// Connects it: the status of the first command that was refused, or 0.
    std::uint8_t connect_to(const Address &peer, std::uint64_t optional_rights = 0);
    std::uint8_t fail();
    /// The bytes of its context.
    [[nodiscard]] std::vector<std::uint8_t> query() const;
    [[nodiscard]] Address address() const;
    [[nodiscard]] std::uint8_t status() const { return answer_.status; }
    [[nodiscard]] std::uint32_t number() const { return answer_.number; }
    [[nodiscard]] mlx5dv_devx_obj *object() const { return answer_.object.get(); }

private:
    std::uint8_t modify(std::span<std::uint8_t> in, std::uint32_t opcode);

    Device &device_;
    QueueMemory memory_;
    Answer answer_;
};

} // namespace card_test
