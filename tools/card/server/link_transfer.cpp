// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "link_transfer.hpp"

#include <cstring>

#include "link.hpp"
#include "segment_cursor.hpp"

namespace opendoca::card {

namespace {

CopyResult source_result(Access access)
{
    return access == Access::done   ? CopyResult::done
           : access == Access::gone ? CopyResult::source_gone
                                    : CopyResult::source_fault;
}

CopyResult destination_result(Access access)
{
    return access == Access::done   ? CopyResult::done
           : access == Access::gone ? CopyResult::destination_gone
                                    : CopyResult::destination_fault;
}

/// Continues the part that a queue pair waits for, and drops it when it has ended.
CopyResult continue_transfer(QueuePair &qp, const SegmentList &destination)
{
    const std::shared_ptr<LinkTransfer> transfer = qp.transfer;
    const CopyResult result = transfer->advance(qp.file.card.link->requester(), destination);
    if (result != CopyResult::pending)
        qp.transfer.reset();
    return result;
}

} // namespace

LinkTransfer::LinkTransfer(std::uint64_t offset, std::uint64_t bytes)
    : offset_(offset),
      operation_(std::make_shared<LinkOperation>())
{
    operation_->bytes.resize(bytes);
}

bool LinkTransfer::is_for(std::uint64_t offset, std::uint64_t bytes) const
{
    return offset_ == offset && operation_->bytes.size() == bytes;
}

CopyResult LinkTransfer::begin_read(LinkRequester &requester, const SegmentList &source)
{
    std::uint64_t taken = 0;
    const auto read = [&](const Segment &segment, std::uint64_t at, std::uint64_t position, std::uint64_t bytes) {
        if (segment.remote == 0)
            return read_segment(segment, at, &operation_->bytes[position], bytes);
        requester.transfer(LinkType::read, operation_, segment, at, position, bytes);
        return Access::done;
    };
    const Access access = SegmentCursor(source, offset_).take(operation_->bytes.size(), taken, read);
    // A list that is shorter than its stated length counts as a fault.
    return source_result(access == Access::done && taken != operation_->bytes.size() ? Access::fault : access);
}

CopyResult LinkTransfer::begin_swap(LinkRequester &requester, const SegmentList &word, const LinkAtomic &operation)
{
    if (is_at_other_side(word)) {
        requester.swap(operation_, word.segments.front(), operation);
        return CopyResult::done;
    }
    std::uint64_t old = 0;
    const Access access = swap_word(word, operation, old);
    std::memcpy(operation_->bytes.data(), &old, sizeof(old));
    return source_result(access);
}

CopyResult LinkTransfer::begin_write(LinkRequester &requester, const SegmentList &destination)
{
    is_writing_ = true;
    std::uint64_t taken = 0;
    const auto write = [&](const Segment &segment, std::uint64_t at, std::uint64_t position, std::uint64_t bytes) {
        if (segment.remote == 0)
            return write_segment(segment, at, &operation_->bytes[position], bytes);
        requester.transfer(LinkType::write, operation_, segment, at, position, bytes);
        return Access::done;
    };
    const Access access = SegmentCursor(destination, offset_).take(operation_->bytes.size(), taken, write);
    return destination_result(access == Access::done && taken != operation_->bytes.size() ? Access::fault : access);
}

CopyResult LinkTransfer::advance(LinkRequester &requester, const SegmentList &destination)
{
    if (operation_->outstanding != 0)
        return CopyResult::pending;
    if (!is_writing_) {
        if (operation_->result != Access::done)
            return source_result(operation_->result);
        if (const CopyResult begun = begin_write(requester, destination); begun != CopyResult::done)
            return begun;
        if (operation_->outstanding != 0)
            return CopyResult::pending;
    }
    return destination_result(operation_->result);
}

CopyResult copy_by_link(QueuePair &qp, const SegmentList &source, const SegmentList &destination, std::uint64_t offset,
                        std::uint64_t bytes)
{
    if (qp.transfer == nullptr || !qp.transfer->is_for(offset, bytes)) {
        qp.transfer.reset();
        if (qp.file.card.link->requester().is_full())
            return CopyResult::pending;
        qp.transfer = std::make_shared<LinkTransfer>(offset, bytes);
        const CopyResult begun = qp.transfer->begin_read(qp.file.card.link->requester(), source);
        if (begun != CopyResult::done) {
            qp.transfer.reset();
            return begun;
        }
    }
    return continue_transfer(qp, destination);
}

CopyResult swap_by_link(QueuePair &qp, const SegmentList &word, const SegmentList &result, const LinkAtomic &operation)
{
    if (qp.transfer == nullptr || !qp.transfer->is_for(0, sizeof(std::uint64_t))) {
        qp.transfer.reset();
        if (qp.file.card.link->requester().is_full())
            return CopyResult::pending;
        qp.transfer = std::make_shared<LinkTransfer>(0, sizeof(std::uint64_t));
        const CopyResult begun = qp.transfer->begin_swap(qp.file.card.link->requester(), word, operation);
        if (begun != CopyResult::done) {
            qp.transfer.reset();
            return begun;
        }
    }
    return continue_transfer(qp, result);
}

} // namespace opendoca::card
