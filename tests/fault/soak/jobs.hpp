// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The jobs of one side in one epoch, and the model of what each must do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control.hpp"
#include "instance.hpp"

namespace soak {

constexpr std::byte canary{0x5a};
constexpr std::size_t gap = 16; ///< of canaries around each piece

/// A part of a chain: a buffer in local memory with bytes around it that must not change.
struct Piece {
    std::byte *head;
    std::size_t prefix; ///< a destination's data section before the job; a source's bytes before it
    std::size_t room;   ///< a destination's tailroom; a source's data section
};

struct Job {
    bool is_in_flight = false;
    std::uint32_t generation = 0;
    Kind kind{};
    std::size_t size = 0;       ///< that the job must move
    std::size_t offset = 0;     ///< in the exposed memory
    bool is_short = false;      ///< a receive that is too small on purpose
    bool is_overtaken = false;  ///< a READ that may bring what a later WRITE has left
    std::uint64_t message = 0;  ///< of a receive, and of what completes one
    std::uint64_t old_word = 0; ///< that an atomic must return
    std::vector<Piece> pieces;
    std::vector<std::byte> expected; ///< that a READ must bring
    doca_buf *local = nullptr;       ///< head of the chain
    doca_buf *remote = nullptr;
};

class Jobs {
public:
    /// @p me and the peer as in Control::sides.
    Jobs(Control &control, int me, std::uint64_t incarnation);

    /// Bytes of local memory that the jobs use.
    [[nodiscard]] static std::size_t local_size();

    void begin(Instance &instance, std::uint32_t epoch);

    [[nodiscard]] bool has_room_for_send() const noexcept { return num_sends_ < max_sends; }
    [[nodiscard]] std::uint32_t num_sends() const noexcept { return num_sends_; }
    [[nodiscard]] std::uint32_t num_receives() const noexcept { return num_receives_; }
    [[nodiscard]] std::uint64_t num_messages_sent() const noexcept { return next_message_; }
    [[nodiscard]] std::uint64_t num_messages_received() const noexcept { return received_; }
    [[nodiscard]] std::uint64_t num_posted() const noexcept { return next_receive_; }

    /// Submits a job of any kind but RECV. False when the instance is in no state for it.
    [[nodiscard]] bool submit();
    /// Submits a receive for the next message; @p is_short makes it too small, if it can be.
    [[nodiscard]] bool submit_receive(bool may_be_short, bool &was_short);

    /// Retrieves one job and checks what it did: SUCCESS, AGAIN, or the job's error.
    [[nodiscard]] doca_error_t retrieve();

    /// Checks this side's memory against what the peer's jobs must have made of it.
    void check_exposed() const;

private:
    [[nodiscard]] static doca_job base_of(Kind kind, doca_ctx *ctx);
    [[nodiscard]] Job &claim(Kind kind);
    [[nodiscard]] bool submit(Job &job, doca_job &base);
    void release(Job &job);
    void lay_out(Job &job, std::size_t total, bool is_source, std::uint64_t content);
    void fill_source(Job &job, std::uint64_t content);
    void model_write(Job &job);
    void set_unknown(const Job &job, std::size_t offset, std::size_t size);
    void clear_unknown(const Job &job);

    [[nodiscard]] bool submit_message(Job &job);
    [[nodiscard]] bool submit_read_or_write(Job &job);
    [[nodiscard]] bool submit_atomic(Job &job);

    void check(Job &job, const std::optional<doca_rdma_result> &result);
    void check_receive(Job &job, const std::optional<doca_rdma_result> &result);
    [[nodiscard]] static std::vector<std::byte> bytes_of(const Job &job);
    void check_destination(const Job &job, std::span<const std::byte> bytes) const;

    [[nodiscard]] std::size_t slot_of(const Job &job) const { return static_cast<std::size_t>(&job - jobs_.data()); }
    [[nodiscard]] std::byte *arena_of(const Job &job) const;
    [[nodiscard]] std::string text_of(const Job &job) const;

    Control &control_;
    SideControl &mine_;
    const SideControl &peers_;
    int me_;
    Random random_;
    Instance *instance_ = nullptr;
    std::uint32_t epoch_ = 0;
    std::vector<Job> jobs_;
    std::uint32_t num_sends_ = 0;
    std::uint32_t num_receives_ = 0;
    std::uint64_t next_message_ = 0;
    std::uint64_t next_receive_ = 0;
    std::uint64_t received_ = 0;
    std::vector<std::byte> scratch_;
};

} // namespace soak
