// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Requests that involve no peer: memory copies by the DMA engine (MMO), and UMR requests, by which a program changes
// keys itself.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "big_endian.hpp"
#include "limits.hpp"
#include "prm.hpp"
#include "work_request.hpp"

namespace opendoca::card {

namespace {

/// Reads the translation entries of an indirect key that follow the key context of a UMR request. Returns false if they
/// are malformed.
bool read_entries(std::span<const std::uint8_t> bytes, std::vector<KeyEntry> &entries)
{
    constexpr std::size_t entry_bytes = 16;      // mlx5_wqe_umr_klm_seg, mlx5_wqe_umr_repeat_ent_seg
    constexpr std::uint32_t interleaved = 0x400; // value in the place of the first entry's key
    entries.clear();
    if (bytes.size() < entry_bytes)
        return false;
    if (be32(&bytes[4]) == interleaved) {
        // Header: bytes per block, operation, number of blocks, reserved, number of entries. Each entry: stride, bytes,
        // key, address.
        const std::uint64_t blocks = be32(&bytes[8]), count = be16(&bytes[14]);
        if (count * entry_bytes > bytes.size() - entry_bytes || blocks * count > max_key_entries)
            return false;
        for (std::uint64_t block = 0; block < blocks; ++block) {
            for (std::uint64_t i = 0; i < count; ++i) {
                const std::uint8_t *entry = &bytes[entry_bytes * (i + 1)];
                entries.push_back({be16(entry + 2), be32(entry + 4), be64(entry + 8) + block * be16(entry)});
            }
        }
        return true;
    }
    for (; bytes.size() >= entry_bytes; bytes = bytes.subspan(entry_bytes)) {
        if (be32(&bytes[0]) != 0 || be32(&bytes[4]) != 0)
            entries.push_back({be32(&bytes[0]), be32(&bytes[4]), be64(&bytes[8])});
    }
    return true;
}

/// Returns whether a window may be bound: its region must permit binding, and must be writable if the window grants
/// remote writes.
bool may_bind_window(const Card &card, const std::vector<KeyEntry> &entries, std::uint32_t access)
{
    const MemoryKey *region = entries.empty() ? nullptr : card.keys.find(entries.front().key);
    return region != nullptr && (region->access & right::bind_window) != 0 &&
           ((access & right::remote_write) == 0 || (region->access & right::local_write) != 0);
}

} // namespace

/// Carries out a memory copy. Long copies take several calls; the status area is written at the end.
Outcome execute_copy(QueuePair &qp, const WorkRequest &request)
{
    constexpr std::uint8_t dma = 1;                      // modifier of a memory copy
    constexpr std::uint64_t length_of_zero = 1ull << 31; // a length of 0 in a request means 2 GiB
    // Offsets in a request: key and address of the status area, then two data segments.
    constexpr std::size_t at_opaque = 20, at_source = 32, at_destination = 48;
    const Profile &profile = qp.file.card.profile;
    if (request.modifier != dma || qp.type != QpType::rc || !profile.dma_works || qp.file.card.faults.dma_fails ||
        (profile.dma_by_queue_pair && !qp.is_mmo_enabled))
        return fail(qp, nullptr, request, Syndrome::local_operation);
    const std::uint32_t given = be32(&request.bytes[at_source]);
    const std::uint64_t length = given == 0 ? length_of_zero : given;
    if (length > 1ull << profile.log_max_copy_bytes)
        return fail(qp, nullptr, request, Syndrome::local_length);
    static SegmentList opaque, source, destination;
    opaque.clear();
    source.clear();
    destination.clear();
    const Card &card = qp.file.card;
    const Purpose to_read{qp.pd->number(), 0, qp.number()}, to_write{qp.pd->number(), right::local_write, qp.number()};
    constexpr std::array<std::uint8_t, 64> status{};
    if (be32(&request.bytes[at_destination]) != given ||
        !add_range(card, opaque, to_write, be32(&request.bytes[at_opaque]), be64(&request.bytes[at_opaque + 4]),
                   status.size()) ||
        !add_range(card, source, to_read, be32(&request.bytes[at_source + 4]), be64(&request.bytes[at_source + 8]),
                   length) ||
        !add_range(card, destination, to_write, be32(&request.bytes[at_destination + 4]),
                   be64(&request.bytes[at_destination + 8]), length))
        return fail(qp, nullptr, request, Syndrome::local_protection);
    bool is_complete = false;
    const CopyResult copied = copy_part(qp, source, destination, length, is_complete);
    if (copied == CopyResult::pending)
        return Outcome::waiting;
    if (copied != CopyResult::done)
        return fail(qp, nullptr, request, Syndrome::local_protection);
    if (!is_complete)
        return Outcome::more;
    SegmentList result;
    result.segments.push_back({nullptr, reinterpret_cast<std::uintptr_t>(status.data()), status.size()});
    if (copy(result, opaque, 0, status.size()) != CopyResult::done)
        return fail(qp, nullptr, request, Syndrome::local_protection);
    ++qp.file.card.dma_copies;
    return finish(qp, request, length);
}

/// Carries out a UMR request. All checks come first, so a failed request leaves the key unchanged.
Outcome execute_umr(QueuePair &qp, const WorkRequest &request)
{
    // Offsets of mlx5_wqe_umr_ctrl_seg, of the key context and of the translation entries in a request.
    constexpr std::size_t at_control = 16, at_context = 64, at_entries = 128;
    constexpr std::uint8_t check_free = 0x20, check_queue_pair = 0x08, entries_inline = 0x80;
    // Bits of the mask (MLX5_WQE_UMR_CTRL_MKEY_MASK_*), which selects the fields of the context that apply.
    constexpr std::uint64_t takes_length = 1, takes_start = 1 << 6, takes_variant = 1 << 13, takes_qp = 1 << 14,
                            takes_access = 31 << 17, takes_free = 1 << 29;
    const std::uint8_t flags = request.bytes[at_control];
    const std::uint64_t mask = be64(&request.bytes[at_control + 8]);
    const auto context = request.bytes.subspan(at_context, 64);
    MemoryKey *key = qp.file.card.keys.by_index(swap_on_little_endian(request.immediate) >> 8);
    if (key != nullptr && (!key->is_indirect || key->alias_of != 0))
        return fail(qp, nullptr, request, Syndrome::local_operation);
    if (key == nullptr || key->pd_number != qp.pd->number() || ((flags & check_free) != 0 && !key->is_free) ||
        ((flags & check_queue_pair) != 0 && key->bound_to != 0 && key->bound_to != qp.number()))
        return fail(qp, nullptr, request, Syndrome::window_bind);
    const bool frees = (mask & takes_free) != 0 && prm::get(context, prm::mkey::free) != 0;
    const std::uint32_t access = (mask & takes_access) != 0 ? prm::access_of(context) : key->access;
    std::vector<KeyEntry> entries;
    const bool gives_entries = be16(&request.bytes[at_control + 4]) != 0;
    if (gives_entries && ((flags & entries_inline) == 0 || !read_entries(request.bytes.subspan(at_entries), entries)))
        return fail(qp, nullptr, request, Syndrome::window_bind);
    if (key->kind == Kind::memory_window && !frees && !may_bind_window(qp.file.card, entries, access))
        return fail(qp, nullptr, request, Syndrome::window_bind);
    if ((mask & takes_variant) != 0)
        key->key = (key->key & ~0xffu) | static_cast<std::uint32_t>(prm::get(context, prm::mkey::variant));
    if ((mask & takes_qp) != 0) {
        constexpr std::uint32_t any = 0xffffff;
        const auto number = static_cast<std::uint32_t>(prm::get(context, prm::mkey::qpn));
        key->bound_to = number == any ? 0 : number;
    }
    if ((mask & takes_free) != 0)
        key->is_free = frees;
    std::uint64_t sum = 0;
    for (const KeyEntry &entry : entries)
        sum += entry.length;
    if ((mask & takes_length) != 0)
        key->length = prm::get(context, prm::mkey::length);
    else if (gives_entries)
        key->length = sum;
    if (gives_entries)
        key->entries = std::move(entries);
    if ((mask & takes_start) != 0)
        key->iova = prm::get(context, prm::mkey::start);
    key->access = access;
    return finish(qp, request, 0);
}

} // namespace opendoca::card
