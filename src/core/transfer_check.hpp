// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Whether an RDMA operation is possible as far as the caller's side can know, decided in one place, above the
// providers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "buf.hpp"
#include "mmap.hpp"

namespace opendoca {

/// What was found out about the local side of an operation when it was checked. Passed in a register.
struct TransferPlan {
    std::uint32_t length; ///< bytes to be moved; of a receive, the most that it takes
    bool is_list;         ///< the local side has more than one buffer
    bool overwrites;      ///< the destination has no tailroom at all and counts as empty

    /// Of an operation on TransferCheck's fast path: one buffer, appended to.
    [[nodiscard]] static TransferPlan single_sge(std::size_t bytes) noexcept
    {
        return {static_cast<std::uint32_t>(bytes), false, false};
    }
};

/// The rules of one connection.
class OPENDOCA_INTERNAL TransferCheck {
public:
    struct Limits {
        std::size_t message_size;   ///< bytes
        std::uint32_t chain_length; ///< buffers on the local side
        std::uint32_t recv_chain_length;
        bool has_atomics;
        bool sends_what_is_read_only = false; ///< memory of this process that the device may read
    };

    TransferCheck(const Device &device, const Limits &limits) noexcept : device_(&device), limits_(limits) {}

    // Each makes the plan, or says in the log what is wrong. Null pointers are checked. @p key is the key of
    // the remote memory, null where nothing is moved.

    [[nodiscard]] doca_error_t receive(const doca_buf *dst, TransferPlan &plan) const noexcept;
    [[nodiscard]] doca_error_t send(const doca_buf *src, TransferPlan &plan) const noexcept;
    [[nodiscard]] doca_error_t read(const doca_buf *dst, const doca_buf *src, TransferPlan &plan,
                                    MemoryKey *&key) const noexcept;
    [[nodiscard]] doca_error_t write(const doca_buf *dst, const doca_buf *src, TransferPlan &plan,
                                     MemoryKey *&key) const noexcept;
    [[nodiscard]] doca_error_t update(const doca_buf *result, const doca_buf *target, MemoryKey *&key) const noexcept;

    // Fast paths: one buffer on each side, of memory that the device is the first one of (its key is that of
    // doca_mmap::first()), which appends at least one byte. What fails here goes to the functions above, which explain.

    [[gnu::always_inline]] [[nodiscard]] bool is_fast_receive(const doca_buf *dst) const noexcept
    {
        return dst != nullptr && has_fast_path(*dst, KeyUse::rdma_local) && dst->tailroom() - 1 < limits_.message_size;
    }
    [[gnu::always_inline]] [[nodiscard]] bool is_fast_send(const doca_buf *src) const noexcept
    {
        return src != nullptr && has_fast_path(*src, KeyUse::rdma_local) && src->data_len - 1 < limits_.message_size;
    }
    [[gnu::always_inline]] [[nodiscard]] bool is_fast_read(const doca_buf *dst, const doca_buf *src) const noexcept
    {
        return is_fast_transfer(dst, src, KeyUse::rdma_local, KeyUse::rdma_remote);
    }
    [[gnu::always_inline]] [[nodiscard]] bool is_fast_write(const doca_buf *dst, const doca_buf *src) const noexcept
    {
        return is_fast_transfer(dst, src, KeyUse::rdma_remote, KeyUse::rdma_local);
    }
    // The same for one that may also overwrite: of programs that never reset their destination, each does.
    [[gnu::always_inline]] [[nodiscard]] bool is_fast_read(const doca_buf *dst, const doca_buf *src,
                                                           TransferPlan &plan) const noexcept
    {
        return is_fast_transfer(dst, src, KeyUse::rdma_local, KeyUse::rdma_remote, plan);
    }
    [[gnu::always_inline]] [[nodiscard]] bool is_fast_write(const doca_buf *dst, const doca_buf *src,
                                                            TransferPlan &plan) const noexcept
    {
        return is_fast_transfer(dst, src, KeyUse::rdma_remote, KeyUse::rdma_local, plan);
    }
    [[gnu::always_inline]] [[nodiscard]] bool is_fast_update(const doca_buf *result,
                                                             const doca_buf *target) const noexcept
    {
        return limits_.has_atomics && result != nullptr && target != nullptr &&
               has_fast_path(*result, KeyUse::rdma_local) && has_fast_path(*target, KeyUse::rdma_remote) &&
               bytes_from_data_on(*result) >= word_size && bytes_from_data_on(*target) >= word_size &&
               reinterpret_cast<std::uintptr_t>(target->data) % word_size == 0;
    }

private:
    /// Bytes that an atomic operation reads, and writes.
    static constexpr std::size_t word_size = 8;

    [[nodiscard]] static std::size_t bytes_from_data_on(const doca_buf &buf) noexcept
    {
        return static_cast<std::size_t>(buf.head + buf.len - buf.data);
    }

    enum class Side : std::uint8_t { source, destination };

    [[gnu::always_inline]] [[nodiscard]] bool has_fast_path(const doca_buf &buf, std::uint32_t side) const noexcept
    {
        return (buf.fast_path_uses & side) != 0 && buf.mmap->first().device == device_;
    }
    [[gnu::always_inline]] [[nodiscard]] bool is_fast_transfer(const doca_buf *dst, const doca_buf *src,
                                                               std::uint32_t dst_side,
                                                               std::uint32_t src_side) const noexcept
    {
        return src != nullptr && dst != nullptr && has_fast_path(*src, src_side) && has_fast_path(*dst, dst_side) &&
               src->data_len - 1 < dst->tailroom() && src->data_len <= limits_.message_size;
    }
    [[gnu::always_inline]] [[nodiscard]] bool is_fast_transfer(const doca_buf *dst, const doca_buf *src,
                                                               std::uint32_t dst_side, std::uint32_t src_side,
                                                               TransferPlan &plan) const noexcept
    {
        if (src == nullptr || dst == nullptr || !has_fast_path(*src, src_side) || !has_fast_path(*dst, dst_side))
            return false;
        const std::size_t tailroom = dst->tailroom();
        plan = TransferPlan::single_sge(src->data_len);
        plan.overwrites = tailroom == 0;
        return src->data_len - 1 < (plan.overwrites ? dst->data_len : tailroom) &&
               src->data_len <= limits_.message_size;
    }

    [[nodiscard]] doca_error_t plan_local(const doca_buf &list, Side side, std::uint32_t max_elements,
                                          TransferPlan &plan) const noexcept;
    [[nodiscard]] doca_error_t check_local(const doca_buf &buf, Side side) const noexcept;
    [[nodiscard]] doca_error_t find_remote(const doca_buf *buf, MemoryKey *&key) const noexcept;
    [[nodiscard]] doca_error_t check_length(std::size_t length) const noexcept;

    const Device *device_;
    Limits limits_;
};

} // namespace opendoca
