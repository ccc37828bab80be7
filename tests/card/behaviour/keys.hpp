// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory keys by DEVX, as UCX and DPDK make them, and copies by the card's DMA engine. All offsets are the
// tests' own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "verbs.hpp"

namespace card_test {

using AccessKey = std::array<std::uint8_t, 32>;

/// A key that a DEVX command made; not there where it was refused, and then `status` and `syndrome` say why.
struct DevxKey {
    Owned<mlx5dv_devx_umem> memory;
    Owned<mlx5dv_devx_obj> object;
    std::uint32_t index = 0;
    std::uint8_t variant = 0;
    std::uint8_t status = 0;
    std::uint32_t syndrome = 0;
    [[nodiscard]] std::uint32_t key() const { return index << 8 | variant; }
};

enum class Wrong : std::uint8_t { nothing, pd, umem, offset, length, mode, short_mailbox, rights };

/// A direct key over a registered user memory.
DevxKey make_direct_key(ibv_context &context, ibv_pd &pd, void *address, std::size_t size,
                        Wrong wrong = Wrong::nothing);
/// An indirect key (KSM) over a memory region.
DevxKey make_indirect_key(ibv_context &context, ibv_pd &pd, const ibv_mr &mr);
/// Lets other functions of the card use a key: the status of the command.
std::uint8_t allow_access(ibv_context &context, std::uint32_t index, const AccessKey &access_key);
/// This function's alias of another's key.
DevxKey make_alias(ibv_context &context, ibv_pd &pd, std::uint16_t vhca_id, std::uint32_t index,
                   const AccessKey &access_key);

/// A queue pair that copies by the DMA engine.
class CopyQueue {
public:
    /// errno of what failed, or 0, is in `error`.
    explicit CopyQueue(Device &device);
    ibv_wc_status copy(std::uint32_t destination_key, std::uint64_t destination, std::uint32_t source_key,
                       std::uint64_t source, std::size_t bytes);
    int error = 0;

private:
    Device &device_;
    Owned<ibv_qp> qp_;
};

} // namespace card_test
