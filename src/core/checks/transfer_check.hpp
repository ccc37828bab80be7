// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The checks of an RDMA operation before its submission, as far as they need only this side: in one place, above the
// providers, so that all devices have the same rules.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../device/request.hpp"
#include "../objects/buf.hpp"
#include "../objects/mmap.hpp"

namespace opendoca {

/// The rules for the operations of one connection. A value that front ends store; constant and therefore thread-safe.
/// The checked buffers belong to the calling thread.
class OPENDOCA_INTERNAL TransferCheck {
public:
    struct Limits {
        std::size_t message_size;             ///< bytes; at most UINT32_MAX
        std::uint32_t chain_length;           ///< buffers on the local side of operations other than receives
        std::uint32_t recv_chain_length;      ///< buffers of a receive
        bool has_atomics;                     ///< the device supports atomic operations
        bool sends_what_is_read_only = false; ///< a source may be memory of this process without write permission
    };

    TransferCheck(const Device &device, const Limits &limits) noexcept : device_(&device), limits_(limits) {}

    /// Validates a receive and makes its plan, or logs the reason why it is impossible. @p dst may be null.
    [[nodiscard]] doca_error_t receive(const doca_buf *dst, TransferPlan &plan) const noexcept;
    /// Validates @p request, and sets its plan and its remote key (null if nothing is moved). Logs the reason if it is
    /// impossible. Buffers may be null.
    [[nodiscard]] doca_error_t check(Request &request) const noexcept;

    // Fast paths: one buffer on each side, of memory that the device is the first one of (its key is that of
    // doca_mmap::first()), and at least one byte to move. They log nothing: if one returns false, the functions above
    // decide.

    [[gnu::always_inline]] [[nodiscard]] bool is_fast_receive(const doca_buf *dst) const noexcept
    {
        return dst != nullptr && has_fast_path(*dst, KeyUse::rdma_local) && dst->tailroom() - 1 < limits_.message_size;
    }
    [[gnu::always_inline]] [[nodiscard]] bool is_fast_send(const doca_buf *src) const noexcept
    {
        return src != nullptr && has_fast_path(*src, KeyUse::rdma_local) && src->data_len - 1 < limits_.message_size;
    }
    /// Does the same as check() for a request on the fast path; returns false for any other. The opcode should be a
    /// constant where this is inlined.
    [[gnu::always_inline]] [[nodiscard]] bool check_fast(Request &request) const noexcept
    {
        switch (request.opcode) {
        case Opcode::send:
        case Opcode::send_with_immediate:
            if (!is_fast_send(request.local))
                return false;
            request.plan = TransferPlan::single_sge(request.local->data_len);
            request.remote_key = nullptr;
            return true;
        case Opcode::write:
        case Opcode::write_with_immediate:
            return check_fast_transfer(request, request.remote, request.local);
        case Opcode::read:
            return check_fast_transfer(request, request.local, request.remote);
        case Opcode::compare_and_swap:
        case Opcode::fetch_and_add:
            if (!is_fast_atomic(request.local, request.remote))
                return false;
            request.plan = {};
            request.remote_key = request.remote->mmap->first().key;
            return true;
        case Opcode::receive:
            break;
        }
        return false;
    }

private:
    /// Bytes that an atomic operation reads, and writes.
    static constexpr std::size_t word_size = 8;

    /// Returns the bytes from the start of the data section to the end of the buffer.
    [[nodiscard]] static std::size_t bytes_from_data_on(const doca_buf &buf) noexcept
    {
        return static_cast<std::size_t>(buf.head + buf.len - buf.data);
    }

    enum class Side : std::uint8_t { source, destination };

    [[gnu::always_inline]] [[nodiscard]] bool has_fast_path(const doca_buf &buf, std::uint32_t side) const noexcept
    {
        return (buf.fast_path_uses & side) != 0 && buf.mmap->first().device == device_;
    }
    /// Also true for a transfer that overwrites: in programs that never reset their destination, each one does once
    /// that is full.
    [[gnu::always_inline]] [[nodiscard]] bool check_fast_transfer(Request &request, const doca_buf *dst,
                                                                  const doca_buf *src) const noexcept
    {
        if (request.local == nullptr || request.remote == nullptr ||
            !has_fast_path(*request.local, KeyUse::rdma_local) || !has_fast_path(*request.remote, KeyUse::rdma_remote))
            return false;
        const std::size_t tailroom = dst->tailroom();
        const bool overwrites = tailroom == 0;
        request.plan = {static_cast<std::uint32_t>(src->data_len), false, overwrites};
        request.remote_key = request.remote->mmap->first().key;
        return src->data_len - 1 < (overwrites ? dst->data_len : tailroom) && src->data_len <= limits_.message_size;
    }
    [[gnu::always_inline]] [[nodiscard]] bool is_fast_atomic(const doca_buf *result,
                                                             const doca_buf *target) const noexcept
    {
        return limits_.has_atomics && result != nullptr && target != nullptr &&
               has_fast_path(*result, KeyUse::rdma_local) && has_fast_path(*target, KeyUse::rdma_remote) &&
               bytes_from_data_on(*result) >= word_size && bytes_from_data_on(*target) >= word_size &&
               reinterpret_cast<std::uintptr_t>(target->data) % word_size == 0;
    }

    [[nodiscard]] doca_error_t check_send(Request &request) const noexcept;
    [[nodiscard]] doca_error_t check_read(Request &request) const noexcept;
    [[nodiscard]] doca_error_t check_write(Request &request) const noexcept;
    [[nodiscard]] doca_error_t check_atomic(Request &request) const noexcept;
    [[nodiscard]] doca_error_t plan_local(const doca_buf &list, Side side, std::uint32_t max_elements,
                                          TransferPlan &plan) const noexcept;
    [[nodiscard]] doca_error_t check_local(const doca_buf &buf, Side side) const noexcept;
    [[nodiscard]] doca_error_t find_remote(const doca_buf *buf, MemoryKey *&key) const noexcept;
    [[nodiscard]] doca_error_t check_length(std::size_t length) const noexcept;

    const Device *device_;
    Limits limits_;
};

} // namespace opendoca
